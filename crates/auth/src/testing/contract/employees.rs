use std::collections::BTreeSet;

use futures_util::future::join_all;
use kontor_kernel::history::Author;
use kontor_kernel::{
    BranchId, DepartmentId, Edit, Email, PageRequest, Permission, ProjectId, ProjectScoped, RecordError, Resource,
    RoleId, Stamp, UserId,
};

use super::passwords::{credentials, leased, recipient, signed_in_by_mail, temporary};
use super::roles::{name, role, stamp};
use super::{Fixture, newcomer, noon, owner, signed_in};
use crate::model::{
    Employee, EmployeeEditor, EmployeeFilter, EmployeeReference, EmployeeUpdate, HeldPermissions, NewEmployee,
    PasswordRequest, RoleChoice, RoleDraft,
};
use crate::ports::{
    DirectoryRepository, EmployeeRepository, PasswordRequests, RoleRepository, StaffRepository as _,
    TokenRepository as _,
};
use crate::{EmployeeError, EmployeeRefusal};

/// Caller with these permissions.
fn editor(project: ProjectId, permissions: impl IntoIterator<Item = Permission>) -> EmployeeEditor {
    let held = HeldPermissions::new(permissions.into_iter().collect(), BTreeSet::new());
    EmployeeEditor { stamp: stamp(project), held }
}

/// Caller with every permission of the service.
fn admin(project: ProjectId) -> EmployeeEditor {
    editor(project, Permission::all())
}

/// Employee with every permission of the service, as a caller.
fn employee(project: ProjectId, user: UserId) -> EmployeeEditor {
    EmployeeEditor { stamp: Stamp { author: Author::User(user), ..stamp(project) }, ..admin(project) }
}

fn with_role(role: RoleId) -> EmployeeUpdate {
    EmployeeUpdate { role_id: Edit::Set(role), ..EmployeeUpdate::default() }
}

fn sick() -> EmployeeUpdate {
    EmployeeUpdate { is_sick: Edit::Set(true), ..EmployeeUpdate::default() }
}

fn refusal(outcome: Result<Employee, EmployeeError>) -> EmployeeRefusal {
    match outcome {
        Err(RecordError::Refused(refusal)) => refusal,
        outcome => panic!("{outcome:?}"),
    }
}

/// Under concurrent calls in several projects, a login has one employee. A mail with a temporary password is queued for
/// the stored employee, and none for a refused one.
pub async fn a_login_has_one_employee<F>(fixture: &F)
where
    F: Fixture<Store: EmployeeRepository + PasswordRequests>,
{
    let (store, [app, _], [elsewhere, _]) = (fixture.store(), fixture.apps().await, fixture.apps().await);
    let employees: &dyn EmployeeRepository = &*store;
    let projects = [app.project_id, elsewhere.project_id];
    for project in projects {
        owner(fixture, project).await;
    }
    let new = newcomer(app.project_id, RoleChoice::Owner);
    let insert = |project_id| employees.insert(admin(project_id), NewEmployee { project_id, ..new.clone() });
    let outcomes = join_all(projects.into_iter().cycle().take(8).map(insert)).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let taken =
        outcomes.iter().filter(|outcome| matches!(outcome, Err(RecordError::Refused(EmployeeRefusal::LoginTaken))));
    assert_eq!(taken.count(), 7, "{outcomes:?}");
    let stored = outcomes.into_iter().find_map(Result::ok).unwrap();
    let found = employees.find(stored.id).await.unwrap();
    assert_eq!(found, Some(ProjectScoped::new(stored.project_id, stored.clone())));
    let unheld = newcomer(app.project_id, RoleChoice::Owner);
    let refused = refusal(employees.insert(editor(app.project_id, []), unheld.clone()).await);
    assert!(matches!(refused, EmployeeRefusal::PermissionsNotHeld(_)), "{refused:?}");
    assert_eq!(store.credentials(&unheld.login, noon()).await.unwrap(), None);
    let request = PasswordRequest { login: new.login.clone(), requested_at: noon(), attempts: 1 };
    assert_eq!(leased(fixture, "worker", noon()).await, Some(request));
    assert_eq!(leased(fixture, "worker", noon()).await, None);
}

/// An employee has a role, a branch and a department of the project. Other projects do not change the employee.
pub async fn an_employee_belongs_to_one_project<F>(fixture: &F)
where
    F: Fixture<Store: EmployeeRepository + RoleRepository>,
{
    let (store, [app, _], [elsewhere, _]) = (fixture.store(), fixture.apps().await, fixture.apps().await);
    let employees: &dyn EmployeeRepository = &*store;
    let (project, other) = (app.project_id, elsewhere.project_id);
    let foreign = role(fixture, other).await.id;
    let (_, anna) = (owner(fixture, project).await, owner(fixture, project).await);
    let before = employees.find(anna).await.unwrap();
    let missing = i64::from(u32::MAX);
    let (branch_id, department_id) = (BranchId::new(missing).ok(), DepartmentId::new(missing).ok());
    let new = NewEmployee { branch_id, department_id, ..newcomer(project, RoleChoice::Role(foreign)) };
    let change = EmployeeUpdate {
        branch_id: Edit::Set(branch_id),
        department_id: Edit::Set(department_id),
        ..with_role(foreign)
    };
    let unknown = vec![EmployeeReference::Role, EmployeeReference::Branch, EmployeeReference::Department];
    for outcome in [employees.insert(admin(project), new).await, employees.update(admin(project), anna, change).await] {
        assert_eq!(refusal(outcome), EmployeeRefusal::UnknownReferences(unknown.clone()));
    }
    let absent = UserId::new(missing).unwrap();
    for outcome in [
        employees.update(admin(other), anna, sick()).await,
        employees.set_banned(admin(other), anna, true).await,
        employees.update(admin(project), absent, sick()).await,
        employees.set_banned(admin(project), absent, true).await,
    ] {
        assert!(matches!(outcome, Err(RecordError::NotFound)), "{outcome:?}");
    }
    assert_eq!(employees.find(absent).await.unwrap(), None);
    assert_eq!(employees.find(anna).await.unwrap(), before);
}

/// Callers do not assign permissions that they lack, and do not change employees with more permissions. They change
/// neither their own role nor their own ban.
pub async fn callers_assign_permissions_that_they_hold<F>(fixture: &F)
where
    F: Fixture<Store: EmployeeRepository + RoleRepository>,
{
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let employees: &dyn EmployeeRepository = &*store;
    let project = app.project_id;
    let (boss, clerk) = (owner(fixture, project).await, owner(fixture, project).await);
    let strong = role(fixture, project).await;
    let draft = RoleDraft { name: name("Trainee"), description: None, permissions: Vec::new() };
    let plain = RoleRepository::insert(&*store, stamp(project), draft).await.unwrap();
    store.assign_role(clerk, RoleChoice::Role(plain.id), noon()).await.unwrap();
    let weak = || editor(project, [Permission::edit(Resource::Users)]);
    for outcome in [
        employees.insert(weak(), newcomer(project, RoleChoice::Role(strong.id))).await,
        employees.insert(weak(), newcomer(project, RoleChoice::Owner)).await,
        employees.update(weak(), clerk, with_role(strong.id)).await,
        employees.update(weak(), boss, sick()).await,
        employees.set_banned(weak(), boss, true).await,
        employees.set_banned(weak(), boss, false).await,
    ] {
        let refused = refusal(outcome);
        assert!(matches!(refused, EmployeeRefusal::PermissionsNotHeld(_)), "{refused:?}");
    }
    let own_role = employees.update(employee(project, clerk), clerk, with_role(strong.id)).await;
    assert_eq!(refusal(own_role), EmployeeRefusal::OwnRole);
    let own_account = employees.set_banned(employee(project, clerk), clerk, true).await;
    assert_eq!(refusal(own_account), EmployeeRefusal::OwnAccount);
    assert!(employees.update(weak(), clerk, sick()).await.unwrap().is_sick);
    let promoted = employees.update(admin(project), clerk, with_role(strong.id)).await.unwrap();
    assert_eq!((promoted.role.id, promoted.permissions), (strong.id, strong.permissions));
    let new = newcomer(project, RoleChoice::Role(plain.id));
    let stored = employees.insert(employee(project, boss), new).await.unwrap();
    assert_eq!((stored.role.id, stored.creator.map(|creator| creator.id)), (plain.id, Some(boss)));
}

/// Under concurrent changes by colleagues, a project keeps an owner who is not banned.
pub async fn colleagues_keep_an_owner<F>(fixture: &F)
where
    F: Fixture<Store: EmployeeRepository + RoleRepository>,
{
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let employees: &dyn EmployeeRepository = &*store;
    let project = app.project_id;
    let (anna, boris) = (owner(fixture, project).await, owner(fixture, project).await);
    let demoted = with_role(role(fixture, project).await.id);
    let changes = [employees.set_banned(admin(project), anna, true), employees.update(admin(project), boris, demoted)];
    let outcomes = join_all(changes).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let last =
        outcomes.iter().filter(|outcome| matches!(outcome, Err(RecordError::Refused(EmployeeRefusal::LastOwner))));
    assert_eq!(last.count(), 1, "{outcomes:?}");
}

/// The commit that bans an employee revokes their tokens and temporary password.
pub async fn a_banned_employee_loses_access<F>(fixture: &F)
where
    F: Fixture<Store: EmployeeRepository + PasswordRequests>,
{
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let employees: &dyn EmployeeRepository = &*store;
    let project = app.project_id;
    let (_, anna) = (owner(fixture, project).await, owner(fixture, project).await);
    let (login, recipient) = recipient(fixture, anna).await;
    assert!(store.store(temporary(&recipient)).await.unwrap());
    let lost = signed_in(fixture, anna, "hash").await.unwrap();
    assert!(employees.set_banned(admin(project), anna, true).await.unwrap().is_banned);
    assert!(store.staff_token(lost).await.unwrap().is_none());
    assert_eq!(signed_in(fixture, anna, "hash").await, None);
    assert!(!employees.set_banned(admin(project), anna, false).await.unwrap().is_banned);
    assert!(store.staff_token(lost).await.unwrap().is_none(), "they must sign in again");
    assert_eq!(credentials(fixture, &login, noon()).await.temporary_hash, None);
    assert!(signed_in(fixture, anna, "hash").await.is_some());
}

/// A change to another address removes the temporary password that was sent to the former one.
pub async fn a_temporary_password_ends_with_its_address<F>(fixture: &F)
where
    F: Fixture<Store: EmployeeRepository + PasswordRequests>,
{
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let employees: &dyn EmployeeRepository = &*store;
    let project = app.project_id;
    let anna = owner(fixture, project).await;
    let (login, recipient) = recipient(fixture, anna).await;
    assert!(store.store(temporary(&recipient)).await.unwrap());
    let to = |email| EmployeeUpdate { email: Edit::Set(email), ..EmployeeUpdate::default() };
    employees.update(admin(project), anna, to(recipient.email.clone())).await.unwrap();
    assert_eq!(credentials(fixture, &login, noon()).await.temporary_hash.as_deref(), Some("temporary"));
    let next = Email::parse("next@shop.example").unwrap();
    assert_eq!(employees.update(admin(project), anna, to(next.clone())).await.unwrap().email, next);
    assert_eq!(credentials(fixture, &login, noon()).await.temporary_hash, None);
    assert_eq!(signed_in_by_mail(fixture, anna, "temporary").await, None);
    assert!(!store.store(temporary(&recipient)).await.unwrap());
    assert!(signed_in(fixture, anna, "hash").await.is_some());
}

/// Both lists have the employees of one project, oldest first, by page. Words are found in any case and order.
pub async fn a_directory_has_the_employees_of_its_project<F: Fixture<Store: DirectoryRepository>>(fixture: &F) {
    let (store, [app, _], [elsewhere, _]) = (fixture.store(), fixture.apps().await, fixture.apps().await);
    let directory: &dyn DirectoryRepository = &*store;
    let project = app.project_id;
    let anna = owner(fixture, project).await;
    let new = NewEmployee { first_name: name("Boris"), ..newcomer(project, RoleChoice::Owner) };
    let boris = store.insert_employee(new).await.unwrap();
    owner(fixture, elsewhere.project_id).await;
    let vera = owner(fixture, project).await;
    let listed = async |filter: EmployeeFilter, number: i64, size: i64| {
        let page = PageRequest::new(number, size, 100).unwrap();
        let full = directory.employees(project, filter.clone(), page).await.unwrap();
        let short = directory.colleagues(project, filter, page).await.unwrap();
        let ids: Vec<UserId> = full.items.iter().map(|employee| employee.id).collect();
        assert_eq!(short.items.iter().map(|colleague| colleague.id).collect::<Vec<_>>(), ids);
        assert_eq!(short.total, full.total);
        (full.total, ids)
    };
    let all = EmployeeFilter::default;
    assert_eq!(listed(all(), 1, 2).await, (3, vec![anna, boris]));
    assert_eq!(listed(all(), 2, 2).await, (3, vec![vera]));
    assert_eq!(listed(all(), 3, 2).await, (3, Vec::new()));
    let words = |text: &str| EmployeeFilter { query: Some(name(text)), active: false };
    assert_eq!(listed(words("KARENINA bor"), 1, 9).await, (1, vec![boris]));
    assert_eq!(listed(words("karenina"), 2, 2).await, (3, vec![vera]));
    assert_eq!(listed(words("%"), 1, 9).await, (0, Vec::new()));
    store.ban(boris, noon()).await.unwrap();
    assert_eq!(listed(EmployeeFilter { active: true, ..all() }, 1, 9).await, (2, vec![anna, vera]));
    let page = PageRequest::new(1, 1, 1).unwrap();
    let first = directory.employees(project, all(), page).await.unwrap().items.pop();
    assert_eq!(first, store.employee(anna).await.unwrap());
}
