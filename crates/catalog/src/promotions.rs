use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{
    Clock, DiscountId, Name, NomenclatureId, Page, PageRequest, Period, Permission, PhotoUrl, PromotionId, Prose,
    Resource, Staff, Stamp,
};

use crate::model::Reference;
use crate::ports::PromotionRepository;
use crate::{PromotionError, PromotionList, PromotionRefusal};

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

/// Use cases of promotions. They need the permissions of discounts.
pub struct PromotionService {
    /// Storage.
    pub promotions: Arc<dyn PromotionRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl PromotionService {
    /// Returns one page of the promotions of the employee's project, newest first.
    pub async fn list(&self, staff: &Staff, page: PageRequest) -> Result<Page<Promotion>, PromotionError> {
        staff.require(Permission::view(Resource::Discounts))?;
        Ok(self.promotions.list(staff.project_id, page).await?)
    }

    /// Creates a promotion in the employee's project.
    pub async fn create(&self, staff: &Staff, draft: PromotionDraft) -> Result<Promotion, PromotionError> {
        staff.require(Permission::create(Resource::Discounts))?;
        let lists = [
            (PromotionList::Discounts, draft.discount_ids.len()),
            (PromotionList::Nomenclatures, draft.nomenclature_ids.len()),
        ];
        let long = lists.into_iter().filter(|(_, length)| *length > PromotionDraft::MAX_RECORDS);
        let long: Vec<_> = long.map(|(list, _)| list).collect();
        if !long.is_empty() {
            return Err(PromotionRefusal::TooMany(long).into());
        }
        self.promotions.insert(Stamp::of(staff, self.clock.now()), draft).await
    }
}
