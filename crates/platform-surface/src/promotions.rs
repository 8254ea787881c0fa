//! Promotions: announcements of discounts and products for a period.

use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_catalog::PromotionService;
use kontor_catalog::model::{Period, Promotion, PromotionChange, PromotionDraft, PromotionStats};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;
use kontor_web::envelope::{Created, created, list, one};
use kontor_web::records::{Picture, picture};
use kontor_web::wire::{self, InputErrors, NamedRecord, change_body};
use kontor_web::{ApiError, Body, Service, SignedInStaff};

handlers! {
    fn usual_routes; PromotionService, "Sales";

    /// List promotions
    ///
    /// Newest first.
    list "/api/promotions" as list_promotions = list(page) -> PromotionList;

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

    /// Get promotion statistics
    read "/api/promotions/{id}/stats" as show_promotion_stats = stats(id) -> PromotionFigures;
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    usual_routes(config);
    config.service(create_promotion);
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
    service: Service<PromotionService>,
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

change_body! {
    /// Change of a promotion.
    ChangedPromotion => PromotionChange {
        name: wire::Name,
        /// HTML.
        description: wire::Prose | null,
        /// URL of a picture.
        photo: wire::PhotoUrl | null,
        /// Start of the promotion.
        starts_at: wire::Moment | null,
        /// End of the promotion, exclusive.
        ends_at: wire::Moment | null,
        /// Ids of discounts that the promotion announces, at most 500. Replaces the whole list.
        discount_ids: Vec<wire::DiscountId>,
        /// Ids of products that the promotion shows, at most 500. Replaces the whole list.
        nomenclature_ids: Vec<wire::NomenclatureId>,
    }
}

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
