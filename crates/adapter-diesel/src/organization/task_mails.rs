use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{Stamp, StoreError, UserId, Word};
use kontor_organization::COLLECTION_PERIOD;
use kontor_organization::model::{TaskLine, TaskMail, TaskNotice, TaskSnapshot, TaskStatus};
use kontor_organization::ports::TaskMailQueue;

use crate::database::{Abort, AnyConnection, Database};
use crate::decode;
use crate::histories;
use crate::lease::{LeaseRequest, Leased, Queue};
use crate::statement::{Statement, Value, by_place};

/// Queue of employees to be notified of tasks.
pub(crate) const TASK_MAILS: Queue =
    Queue { table: "task_mails", key: "user_id", due: Some("next_attempt_at"), open: "TRUE", on_park: "" };

/// Maximum changes in one mail; further ones are sent in the next mail.
const MAX_CHANGES: usize = 500;

/// Stores the notifications about a change of a task; the previous state is `None` for a new task.
pub(super) fn add_notifications<R>(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    task: i64,
    before: Option<TaskSnapshot>,
    after: TaskSnapshot,
) -> Result<(), Abort<R>> {
    let (by, _) = histories::author(stamp);
    let mut news = after.news(before, decode::optional_id(by)?);
    if news.is_empty() {
        return Ok(());
    }
    // All writers lock the rows of the same employees in the same order.
    news.sort_unstable_by_key(|(person, _)| person.get());
    let row = |(person, news): &(UserId, TaskNotice)| -> [Value; 4] {
        [stamp.project_id.get().into(), person.get().into(), task.into(), news.word().into()]
    };
    Statement::new("INSERT INTO task_news (project_id, user_id, task_id, reason) VALUES ")
        .tuples(news.iter().map(row))
        .run(connection)?;
    let (at, due) = (stamp.at.naive_utc(), (stamp.at + COLLECTION_PERIOD).naive_utc());
    let row = |(person, _): &(UserId, TaskNotice)| -> [Value; 5] {
        [person.get().into(), 1_i64.into(), at.into(), 0_i32.into(), due.into()]
    };
    Statement::new("INSERT INTO task_mails (user_id, wanted, requested_at, attempts, next_attempt_at) VALUES ")
        .tuples(news.iter().map(row))
        .sql(
            " ON CONFLICT (user_id) DO UPDATE SET wanted = task_mails.wanted + 1, requested_at = excluded.requested_at",
        )
        .run(connection)?;
    Ok(())
}

by_place! {
    struct MailRow {
        user_id: i64,
        wanted: i64,
        requested_at: NaiveDateTime,
        attempts: i32,
        email: Option<String>,
    }
}

by_place! {
    struct NewsRow {
        id: i64,
        task_id: i64,
        reason: String,
        title: String,
        status_id: i64,
        status_name: String,
        author_id: Option<i64>,
        responsible_id: Option<i64>,
        deadline: Option<NaiveDateTime>,
    }
}

const LEASED: Leased<i64, (MailRow, Vec<NewsRow>), TaskMail> = Leased { load, read: mail };

type Loaded = Vec<(i64, (MailRow, Vec<NewsRow>))>;

/// Loads the rows of the queue before the changes to report. A concurrent writer raises `wanted` above the value that
/// was read.
fn load(connection: &mut AnyConnection, users: &[i64]) -> QueryResult<Loaded> {
    let mails: Vec<MailRow> = Statement::new(
        "SELECT m.user_id, m.wanted, m.requested_at, m.attempts, u.email FROM task_mails m LEFT JOIN users u \
         ON u.id = m.user_id AND u.kind = 'employee' AND u.is_banned = FALSE AND u.deleted_at IS NULL WHERE m.user_id",
    )
    .among(users)
    .rows(connection)?;
    let mut loaded = Vec::new();
    for mail in mails {
        let news = Statement::new(
            "SELECT n.id, n.task_id, n.reason, t.title, t.status_id, s.name, t.author_id, t.responsible_id, t.deadline \
             FROM task_news n JOIN tasks t ON t.id = n.task_id \
             JOIN dictionary_items s ON s.dictionary = 'task_statuses' AND s.id = t.status_id WHERE n.user_id = ",
        )
        .value(mail.user_id)
        .sql(format!(" ORDER BY n.id LIMIT {MAX_CHANGES}"));
        loaded.push((mail.user_id, (mail, news.rows(connection)?)));
    }
    Ok(loaded)
}

fn line(row: NewsRow) -> Result<(TaskSnapshot, TaskLine), StoreError> {
    let status = TaskStatus::from_id(row.status_id)
        .ok_or_else(|| decode::unknown("tasks", row.task_id, "status_id", row.status_id))?;
    let news = decode::word("task_news", row.id, "reason", &row.reason)?;
    let deadline = row.deadline.map(decode::moment);
    let (author, responsible) = (decode::optional_id(row.author_id)?, decode::optional_id(row.responsible_id)?);
    let line = TaskLine {
        id: decode::id(row.task_id)?,
        title: decode::owned(row.title)?,
        news,
        status: decode::owned(row.status_name)?,
        deadline,
    };
    Ok((TaskSnapshot { status, author, responsible, deadline }, line))
}

fn mail((row, news): (MailRow, Vec<NewsRow>)) -> Result<TaskMail, StoreError> {
    let user_id: UserId = decode::id(row.user_id)?;
    let settles = news.iter().map(|news| news.id).collect();
    let told: Vec<(TaskSnapshot, TaskLine)> = news.into_iter().map(line).collect::<Result<_, StoreError>>()?;
    let told = told.into_iter().filter(|(task, line)| task.still_applies(line.news, user_id)).map(|(_, line)| line);
    Ok(TaskMail {
        user_id,
        to: decode::optional_text(row.email.as_deref())?,
        lines: TaskLine::merged_by_task(told),
        settles,
        wanted: row.wanted,
        requested_at: decode::moment(row.requested_at),
        attempts: u32::try_from(row.attempts).map_err(StoreError::corrupt)?,
    })
}

/// Releases the lease of a mail, if this worker still holds it.
fn give_back(mail: &TaskMail, owner: &str, next: DateTime<Utc>, set: Statement) -> Statement {
    Statement::new("UPDATE task_mails SET lease_owner = NULL, leased_until = NULL, next_attempt_at = ")
        .value(next.naive_utc())
        .then(set)
        .sql(" WHERE user_id = ")
        .value(mail.user_id.get())
        .sql(" AND lease_owner = ")
        .value(owner)
}

#[async_trait]
impl TaskMailQueue for Database {
    async fn lease(
        &self,
        owner: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<TaskMail>, StoreError> {
        let set = Statement::new(", attempts = attempts + 1");
        Ok(self.lease_rows(&TASK_MAILS, LeaseRequest::new(owner, at, until, 1), set, LEASED).await?.pop())
    }

    async fn postpone(&self, mail: &TaskMail, owner: &str, next: DateTime<Utc>) -> Result<(), StoreError> {
        let postponed = give_back(mail, owner, next, Statement::new(""));
        self.write(move |connection| {
            postponed.clone().run(connection)?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn settle(
        &self,
        mail: TaskMail,
        owner: &str,
        at: DateTime<Utc>,
        next: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let owner = owner.to_owned();
        self.write(move |connection| {
            if !mail.settles.is_empty() {
                Statement::new("DELETE FROM task_news WHERE id").among(&mail.settles).run(connection)?;
            }
            let user = mail.user_id.get();
            let ended = Statement::new("DELETE FROM task_mails WHERE user_id = ")
                .value(user)
                .sql(" AND lease_owner = ")
                .value(owner.as_str())
                .sql(" AND wanted = ")
                .value(mail.wanted)
                .sql(" AND NOT EXISTS (SELECT 1 FROM task_news WHERE user_id = ")
                .value(user)
                .sql(")")
                .run(connection)?;
            if ended == 0 {
                let anew = Statement::new(", attempts = 0, requested_at = ").value(at.naive_utc());
                give_back(&mail, &owner, next, anew).run(connection)?;
            }
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }
}
