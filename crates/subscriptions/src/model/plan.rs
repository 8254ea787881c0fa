//! Plans that can be bought.

use kontor_kernel::{Money, NomenclatureId};

/// Reference to a plan by a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanChoice {
    /// Item identifier.
    Item(NomenclatureId),
    /// Slug in the application.
    Slug(String),
}

/// Plan that an application offers now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanOffer {
    /// Item of the plan.
    pub plan: NomenclatureId,
    /// Slug in the application.
    pub slug: String,
    /// Display name.
    pub name: String,
    /// Price of a period.
    pub amount: Money,
    /// Currency of the project, ISO 4217.
    pub currency: String,
    /// Length of a period in months.
    pub billing_months: u8,
}
