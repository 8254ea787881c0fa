use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{CounterpartyId, Line, OrderId, ProjectId, ProjectScoped, Stamp, StoreError, UserId};
use kontor_organization::model::{Task, TaskChange, TaskDraft, TaskSnapshot, TaskStatus};
use kontor_organization::{TaskError, TaskReference, TaskRefusal};

use super::task_mails::add_notifications;
use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::histories;
use crate::listing::{Source, key_contains, unsearched};
use crate::records::{self, ListedRecord, RepositoryRecord, StoredRecord};
use crate::schema::tasks;
use crate::statement::{Statement, by_place};
use crate::unreadable;

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
    LEFT JOIN users a ON a.id = t.author_id LEFT JOIN users r ON r.id = t.responsible_id WHERE t.id";

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
        let changed = diesel::update(tasks::table.find(before.id.get()))
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
