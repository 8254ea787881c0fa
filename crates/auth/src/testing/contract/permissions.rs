use futures_util::future::join_all;
use kontor_kernel::{Edit, Line, ProjectId, ProjectScoped, RecordError, ScreenId};

use super::Fixture;
use super::roles::{role, stamp};
use crate::model::{
    FoundPermission, GrantedPermission, PermissionChange, PermissionDraft, PermissionName, RoleChange, RoleDraft,
};
use crate::ports::{PermissionRepository, RoleRepository};
use crate::{PermissionError, PermissionRefusal, RoleRefusal};

/// Outcome of storing a permission.
type Defined = Result<GrantedPermission, PermissionError>;

fn named(text: &str) -> PermissionName {
    PermissionName::parse(text).unwrap()
}

/// A permission on the first screen.
async fn draft<F: Fixture<Store: PermissionRepository>>(fixture: &F, name: &str) -> PermissionDraft {
    let screens = fixture.store().screens().await.unwrap();
    PermissionDraft { name: named(name), screen_id: screens.first().unwrap().id, description: None }
}

/// A permission that the project has defined.
pub(super) async fn defined<F: Fixture<Store: PermissionRepository>>(
    fixture: &F,
    project: ProjectId,
    name: &str,
) -> GrantedPermission {
    let draft = draft(fixture, name).await;
    PermissionRepository::insert(&*fixture.store(), project, draft).await.unwrap()
}

/// Under concurrent calls, a project defines a name once. Another project may define it, too.
pub async fn a_permission_name_is_unique_in_its_project<F: Fixture<Store: PermissionRepository>>(fixture: &F) {
    let (store, [app, _], [elsewhere, _]) = (fixture.store(), fixture.apps().await, fixture.apps().await);
    let permissions: &dyn PermissionRepository = &*store;
    let (project, reports) = (app.project_id, draft(fixture, "view-reports").await);
    let outcomes = join_all((0..8).map(|_| permissions.insert(project, reports.clone()))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let is_taken = |outcome: &Defined| matches!(outcome, Err(RecordError::Refused(PermissionRefusal::NameTaken)));
    assert_eq!(outcomes.iter().filter(|outcome| is_taken(outcome)).count(), 7, "{outcomes:?}");
    permissions.insert(elsewhere.project_id, reports).await.unwrap();
    let sales = defined(fixture, project, "view-sales").await;
    let renamed = |name: &str| PermissionChange { name: Edit::Set(named(name)), ..PermissionChange::default() };
    let refused = permissions.update(project, sales.id, renamed("view-reports")).await;
    assert!(is_taken(&refused), "{refused:?}");
    assert_eq!(permissions.update(project, sales.id, renamed("view-sales")).await.unwrap(), sales);
    let changed = permissions.update(project, sales.id, renamed("edit-sales")).await.unwrap();
    assert_eq!(changed, GrantedPermission { name: "edit-sales".to_owned(), ..sales });
}

/// A permission is listed and changed in the project that defined it. Those of the service are not changed.
pub async fn a_permission_belongs_to_its_project<F: Fixture<Store: PermissionRepository>>(fixture: &F) {
    let (store, [app, _], [elsewhere, _]) = (fixture.store(), fixture.apps().await, fixture.apps().await);
    let permissions: &dyn PermissionRepository = &*store;
    let (project, other) = (app.project_id, elsewhere.project_id);
    let own = defined(fixture, project, "view-reports").await;
    let found = permissions.find(own.id).await.unwrap();
    assert_eq!(found, Some(FoundPermission::Project(ProjectScoped::new(project, own.clone()))));
    let (ours, theirs) = (permissions.list(project).await.unwrap(), permissions.list(other).await.unwrap());
    assert!(ours.is_sorted_by_key(|permission| permission.id), "{ours:?}");
    assert!(ours.contains(&own) && !theirs.contains(&own), "{ours:?}, {theirs:?}");
    let system = theirs.first().unwrap();
    assert_eq!(permissions.find(system.id).await.unwrap(), Some(FoundPermission::System(system.clone())));
    let described =
        PermissionChange { description: Edit::Set(Line::parse("Plans").ok()), ..PermissionChange::default() };
    for (caller, id) in [(other, own.id), (project, system.id)] {
        for change in [PermissionChange::default(), described.clone()] {
            let refused = permissions.update(caller, id, change).await;
            assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
        }
        let refused = permissions.delete(caller, id).await;
        assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    }
    assert_eq!(permissions.update(project, own.id, PermissionChange::default()).await.unwrap(), own);
    assert_eq!(permissions.list(project).await.unwrap(), ours);
    assert_eq!(permissions.update(project, own.id, described).await.unwrap().description, "Plans");
}

/// A permission is on a screen that exists.
pub async fn a_permission_has_a_screen<F: Fixture<Store: PermissionRepository>>(fixture: &F) {
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let permissions: &dyn PermissionRepository = &*store;
    let (project, unknown) = (app.project_id, ScreenId::new(i64::from(u32::MAX)).unwrap());
    let screens = permissions.screens().await.unwrap();
    assert!(screens.is_sorted_by_key(|screen| screen.id), "{screens:?}");
    let (first, last) = (screens.first().unwrap(), screens.last().unwrap());
    assert_eq!(permissions.screen(last.id).await.unwrap().as_ref(), Some(last));
    assert_eq!(permissions.screen(unknown).await.unwrap(), None);
    let is_unknown = |outcome: &Defined| matches!(outcome, Err(RecordError::Refused(PermissionRefusal::UnknownScreen)));
    let nowhere = PermissionDraft { screen_id: unknown, ..draft(fixture, "view-reports").await };
    let refused = permissions.insert(project, nowhere).await;
    assert!(is_unknown(&refused), "{refused:?}");
    let own = defined(fixture, project, "view-reports").await;
    assert_eq!(own.screen, *first);
    let moved = |screen| PermissionChange { screen_id: Edit::Set(screen), ..PermissionChange::default() };
    let refused = permissions.update(project, own.id, moved(unknown)).await;
    assert!(is_unknown(&refused), "{refused:?}");
    assert_eq!(permissions.update(project, own.id, moved(last.id)).await.unwrap().screen, *last);
}

/// A permission that a role has is not deleted, otherwise once. A role does not get a deleted permission.
pub async fn a_permission_of_a_role_stays<F>(fixture: &F)
where
    F: Fixture<Store: PermissionRepository + RoleRepository>,
{
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let permissions: &dyn PermissionRepository = &*store;
    let roles: &dyn RoleRepository = &*store;
    let project = app.project_id;
    let own = defined(fixture, project, "view-reports").await;
    let clerks = role(fixture, project).await;
    assert!(clerks.permissions.contains(&own), "{clerks:?}");
    let refused = permissions.delete(project, own.id).await;
    assert!(matches!(refused, Err(RecordError::Refused(PermissionRefusal::InUse))), "{refused:?}");
    let with = |ids| RoleChange { permissions: Edit::Set(ids), ..RoleChange::default() };
    let emptied = roles.update(stamp(project), clerks.id, clerks.version, with(Vec::new())).await.unwrap();
    let outcomes = join_all((0..4).map(|_| permissions.delete(project, own.id))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let gone = outcomes.iter().filter(|outcome| matches!(outcome, Err(RecordError::NotFound)));
    assert_eq!(gone.count(), 3, "{outcomes:?}");
    assert_eq!(permissions.find(own.id).await.unwrap(), None);
    let draft = RoleDraft { name: clerks.name, description: None, permissions: vec![own.id] };
    for refused in [
        roles.update(stamp(project), clerks.id, emptied.version, with(vec![own.id])).await,
        roles.insert(stamp(project), draft).await,
    ] {
        assert!(matches!(refused, Err(RecordError::Refused(RoleRefusal::Stale))), "{refused:?}");
    }
    assert_eq!(roles.list(project).await.unwrap(), [emptied]);
}
