//! Steps of a request with a version precondition.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use chrono::DateTime;
use diesel::RunQueryDsl;
use diesel::result::{DatabaseErrorKind, Error};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{Abort, AnyConnection, Database, VersionedRecord, VersionedRequest, database_tests};
use kontor_kernel::history::Author;
use kontor_kernel::{Name, ProjectId, RecordRepository, Stamp, StoreError};
use kontor_organization::model::{Department, DepartmentDraft};

use crate::fixtures;

/// A department and its project.
async fn department(db: &TestDatabase) -> (ProjectId, i64) {
    let project = fixtures::project(db).await;
    let stamp = Stamp { project_id: project, author: Author::System, at: DateTime::UNIX_EPOCH };
    let draft = DepartmentDraft { name: Name::parse("Sales").unwrap(), description: None, branch_id: None };
    let made: Department = RecordRepository::<Department>::insert(&db.database, stamp, draft).await.unwrap();
    (project, made.id.get())
}

fn rename(connection: &mut AnyConnection) -> Result<(), Error> {
    diesel::sql_query("UPDATE departments SET name = name || '!', version = version + 1")
        .execute(connection)
        .map(|_| ())
}

async fn step(database: &Database, changes: bool) -> Result<(), StoreError> {
    let work = move |connection: &mut AnyConnection| {
        if changes {
            rename(connection)?;
        }
        Ok::<_, Abort<StoreError>>(())
    };
    database.write(work).await
}

database_tests! {
    async fn a_step_is_rolled_back_when_the_version_is_another(db: TestDatabase) {
        let (project, id) = department(&db).await;
        let row = VersionedRecord::Department.row(project, &[id]);
        let stale = VersionedRequest::new(row.clone(), Some(7));
        step(&db.database.for_request(Arc::clone(&stale)), true).await.unwrap_err();
        assert!(stale.is_stale() && stale.left().is_none());
        assert_eq!(db.database.version_of(row.clone()).await.unwrap(), Some(1));
        let fresh = VersionedRequest::new(row.clone(), Some(1));
        step(&db.database.for_request(Arc::clone(&fresh)), true).await.unwrap();
        assert_eq!((fresh.is_stale(), fresh.left().unwrap().version), (false, 2));
        // A record of another project has no version, and is checked by the step itself.
        let foreign = VersionedRecord::Department.row(fixtures::project(&db).await, &[id]);
        assert_eq!(db.database.version_of(foreign.clone()).await.unwrap(), None);
        let foreign = VersionedRequest::new(foreign, Some(7));
        step(&db.database.for_request(Arc::clone(&foreign)), false).await.unwrap();
        assert!(!foreign.is_stale() && foreign.left().is_none());
    }

    async fn a_started_request_is_completed(db: TestDatabase) {
        let (project, id) = department(&db).await;
        let row = VersionedRecord::Department.row(project, &[id]);
        let request = VersionedRequest::new(row.clone(), Some(1));
        // A step that does not change the record does not check the precondition yet.
        step(&db.database.for_request(Arc::clone(&request)), false).await.unwrap();
        assert_eq!(request.left().unwrap().version, 1);
        step(&db.database.for_request(Arc::clone(&request)), true).await.unwrap();
        step(&db.database, true).await.unwrap();
        step(&db.database.for_request(Arc::clone(&request)), true).await.unwrap();
        assert_eq!((request.is_stale(), request.left().unwrap().version), (false, 2), "what it knows of its own answer");
        assert_eq!(db.database.version_of(row.clone()).await.unwrap(), Some(4));
        let overtaken = VersionedRequest::new(row, Some(4));
        step(&db.database.for_request(Arc::clone(&overtaken)), false).await.unwrap();
        step(&db.database, true).await.unwrap();
        step(&db.database.for_request(Arc::clone(&overtaken)), true).await.unwrap_err();
        assert!(overtaken.is_stale());
    }

    async fn a_step_that_runs_again_expects_the_same(db: TestDatabase) {
        let (project, id) = department(&db).await;
        let request = VersionedRequest::new(VersionedRecord::Department.row(project, &[id]), Some(1));
        let calls = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&calls);
        let bound = db.database.for_request(Arc::clone(&request));
        let work = bound.write(move |connection| {
            rename(connection)?;
            if seen.fetch_add(1, Ordering::SeqCst) == 0 {
                return Err(Error::DatabaseError(DatabaseErrorKind::SerializationFailure, Box::new("conflict".to_owned())).into());
            }
            Ok::<_, Abort<StoreError>>(())
        });
        work.await.unwrap();
        assert_eq!((calls.load(Ordering::SeqCst), request.left().unwrap().version), (2, 2));
    }

    async fn a_step_that_forgets_the_version_is_noticed(db: TestDatabase) {
        department(&db).await;
        let forgets = db.database.write(|connection| {
            diesel::sql_query("UPDATE departments SET name = 'x'").execute(connection)?;
            Ok::<_, Abort<StoreError>>(())
        });
        let error = forgets.await.unwrap_err().to_string();
        assert!(error.contains("departments") && error.contains("leaves version"), "{error}");
    }

    async fn a_deleted_record_leaves_no_version(db: TestDatabase) {
        let (project, id) = department(&db).await;
        let row = VersionedRecord::Department.row(project, &[id]);
        let request = VersionedRequest::new(row.clone(), Some(1));
        let bound = db.database.for_request(Arc::clone(&request));
        let gone = bound.write(|connection| {
            diesel::sql_query("DELETE FROM departments").execute(connection)?;
            Ok::<_, Abort<StoreError>>(())
        });
        gone.await.unwrap();
        assert!(request.left().is_none() && !request.is_stale());
        assert_eq!(db.database.version_of(row).await.unwrap(), None);
    }
}
