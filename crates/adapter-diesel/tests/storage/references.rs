//! Concurrent deletion of a referenced record.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use chrono::DateTime;
use diesel::connection::SimpleConnection;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{Abort, database_tests};
use kontor_auth::StaffRegistryError;
use kontor_auth::model::{NewEmployee, RoleChoice};
use kontor_auth::ports::StaffRepository;
use kontor_catalog::model::WarehouseDraft;
use kontor_catalog::ports::WarehouseRepository;
use kontor_catalog::{WarehouseError, WarehouseReference, WarehouseRefusal};
use kontor_kernel::{BranchId, DepartmentId, Edit, Name, ProjectId, RecordRepository, Stamp, StoreError};
use kontor_organization::model::{Branch, BranchDraft, Department, DepartmentChange, DepartmentDraft};
use kontor_organization::{DepartmentError, DepartmentRefusal};
use tokio::sync::Notify;

use crate::fixtures;
use crate::staff::{employee, role};

const AT: DateTime<chrono::Utc> = DateTime::UNIX_EPOCH;

/// Deletes a record and commits only while `attempt` is running, which therefore still finds it.
async fn deleted_during<T>(db: &TestDatabase, delete: String, attempt: impl Future<Output = T>) -> T {
    let (database, deleted) = (db.database.clone(), Arc::new(Notify::new()));
    let reported = Arc::clone(&deleted);
    let deleting = tokio::spawn(async move {
        let step = move |connection: &mut kontor_adapter_diesel::AnyConnection| {
            connection.batch_execute(&delete)?;
            reported.notify_one();
            // Not a wait for an event: the other side may start at any time during it.
            std::thread::sleep(Duration::from_millis(300));
            Ok::<_, Abort<StoreError>>(())
        };
        database.write_and_invalidate_all(step).await
    });
    deleted.notified().await;
    let outcome = attempt.await;
    deleting.await.unwrap().unwrap();
    outcome
}

async fn branch(db: &TestDatabase, project: ProjectId) -> BranchId {
    let name = Name::parse("B").unwrap();
    let draft = BranchDraft { name, inn: None, kpp: None, address: None, phone: None, email: None };
    RecordRepository::<Branch>::insert(&db.database, Stamp::of_system(project, AT), draft).await.unwrap().id
}

fn draft(branch_id: Option<BranchId>) -> DepartmentDraft {
    DepartmentDraft { name: Name::parse("Sales").unwrap(), description: None, branch_id }
}

async fn department(db: &TestDatabase, project: ProjectId) -> DepartmentId {
    RecordRepository::<Department>::insert(&db.database, Stamp::of_system(project, AT), draft(None)).await.unwrap().id
}

database_tests! {
    async fn a_department_with_a_deleted_branch_is_refused(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let branch_id = branch(&db, project).await;
        let attempt = RecordRepository::<Department>::insert(&db.database, Stamp::of_system(project, AT), draft(Some(branch_id)));
        let refused = deleted_during(&db, format!("DELETE FROM branches WHERE id = {branch_id}"), attempt).await;
        assert!(matches!(refused, Err(DepartmentError::Refused(DepartmentRefusal::UnknownBranch))), "{refused:?}");
        let (other, id) = (branch(&db, project).await, department(&db, project).await);
        let change = DepartmentChange { branch_id: Edit::Set(Some(other)), ..DepartmentChange::default() };
        let attempt = RecordRepository::<Department>::update(&db.database, Stamp::of_system(project, AT), id, change);
        let refused = deleted_during(&db, format!("DELETE FROM branches WHERE id = {other}"), attempt).await;
        assert!(matches!(refused, Err(DepartmentError::Refused(DepartmentRefusal::UnknownBranch))), "{refused:?}");
    }

    async fn a_warehouse_with_a_deleted_branch_is_refused(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let branch_id = branch(&db, project).await;
        let name = Name::parse("W").unwrap();
        let draft = WarehouseDraft { name, address: None, branch_id, application_ids: None };
        let attempt = WarehouseRepository::insert(&db.database, Stamp::of_system(project, AT), draft);
        let refused = deleted_during(&db, format!("DELETE FROM branches WHERE id = {branch_id}"), attempt).await;
        let Err(WarehouseError::Refused(WarehouseRefusal::UnknownReferences(unknown))) = refused else { panic!("{refused:?}") };
        assert_eq!(unknown, [WarehouseReference::Branch]);
    }

    async fn an_employee_with_a_deleted_reference_is_refused(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let (here, sales) = (branch(&db, project).await, department(&db, project).await);
        let (branch_id, department_id) = (Some(here), Some(sales));
        let role_id = role(&db, project, 71, "staff").await;
        let anna = || employee(project, "anna", RoleChoice::Owner);
        let refused = async |table: &str, id: i64, employee: NewEmployee| {
            let attempt = db.database.insert_employee(employee);
            deleted_during(&db, format!("DELETE FROM {table} WHERE id = {id}"), attempt).await.unwrap_err()
        };
        let error = refused("branches", here.get(), NewEmployee { branch_id, ..anna() }).await;
        assert!(matches!(error, StaffRegistryError::UnknownBranch), "{error:?}");
        let error = refused("departments", sales.get(), NewEmployee { department_id, ..anna() }).await;
        assert!(matches!(error, StaffRegistryError::UnknownDepartment), "{error:?}");
        let error = refused("roles", 71, NewEmployee { role: RoleChoice::Role(role_id), ..anna() }).await;
        assert!(matches!(error, StaffRegistryError::UnknownRole), "{error:?}");
        assert_eq!(fixtures::number(&db, "SELECT count(*) AS value FROM users").await, 0);
    }
}
