//! Change history: written in the transaction of the change, read by record.

use async_trait::async_trait;
use diesel::prelude::*;
use kontor_kernel::history::{Audited, Author, FieldChange, Histories, HistoryAction, HistoryEntry, diff};
use kontor_kernel::{Page, PageRequest, ProjectId, Resource, Stamp, StoreError, Word};

use crate::database::{Abort, AnyConnection, Database, Topic};
use crate::decode;
use crate::schema::histories;
use crate::statement::{Statement, Value, by_place};
use crate::unreadable;

/// SQL for the names of the employee `u` and the customer `c`, for [`decode::author_name`].
pub(crate) const AUTHOR_NAMES: &str = "u.first_name || ' ' || u.last_name, \
    coalesce(c.name, coalesce(c.first_name, '') || ' ' || coalesce(c.last_name, ''))";

/// Joins the authors to the rows `p`, by `actor` and `actor_id`.
pub(crate) const ACTORS_OF_PAGE: &str = " LEFT JOIN users u ON p.actor = 'user' AND u.id = p.actor_id \
    AND u.project_id = p.project_id \
    LEFT JOIN counterparties c ON p.actor = 'customer' AND c.id = p.actor_id AND c.project_id = p.project_id";

/// Writes the entry of a created record.
pub(crate) fn created<C: Audited, R>(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    record: &C,
) -> Result<(), Abort<R>> {
    write(connection, stamp, HistoryAction::Created, record, &diff(None, Some(record)))
}

/// Writes the entry of a changed record, unless nothing changed.
pub(crate) fn changed<C: Audited, R>(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    before: &C,
    after: &C,
) -> Result<(), Abort<R>> {
    let changes = diff(Some(before), Some(after));
    if changes.is_empty() { Ok(()) } else { write(connection, stamp, HistoryAction::Changed, after, &changes) }
}

/// Writes the entry of a deleted record.
pub(crate) fn deleted<C: Audited, R>(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    record: &C,
) -> Result<(), Abort<R>> {
    write(connection, stamp, HistoryAction::Deleted, record, &diff(Some(record), None))
}

/// Invalidates the caches of the project. Changes by staff are rare and mostly visible somewhere, so all cached data of
/// the storefront is dropped.
pub(crate) fn invalidate_shown(connection: &mut AnyConnection, stamp: &Stamp, resource: Resource) {
    // Only customers themselves and staff see customer data.
    if !matches!(stamp.author, Author::Customer(_)) && resource != Resource::Counterparties {
        connection.invalidate(Topic::Storefront, stamp.project_id.get());
    }
    if resource == Resource::Applications {
        connection.invalidate(Topic::Access, stamp.project_id.get());
    }
}

fn write<C: Audited, R>(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    action: HistoryAction,
    record: &C,
    changes: &[FieldChange],
) -> Result<(), Abort<R>> {
    invalidate_shown(connection, stamp, C::RESOURCE);
    connection.note_record(C::KIND, record.number(), action == HistoryAction::Created);
    let (user, customer) = author(stamp);
    diesel::insert_into(histories::table)
        .values((
            histories::project_id.eq(stamp.project_id.get()),
            histories::resource.eq(C::KIND),
            histories::resource_id.eq(record.number()),
            histories::deed.eq(action.word()),
            histories::user_id.eq(user),
            histories::counterparty_id.eq(customer),
            histories::changes.eq(serde_json::to_string(changes).map_err(StoreError::corrupt)?),
            histories::created_at.eq(stamp.at.naive_utc()),
        ))
        .execute(connection)?;
    Ok(())
}

/// Maximum rows per insert, well below the maximum number of values per statement.
const LINES: usize = 1000;

/// Writes entries for many created records. The records hold their initial values; an entry only holds the author and
/// the time.
pub(crate) fn created_many<C: Audited, R>(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    table: &'static str,
    numbers: &[i64],
) -> Result<(), Abort<R>> {
    if numbers.is_empty() {
        return Ok(());
    }
    invalidate_shown(connection, stamp, C::RESOURCE);
    let (user, customer) = author(stamp);
    for chunk in numbers.chunks(LINES) {
        Statement::new(
            "INSERT INTO histories (project_id, resource, resource_id, deed, user_id, counterparty_id, changes, created_at) \
             SELECT project_id, ",
        )
        .value(C::KIND)
        .sql(", id, ")
        .value(HistoryAction::Created.word())
        .sql(", ")
        .value(user)
        .sql(", ")
        .value(customer)
        .sql(", '[]', ")
        .value(stamp.at.naive_utc())
        .sql(format!(" FROM {table} WHERE id"))
        .among(chunk)
        .run(connection)?;
    }
    Ok(())
}

/// Writes entries for many changed records; unchanged records get none.
pub(crate) fn changed_many<R>(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    resource: Resource,
    records: &[(i64, Vec<FieldChange>)],
) -> Result<(), Abort<R>> {
    let (user, customer) = author(stamp);
    let lines: Result<Vec<(i64, String)>, StoreError> = records
        .iter()
        .filter(|(_, changes)| !changes.is_empty())
        .map(|(number, changes)| Ok((*number, serde_json::to_string(changes).map_err(StoreError::corrupt)?)))
        .collect();
    for chunk in lines?.chunks(LINES) {
        let rows = chunk.iter().map(|(number, changes)| -> [Value; 8] {
            let (project, at) = (stamp.project_id.get().into(), stamp.at.naive_utc().into());
            let action = HistoryAction::Changed.word().into();
            [
                project,
                resource.name().into(),
                (*number).into(),
                action,
                user.into(),
                customer.into(),
                changes.as_str().into(),
                at,
            ]
        });
        let statement = Statement::new(
            "INSERT INTO histories (project_id, resource, resource_id, deed, user_id, counterparty_id, changes, created_at) \
             VALUES ",
        );
        statement.tuples(rows).once().run(connection)?;
    }
    Ok(())
}

/// Returns the employee or the customer; at most one is set.
pub(crate) fn author(stamp: &Stamp) -> (Option<i64>, Option<i64>) {
    match stamp.author {
        Author::User(id) => (Some(id.get()), None),
        Author::Customer(id) => (None, Some(id.get())),
        Author::System => (None, None),
    }
}

by_place! {
    struct LineRow {
        id: i64,
        deed: String,
        user_id: Option<i64>,
        counterparty_id: Option<i64>,
        user_name: Option<String>,
        counterparty_name: Option<String>,
        changes: String,
        created_at: chrono::NaiveDateTime,
    }
}

impl TryFrom<LineRow> for HistoryEntry {
    type Error = StoreError;

    fn try_from(row: LineRow) -> Result<Self, StoreError> {
        let author = decode::author_of(row.user_id, row.counterparty_id)?;
        Ok(Self {
            id: row.id,
            action: decode::word("histories", row.id, "deed", &row.deed)?,
            author,
            author_name: decode::author_name(author, row.user_name, row.counterparty_name),
            changes: serde_json::from_str(&row.changes).map_err(StoreError::corrupt)?,
            at: decode::moment(row.created_at),
        })
    }
}

/// Selects the entries of a record, the latest first.
fn lines(project: ProjectId, kind: &'static str, number: i64) -> Statement {
    Statement::new(format!(
        "SELECT h.id, h.deed, h.user_id, h.counterparty_id, {AUTHOR_NAMES}, h.changes, h.created_at \
         FROM histories h LEFT JOIN users u ON u.id = h.user_id AND u.project_id = h.project_id \
         LEFT JOIN counterparties c ON c.id = h.counterparty_id AND c.project_id = h.project_id WHERE h.project_id = "
    ))
    .value(project.get())
    .sql(" AND h.resource = ")
    .value(kind)
    .sql(" AND h.resource_id = ")
    .value(number)
    .sql(" ORDER BY h.id DESC")
}

by_place! {
    struct ChangesRow {
        id: i64,
        changes: String,
    }
}

/// Rewrites the changes in the entries of a record, to remove values that must no longer be readable.
pub(crate) fn rewrite<R>(
    connection: &mut AnyConnection,
    project: ProjectId,
    resource: Resource,
    number: i64,
    rewrite: impl Fn(Vec<FieldChange>) -> Vec<FieldChange>,
) -> Result<(), Abort<R>> {
    let lines = Statement::new(" WHERE project_id = ")
        .value(project.get())
        .sql(" AND resource = ")
        .value(resource.name())
        .sql(" AND resource_id = ")
        .value(number);
    rewrite_lines(connection, project.get(), "histories", lines, rewrite)
}

/// As [`rewrite`], for the rows of a table that `which` selects. They belong to the project.
pub(crate) fn rewrite_lines<R>(
    connection: &mut AnyConnection,
    project: i64,
    table: &'static str,
    which: Statement,
    rewrite: impl Fn(Vec<FieldChange>) -> Vec<FieldChange>,
) -> Result<(), Abort<R>> {
    let lines: Vec<ChangesRow> =
        Statement::new(format!("SELECT id, changes FROM {table}")).then(which).sql(" ORDER BY id").rows(connection)?;
    let lines: Result<Vec<(i64, String)>, StoreError> = lines
        .into_iter()
        .map(|line| {
            let changes: Vec<FieldChange> = serde_json::from_str(&line.changes).map_err(StoreError::corrupt)?;
            Ok((line.id, serde_json::to_string(&rewrite(changes)).map_err(StoreError::corrupt)?))
        })
        .collect();
    for chunk in lines?.chunks(LINES) {
        Statement::new(format!("UPDATE {table} SET changes = v.column2 FROM (VALUES "))
            .tuples(chunk.iter().map(|(id, changes)| [(*id).into(), changes.as_str().into()]))
            .once()
            .sql(format!(") AS v WHERE {table}.id = v.column1 AND {table}.project_id = "))
            .value(project)
            .run(connection)?;
    }
    Ok(())
}

#[async_trait]
impl Histories for Database {
    async fn page(
        &self,
        project: ProjectId,
        kind: &'static str,
        number: i64,
        page: PageRequest,
    ) -> Result<Page<HistoryEntry>, StoreError> {
        self.snapshot(move |connection| {
            let of_record = histories::table
                .filter(histories::project_id.eq(project.get()))
                .filter(histories::resource.eq(kind))
                .filter(histories::resource_id.eq(number));
            let total: i64 = of_record.count().get_result(connection)?;
            let lines: Vec<LineRow> = lines(project, kind, number).page(page).rows(connection)?;
            Ok(decode::page(
                unreadable::rows("histories", lines, |line| line.id, HistoryEntry::try_from)?,
                total,
                page,
            )?)
        })
        .await
    }

    async fn all(&self, project: ProjectId, kind: &'static str, number: i64) -> Result<Vec<HistoryEntry>, StoreError> {
        self.read(move |connection| {
            let lines: Vec<LineRow> = lines(project, kind, number).rows(connection)?;
            let lines: Result<Vec<HistoryEntry>, StoreError> = lines.into_iter().map(HistoryEntry::try_from).collect();
            Ok(lines?)
        })
        .await
    }
}
