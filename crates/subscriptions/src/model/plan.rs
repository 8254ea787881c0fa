//! Plans as they can be bought.

use kontor_kernel::{Money, NomenclatureId};

/// How a customer names a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanChoice {
    /// By its number.
    Item(NomenclatureId),
    /// By the name that programs give it in the application.
    Slug(String),
}

/// A plan that an application offers now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanOffer {
    /// The plan.
    pub plan: NomenclatureId,
    /// How programs name it there.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// What a period costs.
    pub amount: Money,
    /// The currency of the project, by its ISO 4217 code.
    pub currency: String,
    /// How many months a period lasts.
    pub billing_months: u8,
}
