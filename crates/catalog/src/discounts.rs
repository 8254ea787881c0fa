use std::sync::Arc;

use kontor_kernel::{
    Clock, DiscountId, DiscountStatus, Listing, Page, PageRequest, Permission, Resource, Staff, Stamp,
};

use crate::model::{Discount, DiscountChange, DiscountDraft, DiscountStats, DiscountTerms, DiscountUsage};
use crate::ports::{DiscountRepository, DiscountRewrite};
use crate::{DiscountError, DiscountRefusal};

/// Use cases of discounts and promo codes.
pub struct DiscountService {
    /// Storage.
    pub discounts: Arc<dyn DiscountRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

/// Maximum attempts to apply a change when other changes interfere.
const ATTEMPTS: u32 = 5;

impl DiscountService {
    /// Returns one page of the discounts of the employee's project. Fields: `id`, `status`, `has_code`, `target`. The
    /// text is searched in names and promo codes.
    pub async fn list(&self, staff: &Staff, listing: Listing) -> Result<Page<Discount>, DiscountError> {
        staff.require(Permission::view(Resource::Discounts))?;
        Ok(self.discounts.list(staff.project_id, listing, self.clock.now()).await?)
    }

    /// Returns the discount statistics of the employee's project.
    pub async fn stats(&self, staff: &Staff) -> Result<DiscountStats, DiscountError> {
        staff.require(Permission::view(Resource::Discounts))?;
        Ok(self.discounts.stats(staff.project_id, self.clock.now()).await?)
    }

    /// Returns one discount of the employee's project.
    pub async fn read(&self, staff: &Staff, id: DiscountId) -> Result<Discount, DiscountError> {
        staff.require(Permission::view(Resource::Discounts))?;
        staff.require_own(self.discounts.find(id).await?)
    }

    /// Returns one page of the orders that use the promo code, newest first.
    pub async fn usages(
        &self,
        staff: &Staff,
        id: DiscountId,
        page: PageRequest,
    ) -> Result<Page<DiscountUsage>, DiscountError> {
        staff.require(Permission::view(Resource::Discounts))?;
        staff.require_own(self.discounts.find(id).await?)?;
        Ok(self.discounts.usages(id, page).await?)
    }

    /// Creates a discount in the employee's project.
    pub async fn create(&self, staff: &Staff, draft: DiscountDraft) -> Result<Discount, DiscountError> {
        staff.require(Permission::create(Resource::Discounts))?;
        let status = draft.status;
        let terms = draft.terms().map_err(DiscountRefusal::Terms)?;
        self.discounts.insert(Stamp::of(staff, self.clock.now()), terms, status).await
    }

    /// Changes the terms of a discount. Existing orders keep their prices.
    pub async fn update(
        &self,
        staff: &Staff,
        id: DiscountId,
        change: DiscountChange,
    ) -> Result<Discount, DiscountError> {
        self.rewrite(staff, id, |current| {
            current.changeable()?;
            let terms = change.clone().apply(current.terms.clone()).map_err(DiscountRefusal::Terms)?;
            Ok((terms, current.status))
        })
        .await
    }

    /// Pauses a discount.
    pub async fn pause(&self, staff: &Staff, id: DiscountId) -> Result<Discount, DiscountError> {
        self.rewrite(staff, id, |current| Ok((current.terms.clone(), current.pause()?))).await
    }

    /// Activates a discount within its dates.
    pub async fn activate(&self, staff: &Staff, id: DiscountId) -> Result<Discount, DiscountError> {
        let at = self.clock.now();
        self.rewrite(staff, id, |current| Ok((current.terms.clone(), current.activate(at)?))).await
    }

    /// Archives a discount permanently.
    pub async fn archive(&self, staff: &Staff, id: DiscountId) -> Result<Discount, DiscountError> {
        self.rewrite(staff, id, |current| Ok((current.terms.clone(), current.archive()))).await
    }

    /// Deletes a discount that no order refers to.
    pub async fn delete(&self, staff: &Staff, id: DiscountId) -> Result<(), DiscountError> {
        staff.require(Permission::edit(Resource::Discounts))?;
        staff.require_own(self.discounts.find(id).await?)?;
        self.discounts.delete(Stamp::of(staff, self.clock.now()), id).await
    }

    /// Applies a change with retries: after a concurrent change it is decided again on the new version, so that neither
    /// is lost.
    async fn rewrite(
        &self,
        staff: &Staff,
        id: DiscountId,
        decide: impl Fn(&Discount) -> Result<(DiscountTerms, DiscountStatus), DiscountRefusal> + Send + Sync,
    ) -> Result<Discount, DiscountError> {
        staff.require(Permission::edit(Resource::Discounts))?;
        for _ in 0..ATTEMPTS {
            let current: Discount = staff.require_own(self.discounts.find(id).await?)?;
            let (terms, status) = decide(&current)?;
            if terms == current.terms && status == current.status {
                return Ok(current);
            }
            let rewrite = DiscountRewrite { id, version: current.version, terms, status };
            match self.discounts.replace(Stamp::of(staff, self.clock.now()), rewrite).await {
                Err(DiscountError::Refused(DiscountRefusal::Stale)) => {}
                outcome => return outcome,
            }
        }
        Err(DiscountRefusal::Stale.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Edit, Period, StatusRefusal};
    use crate::ports::MockDiscountRepository;
    use chrono::{DateTime, TimeDelta, Utc};
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{
        AccessDenied, DiscountTarget, DiscountValue, FixedClock, Money, Name, ProjectId, ProjectScoped,
    };

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn stored(status: DiscountStatus, ends_in: i64) -> Discount {
        Discount {
            id: DiscountId::new(7).unwrap(),
            terms: DiscountTerms {
                name: Name::parse("Spring").unwrap(),
                description: None,
                value: DiscountValue::Percent(1_000),
                target: DiscountTarget::Cart,
                minimum_sum: Money::ZERO,
                period: Period::new(None, Some(NOW + TimeDelta::seconds(ends_in))).unwrap(),
                promo: None,
            },
            target_name: None,
            status,
            used_count: 0,
            used_amount: Money::ZERO,
            version: 1,
            created_at: NOW,
            updated_at: NOW,
        }
    }

    fn service(discounts: MockDiscountRepository) -> DiscountService {
        DiscountService { discounts: Arc::new(discounts), clock: Arc::new(FixedClock::at(NOW)) }
    }

    fn of(project: i64, discount: Discount) -> ProjectScoped<Discount> {
        ProjectScoped::new(ProjectId::new(project).unwrap(), discount)
    }

    fn finds(discount: ProjectScoped<Discount>) -> MockDiscountRepository {
        let mut discounts = MockDiscountRepository::new();
        discounts.expect_find().returning(move |_| Ok(Some(discount.clone())));
        discounts
    }

    fn editor() -> Staff {
        staff_with([Permission::edit(Resource::Discounts)])
    }

    fn id() -> DiscountId {
        DiscountId::new(7).unwrap()
    }

    #[tokio::test]
    async fn an_archived_discount_cannot_be_changed() {
        let archived = || service(finds(of(1, stored(DiscountStatus::Archived, 10))));
        for refused in [
            archived().pause(&editor(), id()).await,
            archived().activate(&editor(), id()).await,
            archived().update(&editor(), id(), DiscountChange::default()).await,
        ] {
            assert!(
                matches!(refused, Err(DiscountError::Refused(DiscountRefusal::Status(StatusRefusal::Archived)))),
                "{refused:?}"
            );
        }
        let again = archived().archive(&editor(), id()).await.unwrap();
        assert_eq!(again.status, DiscountStatus::Archived);
    }

    #[tokio::test]
    async fn an_ended_discount_cannot_be_activated() {
        let over = service(finds(of(1, stored(DiscountStatus::Paused, 0))));
        let refused = over.activate(&editor(), id()).await;
        assert!(matches!(refused, Err(DiscountError::Refused(DiscountRefusal::Status(StatusRefusal::PeriodOver)))));
        let last_moment = service(finds(of(1, stored(DiscountStatus::Active, 1))));
        assert!(last_moment.activate(&editor(), id()).await.is_ok(), "active already, so nothing is written");
    }

    #[tokio::test]
    async fn a_stale_change_is_decided_again_on_the_new_state() {
        let mut discounts = MockDiscountRepository::new();
        let paused = Discount { version: 2, ..stored(DiscountStatus::Paused, 10) };
        let mut reads = vec![of(1, paused), of(1, stored(DiscountStatus::Active, 10))];
        discounts.expect_find().times(2).returning(move |_| Ok(reads.pop()));
        discounts.expect_replace().times(2).returning(|_, rewrite| {
            if rewrite.version == 1 {
                return Err(DiscountRefusal::Stale.into());
            }
            Ok(Discount { terms: rewrite.terms, version: 3, ..stored(rewrite.status, 10) })
        });
        let change = DiscountChange { name: Edit::Set(Name::parse("New").unwrap()), ..DiscountChange::default() };
        let changed = service(discounts).update(&editor(), id(), change).await.unwrap();
        assert_eq!((changed.terms.name.as_str(), changed.status), ("New", DiscountStatus::Paused));
    }

    #[tokio::test]
    async fn foreign_employees_and_viewers_cannot_change_discounts() {
        let viewer = staff_with([Permission::view(Resource::Discounts), Permission::create(Resource::Discounts)]);
        let refused = service(MockDiscountRepository::new()).pause(&viewer, id()).await;
        assert!(matches!(refused, Err(DiscountError::Denied(AccessDenied::MissingPermission(_)))));
        let foreign = of(2, stored(DiscountStatus::Active, 10));
        let refused = service(finds(foreign)).delete(&editor(), id()).await;
        assert!(matches!(refused, Err(DiscountError::Denied(AccessDenied::ForeignProject))));
    }
}
