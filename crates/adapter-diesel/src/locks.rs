//! Row locks of cards and projects, held until the transaction ends, on PostgreSQL; SQLite has one writer and needs none.
//!
//! A locking statement reads the rows that it locks and nothing else, and what depends on them is read after it. When it has to
//! wait, PostgreSQL returns these rows as they are after the wait, and rows of joins and subqueries as they were before.
//! `database::write_check` refuses other statements in tests.
//!
//! Cards are locked before their stock and before discounts, those with smaller numbers first. Whoever keeps to that waits
//! for nobody who waits for him.

use diesel::result::QueryResult;
use kontor_kernel::ProjectId;

use crate::database::AnyConnection;
use crate::statement::{IdRow, Statement};

const CHUNK: usize = 500;

fn project(connection: &mut AnyConnection, project: ProjectId, how: &'static str) -> QueryResult<()> {
    if connection.is_postgres() {
        let own = Statement::new("SELECT id FROM projects WHERE id = ").value(project.get());
        own.sql(how).run(connection)?;
    }
    Ok(())
}

/// Nobody else gives out what is unique in the project meanwhile.
pub(crate) fn lock_project(connection: &mut AnyConnection, of: ProjectId) -> QueryResult<()> {
    project(connection, of, " FOR NO KEY UPDATE")
}

/// No service comes to the project meanwhile: for whoever adds an application, which sells all of them.
pub(crate) fn lock_services(connection: &mut AnyConnection, of: ProjectId) -> QueryResult<()> {
    project(connection, of, " FOR NO KEY UPDATE")
}

/// No application comes to the project meanwhile: for whoever adds a service, which all of them sell. Services do not wait
/// for each other.
pub(crate) fn lock_applications(connection: &mut AnyConnection, of: ProjectId) -> QueryResult<()> {
    project(connection, of, " FOR SHARE")
}

/// Nobody else changes these cards, or what the applications show of them.
pub(crate) fn lock_cards(connection: &mut AnyConnection, items: &[i64]) -> QueryResult<()> {
    if !connection.is_postgres() {
        return Ok(());
    }
    let mut items = items.to_vec();
    items.sort_unstable();
    items.dedup();
    for items in items.chunks(CHUNK) {
        let cards = Statement::new("SELECT id FROM nomenclatures WHERE id").among(items);
        cards.sql(" ORDER BY id FOR NO KEY UPDATE").run(connection)?;
    }
    Ok(())
}

/// The same for the cards of a spreadsheet, which names some by their articles.
pub(crate) fn lock_named<'a>(
    connection: &mut AnyConnection,
    project: ProjectId,
    articles: impl IntoIterator<Item = &'a str>,
    numbers: impl IntoIterator<Item = i64>,
) -> QueryResult<()> {
    if !connection.is_postgres() {
        return Ok(());
    }
    let (articles, numbers): (Vec<&str>, Vec<i64>) = (articles.into_iter().collect(), numbers.into_iter().collect());
    let mut items = Vec::with_capacity(articles.len() + numbers.len());
    for articles in articles.chunks(CHUNK) {
        let named = with_articles("id", project, articles.iter().copied());
        let rows: Vec<IdRow> = named.rows(connection)?;
        items.extend(rows.into_iter().map(|row| row.id));
    }
    for numbers in numbers.chunks(CHUNK) {
        let own = Statement::new("SELECT id FROM nomenclatures WHERE project_id = ").value(project.get());
        let rows: Vec<IdRow> = own.sql(" AND id").among(numbers).rows(connection)?;
        items.extend(rows.into_iter().map(|row| row.id));
    }
    lock_cards(connection, &items)
}

/// These columns of the items of a project that have one of these articles, of which there is one at least. In no order: to
/// have them by number, SQLite would walk the whole project.
pub(crate) fn with_articles<'a>(
    columns: &'static str,
    project: ProjectId,
    articles: impl IntoIterator<Item = &'a str>,
) -> Statement {
    Statement::new("SELECT ")
        .sql(columns)
        .sql(" FROM nomenclatures WHERE project_id = ")
        .value(project.get())
        .sql(" AND article IN ")
        .tuple(articles.into_iter().map(Into::into))
        .once()
}

/// The card of a stock record.
pub(crate) fn lock_stocked(connection: &mut AnyConnection, project: ProjectId, inventory: i64) -> QueryResult<()> {
    if !connection.is_postgres() {
        return Ok(());
    }
    let stocked = Statement::new("SELECT nomenclature_id FROM inventories WHERE project_id = ").value(project.get());
    let stocked: Vec<IdRow> = stocked.sql(" AND id = ").value(inventory).rows(connection)?;
    lock_cards(connection, &stocked.into_iter().map(|row| row.id).collect::<Vec<_>>())
}

/// The cards of everything in a warehouse, which the caller holds.
pub(crate) fn lock_shelved(connection: &mut AnyConnection, warehouse: i64) -> QueryResult<()> {
    if !connection.is_postgres() {
        return Ok(());
    }
    let shelved =
        Statement::new("SELECT nomenclature_id FROM inventories WHERE deleted_at IS NULL AND warehouse_id = ");
    let shelved: Vec<IdRow> = shelved.value(warehouse).rows(connection)?;
    lock_cards(connection, &shelved.into_iter().map(|row| row.id).collect::<Vec<_>>())
}
