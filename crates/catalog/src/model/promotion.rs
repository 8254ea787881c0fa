use chrono::{DateTime, Utc};
use kontor_kernel::{DiscountId, Name, NomenclatureId, ProjectId, PromotionId, Prose};

use super::{Period, PhotoUrl, Reference};

/// A named campaign: what a shop tells about for a while. It changes no price; the discounts it shows do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promotion {
    /// The number of the promotion.
    pub id: PromotionId,
    /// The project it belongs to.
    pub project_id: ProjectId,
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
