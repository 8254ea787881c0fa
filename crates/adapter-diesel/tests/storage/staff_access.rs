//! Roles and permissions.

use std::collections::BTreeSet;
use std::sync::Arc;

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_auth::model::{
    PermissionChange, PermissionDraft, PermissionName, RoleChange, RoleChoice, RoleDraft, StaffRole,
};
use kontor_auth::ports::{PermissionRepository, RoleRepository, StaffRepository, TokenRepository};
use kontor_auth::{PermissionError, PermissionRefusal, RoleError, RoleRefusal};
use kontor_kernel::{
    Edit, Name, Permission, PermissionId, ProjectId, ProjectScoped, RecordError, Refusal, ScreenId, Stamp,
};

use crate::fixtures;
use crate::staff::{START, employee, role, sign_in};

fn draft(ids: &[i64]) -> RoleDraft {
    let permissions = ids.iter().map(|id| PermissionId::new(*id).unwrap()).collect();
    RoleDraft { name: Name::parse("Кладовщик").unwrap(), description: None, permissions }
}

fn stamp(project: ProjectId) -> Stamp {
    Stamp::of_system(project, START)
}

/// Replaces the permissions of a role, given the version that was read.
async fn grant(
    roles: &dyn RoleRepository,
    project: ProjectId,
    seen: &StaffRole,
    ids: &[i64],
) -> Result<StaffRole, RoleError> {
    let change = RoleChange { permissions: Edit::Set(draft(ids).permissions), ..RoleChange::default() };
    roles.update(stamp(project), seen.id, seen.version, change).await
}

fn refusal<T: std::fmt::Debug, R: Refusal>(outcome: Result<T, RecordError<R>>) -> R {
    match outcome {
        Err(RecordError::Refused(refusal)) => refusal,
        outcome => panic!("{outcome:?}"),
    }
}

fn ids(role: &StaffRole) -> Vec<i64> {
    role.permissions.iter().map(|permission| permission.id.get()).collect()
}

fn reports(name: &str) -> PermissionDraft {
    let name = PermissionName::parse(name).unwrap();
    PermissionDraft { name, screen_id: ScreenId::new(15).unwrap(), description: None }
}

async fn define(db: &TestDatabase, project: ProjectId, name: &str) -> PermissionId {
    PermissionRepository::insert(&db.database, project, reports(name)).await.unwrap().id
}

database_tests! {
    async fn a_role_is_changed_by_who_has_seen_it_last(db: TestDatabase) {
        let (project, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let roles: &dyn RoleRepository = &db.database;
        let seen = roles.insert(stamp(project), draft(&[3, 1, 3])).await.unwrap();
        assert_eq!((ids(&seen), seen.permissions[0].name.as_str()), (vec![1, 3], "view-agents"));
        assert_eq!(roles.find(seen.id).await.unwrap(), Some(ProjectScoped::new(project, seen.clone())));
        assert_eq!(roles.list(project).await.unwrap(), std::slice::from_ref(&seen));
        assert_eq!(roles.list(other).await.unwrap(), []);

        let changed = grant(roles, project, &seen, &[2]).await.unwrap();
        assert_eq!((ids(&changed), &changed.name), (vec![2], &seen.name));
        assert_eq!(refusal(grant(roles, project, &seen, &[5]).await), RoleRefusal::Stale);
        assert_eq!(refusal(grant(roles, other, &changed, &[5]).await), RoleRefusal::Stale);
        assert_eq!(refusal(roles.delete(project, seen.id, seen.version).await), RoleRefusal::Stale);
        assert_eq!(refusal(roles.delete(other, seen.id, changed.version).await), RoleRefusal::Stale);
        let renamed = RoleChange { name: Edit::Set(Name::parse("X").unwrap()), ..RoleChange::default() };
        let kept = roles.update(stamp(project), seen.id, changed.version, renamed).await.unwrap();
        assert_eq!((ids(&kept), kept.name.as_str()), (vec![2], "X"));
        assert_eq!(refusal(grant(roles, project, &kept, &[1, 9999]).await), RoleRefusal::Stale);
        assert_eq!(roles.find(seen.id).await.unwrap(), Some(ProjectScoped::new(project, kept.clone())), "nothing of it was kept");
        roles.delete(project, kept.id, kept.version).await.unwrap();
        assert_eq!(roles.find(kept.id).await.unwrap(), None);
    }

    async fn of_racing_changes_one_counts(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let seen = RoleRepository::insert(&db.database, stamp(project), draft(&[1])).await.unwrap();
        let store = Arc::new(db.database.clone());
        let racers = (0..10_i64).map(|number| {
            let (store, seen) = (Arc::clone(&store), seen.clone());
            tokio::spawn(async move { grant(&*store, project, &seen, &[number + 1, number + 2]).await })
        });
        let mut won = Vec::new();
        for racer in racers.collect::<Vec<_>>() {
            match racer.await.unwrap() {
                Ok(role) => won.push(role),
                Err(RoleError::Refused(RoleRefusal::Stale)) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
        assert_eq!(won.len(), 1);
        assert_eq!(RoleRepository::find(&db.database, seen.id).await.unwrap(), won.pop().map(|role| ProjectScoped::new(project, role)));
    }

    async fn a_role_in_use_an_owners_and_an_agents_stay(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let roles: &dyn RoleRepository = &db.database;
        let used = roles.insert(stamp(project), draft(&[1])).await.unwrap();
        db.database.insert_user(project, "anna", RoleChoice::Role(used.id)).await;
        assert_eq!(refusal(roles.delete(project, used.id, used.version).await), RoleRefusal::InUse);
        assert_eq!(roles.find(used.id).await.unwrap(), Some(ProjectScoped::new(project, used.clone())));
        db.database.insert_user(project, "boss", RoleChoice::Owner).await;
        let private = role(&db, project, 70, "agent").await;
        assert_eq!(roles.find(private).await.unwrap(), None);
        let all = roles.list(project).await.unwrap();
        assert_eq!(all.iter().map(|role| role.is_owner).collect::<Vec<_>>(), [false, true]);
        let owners = &all[1];
        assert_eq!(owners.permissions.len(), Permission::all().count());
        assert_eq!(refusal(grant(roles, project, owners, &[1]).await), RoleRefusal::Stale);
        assert_eq!(refusal(roles.delete(project, owners.id, owners.version).await), RoleRefusal::Stale);
        let agents = StaffRole { id: private, version: 1, ..used };
        assert_eq!(refusal(grant(roles, project, &agents, &[1]).await), RoleRefusal::Stale);
        assert_eq!(refusal(roles.delete(project, private, 1).await), RoleRefusal::Stale);
        let before = db.statements();
        roles.list(project).await.unwrap();
        assert!(db.statements() - before <= 5, "begin, roles, two for permissions, commit");
    }

    async fn projects_define_permissions_of_their_own(db: TestDatabase) {
        let (project, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let permissions: &dyn PermissionRepository = &db.database;
        let own = permissions.insert(project, reports("view-reports")).await.unwrap();
        assert_eq!((own.name.as_str(), own.project_id, own.screen.name.as_str()), ("view-reports", Some(project), "orders"));
        assert!(own.id.get() >= 1000, "the service keeps its numbers for itself");
        define(&db, other, "view-reports").await;
        let taken = permissions.insert(project, reports("view-reports")).await;
        assert_eq!(refusal(taken), PermissionRefusal::NameTaken);
        let nowhere = PermissionDraft { screen_id: ScreenId::new(999).unwrap(), ..reports("view-sales") };
        assert_eq!(refusal(permissions.insert(project, nowhere).await), PermissionRefusal::UnknownScreen);
        let listed = permissions.list(project).await.unwrap();
        assert_eq!((listed.len(), listed.last().unwrap()), (Permission::all().count() + 1, &own));

        let sales = define(&db, project, "view-sales").await;
        let named = |name| PermissionChange {
            name: Edit::Set(PermissionName::parse(name).unwrap()),
            ..PermissionChange::default()
        };
        let rename = named("view-reports");
        assert_eq!(refusal(permissions.update(project, sales, rename.clone()).await), PermissionRefusal::NameTaken);
        assert!(matches!(permissions.update(other, sales, rename).await, Err(PermissionError::NotFound)));
        let change = PermissionChange {
            screen_id: Edit::Set(ScreenId::new(1).unwrap()),
            description: Edit::Set(kontor_kernel::Line::parse("Планы").ok()),
            ..named("edit-sales")
        };
        let changed = permissions.update(project, sales, change).await.unwrap();
        assert_eq!((changed.name.as_str(), changed.screen.id.get(), changed.description.as_str()), ("edit-sales", 1, "Планы"));
        assert_eq!(permissions.update(project, sales, PermissionChange::default()).await.unwrap(), changed);
        let system = PermissionId::new(1).unwrap();
        let refused = permissions.update(project, system, named("view-x")).await;
        assert!(matches!(refused, Err(PermissionError::NotFound)));
        assert!(matches!(permissions.delete(project, system).await, Err(PermissionError::NotFound)));
        assert!(matches!(permissions.delete(other, sales).await, Err(PermissionError::NotFound)));

        let role = RoleRepository::insert(&db.database, stamp(project), draft(&[sales.get()])).await.unwrap();
        assert_eq!(refusal(permissions.delete(project, sales).await), PermissionRefusal::InUse);
        let emptied = grant(&db.database, project, &role, &[]).await.unwrap();
        assert!(emptied.permissions.is_empty());
        permissions.delete(project, sales).await.unwrap();
        assert_eq!(permissions.find(sales).await.unwrap(), None);
        let screens = permissions.screens().await.unwrap();
        assert_eq!(permissions.screen(screens[0].id).await.unwrap(), Some(screens[0].clone()));
        assert_eq!(permissions.screen(ScreenId::new(999).unwrap()).await.unwrap(), None);
    }

    async fn a_projects_permission_is_had_but_opens_nothing(db: TestDatabase) {
        let (project, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let own = define(&db, project, "view-reports").await;
        define(&db, other, "edit-reports").await;
        let listed = RoleRepository::insert(&db.database, stamp(project), draft(&[own.get(), 1])).await.unwrap();
        let seller = db.database.insert_user(project, "clerk", RoleChoice::Role(listed.id)).await;
        let admin = db.database.insert_user(project, "boss", RoleChoice::Owner).await;
        let plain = RoleRepository::insert(&db.database, stamp(project), draft(&[1])).await.unwrap();
        let anna = db.database.insert_user(project, "anna", RoleChoice::Role(plain.id)).await;
        let held: BTreeSet<PermissionId> = [own].into();
        for (user, expected) in [(seller, &held), (admin, &held), (anna, &BTreeSet::new())] {
            let token = sign_in(&db.database, user, None).await.unwrap();
            assert_eq!(&RoleRepository::project_permissions(&db.database, token).await.unwrap(), expected);
            fixtures::run(&db, format!("UPDATE access_tokens SET abilities = '[\"view-agents\"]' WHERE id = {token}")).await;
            assert!(RoleRepository::project_permissions(&db.database, token).await.unwrap().is_empty());
            let stored = db.database.staff_token(token).await.unwrap().unwrap();
            let opened = if user == admin { Permission::all().count() } else { 1 };
            assert_eq!(stored.permissions.len(), opened);
        }
        let names = async |user| {
            let record = db.database.employee(user).await.unwrap().unwrap();
            record.permissions.into_iter().map(|permission| permission.name).collect::<Vec<_>>()
        };
        assert_eq!(names(seller).await, ["view-agents", "view-reports"]);
        assert_eq!(names(admin).await.last().unwrap(), "view-reports");
        assert_eq!(names(anna).await, ["view-agents"]);
    }
}

/// Shorthand for inserting an employee.
trait InsertUser {
    async fn insert_user(&self, project: ProjectId, login: &str, role: RoleChoice) -> kontor_kernel::UserId;
}

impl InsertUser for kontor_adapter_diesel::Database {
    async fn insert_user(&self, project: ProjectId, login: &str, role: RoleChoice) -> kontor_kernel::UserId {
        StaffRepository::insert_employee(self, employee(project, login, role)).await.unwrap()
    }
}
