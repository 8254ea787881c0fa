//! Discounts and promo codes.

mod record;

use std::sync::Arc;

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, delete, get, post, put};
use deserr::Deserr;
use kontor_catalog::DiscountService;
use kontor_catalog::model::{DiscountChange, DiscountDraft, Edit, TargetChange};
use kontor_kernel::listing::{Comparison, Condition, FilterValue, Sort};
use kontor_kernel::{Clock, DiscountStatus, Listing, Violations, Word as _};
use utoipa::{IntoParams, ToSchema};
use utoipa_actix_web::service_config::ServiceConfig;

use self::record::{
    DiscountFigures, DiscountList, DiscountParams, DiscountRecord, DiscountResponse, ListAddress, TABLE, UsageList,
};
use crate::endpoints::handlers;
use crate::table::{TableAnswer, TableRequest};
use kontor_web::envelope::{Answer, Created, answer, created};
use kontor_web::paging::{PageNumber, PageSize, page_of};
use kontor_web::wire::{self, In, InputErrors, NonNullPatch, change_body};
use kontor_web::{Body, PathId, Query, Service, Settings, SignedInStaff};

handlers! {
    fn usual_routes; DiscountService, "Sales";

    /// Get discount statistics
    read "/api/discounts/stats" as show_discount_stats = stats() -> DiscountFigures;

    /// Delete a discount
    ///
    /// The discount must not be used by an order. Archive it instead if it is.
    delete "/api/discounts/{id}" as delete_discount -> "The discount is deleted.", 422 "Orders use the discount.";

    /// List the orders that used a promo code
    ///
    /// Newest first.
    list "/api/discounts/{id}/usages" as list_discount_usages = usages(id, page) -> UsageList;
}

/// Registers the routes. `stats` precedes `{id}`, because it would match as an id.
pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    usual_routes(config);
    config
        .service(list_discounts)
        .service(create_discount)
        .service(show_discount)
        .service(update_discount)
        .service(pause_discount)
        .service(activate_discount)
        .service(archive_discount);
}

/// Registers the table.
pub(super) fn table_routes(config: &mut ServiceConfig<'_>) {
    config.service(list_discounts_table);
}

/// List discounts
///
/// Newest first.
#[utoipa::path(tag = "Sales", params(DiscountQuery), responses((status = 200, body = DiscountList)))]
#[get("/api/discounts")]
async fn list_discounts(
    request: HttpRequest,
    staff: SignedInStaff,
    config: Data<Settings>,
    clock: Data<Arc<dyn Clock>>,
    service: Service<DiscountService>,
    query: Query<DiscountQuery>,
) -> Answer<DiscountList> {
    let page = service.list(&staff, query.0.listing()?).await?;
    let address = ListAddress::of(&request, &config.public_url);
    answer(DiscountList::of(page, &address, clock.now()))
}

/// List discounts as a table
///
/// Newest first by default.
#[utoipa::path(tag = "Sales", params(DiscountParams), responses((status = 200, body = TableAnswer)))]
#[get("/api/tables/discounts")]
async fn list_discounts_table(
    staff: SignedInStaff,
    clock: Data<Arc<dyn Clock>>,
    service: Service<DiscountService>,
    asked: TableRequest,
) -> Answer<TableAnswer> {
    let page = service.list(&staff, TABLE.listing(asked, 15)?).await?;
    let at = clock.now();
    let page = page.map(|discount| (discount.state(at), discount));
    answer(TABLE.render(&page))
}

/// Create a discount
#[utoipa::path(tag = "Sales", request_body = NewDiscount, responses((status = 201, body = DiscountResponse)))]
#[post("/api/discounts")]
async fn create_discount(
    staff: SignedInStaff,
    clock: Data<Arc<dyn Clock>>,
    service: Service<DiscountService>,
    body: Body<NewDiscount>,
) -> Created<DiscountResponse> {
    created(DiscountRecord::of(service.create(&staff, body.0.into()).await?, clock.now()))
}

/// Get a discount
#[utoipa::path(tag = "Sales", responses((status = 200, body = DiscountResponse)))]
#[get("/api/discounts/{id}")]
async fn show_discount(
    staff: SignedInStaff,
    clock: Data<Arc<dyn Clock>>,
    service: Service<DiscountService>,
    id: Path<PathId>,
) -> Answer<DiscountResponse> {
    answer(DiscountRecord::of(service.read(&staff, id.parse()?).await?, clock.now()))
}

/// Update a discount
///
/// Fields that are not sent keep their values. Existing orders keep their prices.
#[utoipa::path(
    tag = "Sales",
    request_body = ChangedDiscount,
    responses((status = 200, body = DiscountResponse), (status = 409, description = "The discount is archived.")),
)]
#[put("/api/discounts/{id}")]
async fn update_discount(
    staff: SignedInStaff,
    clock: Data<Arc<dyn Clock>>,
    service: Service<DiscountService>,
    id: Path<PathId>,
    body: Body<ChangedDiscount>,
) -> Answer<DiscountResponse> {
    answer(DiscountRecord::of(service.update(&staff, id.parse()?, body.0.into()).await?, clock.now()))
}

/// Pause a discount
#[utoipa::path(
    tag = "Sales",
    responses((status = 200, body = DiscountResponse), (status = 409, description = "The discount is archived.")),
)]
#[post("/api/discounts/{id}/pause")]
async fn pause_discount(
    staff: SignedInStaff,
    clock: Data<Arc<dyn Clock>>,
    service: Service<DiscountService>,
    id: Path<PathId>,
) -> Answer<DiscountResponse> {
    answer(DiscountRecord::of(service.pause(&staff, id.parse()?).await?, clock.now()))
}

/// Activate a discount
///
/// The discount applies within its dates.
#[utoipa::path(
    tag = "Sales",
    responses(
        (status = 200, body = DiscountResponse),
        (status = 409, description = "The discount is archived, or its period is over."),
    ),
)]
#[post("/api/discounts/{id}/activate")]
async fn activate_discount(
    staff: SignedInStaff,
    clock: Data<Arc<dyn Clock>>,
    service: Service<DiscountService>,
    id: Path<PathId>,
) -> Answer<DiscountResponse> {
    answer(DiscountRecord::of(service.activate(&staff, id.parse()?).await?, clock.now()))
}

/// Archive a discount
///
/// The discount is stopped permanently.
#[utoipa::path(tag = "Sales", responses((status = 200, body = DiscountResponse)))]
#[post("/api/discounts/{id}/archive")]
async fn archive_discount(
    staff: SignedInStaff,
    clock: Data<Arc<dyn Clock>>,
    service: Service<DiscountService>,
    id: Path<PathId>,
) -> Answer<DiscountResponse> {
    answer(DiscountRecord::of(service.archive(&staff, id.parse()?).await?, clock.now()))
}

/// Filters and page of the list of discounts.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DiscountQuery {
    /// Part of the name or the promo code, in any case.
    #[deserr(default)]
    #[param(inline)]
    query: Option<wire::Name>,
    /// Current status.
    #[deserr(default)]
    #[param(inline)]
    status: Option<wire::DiscountState>,
    /// `1` returns only discounts with a promo code, `0` only those without.
    #[deserr(default)]
    #[param(value_type = Option<bool>)]
    has_code: Option<wire::Flag>,
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    /// 15 by default.
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

impl DiscountQuery {
    /// Returns the requested listing.
    fn listing(self) -> Result<Listing, Violations> {
        let page = page_of(self.page.as_ref(), self.per_page.as_ref(), 15)?;
        let mut listing = Listing::unfiltered(Sort::descending("id"), page);
        listing.text = self.query.map(|text| text.0);
        let state = self.status.map(|state| ("status", FilterValue::Text(state.0.word().to_owned())));
        let code = self.has_code.map(|flag| ("has_code", FilterValue::Flag(flag.0)));
        for (field, value) in state.into_iter().chain(code) {
            listing.conditions.push(Condition { field, comparison: Comparison::AnyOf(vec![value]) });
        }
        Ok(listing)
    }
}

/// Discount to create. Without `category_id` and `nomenclature_id`, it applies to the whole cart. Without `code`, it
/// applies automatically.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewDiscount {
    name: wire::Name,
    #[deserr(rename = "type")]
    #[schema(rename = "type")]
    kind: wire::DiscountType,
    /// Percentage from 0.01 to 100.00, or an amount.
    value: wire::Money,
    #[deserr(default)]
    description: Option<wire::Prose>,
    /// Target of the discount. By default derived from the other fields.
    #[deserr(default)]
    target: Option<wire::DiscountTargetKind>,
    /// Id of the category. Its descendants are included.
    #[deserr(default)]
    category_id: Option<wire::CategoryId>,
    /// Id of the product.
    #[deserr(default)]
    nomenclature_id: Option<wire::NomenclatureId>,
    /// Promo code.
    #[deserr(default)]
    code: Option<wire::PromoCode>,
    /// Minimum original price of the cart. `0` by default.
    #[deserr(default)]
    minimum_sum: Option<wire::Money>,
    /// Start of the discount. Without it, the discount applies at once.
    #[deserr(default)]
    starts_at: Option<wire::Moment>,
    /// End of the discount, exclusive.
    #[deserr(default)]
    ends_at: Option<wire::Moment>,
    /// Maximum number of orders with the promo code.
    #[deserr(default)]
    usage_limit: Option<wire::Quantity>,
    /// Maximum number of orders per customer with the promo code.
    #[deserr(default)]
    customer_limit: Option<wire::Quantity>,
    /// `active` by default.
    #[deserr(default)]
    status: Option<wire::NewDiscountStatus>,
}

fn edit<T>(value: Option<In<T>>) -> Edit<Option<T>> {
    Edit::Set(value.map(|value| value.0))
}

impl From<NewDiscount> for DiscountDraft {
    fn from(new: NewDiscount) -> Self {
        Self {
            name: new.name.0,
            kind: new.kind.0,
            number: new.value.0,
            status: new.status.map_or(DiscountStatus::Active, |status| status.0.0),
            rest: DiscountChange {
                description: edit(new.description),
                target: TargetChange {
                    kind: new.target.map(|kind| kind.0).into(),
                    category_id: edit(new.category_id),
                    nomenclature_id: edit(new.nomenclature_id),
                },
                minimum_sum: new.minimum_sum.map(|sum| sum.0).into(),
                starts_at: edit(new.starts_at),
                ends_at: edit(new.ends_at),
                code: edit(new.code),
                usage_limit: edit(new.usage_limit),
                customer_limit: edit(new.customer_limit),
                ..DiscountChange::default()
            },
        }
    }
}

change_body! {
    /// Change of a discount.
    ChangedDiscount {
        name: wire::Name,
        {
            /// Requires `value`.
            #[deserr(default, rename = "type")]
            #[schema(rename = "type", value_type = Option<wire::DiscountType>, nullable = false)]
            kind: NonNullPatch<wire::DiscountType>
        },
        value: wire::Money,
        description: wire::Prose | null,
        target: wire::DiscountTargetKind,
        category_id: wire::CategoryId | null,
        nomenclature_id: wire::NomenclatureId | null,
        /// Cannot be changed once orders use it. `null` is allowed only if there is no code: a promo code cannot become an
        /// automatic discount.
        code: wire::PromoCode | null,
        minimum_sum: wire::Money,
        starts_at: wire::Moment | null,
        /// End of the discount, exclusive. `null` removes it.
        ends_at: wire::Moment | null,
        /// At least the number of orders that already use the code.
        usage_limit: wire::Quantity | null,
        customer_limit: wire::Quantity | null,
    }
}

impl From<ChangedDiscount> for DiscountChange {
    fn from(changed: ChangedDiscount) -> Self {
        Self {
            name: changed.name.into(),
            description: changed.description.into(),
            kind: changed.kind.into(),
            number: changed.value.into(),
            target: TargetChange {
                kind: changed.target.into(),
                category_id: changed.category_id.into(),
                nomenclature_id: changed.nomenclature_id.into(),
            },
            minimum_sum: changed.minimum_sum.into(),
            starts_at: changed.starts_at.into(),
            ends_at: changed.ends_at.into(),
            code: changed.code.into(),
            usage_limit: changed.usage_limit.into(),
            customer_limit: changed.customer_limit.into(),
        }
    }
}
