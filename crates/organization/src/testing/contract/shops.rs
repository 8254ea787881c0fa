use futures_util::future::join_all;
use kontor_kernel::{DeletableRepository, Edit, RecordError, RecordRepository};

use super::{Fixture, branch, name, shop, shop_details, stamp};
use crate::model::{Branch, ShopChange, StaffShop};
use crate::ports::ShopRepository;
use crate::{BranchRefusal, ShopRefusal};

/// A shop is changed and deleted by its project, and refers to a branch of it. A branch with a shop stays.
pub async fn a_shop_has_a_branch_of_its_project<F>(fixture: &F)
where
    F: Fixture<Store: DeletableRepository<StaffShop>>,
{
    let (store, project, other) = (fixture.store(), fixture.project().await, fixture.project().await);
    let (id, foreign) = (shop(fixture, project).await, branch(fixture, other).await);
    let refused = RecordRepository::<StaffShop>::insert(&*store, stamp(project), shop_details(foreign)).await;
    assert!(matches!(refused, Err(RecordError::Refused(ShopRefusal::UnknownBranch))), "{refused:?}");
    let before = RecordRepository::<StaffShop>::find(&*store, id).await.unwrap().unwrap().within(project).unwrap();
    let moved = ShopChange { branch_id: Edit::Set(foreign), ..ShopChange::default() };
    let renamed = ShopChange { name: Edit::Set(name("Quay")), ..ShopChange::default() };
    let update = |project, change| RecordRepository::<StaffShop>::update(&*store, stamp(project), id, change);
    let refused = update(project, moved).await;
    assert!(matches!(refused, Err(RecordError::Refused(ShopRefusal::UnknownBranch))), "{refused:?}");
    let refused = update(other, renamed.clone()).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    let listed = RecordRepository::<StaffShop>::list(&*store, project).await.unwrap();
    assert_eq!(listed, std::slice::from_ref(&before), "a refused change changes nothing");
    let changed = update(project, renamed).await.unwrap();
    assert_eq!((changed.details.name, changed.version), (name("Quay"), before.version + 1));
    let refused = DeletableRepository::<Branch>::delete(&*store, stamp(project), before.details.branch_id).await;
    assert!(matches!(refused, Err(RecordError::Refused(BranchRefusal::InUse))), "{refused:?}");
    let delete = |project| DeletableRepository::<StaffShop>::delete(&*store, stamp(project), id);
    let refused = delete(other).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    let outcomes = join_all((0..4).map(|_| delete(project))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let gone = outcomes.iter().filter(|outcome| matches!(outcome, Err(RecordError::NotFound)));
    assert_eq!(gone.count(), 3, "{outcomes:?}");
    assert_eq!(RecordRepository::<StaffShop>::find(&*store, id).await.unwrap(), None);
}

/// Customers see the active shops of their project, oldest first.
pub async fn customers_see_active_shops<F>(fixture: &F)
where
    F: Fixture<Store: DeletableRepository<StaffShop> + ShopRepository>,
{
    let (store, project, other) = (fixture.store(), fixture.project().await, fixture.project().await);
    let (first, second) = (shop(fixture, project).await, shop(fixture, project).await);
    let third = shop(fixture, project).await;
    let shown = async || {
        let shops = ShopRepository::list(&*store, project).await.unwrap();
        shops.iter().map(|shop| shop.id).collect::<Vec<_>>()
    };
    assert_eq!(shown().await, [first, second, third]);
    let hidden = ShopChange { is_active: Edit::Set(false), ..ShopChange::default() };
    RecordRepository::<StaffShop>::update(&*store, stamp(project), second, hidden).await.unwrap();
    DeletableRepository::<StaffShop>::delete(&*store, stamp(project), third).await.unwrap();
    assert_eq!(shown().await, [first]);
    for hidden in [second, third] {
        assert_eq!(ShopRepository::find(&*store, project, hidden).await.unwrap(), None);
    }
    let found = ShopRepository::find(&*store, project, first).await.unwrap().unwrap();
    assert_eq!((found.id, found.name), (first, name("Shop")));
    assert_eq!(ShopRepository::find(&*store, other, first).await.unwrap(), None);
    assert_eq!(ShopRepository::list(&*store, other).await.unwrap(), []);
}
