//! Employees: their accounts, lists and departments.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_adapter_diesel::testing::{TestDatabase, pool_options};
use kontor_adapter_diesel::{Database, database_tests};
use kontor_auth::StaffRegistryError;
use kontor_auth::model::{EmployeeChange, EmployeeFilter, Login, NewEmployee, NewToken, RoleChoice};
use kontor_auth::ports::{DirectoryRepository, MatchedPassword, SignIn, StaffRepository, TokenRepository};
use kontor_kernel::history::{Histories, HistoryAction};
use kontor_kernel::{
    BranchId, DeletableRepository, DepartmentId, Edit, Email, Line, Name, PageRequest, Phone, ProjectId, ProjectScoped,
    RecordRepository, Resource, RoleId, Stamp, TokenId, UserId,
};
use kontor_organization::model::{Department, DepartmentChange, DepartmentDraft};
use kontor_organization::{DepartmentError, DepartmentRefusal};

use crate::fixtures;

pub const START: DateTime<Utc> = DateTime::UNIX_EPOCH;
const AT: &str = "'2026-01-01 00:00:00', '2026-01-01 00:00:00'";

pub fn employee(project_id: ProjectId, login: &str, role: RoleChoice) -> NewEmployee {
    NewEmployee {
        project_id,
        branch_id: None,
        department_id: None,
        role,
        login: Login::parse(login).unwrap(),
        email: Email::parse(&format!("{login}@x.ru")).unwrap(),
        first_name: Name::parse("Анна").unwrap(),
        last_name: Name::parse("Ёлкина").unwrap(),
        middle_name: None,
        phone: None,
        password_hash: "hash".to_owned(),
        created_at: START,
    }
}

/// A role without permissions.
pub async fn role(db: &TestDatabase, project: ProjectId, id: i64, kind: &str) -> RoleId {
    let insert = "INSERT INTO roles (id, project_id, name, is_owner, kind, created_at, updated_at)";
    fixtures::run(db, format!("{insert} VALUES ({id}, {project}, 'Role', FALSE, '{kind}', {AT})")).await;
    RoleId::new(id).unwrap()
}

/// Logs in an [`employee`] with the initial password, or with a temporary one.
pub async fn sign_in(db: &Database, user_id: UserId, temporary: Option<&str>) -> Option<TokenId> {
    let own = || MatchedPassword::Own("hash".to_owned());
    sign_in_by(db, user_id, temporary.map_or_else(own, |hash| MatchedPassword::Temporary(hash.to_owned()))).await
}

/// Logs in an employee with a verified password.
pub async fn sign_in_by(db: &Database, user_id: UserId, proved: MatchedPassword) -> Option<TokenId> {
    let token = NewToken {
        fingerprint: "f".to_owned(),
        device: None,
        created_at: START,
        expires_at: START + chrono::TimeDelta::days(1),
    };
    db.sign_in(SignIn { user_id, proved, token }).await.unwrap()
}

fn page(number: i64, size: i64) -> PageRequest {
    PageRequest::new(number, size, 100).unwrap()
}

fn looking_for(text: &str) -> EmployeeFilter {
    EmployeeFilter { query: Some(Name::parse(text).unwrap()), active: false }
}

fn draft(branch_id: Option<BranchId>) -> DepartmentDraft {
    DepartmentDraft { name: Name::parse("Продажи").unwrap(), description: Line::parse("Опт").ok(), branch_id }
}

/// A branch of a project.
async fn branch(db: &TestDatabase, project: ProjectId, id: i64) -> BranchId {
    let insert = "INSERT INTO branches (id, project_id, name, created_at, updated_at)";
    fixtures::run(db, format!("{insert} VALUES ({id}, {project}, 'Main', {AT})")).await;
    BranchId::new(id).unwrap()
}

database_tests! {
    async fn a_department_is_kept_while_it_has_employees(db: TestDatabase) {
        let (project, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let (own, foreign) = (branch(&db, project, 1).await, branch(&db, other, 2).await);
        let departments: &dyn DeletableRepository<Department> = &db.database;
        let stamp = Stamp::of_system(project, START);
        let sales = departments.insert(stamp, draft(Some(own))).await.unwrap();
        assert_eq!(sales.branch.as_ref().map(|(id, name)| (*id, name.as_str())), Some((own, "Main")));
        assert_eq!(departments.list(project).await.unwrap(), std::slice::from_ref(&sales));
        assert_eq!(departments.list(other).await.unwrap(), []);
        assert_eq!(departments.find(sales.id).await.unwrap(), Some(ProjectScoped::new(project, sales.clone())));
        let refused = departments.insert(stamp, draft(Some(foreign))).await;
        assert!(matches!(refused, Err(DepartmentError::Refused(DepartmentRefusal::UnknownBranch))));
        let change = DepartmentChange { branch_id: Edit::Set(Some(foreign)), ..DepartmentChange::default() };
        let refused = departments.update(stamp, sales.id, change).await;
        assert!(matches!(refused, Err(DepartmentError::Refused(DepartmentRefusal::UnknownBranch))));

        let admin = NewEmployee { department_id: Some(sales.id), ..employee(project, "boss", RoleChoice::Owner) };
        let admin = db.database.insert_employee(admin).await.unwrap();
        let record = db.database.employee(admin).await.unwrap().unwrap();
        assert_eq!(record.department.unwrap().name.as_str(), "Продажи");
        assert!(matches!(departments.delete(stamp, sales.id).await, Err(DepartmentError::Refused(DepartmentRefusal::HasEmployees))));
        let change = DepartmentChange { description: Edit::Set(None), branch_id: Edit::Set(None), ..DepartmentChange::default() };
        let changed = departments.update(stamp, sales.id, change).await.unwrap();
        assert_eq!((changed.description, changed.branch, changed.name), (None, None, sales.name));

        db.database.assign_department(admin, None, START).await.unwrap();
        assert!(matches!(departments.delete(Stamp::of_system(other, START), sales.id).await, Err(DepartmentError::NotFound)));
        departments.delete(stamp, sales.id).await.unwrap();
        assert!(matches!(departments.delete(stamp, sales.id).await, Err(DepartmentError::NotFound)));
        let gone = db.database.assign_department(admin, Some(sales.id), START).await;
        assert!(matches!(gone, Err(StaffRegistryError::UnknownDepartment)));
        let history = Histories::page(&db.database, project, Resource::Departments.name(), sales.id.get(), page(1, 10)).await.unwrap();
        let actions: Vec<HistoryAction> = history.items.iter().map(|entry| entry.action).collect();
        assert_eq!(actions, [HistoryAction::Deleted, HistoryAction::Changed, HistoryAction::Created]);
        let emptied: Vec<&str> = history.items[1].changes.iter().map(|change| change.field.as_str()).collect();
        assert_eq!(emptied, ["description", "branch"]);
    }

    async fn an_employee_is_added_within_the_project(db: TestDatabase) {
        let (project, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let (foreign, private) = (role(&db, other, 70, "staff").await, role(&db, project, 71, "agent").await);
        for unknown in [foreign, private, RoleId::new(99).unwrap()] {
            let refused = db.database.insert_employee(employee(project, "anna", RoleChoice::Role(unknown))).await;
            assert!(matches!(refused, Err(StaffRegistryError::UnknownRole)));
        }
        let nowhere = employee(ProjectId::new(999).unwrap(), "anna", RoleChoice::Owner);
        assert!(matches!(db.database.insert_employee(nowhere).await, Err(StaffRegistryError::UnknownProject)));
        let elsewhere = RecordRepository::<Department>::insert(&db.database, Stamp::of_system(other, START), draft(None)).await.unwrap();
        let astray = NewEmployee { department_id: Some(elsewhere.id), ..employee(project, "a", RoleChoice::Owner) };
        assert!(matches!(db.database.insert_employee(astray).await, Err(StaffRegistryError::UnknownDepartment)));
        let away = branch(&db, other, 1).await;
        let astray = NewEmployee { branch_id: Some(away), ..employee(project, "a", RoleChoice::Owner) };
        assert!(matches!(db.database.insert_employee(astray).await, Err(StaffRegistryError::UnknownBranch)));
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM users").await, 0);

        let seller = role(&db, project, 72, "staff").await;
        let anna = db.database.insert_employee(employee(project, "anna", RoleChoice::Role(seller))).await.unwrap();
        assert_eq!(db.database.employee(anna).await.unwrap().unwrap().role.id, seller);
        let taken = db.database.insert_employee(employee(other, "ANNA", RoleChoice::Owner)).await;
        assert!(matches!(taken, Err(StaffRegistryError::LoginTaken)));
        let unknown = UserId::new(999).unwrap();
        let missing = DepartmentId::new(1).unwrap();
        for refused in [
            db.database.ban(unknown, START).await,
            db.database.unban(unknown, START).await,
            db.database.assign_role(unknown, RoleChoice::Owner, START).await,
            db.database.assign_department(unknown, Some(missing), START).await,
        ] {
            assert!(matches!(refused, Err(StaffRegistryError::UnknownEmployee)));
        }
    }

    async fn a_ban_ends_tokens_at_once(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let admin = db.database.insert_employee(employee(project, "boss", RoleChoice::Owner)).await.unwrap();
        let anna = db.database.insert_employee(employee(project, "anna", RoleChoice::Owner)).await.unwrap();
        let (kept, ended) = (sign_in(&db.database, admin, None).await.unwrap(), sign_in(&db.database, anna, None).await.unwrap());
        db.database.ban(anna, START).await.unwrap();
        assert!(db.database.staff_token(ended).await.unwrap().is_none());
        assert!(db.database.staff_token(kept).await.unwrap().is_some());
        assert_eq!(sign_in(&db.database, anna, None).await, None, "a sign-in that was under way");
        db.database.unban(anna, START).await.unwrap();
        assert!(db.database.staff_token(ended).await.unwrap().is_none());
        assert!(sign_in(&db.database, anna, None).await.is_some());
    }

    async fn the_last_owner_stays(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let seller = RoleChoice::Role(role(&db, project, 7, "staff").await);
        let admin = db.database.insert_employee(employee(project, "boss", RoleChoice::Owner)).await.unwrap();
        let anna = db.database.insert_employee(employee(project, "anna", seller)).await.unwrap();
        let last = |outcome| matches!(outcome, Err(StaffRegistryError::LastOwner));
        assert!(last(db.database.ban(admin, START).await));
        assert!(last(db.database.assign_role(admin, seller, START).await));
        db.database.assign_role(admin, RoleChoice::Owner, START).await.unwrap();
        db.database.assign_role(anna, RoleChoice::Owner, START).await.unwrap();
        db.database.ban(admin, START).await.unwrap();
        assert!(last(db.database.assign_role(anna, seller, START).await), "a banned owner does not count");
        db.database.assign_role(admin, seller, START).await.unwrap();
    }

    async fn an_edit_changes_what_it_names(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let (phone, patronymic) = (Phone::parse("79001234567").ok(), Name::parse("Петровна").ok());
        let anna = NewEmployee {
            phone: phone.clone(),
            middle_name: patronymic.clone(),
            ..employee(project, "anna", RoleChoice::Owner)
        };
        let anna = db.database.insert_employee(anna).await.unwrap();
        let boris = db.database.insert_employee(employee(project, "boris", RoleChoice::Owner)).await.unwrap();
        let reported = async |user: UserId| {
            let record = db.database.employee(user).await.unwrap().unwrap();
            (record.phone, record.middle_name, record.is_sick)
        };
        let edit = async |login: &str, edit: EmployeeChange| {
            db.database.update_employee(&Login::parse(login).unwrap(), edit, START).await
        };
        assert_eq!(reported(anna).await, (phone.clone(), patronymic.clone(), false));
        let sick = EmployeeChange { is_sick: Edit::Set(true), ..EmployeeChange::default() };
        assert_eq!(edit("ANNA", sick.clone()).await.unwrap(), anna);
        assert_eq!(reported(anna).await, (phone, patronymic, true));
        let bare = EmployeeChange { phone: Edit::Set(None), middle_name: Edit::Set(None), ..EmployeeChange::default() };
        edit("anna", bare).await.unwrap();
        assert_eq!((reported(anna).await, reported(boris).await), ((None, None, true), (None, None, false)));
        assert!(matches!(edit("nobody", sick.clone()).await, Err(StaffRegistryError::UnknownEmployee)));
        fixtures::run(&db, "UPDATE users SET kind = 'agent' WHERE login = 'boris'".to_owned()).await;
        assert!(matches!(edit("boris", sick).await, Err(StaffRegistryError::UnknownEmployee)), "an agent is none");
    }

    async fn two_owners_who_demote_each_other_leave_one(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let seller = RoleChoice::Role(role(&db, project, 7, "staff").await);
        let second = Arc::new(Database::open(db.url(), pool_options()).unwrap());
        let first = Arc::new(db.database.clone());
        for round in 0..10 {
            let mut owners = Vec::new();
            for number in 0..4 {
                let login = format!("owner-{round}-{number}");
                owners.push(first.insert_employee(employee(project, &login, RoleChoice::Owner)).await.unwrap());
            }
            let start = Arc::new(tokio::sync::Barrier::new(owners.len()));
            let racers = owners.iter().zip([&first, &second].into_iter().cycle()).enumerate().map(|(n, (owner, store))| {
                let (owner, store, start) = (*owner, Arc::clone(store), Arc::clone(&start));
                tokio::spawn(async move {
                    start.wait().await;
                    if n < 2 { store.ban(owner, START).await } else { store.assign_role(owner, seller, START).await }
                })
            });
            let mut kept = 0;
            for racer in racers.collect::<Vec<_>>() {
                match racer.await.unwrap() {
                    Ok(()) => {}
                    Err(StaffRegistryError::LastOwner) => kept += 1,
                    Err(other) => panic!("{other:?}"),
                }
            }
            let count = "SELECT COUNT(*) AS value FROM users JOIN roles ON roles.id = users.role_id \
                WHERE roles.is_owner AND NOT users.is_banned";
            // The owner kept in an earlier round may be the remaining one.
            let left = fixtures::number(&db, count).await;
            assert!(left >= 1 && kept <= 1, "{left} owners, {kept} kept");
            fixtures::run(&db, "UPDATE users SET is_banned = TRUE".to_owned()).await;
        }
    }

    async fn employees_are_found_by_any_of_their_texts(db: TestDatabase) {
        let (project, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let admin = db.database.insert_employee(employee(project, "boss", RoleChoice::Owner)).await.unwrap();
        db.database.insert_employee(employee(other, "foreign", RoleChoice::Owner)).await.unwrap();
        let seller = role(&db, project, 7, "staff").await;
        let ivan = NewEmployee {
            first_name: Name::parse("Иван").unwrap(),
            last_name: Name::parse("Щукин").unwrap(),
            ..employee(project, "ivan.s", RoleChoice::Role(seller))
        };
        let ivan = db.database.insert_employee(ivan).await.unwrap();
        let private = role(&db, project, 8, "agent").await;
        fixtures::run(&db, format!(
            "INSERT INTO users (project_id, role_id, kind, login, email, password_hash, first_name, last_name,
                 is_banned, is_sick, active_seconds, created_at, updated_at)
                 VALUES ({project}, {private}, 'agent', 'agent-1', 'a@x.ru', '!', 'Иван', 'Agent', FALSE, FALSE, 0, {AT});
             UPDATE users SET phone = '79001234567', creator_id = {admin} WHERE id = {ivan};"
        )).await;
        let found = async |text: &str| {
            let found = db.database.employees(project, looking_for(text), page(1, 100)).await.unwrap();
            assert_eq!(found.total, u64::try_from(found.items.len()).unwrap());
            found.items.iter().map(|user| user.id).collect::<Vec<_>>()
        };
        for text in ["ИВАН", "щукин иван", "ivan.S", "IVAN.S@x", "8 (900) 123-45-67", "00123", "щук"] {
            assert_eq!(found(text).await, [ivan], "{text}");
        }
        assert_eq!(found("ёЛК").await, [admin]);
        for text in ["%", "_", "agent", "foreign", "иван ёлкина"] {
            assert_eq!(found(text).await, [], "{text}");
        }
        assert_eq!(found("x.ru").await, [admin, ivan]);
        db.database.ban(ivan, START).await.unwrap();
        let active = EmployeeFilter { query: None, active: true };
        let free = db.database.colleagues(project, active, page(1, 100)).await.unwrap();
        assert_eq!((free.total, free.items[0].id, free.items[0].name().as_str()), (1, admin, "Анна Ёлкина"));
        let active = EmployeeFilter { active: true, ..looking_for("x.ru") };
        assert_eq!(db.database.colleagues(project, active, page(1, 100)).await.unwrap().items.len(), 1);
    }

    async fn a_list_costs_the_same_however_long_it_is(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let admin = db.database.insert_employee(employee(project, "boss", RoleChoice::Owner)).await.unwrap();
        let mut costs = Vec::new();
        for round in 0..2_i64 {
            for number in 0..3 {
                let id = 10 + round * 3 + number;
                let seller = role(&db, project, id, "staff").await;
                fixtures::run(&db, format!(
                    "INSERT INTO role_permissions (project_id, role_id, permission_id) \
                     SELECT {project}, {id}, id FROM permissions WHERE id <= {id}"
                )).await;
                let new = employee(project, &format!("clerk-{id}"), RoleChoice::Role(seller));
                let user = db.database.insert_employee(new).await.unwrap();
                fixtures::run(&db, format!("UPDATE users SET creator_id = {admin} WHERE id = {user}")).await;
            }
            let before = db.statements();
            let all = db.database.employees(project, EmployeeFilter::default(), page(1, 100)).await.unwrap();
            costs.push(db.statements() - before);
            assert_eq!(all.items.len(), usize::try_from(4 + round * 3).unwrap());
            let last = all.items.last().unwrap();
            assert_eq!(i64::try_from(last.permissions.len()).unwrap(), last.role.id.get());
            assert_eq!(last.creator.as_ref().unwrap().id, admin);
            assert!(all.items[0].permissions.len() >= 72);
        }
        assert_eq!(costs[0], costs[1]);
        assert!(costs[0] <= 8, "begin, count, page, records, creators, two for permissions, commit: {costs:?}");
        let second = db.database.employees(project, EmployeeFilter::default(), page(2, 5)).await.unwrap();
        assert_eq!((second.total, second.items.len()), (7, 2));
        let searched = db.database.employees(project, looking_for("clerk"), page(2, 5)).await.unwrap();
        assert_eq!((searched.total, searched.items.len()), (6, 1));
        let beyond = db.database.employees(project, looking_for("clerk"), page(9, 5)).await.unwrap();
        assert_eq!((beyond.total, beyond.items.len()), (6, 0));
    }
}
