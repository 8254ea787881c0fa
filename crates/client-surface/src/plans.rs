//! Subscription plans of the storefront.

use actix_web::get;
use kontor_catalog::storefront::{Plan, PlanCard, PlanGroup, StorefrontPlanService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, answer, list};
use kontor_web::wire::{NamedRecord, PhotoRecord};
use kontor_web::{CallingApp, Service};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_plans).service(show_plan_catalog).service(show_grouped_plans);
}

#[derive(Serialize, ToSchema)]
struct PlanRecord {
    /// Id of the assignment of the plan to the application.
    id: i64,
    /// Identifier of the plan for programs, unique in the application.
    plan_slug: String,
    /// Id of the item that is the plan.
    nomenclature_id: i64,
    name: String,
    /// Price of one period.
    #[schema(examples("490.00"))]
    amount: String,
    /// ISO 4217 code.
    #[schema(examples("RUB"))]
    currency: String,
    /// Length of a period, in months.
    billing_period_months: u8,
}

impl From<Plan> for PlanRecord {
    fn from(plan: Plan) -> Self {
        Self {
            id: plan.id.get(),
            plan_slug: plan.slug.into(),
            nomenclature_id: plan.nomenclature_id.get(),
            name: plan.name.into(),
            amount: plan.amount.to_string(),
            currency: plan.currency,
            billing_period_months: plan.period.get(),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct PlanCardRecord {
    #[serde(flatten)]
    plan: PlanRecord,
    article: Option<String>,
    /// HTML without scripts, event handlers and styles.
    description: Option<String>,
    /// HTML without scripts, event handlers and styles. Empty if there are none.
    characteristics: String,
    photos: Vec<PhotoRecord>,
    category: Option<NamedRecord>,
}

impl From<PlanCard> for PlanCardRecord {
    fn from(card: PlanCard) -> Self {
        Self {
            plan: card.plan.into(),
            article: card.article.map(Into::into),
            description: card.description.map(Into::into),
            characteristics: card.characteristics.map(Into::into).unwrap_or_default(),
            photos: card.photos.into_iter().map(Into::into).collect(),
            category: card.category.map(Into::into),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct PlanGroupRecord {
    /// `null` for plans without a category.
    category: Option<NamedRecord>,
    plans: Vec<PlanCardRecord>,
}

impl From<PlanGroup> for PlanGroupRecord {
    fn from(group: PlanGroup) -> Self {
        Self { category: group.category.map(Into::into), plans: group.plans.into_iter().map(Into::into).collect() }
    }
}

list!(PlanList { data: [PlanRecord] });

/// List subscription plans
///
/// Returns the plans of the application in short form, ordered by position.
#[utoipa::path(tag = "Client: catalog", responses((status = 200, body = PlanList)))]
#[get("/api/counterparty/subscription-plans")]
async fn list_plans(app: CallingApp, service: Service<StorefrontPlanService>) -> Answer<PlanList> {
    answer(service.plans(*app).await?)
}

list!(PlanCatalog { data: [PlanCardRecord] });

/// Get the subscription catalog
///
/// Returns the plans of the application with all details, ordered by position.
#[utoipa::path(tag = "Client: catalog", responses((status = 200, body = PlanCatalog)))]
#[get("/api/counterparty/subscription-catalog")]
async fn show_plan_catalog(app: CallingApp, service: Service<StorefrontPlanService>) -> Answer<PlanCatalog> {
    answer(service.catalog(*app).await?)
}

list!(GroupedPlans { data: [PlanGroupRecord] });

/// Get the subscription catalog by category
///
/// Returns plans with all details. Categories are ordered by their first plan.
#[utoipa::path(tag = "Client: catalog", responses((status = 200, body = GroupedPlans)))]
#[get("/api/counterparty/subscription-catalog/grouped")]
async fn show_grouped_plans(app: CallingApp, service: Service<StorefrontPlanService>) -> Answer<GroupedPlans> {
    answer(service.grouped(*app).await?)
}
