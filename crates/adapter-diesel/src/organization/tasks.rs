//! Tasks of employees, and mails about their changes.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{CounterpartyId, Line, OrderId, ProjectId, ProjectScoped, Stamp, StoreError, UserId, Word};
use kontor_organization::model::{
    Task, TaskChange, TaskDraft, TaskLine, TaskMail, TaskNotice, TaskSnapshot, TaskStatus,
};
use kontor_organization::ports::TaskMailQueue;
use kontor_organization::{COLLECTION_PERIOD, TaskError, TaskReference, TaskRefusal};

use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, Database};
use crate::lease::{Leased, Queue};
use crate::listing::{Source, key_contains, unsearched};
use crate::records::{self, ListedRecord, RepositoryRecord, StoredRecord};
use crate::schema::{keyed, tasks};
use crate::statement::{Statement, Value, by_place};
use crate::{decode, histories, unreadable};

by_place! {
    struct TaskRow {
        id: i64,
        project_id: i64,
        title: String,
        description: Option<String>,
        status_id: i64,
        status_name: String,
        author_id: Option<i64>,
        author_name: Option<String>,
        responsible_id: Option<i64>,
        responsible_name: Option<String>,
        deadline: Option<NaiveDateTime>,
        order_id: Option<i64>,
        counterparty_id: Option<i64>,
        closed_at: Option<NaiveDateTime>,
        version: i64,
        created_at: NaiveDateTime,
        updated_at: NaiveDateTime,
    }
}

const TASKS: &str = "SELECT t.id, t.project_id, t.title, t.description, t.status_id, s.name, t.author_id, \
    a.first_name || ' ' || a.last_name, t.responsible_id, r.first_name || ' ' || r.last_name, t.deadline, t.order_id, \
    t.counterparty_id, t.closed_at, t.version, t.created_at, t.updated_at FROM tasks t \
    JOIN dictionary_items s ON s.dictionary = 'task_statuses' AND s.id = t.status_id \
    LEFT JOIN users a ON a.id = t.author_id AND a.project_id = t.project_id LEFT JOIN users r \
    ON r.id = t.responsible_id AND r.project_id = t.project_id WHERE t.id";

fn person(id: Option<i64>, name: Option<String>) -> Result<Option<(UserId, String)>, StoreError> {
    id.zip(name).map(|(id, name)| Ok((decode::id(id)?, name.trim().to_owned()))).transpose()
}

impl TryFrom<TaskRow> for Task {
    type Error = StoreError;

    fn try_from(row: TaskRow) -> Result<Self, StoreError> {
        let status = TaskStatus::from_id(row.status_id)
            .ok_or_else(|| decode::unknown("tasks", row.id, "status_id", row.status_id))?;
        Ok(Self {
            id: decode::id(row.id)?,
            title: decode::owned(row.title)?,
            description: decode::optional_text(row.description.as_deref())?,
            status: (status, decode::owned(row.status_name)?),
            author: person(row.author_id, row.author_name)?,
            responsible: person(row.responsible_id, row.responsible_name)?,
            deadline: row.deadline.map(decode::moment),
            order_id: decode::optional_id(row.order_id)?,
            counterparty_id: decode::optional_id(row.counterparty_id)?,
            closed_at: row.closed_at.map(decode::moment),
            version: decode::count(row.version)?,
            created_at: decode::moment(row.created_at),
            updated_at: decode::moment(row.updated_at),
        })
    }
}

/// Loads these tasks in this order, those that are left out.
fn load<R>(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<ProjectScoped<Task>>, Abort<R>> {
    let rows: Vec<TaskRow> = Statement::new(TASKS).among(ids).rows(connection)?;
    let rows = rows.into_iter().map(|row| (row.id, row.project_id, row.try_into()));
    Ok(records::in_order_of(ids, rows)?)
}

impl StoredRecord for Task {
    const TABLE: &'static str = "tasks";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        Ok(load(connection, &[id])?.pop())
    }
}

/// Requires that the references belong to the project. Banned employees and deleted customers are refused.
fn require_own(
    connection: &mut AnyConnection,
    project: ProjectId,
    references: [(TaskReference, Option<i64>); 3],
) -> Result<(), Abort<TaskError>> {
    let mut unknown = Vec::new();
    for (reference, id) in references {
        let Some(id) = id else { continue };
        let own = match reference {
            TaskReference::Responsible => {
                "SELECT id FROM users WHERE kind = 'employee' AND is_banned = FALSE AND deleted_at IS NULL AND project_id = "
            }
            TaskReference::Order => "SELECT id FROM orders WHERE project_id = ",
            TaskReference::Customer => "SELECT id FROM counterparties WHERE deleted_at IS NULL AND project_id = ",
        };
        let own = Statement::new(own).value(project.get()).sql(" AND id = ").value(id);
        if !own.finds(connection)? {
            unknown.push(reference);
        }
    }
    if unknown.is_empty() { Ok(()) } else { Err(Abort::refused(TaskRefusal::UnknownReferences(unknown))) }
}

fn stored_moment(at: Option<DateTime<Utc>>) -> Option<NaiveDateTime> {
    at.map(|at| at.naive_utc())
}

impl RepositoryRecord for Task {
    fn of_project(connection: &mut AnyConnection, project: i64) -> Result<Vec<Self>, Abort<StoreError>> {
        let ids = tasks::table.filter(tasks::project_id.eq(project)).order(tasks::id).select(tasks::id);
        let ids: Vec<i64> = ids.load(connection)?;
        Ok(records::within(unreadable::records(connection, Self::TABLE, &ids, load)?, decode::id(project)?))
    }

    fn insert(connection: &mut AnyConnection, stamp: &Stamp, draft: &TaskDraft) -> Result<i64, Abort<TaskError>> {
        require_own(connection, stamp.project_id, draft.references())?;
        let (author, _) = histories::author(stamp);
        let (links, at) = (&draft.links, stamp.at.naive_utc());
        let id = diesel::insert_into(tasks::table)
            .values((
                (
                    tasks::project_id.eq(stamp.project_id.get()),
                    tasks::title.eq(draft.title.as_str()),
                    tasks::title_key.eq(draft.title.key()),
                    tasks::sort_key.eq(sort_key(&draft.title)),
                    tasks::description.eq(draft.description.as_deref()),
                    tasks::status_id.eq(draft.status.id()),
                    tasks::author_id.eq(author),
                ),
                (
                    tasks::responsible_id.eq(links.responsible_id.map(UserId::get)),
                    tasks::deadline.eq(stored_moment(links.deadline)),
                    tasks::order_id.eq(links.order_id.map(OrderId::get)),
                    tasks::counterparty_id.eq(links.counterparty_id.map(CounterpartyId::get)),
                    tasks::closed_at.eq(draft.status.is_closed().then_some(at)),
                    tasks::created_at.eq(at),
                    tasks::updated_at.eq(at),
                ),
            ))
            .returning(tasks::id)
            .get_result(connection)?;
        let standing = TaskSnapshot::from_draft(draft, decode::optional_id(author)?);
        add_notifications(connection, stamp, id, None, standing)?;
        Ok(id)
    }

    fn update(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        before: &Self,
        change: &TaskChange,
    ) -> Result<usize, Abort<TaskError>> {
        require_own(connection, stamp.project_id, change.references())?;
        let changed = diesel::update(keyed!(tasks, before.id.get(), stamp.project_id))
            .set((
                change.title.as_set().map(|title| {
                    let keys = (tasks::title_key.eq(title.key()), tasks::sort_key.eq(sort_key(title)));
                    (tasks::title.eq(title.as_str()), keys)
                }),
                change.description.as_set().map(|text| tasks::description.eq(text.as_deref())),
                change.status.as_set().map(|status| tasks::status_id.eq(status.id())),
                change.responsible_id.as_set().map(|id| tasks::responsible_id.eq(id.map(UserId::get))),
                change.deadline.as_set().map(|at| tasks::deadline.eq(stored_moment(*at))),
                change.order_id.as_set().map(|id| tasks::order_id.eq(id.map(OrderId::get))),
                change.counterparty_id.as_set().map(|id| tasks::counterparty_id.eq(id.map(CounterpartyId::get))),
                tasks::closed_at.eq(stored_moment(change.closed_at(before, stamp.at))),
                tasks::version.eq(tasks::version + 1),
                tasks::updated_at.eq(stamp.at.naive_utc()),
            ))
            .execute(connection)?;
        let standing = TaskSnapshot::of(before);
        add_notifications(connection, stamp, before.id.get(), Some(standing), standing.changed(change))?;
        Ok(changed)
    }
}

impl ListedRecord for Task {
    const SOURCE: Source = Source {
        from: "tasks t",
        id: "t.id",
        fields: &[
            ("id", "t.id"),
            ("title", "t.sort_key"),
            ("status_id", "t.status_id"),
            ("responsible_id", "t.responsible_id"),
            ("author_id", "t.author_id"),
            ("order_id", "t.order_id"),
            ("counterparty_id", "t.counterparty_id"),
            ("deadline", "t.deadline"),
            ("created_at", "t.created_at"),
            ("updated_at", "t.updated_at"),
        ],
        search: unsearched,
    };
    const PROJECT: &'static str = "t.project_id";

    fn load_many(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<ProjectScoped<Self>>, Abort<StoreError>> {
        load(connection, ids)
    }

    fn found(_connection: &AnyConnection, _project: ProjectId, text: &Line<255>) -> Statement {
        key_contains("t.title_key", text)
    }
}

/// Queue of employees to be notified of tasks.
pub(crate) const TASK_MAILS: Queue = Queue {
    table: "task_mails",
    key: "user_id",
    due: Some("next_attempt_at"),
    open: "TRUE",
    on_park: "",
    of_projects: true,
};

/// Maximum changes in one mail; further ones are sent in the next mail.
const MAX_CHANGES: usize = 500;

/// Stores the notifications about a change of a task; the previous state is `None` for a new task.
fn add_notifications<R>(
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
    let row = |(person, _): &(UserId, TaskNotice)| -> [Value; 6] {
        [stamp.project_id.get().into(), person.get().into(), 1_i64.into(), at.into(), 0_i32.into(), due.into()]
    };
    let insert =
        "INSERT INTO task_mails (project_id, user_id, wanted, requested_at, attempts, next_attempt_at) VALUES ";
    Statement::new(insert)
        .tuples(news.iter().map(row))
        .sql(
            " ON CONFLICT (user_id, project_id) \
             DO UPDATE SET wanted = task_mails.wanted + 1, requested_at = excluded.requested_at",
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
    struct NoticeRow {
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

const LEASED: Leased<i64, (MailRow, Vec<NoticeRow>), TaskMail> = Leased { load: load_mails, read: mail };

type Loaded = Vec<(i64, (MailRow, Vec<NoticeRow>))>;

/// Loads the rows of the queue before the changes to report. A concurrent writer raises `wanted` above the value that
/// was read.
fn load_mails(connection: &mut AnyConnection, users: &[i64]) -> QueryResult<Loaded> {
    let mails: Vec<MailRow> = Statement::new(
        "SELECT m.user_id, m.wanted, m.requested_at, m.attempts, u.email FROM task_mails m LEFT JOIN users u \
         ON u.id = m.user_id AND u.project_id = m.project_id AND u.kind = 'employee' AND u.is_banned = FALSE \
         AND u.deleted_at IS NULL WHERE m.user_id",
    )
    .among(users)
    .rows(connection)?;
    let mut loaded = Vec::new();
    for mail in mails {
        let news = Statement::new(
            "SELECT n.id, n.task_id, n.reason, t.title, t.status_id, s.name, t.author_id, t.responsible_id, t.deadline \
             FROM task_news n JOIN tasks t ON t.id = n.task_id AND t.project_id = n.project_id \
             JOIN dictionary_items s ON s.dictionary = 'task_statuses' AND s.id = t.status_id WHERE n.user_id = ",
        )
        .value(mail.user_id)
        .sql(format!(" ORDER BY n.id LIMIT {MAX_CHANGES}"));
        loaded.push((mail.user_id, (mail, news.rows(connection)?)));
    }
    Ok(loaded)
}

fn line(row: NoticeRow) -> Result<(TaskSnapshot, TaskLine), StoreError> {
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

fn mail((row, news): (MailRow, Vec<NoticeRow>)) -> Result<TaskMail, StoreError> {
    let user_id: UserId = decode::id(row.user_id)?;
    let settles = news.iter().map(|news| news.id).collect();
    let lines: Vec<(TaskSnapshot, TaskLine)> = news.into_iter().map(line).collect::<Result<_, StoreError>>()?;
    let lines = lines.into_iter().filter(|(task, line)| task.still_applies(line.news, user_id)).map(|(_, line)| line);
    Ok(TaskMail {
        user_id,
        to: decode::optional_text(row.email.as_deref())?,
        lines: TaskLine::merged_by_task(lines),
        settles,
        wanted: row.wanted,
        requested_at: decode::moment(row.requested_at),
        attempts: u32::try_from(row.attempts).map_err(StoreError::corrupt)?,
    })
}

/// Releases the lease of a mail, if this worker still holds it.
fn release(mail: &TaskMail, owner: &str, next: DateTime<Utc>, set: Statement) -> Statement {
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
        self.lease_row(&TASK_MAILS, owner, at, until, set, LEASED).await
    }

    async fn postpone(&self, mail: &TaskMail, owner: &str, next: DateTime<Utc>) -> Result<(), StoreError> {
        let postponed = release(mail, owner, next, Statement::new(""));
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
                let renewed = Statement::new(", attempts = 0, requested_at = ").value(at.naive_utc());
                release(&mail, &owner, next, renewed).run(connection)?;
            }
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }
}
