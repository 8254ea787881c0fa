//! Task notifications to employees, from the commit to the mail.

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{Database, database_tests};
use kontor_auth::model::RoleChoice;
use kontor_auth::ports::StaffRepository;
use kontor_kernel::{Edit, Name, ProjectId, RecordRepository, Stamp, TaskId, UserId};
use kontor_organization::COLLECTION_PERIOD;
use kontor_organization::model::{Task, TaskChange, TaskDraft, TaskLinks, TaskMail, TaskNotice, TaskStatus};
use kontor_organization::ports::TaskMailQueue;

use crate::fixtures;
use crate::staff::{START, employee};

fn after(seconds: i64) -> DateTime<Utc> {
    START + TimeDelta::seconds(seconds)
}

pub async fn anna(db: &TestDatabase, project: ProjectId) -> UserId {
    db.database.insert_employee(employee(project, "anna", RoleChoice::Owner)).await.unwrap()
}

async fn task(db: &Database, project: ProjectId, title: String, responsible: UserId) -> TaskId {
    let links = TaskLinks { responsible_id: Some(responsible), ..TaskLinks::default() };
    let draft = TaskDraft { title: Name::parse(&title).unwrap(), description: None, status: TaskStatus::New, links };
    let stamp = Stamp::of_system(project, START);
    RecordRepository::<Task>::insert(db, stamp, draft).await.unwrap().id
}

async fn change(db: &Database, project: ProjectId, task: TaskId, change: TaskChange) {
    RecordRepository::<Task>::update(db, Stamp::of_system(project, START), task, change).await.unwrap();
}

async fn lease(db: &Database, owner: &str, at: DateTime<Utc>) -> Option<TaskMail> {
    TaskMailQueue::lease(db, owner, at, at + TimeDelta::seconds(30)).await.unwrap()
}

async fn settle(db: &Database, mail: TaskMail, owner: &str, at: DateTime<Utc>) {
    TaskMailQueue::settle(db, mail, owner, at, at + COLLECTION_PERIOD).await.unwrap();
}

async fn waiting(db: &TestDatabase) -> (i64, i64) {
    let mails = fixtures::number(db, "SELECT COUNT(*) AS value FROM task_mails").await;
    (fixtures::number(db, "SELECT COUNT(*) AS value FROM task_news").await, mails)
}

database_tests! {
    async fn notices_become_one_mail_of_one_worker(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let anna = anna(&db, project).await;
        let titles = (0..20).map(|number| task(&db.database, project, format!("Task {number}"), anna));
        join_all(titles).await;
        assert_eq!(waiting(&db).await, (20, 1));
        assert_eq!(lease(&db.database, "early", after(59)).await, None);
        let owners: Vec<String> = (0..8).map(|number| format!("worker {number}")).collect();
        let leased = join_all(owners.iter().map(|owner| lease(&db.database, owner, after(60)))).await;
        let mut leased = owners.iter().zip(leased).filter_map(|(owner, mail)| Some((owner, mail?)));
        let (owner, mail) = leased.next().unwrap();
        assert!(leased.next().is_none(), "one has it");
        assert_eq!((mail.lines.len(), mail.attempts, mail.user_id), (20, 1, anna));
        assert!(mail.lines.iter().all(|line| line.news == TaskNotice::Assigned));
        assert_eq!(mail.to.as_ref().unwrap().as_str(), "anna@x.ru");
        settle(&db.database, mail, owner, after(61)).await;
        assert_eq!(waiting(&db).await, (0, 0));
    }

    async fn changes_during_sending_are_another_mail(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let anna = anna(&db, project).await;
        let first = task(&db.database, project, "First".to_owned(), anna).await;
        let mail = lease(&db.database, "me", after(60)).await.unwrap();
        let done = TaskChange { status: Edit::Set(TaskStatus::Done), ..TaskChange::default() };
        change(&db.database, project, first, done).await;
        task(&db.database, project, "Second".to_owned(), anna).await;
        settle(&db.database, mail, "me", after(61)).await;
        assert_eq!(waiting(&db).await, (2, 1));
        assert_eq!(lease(&db.database, "me", after(120)).await, None);
        let mail = lease(&db.database, "me", after(121)).await.unwrap();
        let reported: Vec<_> = mail.lines.iter().map(|line| (line.title.as_str(), line.news)).collect();
        assert_eq!(reported, [("First", TaskNotice::Closed), ("Second", TaskNotice::Assigned)]);
        assert_eq!((mail.attempts, mail.requested_at), (1, after(61)));
        settle(&db.database, mail, "me", after(122)).await;
        assert_eq!(waiting(&db).await, (0, 0));
    }

    async fn writers_and_a_worker_at_the_same_time_lose_nothing(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let anna = anna(&db, project).await;
        let write = async {
            for number in 0..60 {
                task(&db.database, project, format!("Task {number}"), anna).await;
            }
        };
        let reported = std::sync::Mutex::new(Vec::new());
        let work = async |from: i64, until: &dyn Fn(usize) -> bool| {
            let mut at = after(from);
            while until(reported.lock().unwrap().len()) {
                at += COLLECTION_PERIOD;
                let Some(mail) = lease(&db.database, "me", at).await else {
                    tokio::task::yield_now().await;
                    continue;
                };
                reported.lock().unwrap().extend(mail.lines.iter().map(|line| line.title.to_string()));
                settle(&db.database, mail, "me", at).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_mins(1), async {
            tokio::join!(write, work(0, &|reported| reported < 60));
        })
        .await
        .unwrap();
        let mut reported = reported.into_inner().unwrap();
        reported.sort_unstable();
        reported.dedup();
        assert_eq!(reported.len(), 60, "each once");
        // The queue row may be left without notifications; the next read deletes it.
        if let Some(mail) = lease(&db.database, "me", after(1_000_000)).await {
            assert!(mail.lines.is_empty());
            settle(&db.database, mail, "me", after(1_000_000)).await;
        }
        assert_eq!(waiting(&db).await, (0, 0));
    }

    async fn a_mail_is_tried_again_and_one_that_cannot_be_read_is_parked(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let anna = anna(&db, project).await;
        task(&db.database, project, "Task".to_owned(), anna).await;
        let mail = lease(&db.database, "me", after(60)).await.unwrap();
        TaskMailQueue::postpone(&db.database, &mail, "somebody else", after(61)).await.unwrap();
        assert_eq!(lease(&db.database, "me", after(62)).await, None, "it is still leased");
        TaskMailQueue::postpone(&db.database, &mail, "me", after(70)).await.unwrap();
        let later = TaskChange { deadline: Edit::Set(Some(after(100_000))), ..TaskChange::default() };
        let stamp = Stamp::of_system(project, after(65));
        RecordRepository::<Task>::update(&db.database, stamp, mail.lines[0].id, later).await.unwrap();
        assert_eq!(lease(&db.database, "me", after(69)).await, None);
        let again = lease(&db.database, "me", after(70)).await.unwrap();
        assert_eq!((again.attempts, again.lines.len()), (2, 1));
        assert_eq!(again.requested_at, after(65), "what is new is not given up with what is old");
        // A worker that lost the lease deletes the notifications it sent, and not the mail.
        let other = lease(&db.database, "other", after(101)).await.unwrap();
        settle(&db.database, again, "me", after(102)).await;
        assert_eq!(waiting(&db).await, (0, 1));
        settle(&db.database, other, "other", after(103)).await;
        assert_eq!(waiting(&db).await, (0, 0));

        task(&db.database, project, "Broken".to_owned(), anna).await;
        fixtures::run(&db, "UPDATE task_news SET reason = 'whim'".to_owned()).await;
        assert_eq!(lease(&db.database, "me", after(200)).await, None);
        let parked = db.database.parked().await.unwrap();
        assert_eq!((parked.len(), parked[0].table), (1, "task_mails"));
        assert!(parked[0].reason.contains("whim"), "{}", parked[0].reason);
    }
}
