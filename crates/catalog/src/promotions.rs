use std::sync::Arc;

use kontor_kernel::{Clock, Page, PageRequest, Permission, Resource, Staff, Stamp};

use crate::model::{Promotion, PromotionDraft};
use crate::ports::PromotionRepository;
use crate::{PromotionError, PromotionList, PromotionRefusal};

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
