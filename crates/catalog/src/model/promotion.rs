use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{DiscountId, Name, NomenclatureId, PromotionId, Prose, Resource};

use super::{Period, PhotoUrl, Reference};

/// A named campaign: what a shop tells about for a while. It changes no price; the discounts it shows do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promotion {
    /// The number of the promotion.
    pub id: PromotionId,
    /// Its name.
    pub name: Name,
    /// HTML.
    pub description: Option<Prose>,
    /// Its picture.
    pub photo: Option<PhotoUrl>,
    /// When it runs.
    pub period: Period,
    /// The discounts it tells about, as staff listed them.
    pub discounts: Vec<Reference<DiscountId>>,
    /// The products it shows, as staff listed them.
    pub nomenclatures: Vec<Reference<NomenclatureId>>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
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

/// What staff say about a new promotion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromotionDraft {
    /// Its name.
    pub name: Name,
    /// HTML.
    pub description: Option<Prose>,
    /// Its picture.
    pub photo: Option<PhotoUrl>,
    /// When it runs.
    pub period: Period,
    /// The discounts it tells about; one that is named twice counts once.
    pub discount_ids: Vec<DiscountId>,
    /// The products it shows; one that is named twice counts once.
    pub nomenclature_ids: Vec<NomenclatureId>,
}

impl PromotionDraft {
    /// The most discounts, and the most products, of one promotion.
    pub const MOST_RECORDS: usize = 500;
}
