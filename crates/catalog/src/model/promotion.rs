use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{DiscountId, Name, NomenclatureId, PromotionId, Prose, Resource};

use super::{Period, PhotoUrl, Reference};

/// Promotion: a named campaign of a shop for a period. It changes no price itself; its discounts do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promotion {
    /// Identifier.
    pub id: PromotionId,
    /// Name.
    pub name: Name,
    /// HTML.
    pub description: Option<Prose>,
    /// Picture.
    pub photo: Option<PhotoUrl>,
    /// Period of the promotion.
    pub period: Period,
    /// Discounts of the promotion, in the order of staff.
    pub discounts: Vec<Reference<DiscountId>>,
    /// Products of the promotion, in the order of staff.
    pub nomenclatures: Vec<Reference<NomenclatureId>>,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

impl Audited for Promotion {
    const RESOURCE: Resource = Resource::Discounts;
    const KIND: &'static str = "promotions";

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        let moment = |at: Option<DateTime<Utc>>| at.map(|at| at.to_rfc3339());
        let list = |ids: Vec<String>| Some(ids.join(", ")).filter(|list| !list.is_empty());
        vec![
            ("name", Some(self.name.to_string())),
            ("description", self.description.as_deref().map(str::to_owned)),
            ("photo", self.photo.as_ref().map(ToString::to_string)),
            ("starts_at", moment(self.period.starts_at())),
            ("ends_at", moment(self.period.ends_at())),
            ("discount_ids", list(self.discounts.iter().map(|one| one.id.to_string()).collect())),
            ("nomenclature_ids", list(self.nomenclatures.iter().map(|one| one.id.to_string()).collect())),
        ]
    }
}

/// Fields of a new promotion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromotionDraft {
    /// Name.
    pub name: Name,
    /// HTML.
    pub description: Option<Prose>,
    /// Picture.
    pub photo: Option<PhotoUrl>,
    /// Period of the promotion.
    pub period: Period,
    /// Discounts of the promotion; duplicates count once.
    pub discount_ids: Vec<DiscountId>,
    /// Products of the promotion; duplicates count once.
    pub nomenclature_ids: Vec<NomenclatureId>,
}

impl PromotionDraft {
    /// Maximum discounts, and maximum products, of one promotion.
    pub const MAX_RECORDS: usize = 500;
}
