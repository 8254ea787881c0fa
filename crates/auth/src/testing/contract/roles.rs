use futures_util::future::join_all;
use kontor_kernel::{Edit, Name, ProjectId, RecordError, Stamp};

use super::permissions::defined;
use super::{Fixture, noon, owner, signed_in};
use crate::RoleRefusal;
use crate::model::{RoleChange, RoleChoice, RoleDraft, StaffRole, TokenOwner};
use crate::ports::{PermissionRepository, RoleRepository, StaffRepository as _, TokenRepository as _};

pub(super) fn stamp(project: ProjectId) -> Stamp {
    Stamp::of_system(project, noon())
}

pub(super) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// A role with every permission that roles of the project can have.
pub(super) async fn role<F: Fixture<Store: RoleRepository>>(fixture: &F, project: ProjectId) -> StaffRole {
    let store = fixture.store();
    let known = RoleRepository::permissions(&*store, project).await.unwrap();
    let permissions = known.iter().map(|permission| permission.id).collect();
    let draft = RoleDraft { name: name("Clerk"), description: None, permissions };
    RoleRepository::insert(&*store, stamp(project), draft).await.unwrap()
}

/// Under concurrent calls, a role is changed once per version. Other projects neither change nor delete it.
pub async fn a_role_is_changed_once_per_version<F: Fixture<Store: RoleRepository>>(fixture: &F) {
    let (store, [app, _], [elsewhere, _]) = (fixture.store(), fixture.apps().await, fixture.apps().await);
    let (project, other) = (app.project_id, elsewhere.project_id);
    let seen = role(fixture, project).await;
    let renamed = RoleChange { name: Edit::Set(name("Cashier")), ..RoleChange::default() };
    let update = |project| RoleRepository::update(&*store, stamp(project), seen.id, seen.version, renamed.clone());
    assert!(update(other).await.is_err());
    assert!(RoleRepository::delete(&*store, other, seen.id, seen.version).await.is_err());
    let outcomes = join_all((0..8).map(|_| update(project))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let stale = outcomes.iter().filter(|outcome| matches!(outcome, Err(RecordError::Refused(RoleRefusal::Stale))));
    assert_eq!(stale.count(), 7, "{outcomes:?}");
    let found = RoleRepository::find(&*store, seen.id).await.unwrap().unwrap().within(project).unwrap();
    assert_eq!((found.name, found.permissions.len()), (name("Cashier"), seen.permissions.len()));
    let refused = RoleRepository::delete(&*store, project, seen.id, seen.version).await;
    assert!(matches!(refused, Err(RecordError::Refused(RoleRefusal::Stale))), "{refused:?}");
    RoleRepository::delete(&*store, project, seen.id, found.version).await.unwrap();
    assert!(RoleRepository::find(&*store, seen.id).await.unwrap().is_none());
}

/// A token grants what the role of the employee grants now. A role that an employee has is not deleted.
pub async fn a_role_grants_its_permissions<F: Fixture<Store: RoleRepository>>(fixture: &F) {
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let project = app.project_id;
    let (_, clerk) = (owner(fixture, project).await, owner(fixture, project).await);
    let role = role(fixture, project).await;
    store.assign_role(clerk, RoleChoice::Role(role.id), noon()).await.unwrap();
    let token = signed_in(fixture, clerk, "hash").await.unwrap();
    let granted = async || store.staff_token(token).await.unwrap().unwrap().permissions;
    assert!(!granted().await.is_empty());
    let refused = RoleRepository::delete(&*store, project, role.id, role.version).await;
    assert!(matches!(refused, Err(RecordError::Refused(RoleRefusal::InUse))), "{refused:?}");
    let emptied = RoleChange { permissions: Edit::Set(Vec::new()), ..RoleChange::default() };
    RoleRepository::update(&*store, stamp(project), role.id, role.version, emptied).await.unwrap();
    assert!(granted().await.is_empty());
}

/// The owner's role has every permission of its project. It is neither changed nor deleted.
pub async fn the_owners_role_stays<F: Fixture<Store: RoleRepository>>(fixture: &F) {
    let (store, [app, _], [elsewhere, _]) = (fixture.store(), fixture.apps().await, fixture.apps().await);
    let roles: &dyn RoleRepository = &*store;
    let project = app.project_id;
    owner(fixture, project).await;
    let clerks = role(fixture, project).await;
    let listed = roles.list(project).await.unwrap();
    let owners = listed.first().unwrap();
    assert_eq!((owners.is_owner, listed.get(1), listed.len()), (true, Some(&clerks), 2), "oldest first");
    assert_eq!(owners.permissions, roles.permissions(project).await.unwrap());
    let emptied = RoleChange { permissions: Edit::Set(Vec::new()), ..RoleChange::default() };
    let refused = roles.update(stamp(project), owners.id, owners.version, emptied).await;
    assert!(matches!(refused, Err(RecordError::Refused(RoleRefusal::Stale))), "{refused:?}");
    let refused = roles.delete(project, owners.id, owners.version).await;
    assert!(matches!(refused, Err(RecordError::Refused(RoleRefusal::Stale))), "{refused:?}");
    assert_eq!(roles.list(project).await.unwrap(), listed);
    assert_eq!(roles.list(elsewhere.project_id).await.unwrap(), []);
}

/// A token has the project-defined permissions of its role, until it is revoked. The owner's role has all of them.
pub async fn a_token_has_permissions_of_its_project<F>(fixture: &F)
where
    F: Fixture<Store: RoleRepository + PermissionRepository>,
{
    let (store, [app, _], [elsewhere, _]) = (fixture.store(), fixture.apps().await, fixture.apps().await);
    let roles: &dyn RoleRepository = &*store;
    let project = app.project_id;
    let own = defined(fixture, project, "view-reports").await.id;
    defined(fixture, elsewhere.project_id, "view-reports").await;
    let (boss, clerk) = (owner(fixture, project).await, owner(fixture, project).await);
    let draft = RoleDraft { name: name("Trainee"), description: None, permissions: Vec::new() };
    let plain = roles.insert(stamp(project), draft).await.unwrap();
    store.assign_role(clerk, RoleChoice::Role(plain.id), noon()).await.unwrap();
    let bosses = signed_in(fixture, boss, "hash").await.unwrap();
    let clerks = signed_in(fixture, clerk, "hash").await.unwrap();
    let held = async |token| roles.project_permissions(token).await.unwrap();
    assert_eq!(held(bosses).await, [own].into());
    assert!(held(clerks).await.is_empty());
    let with = RoleChange { permissions: Edit::Set(vec![own]), ..RoleChange::default() };
    roles.update(stamp(project), plain.id, plain.version, with).await.unwrap();
    assert_eq!(held(clerks).await, [own].into());
    store.revoke(TokenOwner::Staff(clerk), clerks).await.unwrap();
    assert!(held(clerks).await.is_empty());
}
