use std::sync::Arc;

use kontor_kernel::{Clock, Page, PageRequest, Permission, PromotionId, Resource, Staff, Stamp};

use crate::model::{Promotion, PromotionChange, PromotionDraft, PromotionStats};
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

    /// Returns one promotion of the employee's project.
    pub async fn read(&self, staff: &Staff, id: PromotionId) -> Result<Promotion, PromotionError> {
        staff.require(Permission::view(Resource::Discounts))?;
        staff.require_own(self.promotions.find(id).await?)
    }

    /// Returns the use of the discounts of a promotion.
    pub async fn stats(&self, staff: &Staff, id: PromotionId) -> Result<PromotionStats, PromotionError> {
        let promotion = self.read(staff, id).await?;
        Ok(self.promotions.stats(promotion.id).await?)
    }

    /// Creates a promotion in the employee's project.
    pub async fn create(&self, staff: &Staff, draft: PromotionDraft) -> Result<Promotion, PromotionError> {
        staff.require(Permission::create(Resource::Discounts))?;
        require_few(draft.discount_ids.len(), draft.nomenclature_ids.len())?;
        self.promotions.insert(Stamp::of(staff, self.clock.now()), draft).await
    }

    /// Changes a promotion of the employee's project. Prices and orders do not change.
    pub async fn update(
        &self,
        staff: &Staff,
        id: PromotionId,
        change: PromotionChange,
    ) -> Result<Promotion, PromotionError> {
        staff.require(Permission::edit(Resource::Discounts))?;
        require_few(
            change.discount_ids.as_set().map_or(0, Vec::len),
            change.nomenclature_ids.as_set().map_or(0, Vec::len),
        )?;
        staff.require_own(self.promotions.find(id).await?)?;
        self.promotions.update(Stamp::of(staff, self.clock.now()), id, change).await
    }

    /// Deletes a promotion of the employee's project. Its discounts stay.
    pub async fn delete(&self, staff: &Staff, id: PromotionId) -> Result<(), PromotionError> {
        staff.require(Permission::edit(Resource::Discounts))?;
        staff.require_own(self.promotions.find(id).await?)?;
        self.promotions.delete(Stamp::of(staff, self.clock.now()), id).await
    }
}

/// Refuses lists that are too long.
fn require_few(discounts: usize, nomenclatures: usize) -> Result<(), PromotionRefusal> {
    let lists = [(PromotionList::Discounts, discounts), (PromotionList::Nomenclatures, nomenclatures)];
    let long = lists.into_iter().filter(|(_, length)| *length > PromotionDraft::MAX_RECORDS);
    let long: Vec<_> = long.map(|(list, _)| list).collect();
    if long.is_empty() { Ok(()) } else { Err(PromotionRefusal::TooMany(long)) }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{AccessDenied, DiscountId, Edit, FixedClock, Name, ProjectId, ProjectScoped};

    use super::*;
    use crate::model::Period;
    use crate::ports::MockPromotionRepository;

    fn id() -> PromotionId {
        PromotionId::new(7).unwrap()
    }

    fn promotion() -> Promotion {
        Promotion {
            id: id(),
            name: Name::parse("Spring").unwrap(),
            description: None,
            photo: None,
            period: Period::default(),
            discounts: Vec::new(),
            nomenclatures: Vec::new(),
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        }
    }

    fn service(promotions: MockPromotionRepository) -> PromotionService {
        PromotionService { promotions: Arc::new(promotions), clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)) }
    }

    fn of_project(project: i64) -> MockPromotionRepository {
        let mut promotions = MockPromotionRepository::new();
        let project = ProjectId::new(project).unwrap();
        promotions.expect_find().returning(move |_| Ok(Some(ProjectScoped::new(project, promotion()))));
        promotions
    }

    #[tokio::test]
    async fn each_use_case_needs_its_permission_before_anything_is_read() {
        let missing = |error| matches!(error, PromotionError::Denied(AccessDenied::MissingPermission(_)));
        let untouched = || service(MockPromotionRepository::new());
        let editor = staff_with([Permission::edit(Resource::Discounts)]);
        assert!(missing(untouched().read(&editor, id()).await.unwrap_err()));
        assert!(missing(untouched().stats(&editor, id()).await.unwrap_err()));
        let viewer = staff_with([Permission::view(Resource::Discounts), Permission::create(Resource::Discounts)]);
        assert!(missing(untouched().update(&viewer, id(), PromotionChange::default()).await.unwrap_err()));
        assert!(missing(untouched().delete(&viewer, id()).await.unwrap_err()));
    }

    #[tokio::test]
    async fn a_promotion_of_another_project_is_neither_shown_nor_touched() {
        let staff = staff_with(Permission::all());
        let foreign = |error| matches!(error, PromotionError::Denied(AccessDenied::ForeignProject));
        assert!(foreign(service(of_project(2)).read(&staff, id()).await.unwrap_err()));
        assert!(foreign(service(of_project(2)).stats(&staff, id()).await.unwrap_err()));
        assert!(foreign(service(of_project(2)).update(&staff, id(), PromotionChange::default()).await.unwrap_err()));
        assert!(foreign(service(of_project(2)).delete(&staff, id()).await.unwrap_err()));
    }

    #[tokio::test]
    async fn a_change_with_too_long_lists_is_refused_unread() {
        let staff = staff_with(Permission::all());
        let ids = vec![DiscountId::new(1).unwrap(); PromotionDraft::MAX_RECORDS + 1];
        let change = PromotionChange { discount_ids: Edit::Set(ids), ..PromotionChange::default() };
        let refused = service(MockPromotionRepository::new()).update(&staff, id(), change).await.unwrap_err();
        let PromotionError::Refused(PromotionRefusal::TooMany(lists)) = refused else { panic!("{refused}") };
        assert_eq!(lists, [PromotionList::Discounts]);
    }

    #[tokio::test]
    async fn a_change_is_stored_in_the_name_of_the_employee() {
        let staff = staff_with(Permission::all());
        let expected = Stamp::of(&staff, DateTime::UNIX_EPOCH);
        let mut promotions = of_project(1);
        promotions
            .expect_update()
            .withf(move |stamp, changed, _| (*stamp, *changed) == (expected, id()))
            .returning(|_, _, _| Ok(promotion()));
        let changed = service(promotions).update(&staff, id(), PromotionChange::default()).await.unwrap();
        assert_eq!(changed, promotion());
    }
}
