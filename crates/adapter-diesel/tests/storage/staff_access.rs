//! Roles and permissions.

use std::collections::BTreeSet;
use std::sync::Arc;

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_auth::model::{
    PermissionDraft, PermissionName, PermissionPatch, RoleChoice, RoleDraft, RolePatch, StaffRole,
};
use kontor_auth::ports::{PermissionRepository, RoleChange, RoleRepository, StaffRepository, TokenRepository};
use kontor_auth::{PermissionError, RoleError};
use kontor_kernel::{Name, Permission, PermissionId, ProjectId, ScreenId};

use crate::fixtures;
use crate::staff::{START, employee, role, sign_in};

fn draft(ids: &[i64]) -> RoleDraft {
    let permissions = ids.iter().map(|id| PermissionId::new(*id).unwrap()).collect();
    RoleDraft { name: Name::parse("Кладовщик").unwrap(), description: None, permissions }
}

fn change(role: &StaffRole, ids: Option<&[i64]>) -> RoleChange {
    let patch = RolePatch { permissions: ids.map(|ids| draft(ids).permissions), ..RolePatch::default() };
    RoleChange { role: role.id, version: role.version, patch, at: START }
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
        let seen = roles.insert(project, draft(&[3, 1, 3]), START).await.unwrap();
        assert_eq!((ids(&seen), seen.permissions[0].name.as_str()), (vec![1, 3], "view-agents"));
        assert_eq!(roles.find(seen.id).await.unwrap(), Some(seen.clone()));
        assert_eq!(roles.list(project).await.unwrap(), std::slice::from_ref(&seen));
        assert_eq!(roles.list(other).await.unwrap(), []);

        let changed = roles.change(change(&seen, Some(&[2]))).await.unwrap();
        assert_eq!((ids(&changed), &changed.name), (vec![2], &seen.name));
        assert!(matches!(roles.change(change(&seen, Some(&[5]))).await, Err(RoleError::Stale)));
        assert!(matches!(roles.delete(seen.id, seen.version).await, Err(RoleError::Stale)));
        let renamed = RolePatch { name: Name::parse("X").ok(), ..RolePatch::default() };
        let kept = roles.change(RoleChange { patch: renamed, ..change(&changed, None) }).await.unwrap();
        assert_eq!((ids(&kept), kept.name.as_str()), (vec![2], "X"));
        assert!(matches!(roles.change(change(&kept, Some(&[1, 9999]))).await, Err(RoleError::Stale)));
        assert_eq!(roles.find(seen.id).await.unwrap(), Some(kept.clone()), "nothing of it was kept");
        roles.delete(kept.id, kept.version).await.unwrap();
        assert_eq!(roles.find(kept.id).await.unwrap(), None);
    }

    async fn of_racing_changes_one_counts(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let seen = RoleRepository::insert(&db.database, project, draft(&[1]), START).await.unwrap();
        let store = Arc::new(db.database.clone());
        let racers = (0..10_i64).map(|number| {
            let (store, change) = (Arc::clone(&store), change(&seen, Some(&[number + 1, number + 2])));
            tokio::spawn(async move { store.change(change).await })
        });
        let mut won = Vec::new();
        for racer in racers.collect::<Vec<_>>() {
            match racer.await.unwrap() {
                Ok(role) => won.push(role),
                Err(RoleError::Stale) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
        assert_eq!(won.len(), 1);
        assert_eq!(RoleRepository::find(&db.database, seen.id).await.unwrap(), won.pop());
    }

    async fn a_role_in_use_an_owners_and_an_agents_stay(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let roles: &dyn RoleRepository = &db.database;
        let used = roles.insert(project, draft(&[1]), START).await.unwrap();
        db.database.insert_user(project, "anna", RoleChoice::Role(used.id)).await;
        assert!(matches!(roles.delete(used.id, used.version).await, Err(RoleError::InUse)));
        assert_eq!(roles.find(used.id).await.unwrap(), Some(used.clone()));
        db.database.insert_user(project, "boss", RoleChoice::Owner).await;
        let private = role(&db, project, 70, "agent").await;
        assert_eq!(roles.find(private).await.unwrap(), None);
        let all = roles.list(project).await.unwrap();
        assert_eq!(all.iter().map(|role| role.is_owner).collect::<Vec<_>>(), [false, true]);
        let owners = &all[1];
        assert_eq!(owners.permissions.len(), Permission::all().count());
        assert!(matches!(roles.change(change(owners, Some(&[1]))).await, Err(RoleError::Stale)));
        assert!(matches!(roles.delete(owners.id, owners.version).await, Err(RoleError::Stale)));
        let agents = StaffRole { id: private, version: 1, ..used };
        assert!(matches!(roles.change(change(&agents, Some(&[1]))).await, Err(RoleError::Stale)));
        assert!(matches!(roles.delete(private, 1).await, Err(RoleError::Stale)));
        let before = db.database.statements();
        roles.list(project).await.unwrap();
        assert!(db.database.statements() - before <= 5, "begin, roles, two for permissions, commit");
    }

    async fn projects_define_permissions_of_their_own(db: TestDatabase) {
        let (project, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let permissions: &dyn PermissionRepository = &db.database;
        let own = permissions.insert(project, reports("view-reports")).await.unwrap();
        assert_eq!((own.name.as_str(), own.project_id, own.screen.name.as_str()), ("view-reports", Some(project), "orders"));
        assert!(own.id.get() >= 1000, "the service keeps its numbers for itself");
        define(&db, other, "view-reports").await;
        let taken = permissions.insert(project, reports("view-reports")).await;
        assert!(matches!(taken, Err(PermissionError::NameTaken)));
        let nowhere = PermissionDraft { screen_id: ScreenId::new(999).unwrap(), ..reports("view-sales") };
        assert!(matches!(permissions.insert(project, nowhere).await, Err(PermissionError::UnknownScreen)));
        let listed = permissions.list(project).await.unwrap();
        assert_eq!((listed.len(), listed.last().unwrap()), (Permission::all().count() + 1, &own));

        let sales = define(&db, project, "view-sales").await;
        let rename = PermissionPatch { name: PermissionName::parse("view-reports").ok(), ..PermissionPatch::default() };
        assert!(matches!(permissions.update(project, sales, rename.clone()).await, Err(PermissionError::NameTaken)));
        assert!(matches!(permissions.update(other, sales, rename).await, Err(PermissionError::NotFound)));
        let patch = PermissionPatch {
            name: PermissionName::parse("edit-sales").ok(),
            screen_id: ScreenId::new(1).ok(),
            description: Some(kontor_kernel::Line::parse("Планы").ok()),
        };
        let changed = permissions.update(project, sales, patch).await.unwrap();
        assert_eq!((changed.name.as_str(), changed.screen.id.get(), changed.description.as_str()), ("edit-sales", 1, "Планы"));
        assert_eq!(permissions.update(project, sales, PermissionPatch::default()).await.unwrap(), changed);
        let system = PermissionId::new(1).unwrap();
        assert!(matches!(permissions.update(project, system, PermissionPatch {
            name: PermissionName::parse("view-x").ok(), ..PermissionPatch::default()
        }).await, Err(PermissionError::NotFound)));
        assert!(matches!(permissions.delete(project, system).await, Err(PermissionError::NotFound)));
        assert!(matches!(permissions.delete(other, sales).await, Err(PermissionError::NotFound)));

        let role = RoleRepository::insert(&db.database, project, draft(&[sales.get()]), START).await.unwrap();
        assert!(matches!(permissions.delete(project, sales).await, Err(PermissionError::InUse)));
        let emptied = RoleRepository::change(&db.database, change(&role, Some(&[]))).await.unwrap();
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
        let listed = RoleRepository::insert(&db.database, project, draft(&[own.get(), 1]), START).await.unwrap();
        let clerk = db.database.insert_user(project, "clerk", RoleChoice::Role(listed.id)).await;
        let boss = db.database.insert_user(project, "boss", RoleChoice::Owner).await;
        let plain = RoleRepository::insert(&db.database, project, draft(&[1]), START).await.unwrap();
        let anna = db.database.insert_user(project, "anna", RoleChoice::Role(plain.id)).await;
        let held: BTreeSet<PermissionId> = [own].into();
        for (user, expected) in [(clerk, &held), (boss, &held), (anna, &BTreeSet::new())] {
            let token = sign_in(&db.database, user, None).await.unwrap();
            assert_eq!(&RoleRepository::project_permissions(&db.database, token).await.unwrap(), expected);
            fixtures::run(&db, format!("UPDATE access_tokens SET abilities = '[\"view-agents\"]' WHERE id = {token}")).await;
            assert!(RoleRepository::project_permissions(&db.database, token).await.unwrap().is_empty());
            let stored = db.database.staff_token(token).await.unwrap().unwrap();
            let opened = if user == boss { Permission::all().count() } else { 1 };
            assert_eq!(stored.permissions.len(), opened);
        }
        let names = async |user| {
            let record = db.database.employee(user).await.unwrap().unwrap();
            record.permissions.into_iter().map(|permission| permission.name).collect::<Vec<_>>()
        };
        assert_eq!(names(clerk).await, ["view-agents", "view-reports"]);
        assert_eq!(names(boss).await.last().unwrap(), "view-reports");
        assert_eq!(names(anna).await, ["view-agents"]);
    }
}

/// A shorter way to an employee.
trait InsertUser {
    async fn insert_user(&self, project: ProjectId, login: &str, role: RoleChoice) -> kontor_kernel::UserId;
}

impl InsertUser for kontor_adapter_diesel::Database {
    async fn insert_user(&self, project: ProjectId, login: &str, role: RoleChoice) -> kontor_kernel::UserId {
        StaffRepository::insert_employee(self, employee(project, login, role)).await.unwrap()
    }
}
