//! Employees, managed by staff of their project.

use std::collections::BTreeSet;
use std::sync::Arc;

use kontor_adapter_diesel::testing::{TestDatabase, pool_options};
use kontor_adapter_diesel::{Database, database_tests};
use kontor_auth::model::{
    Employee, EmployeeEditor, EmployeeReference, EmployeeUpdate, HeldPermissions, NewEmployee, PasswordRecipient,
    RoleChoice, TemporaryPassword,
};
use kontor_auth::ports::{EmployeeRepository, PasswordRequests, StaffRepository, TokenRepository};
use kontor_auth::{EmployeeError, EmployeeRefusal};
use kontor_kernel::history::{Author, Histories, HistoryAction, HistoryEntry};
use kontor_kernel::{
    BranchId, DepartmentId, Edit, Email, PageRequest, Permission, ProjectId, Resource, RoleId, Stamp, UserId,
};

use crate::fixtures;
use crate::staff::{START, employee, role, sign_in};

fn editor(project_id: ProjectId, author: UserId, permissions: impl IntoIterator<Item = Permission>) -> EmployeeEditor {
    let stamp = Stamp { project_id, author: Author::User(author), at: START };
    EmployeeEditor { stamp, held: HeldPermissions::new(permissions.into_iter().collect(), BTreeSet::new()) }
}

fn with_role(role: RoleId) -> EmployeeUpdate {
    EmployeeUpdate { role_id: Edit::Set(role), ..EmployeeUpdate::default() }
}

/// A staff role with one permission.
async fn role_that(db: &TestDatabase, project: ProjectId, id: i64, permission: &str) -> RoleId {
    let made = role(db, project, id, "staff").await;
    fixtures::run(
        db,
        format!(
            "INSERT INTO role_permissions (project_id, role_id, permission_id) \
         SELECT {project}, {id}, id FROM permissions WHERE name = '{permission}'"
        ),
    )
    .await;
    made
}

fn refusal(outcome: Result<Employee, EmployeeError>) -> EmployeeRefusal {
    match outcome {
        Err(EmployeeError::Refused(refusal)) => refusal,
        outcome => panic!("{outcome:?}"),
    }
}

async fn history(db: &TestDatabase, project: ProjectId, id: UserId) -> Vec<(HistoryAction, Vec<String>)> {
    let page = PageRequest::new(1, 100, 100).unwrap();
    let entries = Histories::page(&db.database, project, Resource::Users.name(), id.get(), page).await.unwrap();
    let fields = |entry: HistoryEntry| {
        let names: Vec<String> = entry.changes.into_iter().map(|change| change.field).collect();
        (entry.action, names)
    };
    entries.items.into_iter().map(fields).collect()
}

database_tests! {
    async fn an_employee_is_stored_with_the_request_for_a_password(db: TestDatabase) {
        let (project, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let admin = db.database.insert_employee(employee(project, "boss", RoleChoice::Owner)).await.unwrap();
        let seller = RoleChoice::Role(role_that(&db, project, 70, "view-orders").await);
        let foreign = RoleChoice::Role(role(&db, other, 71, "staff").await);
        let employees: &dyn EmployeeRepository = &db.database;
        let all = || editor(project, admin, Permission::all());
        let anna = employees.insert(all(), employee(project, "anna", seller)).await.unwrap();
        assert_eq!((anna.creator.as_ref().map(|one| one.id), anna.permissions.len()), (Some(admin), 1));
        assert_eq!(employees.find(anna.id).await.unwrap().unwrap().within(project), Some(anna.clone()));
        let asked = "SELECT COUNT(*) AS value FROM password_requests WHERE login = 'anna'";
        assert_eq!(fixtures::number(&db, asked).await, 1);
        assert_eq!(history(&db, project, anna.id).await[0].0, HistoryAction::Created);

        assert_eq!(refusal(employees.insert(all(), employee(project, "ANNA", seller)).await), EmployeeRefusal::LoginTaken);
        let astray = NewEmployee {
            branch_id: Some(BranchId::new(99).unwrap()),
            department_id: Some(DepartmentId::new(99).unwrap()),
            ..employee(project, "boris", foreign)
        };
        let unknown = vec![EmployeeReference::Role, EmployeeReference::Branch, EmployeeReference::Department];
        assert_eq!(refusal(employees.insert(all(), astray).await), EmployeeRefusal::UnknownReferences(unknown));
        let weak = editor(project, admin, [Permission::edit(Resource::Users)]);
        for role in [seller, RoleChoice::Owner] {
            let refused = refusal(employees.insert(weak.clone(), employee(project, "boris", role)).await);
            assert!(matches!(refused, EmployeeRefusal::PermissionsNotHeld(_)), "{refused:?}");
        }
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM password_requests").await, 1);
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM users").await, 2);
    }

    async fn the_rules_hold_in_the_commit(db: TestDatabase) {
        let (project, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let admin = db.database.insert_employee(employee(project, "boss", RoleChoice::Owner)).await.unwrap();
        let seller = role_that(&db, project, 70, "view-orders").await;
        let anna = db.database.insert_employee(employee(project, "anna", RoleChoice::Role(seller))).await.unwrap();
        let employees: &dyn EmployeeRepository = &db.database;
        let weak = editor(project, anna, [Permission::edit(Resource::Users)]);
        let sick = EmployeeUpdate { is_sick: Edit::Set(true), ..EmployeeUpdate::default() };
        for outcome in [
            employees.update(weak.clone(), admin, sick.clone()).await,
            employees.set_banned(weak.clone(), admin, true).await,
            employees.set_banned(weak, admin, false).await,
        ] {
            let refused = refusal(outcome);
            assert!(matches!(refused, EmployeeRefusal::PermissionsNotHeld(_)), "{refused:?}");
        }
        let strong = || editor(project, anna, Permission::all());
        assert_eq!(refusal(employees.update(strong(), admin, with_role(seller)).await), EmployeeRefusal::LastOwner);
        assert_eq!(refusal(employees.set_banned(strong(), admin, true).await), EmployeeRefusal::LastOwner);
        let own = employees.find(admin).await.unwrap().unwrap().within(project).unwrap().role.id;
        assert_eq!(refusal(employees.update(strong(), anna, with_role(own)).await), EmployeeRefusal::OwnRole);
        assert_eq!(refusal(employees.set_banned(strong(), anna, true).await), EmployeeRefusal::OwnAccount);
        assert_eq!(history(&db, project, admin).await, []);

        let elsewhere = editor(other, admin, Permission::all());
        for outcome in [
            employees.update(elsewhere.clone(), anna, sick.clone()).await,
            employees.set_banned(elsewhere, anna, true).await,
            employees.update(strong(), UserId::new(999).unwrap(), sick.clone()).await,
        ] {
            assert!(matches!(outcome, Err(EmployeeError::NotFound)), "{outcome:?}");
        }
        fixtures::run(&db, format!("UPDATE users SET kind = 'agent' WHERE id = {anna}")).await;
        assert_eq!(employees.find(anna).await.unwrap(), None);
        let agent = employees.update(editor(project, admin, Permission::all()), anna, sick).await;
        assert!(matches!(agent, Err(EmployeeError::NotFound)), "{agent:?}");
    }

    async fn another_address_ends_the_temporary_password(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let admin = db.database.insert_employee(employee(project, "boss", RoleChoice::Owner)).await.unwrap();
        let seller = role(&db, project, 70, "staff").await;
        let anna = db.database.insert_employee(employee(project, "anna", RoleChoice::Role(seller))).await.unwrap();
        let token = sign_in(&db.database, anna, None).await.unwrap();
        let hash = "temporary".to_owned();
        let expires_at = START + chrono::TimeDelta::hours(1);
        let recipient = PasswordRecipient { user_id: anna, email: Email::parse("anna@x.ru").unwrap() };
        let password = TemporaryPassword { recipient, hash, created_at: START, expires_at };
        assert!(db.database.store(password).await.unwrap());
        let employees: &dyn EmployeeRepository = &db.database;
        let to = |address: &str| EmployeeUpdate {
            email: Edit::Set(Email::parse(address).unwrap()),
            ..EmployeeUpdate::default()
        };
        let left = "SELECT COUNT(*) AS value FROM temporary_passwords";
        let all = || editor(project, admin, Permission::all());
        employees.update(all(), anna, to("anna@x.ru")).await.unwrap();
        assert_eq!(fixtures::number(&db, left).await, 1, "it is the same address");
        let moved = employees.update(all(), anna, to("kern@x.ru")).await.unwrap();
        assert_eq!((moved.email.as_str(), fixtures::number(&db, left).await), ("kern@x.ru", 0));
        assert_eq!(history(&db, project, anna).await, [(HistoryAction::Changed, vec!["email".to_owned()])]);
        assert!(db.database.staff_token(token).await.unwrap().is_some(), "the employee stays signed in");
        employees.set_banned(all(), anna, true).await.unwrap();
        assert!(db.database.staff_token(token).await.unwrap().is_none());
    }

    async fn two_owners_who_ban_each_other_leave_one(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let seller = role(&db, project, 7, "staff").await;
        let second = Arc::new(Database::open(db.url(), pool_options()).unwrap());
        let first = Arc::new(db.database.clone());
        for round in 0..10 {
            fixtures::run(&db, "UPDATE users SET is_banned = TRUE".to_owned()).await;
            let mut owners = Vec::new();
            for number in 0..2 {
                let login = format!("owner-{round}-{number}");
                owners.push(first.insert_employee(employee(project, &login, RoleChoice::Owner)).await.unwrap());
            }
            let start = Arc::new(tokio::sync::Barrier::new(2));
            let pairs = [(&first, owners[0], owners[1]), (&second, owners[1], owners[0])];
            let racers = pairs.into_iter().enumerate().map(|(place, (store, author, target))| {
                let (store, start) = (Arc::clone(store), Arc::clone(&start));
                tokio::spawn(async move {
                    let caller = editor(project, author, Permission::all());
                    start.wait().await;
                    if place == 0 {
                        EmployeeRepository::set_banned(&*store, caller, target, true).await
                    } else {
                        EmployeeRepository::update(&*store, caller, target, with_role(seller)).await
                    }
                })
            });
            let mut done = 0;
            for racer in racers.collect::<Vec<_>>() {
                match racer.await.unwrap() {
                    Ok(_) => done += 1,
                    Err(EmployeeError::Refused(EmployeeRefusal::LastOwner)) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }
            let count = "SELECT COUNT(*) AS value FROM users JOIN roles ON roles.id = users.role_id \
                WHERE roles.is_owner AND NOT users.is_banned";
            assert_eq!((done, fixtures::number(&db, count).await), (1, 1));
        }
    }
}
