//! Rehearsals: operations of a request that are never committed.

use std::sync::Arc;

use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{Database, Rehearsal, RequestContext, VersionedRecord, VersionedRequest, database_tests};
use kontor_kernel::{Edit, Name, ProjectId, RecordRepository, Stamp, StoreError, TaskId};
use kontor_organization::TaskError;
use kontor_organization::model::{Task, TaskChange, TaskDraft, TaskLinks, TaskStatus};

use crate::fixtures;
use crate::staff::START;

async fn insert(database: &Database, project: ProjectId, title: &str) -> Result<TaskId, TaskError> {
    let (title, links) = (Name::parse(title).unwrap(), TaskLinks::default());
    let draft = TaskDraft { title, description: None, status: TaskStatus::New, links };
    let task = RecordRepository::<Task>::insert(database, Stamp::of_system(project, START), draft).await?;
    Ok(task.id)
}

async fn rename(database: &Database, project: ProjectId, task: TaskId, title: &str) -> Result<Task, TaskError> {
    let change = TaskChange { title: Edit::Set(Name::parse(title).unwrap()), ..TaskChange::default() };
    RecordRepository::<Task>::update(database, Stamp::of_system(project, START), task, change).await
}

async fn titles(database: &Database, project: ProjectId) -> Vec<String> {
    let tasks = RecordRepository::<Task>::list(database, project).await.unwrap();
    tasks.into_iter().map(|task| task.title.to_string()).collect()
}

async fn histories(db: &TestDatabase) -> i64 {
    fixtures::number(db, "SELECT COUNT(*) AS value FROM histories").await
}

database_tests! {
    async fn a_rehearsal_reads_its_own_writes_and_leaves_nothing(db: TestDatabase) {
        let (project, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let kept = insert(&db.database, project, "Kept").await.unwrap();
        let before = histories(&db).await;
        let rehearsal = Rehearsal::begin();
        let handle = db.database.for_request(Arc::clone(&rehearsal));
        assert_eq!(titles(&handle, project).await, ["Kept"]);
        let new = insert(&handle, project, "New").await.unwrap();
        rename(&handle, project, kept, "Renamed").await.unwrap();
        assert_eq!(titles(&handle, project).await, ["Renamed", "New"]);
        let found = RecordRepository::<Task>::find(&handle, new).await.unwrap().unwrap();
        assert_eq!(found.within(project).unwrap().title.as_str(), "New");
        // A refused operation is undone alone.
        let nothing = rename(&handle, other, new, "Foreign").await;
        assert!(nothing.is_err(), "{nothing:?}");
        assert_eq!(titles(&handle, project).await, ["Renamed", "New"]);
        assert_eq!(titles(&db.database, project).await, ["Kept"], "others see nothing");

        rehearsal.end();
        let late = insert(&handle, project, "Late").await;
        assert!(matches!(late, Err(TaskError::Store(StoreError::Unavailable(_)))), "{late:?}");
        // The next write waits for the end of the transaction.
        insert(&db.database, project, "After").await.unwrap();
        assert_eq!(titles(&db.database, project).await, ["Kept", "After"]);
        assert_eq!(histories(&db).await, before + 1);
    }

    async fn a_dropped_rehearsal_is_rolled_back(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        insert(&db.database.for_request(Rehearsal::begin()), project, "New").await.unwrap();
        insert(&db.database, project, "After").await.unwrap();
        assert_eq!(titles(&db.database, project).await, ["After"]);
    }

    async fn a_rehearsal_that_does_not_end_is_rolled_back_after_a_while(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let handle = db.database.for_request(Rehearsal::begin());
        let task = insert(&db.database, project, "Kept").await.unwrap();
        rename(&handle, project, task, "Renamed").await.unwrap();
        // It waits for the lock of the row, or for the only writer.
        rename(&db.database, project, task, "Changed").await.unwrap();
        assert_eq!(titles(&db.database, project).await, ["Changed"]);
        let late = insert(&handle, project, "Late").await;
        assert!(matches!(late, Err(TaskError::Store(StoreError::Unavailable(_)))), "{late:?}");
    }

    async fn a_rehearsal_expects_the_version_of_the_record(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let task = insert(&db.database, project, "Kept").await.unwrap();
        let row = || VersionedRecord::Task.row(project, &[task.get()]);
        for (expected, is_stale) in [(1, false), (2, true)] {
            let (rehearsal, versioned) = (Rehearsal::begin(), VersionedRequest::new(row(), Some(expected)));
            let context = RequestContext {
                versioned: Some(Arc::clone(&versioned)),
                rehearsed: Some(Arc::clone(&rehearsal)),
                ..RequestContext::default()
            };
            let handle = db.database.for_request(context);
            assert_eq!(rename(&handle, project, task, "First").await.is_err(), is_stale);
            assert_eq!(rename(&handle, project, task, "Second").await.is_err(), is_stale);
            assert_eq!((versioned.is_stale(), versioned.left().map(|left| left.version)), (is_stale, (!is_stale).then_some(2)));
            rehearsal.end();
        }
        assert_eq!(db.database.version_of(row()).await.unwrap(), Some(1));
        assert_eq!(titles(&db.database, project).await, ["Kept"]);
    }
}
