//! Subscription plans that an application offers.

use actix_web::http::StatusCode;
use actix_web::web::{Json, Path};
use actix_web::{delete, get, patch, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_catalog::PlanService;
use kontor_catalog::model::{AssignOutcome, BillingPeriod, CatalogPlan, PlanAssignment, PlanChange, PlanDraft};
use kontor_kernel::{PageRequest, Violations};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;
use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::paging::{PageNumber, PageSize, page_of};
use kontor_web::wire::{self, InputErrors, NamedRecord, PhotoRecord, change_body};
use kontor_web::{ApiError, Body, PathId, Query, Service, SignedInStaff};

handlers! {
    fn usual_routes; PlanService, "Applications";

    /// Get a plan assignment
    read "/api/applications/{application}/subscription-nomenclatures/{assignment}" as show_plan_assignment
        = read(ids) -> AssignmentResponse;

    /// Update a plan assignment
    ///
    /// Fields that are not sent keep their values.
    patch "/api/applications/{application}/subscription-nomenclatures/{assignment}" as update_plan_assignment(ChangedPlanAssignment)
        = update(ids, input) -> AssignmentResponse;

    /// Remove a subscription plan from an application
    ///
    /// Customers of the application no longer see the plan.
    delete "/api/applications/{application}/subscription-nomenclatures/{assignment}" as unassign_plan = withdraw(ids)
        -> "The application no longer offers the plan.";
}

/// Registers the routes. `catalog` precedes `{assignment}`, because it would match as an id.
pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_assignable_plans).service(assign_plan);
    usual_routes(config);
}

/// List the subscription plans of the project for an application
///
/// Each plan contains its assignment to the application, if any.
#[utoipa::path(tag = "Applications", params(PlanQuery), responses((status = 200, body = PlanPage)))]
#[get("/api/applications/{application}/subscription-nomenclatures/catalog")]
async fn list_assignable_plans(
    staff: SignedInStaff,
    service: Service<PlanService>,
    application: Path<PathId>,
    query: Query<PlanQuery>,
) -> Answer<PlanPage> {
    let page = query.0.page()?;
    let text = query.0.query.map(|text| text.0);
    answer(service.catalog(&staff, application.parse()?, text, page).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewPlanAssignment {
    /// Id of the item that is the plan.
    nomenclature_id: wire::NomenclatureId,
    /// Identifier of the plan for programs. By default, `plan-` and the id of the item.
    #[deserr(default)]
    plan_slug: Option<wire::PlanSlug>,
    /// Last position by default.
    #[deserr(default)]
    position: Option<wire::PlanPosition>,
    /// `true` by default.
    #[deserr(default)]
    is_active: Option<wire::Flag>,
}

impl From<NewPlanAssignment> for PlanDraft {
    fn from(new: NewPlanAssignment) -> Self {
        Self {
            nomenclature_id: new.nomenclature_id.0,
            slug: new.plan_slug.map(|slug| slug.0),
            position: new.position.map(|position| position.0),
            is_active: new.is_active.is_none_or(|active| active.0),
        }
    }
}

/// Assign a subscription plan to an application
///
/// Customers see the plan at once. A plan that is already assigned is not changed.
#[utoipa::path(
    tag = "Applications",
    request_body = NewPlanAssignment,
    responses(
        (status = 201, body = AssignmentResponse),
        (status = 200, description = "The plan is already assigned.", body = AssignmentResponse),
    ),
)]
#[post("/api/applications/{application}/subscription-nomenclatures")]
async fn assign_plan(
    staff: SignedInStaff,
    service: Service<PlanService>,
    application: Path<PathId>,
    body: Body<NewPlanAssignment>,
) -> Result<(Json<AssignmentResponse>, StatusCode), ApiError> {
    let (assignment, status) = match service.assign(&staff, application.parse()?, body.0.into()).await? {
        AssignOutcome::Created(assignment) => (assignment, StatusCode::CREATED),
        AssignOutcome::Existing(assignment) => (assignment, StatusCode::OK),
    };
    Ok((Json(assignment.into()), status))
}

change_body! {
    ChangedPlanAssignment {
        plan_slug: wire::PlanSlug,
        /// Position in the list, lowest first. Equal positions are ordered by the id of the assignment.
        position: wire::PlanPosition,
        /// `true` if customers can see the plan.
        is_active: wire::Flag,
    }
}

impl From<ChangedPlanAssignment> for PlanChange {
    fn from(changed: ChangedPlanAssignment) -> Self {
        Self { slug: changed.plan_slug.into(), position: changed.position.into(), is_active: changed.is_active.into() }
    }
}

/// Search and page of the list of plans.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PlanQuery {
    /// Words of the name and the article, or parts of them, in any order and case. Best matches first.
    #[deserr(default)]
    #[param(inline)]
    pub query: Option<wire::Name>,
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    /// 100 by default.
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

impl PlanQuery {
    /// Returns the requested page.
    pub fn page(&self) -> Result<PageRequest, Violations> {
        page_of(self.page.as_ref(), self.per_page.as_ref(), 100)
    }
}

#[derive(Serialize, ToSchema)]
struct PlanAssignmentRecord {
    id: i64,
    application_id: i64,
    nomenclature_id: i64,
    /// Identifier of the plan for programs.
    plan_slug: String,
    position: i64,
    /// `true` if customers can see the plan.
    is_active: bool,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<PlanAssignment> for PlanAssignmentRecord {
    fn from(assignment: PlanAssignment) -> Self {
        Self {
            id: assignment.id.get(),
            application_id: assignment.application_id.get(),
            nomenclature_id: assignment.nomenclature_id.get(),
            plan_slug: assignment.slug.into(),
            position: assignment.position.get(),
            is_active: assignment.is_active,
            created_at: assignment.created_at,
            updated_at: assignment.updated_at,
        }
    }
}

one!(/// Assignment of a plan to an application.
    AssignmentResponse { assignment: PlanAssignmentRecord });

#[derive(Serialize, ToSchema)]
struct CatalogPlanRecord {
    /// Id of the item.
    id: i64,
    article: Option<String>,
    name: String,
    /// Price of one period, decimal string. Plans without a price are not offered.
    #[schema(examples("490.00"))]
    price: Option<String>,
    /// ISO 4217 code.
    #[schema(examples("RUB"))]
    currency: String,
    /// Length of a period, in months.
    billing_period_months: Option<u8>,
    category: Option<NamedRecord>,
    photos: Vec<PhotoRecord>,
    /// Assignment to the application. `null` if the plan is not assigned.
    assignment: Option<PlanAssignmentRecord>,
}

impl From<CatalogPlan> for CatalogPlanRecord {
    fn from(plan: CatalogPlan) -> Self {
        let CatalogPlan { item, currency, assignment } = plan;
        Self {
            id: item.id.get(),
            article: item.card.article.map(Into::into),
            name: item.card.name.into(),
            price: item.card.price.map(|price| price.to_string()),
            currency,
            billing_period_months: item.card.subscription.map(BillingPeriod::get),
            category: item.labels.category.map(Into::into),
            photos: item.card.photos.photos().iter().map(Into::into).collect(),
            assignment: assignment.map(Into::into),
        }
    }
}

list!(/// One page of the plans of the project.
PlanPage {
    subscription_nomenclatures: [CatalogPlanRecord], subscription_nomenclatures_count of all, pagination
});
