//! Records of plans and their assignments.

use chrono::{DateTime, Utc};
use kontor_catalog::model::{BillingPeriod, CatalogPlan, PlanAssignment};
use serde::Serialize;
use utoipa::ToSchema;

use kontor_web::envelope::{list, one};
use kontor_web::wire::{NamedRecord, PhotoRecord};

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
    pub(super) AssignmentResponse { assignment: PlanAssignmentRecord });

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
pub(super) PlanPage {
    subscription_nomenclatures: [CatalogPlanRecord], subscription_nomenclatures_count of all, pagination
});
