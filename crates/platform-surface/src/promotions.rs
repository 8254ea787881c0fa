//! Promotions: announcements of discounts and products for a period.

use actix_web::web::{Data, Path};
use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_catalog::PromotionService;
use kontor_catalog::model::{Period, Promotion, PromotionChange, PromotionDraft, PromotionStats};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::endpoints::handlers;
use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::records::{Picture, picture};
use kontor_web::wire::{self, InputErrors, NamedRecord, NonNullPatch, Patch, into_domain};
use kontor_web::{ApiError, Body, PageQuery, PathId, Query, SignedInStaff};

/// Registers the list, the creation and the statistics.
pub(super) fn list_routes(config: &mut ServiceConfig<'_>) {
    config.service(list_promotions).service(create_promotion).service(show_promotion_stats);
}

handlers! {
    PromotionService, "Sales";

    /// Get a promotion
    read "/api/promotions/{id}" as show_promotion -> PromotionResponse;

    /// Update a promotion
    ///
    /// Fields that are not sent keep their values. Prices and orders do not change.
    update "/api/promotions/{id}" as update_promotion(ChangedPromotion) -> PromotionResponse;

    /// Delete a promotion
    ///
    /// Its discounts stay.
    delete "/api/promotions/{id}" as delete_promotion -> "The promotion is deleted.";
}

#[derive(Serialize, ToSchema)]
struct PromotionRecord {
    id: i64,
    name: String,
    /// HTML.
    description: Option<String>,
    photo: Option<Picture>,
    /// Start of the promotion.
    starts_at: Option<DateTime<Utc>>,
    /// End of the promotion, exclusive.
    ends_at: Option<DateTime<Utc>>,
    /// Discounts that the promotion announces.
    discounts: Vec<NamedRecord>,
    /// Products that the promotion shows.
    nomenclatures: Vec<NamedRecord>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Promotion> for PromotionRecord {
    fn from(promotion: Promotion) -> Self {
        Self {
            id: promotion.id.get(),
            name: promotion.name.into(),
            description: promotion.description.map(Into::into),
            photo: picture(promotion.photo.map(Into::into)),
            starts_at: promotion.period.starts_at(),
            ends_at: promotion.period.ends_at(),
            discounts: promotion.discounts.into_iter().map(Into::into).collect(),
            nomenclatures: promotion.nomenclatures.into_iter().map(Into::into).collect(),
            created_at: promotion.created_at,
            updated_at: promotion.updated_at,
        }
    }
}

one!(PromotionResponse { promotion: PromotionRecord });
list!(PromotionList { promotions: [PromotionRecord], promotions_count of all, pagination });

/// List promotions
///
/// Newest first.
#[utoipa::path(tag = "Sales", params(PageQuery), responses((status = 200, body = PromotionList)))]
#[get("/api/promotions")]
async fn list_promotions(
    staff: SignedInStaff,
    service: Data<PromotionService>,
    query: Query<PageQuery>,
) -> Answer<PromotionList> {
    answer(service.list(&staff, query.0.page()?).await?)
}

/// Promotion to create. It does not change prices; only its discounts do.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewPromotion {
    name: wire::Name,
    /// HTML.
    #[deserr(default)]
    description: Option<wire::Prose>,
    /// URL of a picture.
    #[deserr(default)]
    photo: Option<wire::PhotoUrl>,
    /// Start of the promotion.
    #[deserr(default)]
    starts_at: Option<wire::Moment>,
    /// End of the promotion, exclusive.
    #[deserr(default)]
    ends_at: Option<wire::Moment>,
    /// Ids of discounts that the promotion announces, at most 500.
    #[deserr(default)]
    discount_ids: Option<Vec<wire::DiscountId>>,
    /// Ids of products that the promotion shows, at most 500.
    #[deserr(default)]
    nomenclature_ids: Option<Vec<wire::NomenclatureId>>,
}

/// Create a promotion
#[utoipa::path(tag = "Sales", request_body = NewPromotion, responses((status = 201, body = PromotionResponse)))]
#[post("/api/promotions")]
async fn create_promotion(
    staff: SignedInStaff,
    service: Data<PromotionService>,
    body: Body<NewPromotion>,
) -> Created<PromotionResponse> {
    let new = body.0;
    let period = Period::new(new.starts_at.map(|at| at.0), new.ends_at.map(|at| at.0))
        .map_err(|error| ApiError::invalid("ends_at", error))?;
    let draft = PromotionDraft {
        name: new.name.0,
        description: new.description.map(|text| text.0),
        photo: new.photo.map(|photo| photo.0),
        period,
        discount_ids: new.discount_ids.into_iter().flatten().map(|id| id.0).collect(),
        nomenclature_ids: new.nomenclature_ids.into_iter().flatten().map(|id| id.0).collect(),
    };
    created(service.create(&staff, draft).await?)
}

/// Change of a promotion.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ChangedPromotion {
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>, nullable = false)]
    name: NonNullPatch<wire::Name>,
    /// HTML.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Prose>)]
    description: Patch<wire::Prose>,
    /// URL of a picture.
    #[deserr(default)]
    #[schema(value_type = Option<wire::PhotoUrl>)]
    photo: Patch<wire::PhotoUrl>,
    /// Start of the promotion.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Moment>)]
    starts_at: Patch<wire::Moment>,
    /// End of the promotion, exclusive.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Moment>)]
    ends_at: Patch<wire::Moment>,
    /// Ids of discounts that the promotion announces, at most 500. Replaces the whole list.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<wire::DiscountId>>, nullable = false)]
    discount_ids: NonNullPatch<Vec<wire::DiscountId>>,
    /// Ids of products that the promotion shows, at most 500. Replaces the whole list.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<wire::NomenclatureId>>, nullable = false)]
    nomenclature_ids: NonNullPatch<Vec<wire::NomenclatureId>>,
}

into_domain!(ChangedPromotion => PromotionChange {
    name, description, photo, starts_at, ends_at, discount_ids, nomenclature_ids
});

/// Use of the discounts of a promotion.
#[derive(Serialize, ToSchema)]
struct PromotionStatsRecord {
    /// Number of discounts of the promotion.
    discounts: u64,
    /// Number of discounts with a promo code. Only promo codes record their use.
    promo_codes: u64,
    /// Number of orders that use one of these codes. Canceled orders are not included.
    usages: u64,
    /// Total discount that the codes gave these orders, decimal string.
    discount_amount: String,
}

impl From<PromotionStats> for PromotionStatsRecord {
    fn from(stats: PromotionStats) -> Self {
        Self {
            discounts: stats.discounts,
            promo_codes: stats.promo_codes,
            usages: stats.usages,
            discount_amount: stats.amount.to_string(),
        }
    }
}

one!(PromotionFigures { stats: PromotionStatsRecord });

/// Get promotion statistics
#[utoipa::path(tag = "Sales", params(("id" = i64, Path)), responses((status = 200, body = PromotionFigures)))]
#[get("/api/promotions/{id}/stats")]
async fn show_promotion_stats(
    staff: SignedInStaff,
    service: Data<PromotionService>,
    id: Path<PathId>,
) -> Answer<PromotionFigures> {
    answer(service.stats(&staff, id.parse()?).await?)
}
