use futures_util::future::join_all;
use kontor_kernel::{Link, RecordError, ScreenId, StaffMenuId};

use super::{Fixture, name, stamp};
use crate::StaffMenuRefusal;
use crate::model::{StaffMenuItem, StaffMenuItems};
use crate::ports::{MenuOwner, StaffMenuStore};

fn items(screen_id: Option<ScreenId>) -> StaffMenuItems {
    let item = StaffMenuItem { screen_id, name: name("Reports"), url: Link::parse("/reports").unwrap() };
    StaffMenuItems::new(vec![item]).unwrap()
}

/// Under concurrent calls, a name belongs to one menu of a project. Unknown screens are refused.
pub async fn a_menu_name_is_unique_in_its_project<F: Fixture<Store: StaffMenuStore>>(fixture: &F) {
    let (store, project, other) = (fixture.store(), fixture.project().await, fixture.project().await);
    let user = fixture.employee(project).await;
    let insert = |project, screen| StaffMenuStore::insert(&*store, stamp(project), name("Sales"), items(screen));
    let outcomes = join_all((0..4).map(|_| insert(project, None))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let taken =
        outcomes.iter().filter(|outcome| matches!(outcome, Err(RecordError::Refused(StaffMenuRefusal::NameTaken))));
    assert_eq!(taken.count(), 3, "{outcomes:?}");
    let unknown = ScreenId::new(i64::from(u32::MAX)).unwrap();
    let refused = insert(other, Some(unknown)).await;
    let is_unknown = matches!(refused, Err(RecordError::Refused(StaffMenuRefusal::UnknownScreen(0))));
    assert!(is_unknown, "{refused:?}");
    let known = store.screens().await.unwrap().first().map(|screen| screen.id);
    insert(other, known).await.unwrap();
    assert_eq!(StaffMenuStore::list(&*store, project, user).await.unwrap().len(), 1);
}

/// An employee and a project have one menu each, of their own project.
pub async fn a_menu_is_used_in_its_project<F: Fixture<Store: StaffMenuStore>>(fixture: &F) {
    let (store, project, other) = (fixture.store(), fixture.project().await, fixture.project().await);
    let user = fixture.employee(project).await;
    let insert = |project, text| StaffMenuStore::insert(&*store, stamp(project), name(text), items(None));
    let (sales, stock) = (insert(project, "Sales").await.unwrap(), insert(project, "Stock").await.unwrap());
    let foreign = insert(other, "Sales").await.unwrap();
    let attach = |owner, menu: Option<StaffMenuId>| store.attach(project, owner, menu);
    let choices = async || {
        let menus = StaffMenuStore::list(&*store, project, user).await.unwrap();
        menus.iter().map(|menu| (menu.id, menu.is_project, menu.is_own)).collect::<Vec<_>>()
    };
    assert_eq!(choices().await, [(sales.id, false, false), (stock.id, false, false)]);
    attach(MenuOwner::Project, Some(sales.id)).await.unwrap();
    for menu in [&sales, &stock] {
        attach(MenuOwner::User(user), Some(menu.id)).await.unwrap();
    }
    let chosen = [(sales.id, true, false), (stock.id, false, true)];
    assert_eq!(choices().await, chosen);
    for owner in [MenuOwner::Project, MenuOwner::User(user)] {
        let refused = attach(owner, Some(foreign.id)).await;
        assert!(matches!(refused, Err(RecordError::Refused(StaffMenuRefusal::UnknownMenu))), "{refused:?}");
    }
    assert_eq!(choices().await, chosen, "a refused change changes nothing");
    assert_eq!(store.of_project(project).await.unwrap().map(|menu| menu.id), Some(sales.id));
    assert_eq!(store.of_project(other).await.unwrap(), None);
    attach(MenuOwner::User(user), None).await.unwrap();
    assert_eq!(choices().await, [(sales.id, true, false), (stock.id, false, false)]);
    let foreigner = store.permissions_of(user).await.unwrap().unwrap();
    assert!(foreigner.within(other).is_none());
}
