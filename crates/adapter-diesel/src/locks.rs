//! Row locks of items and projects, held until the transaction ends, on PostgreSQL; SQLite has one writer and needs
//! none.
//!
//! A locking statement reads only the rows that it locks; dependent data is read after it. When it waits for a lock,
//! PostgreSQL returns the locked rows as they are after the wait, but rows of joins and subqueries as they were before.
//! `database::write_check` rejects other statements in tests.
//!
//! Items are locked before their stock levels and before discounts, in the order of their numbers. This order prevents
//! deadlocks.

use diesel::result::QueryResult;
use kontor_kernel::ProjectId;

use crate::database::AnyConnection;
use crate::statement::Statement;

const CHUNK: usize = 500;

fn project(connection: &mut AnyConnection, project: ProjectId, how: &'static str) -> QueryResult<()> {
    Statement::new("SELECT id FROM projects WHERE id = ").value(project.get()).hold(connection, how)
}

/// Locks the project, so that no other transaction assigns its unique values or adds services or applications.
pub(crate) fn lock_project(connection: &mut AnyConnection, of: ProjectId) -> QueryResult<()> {
    project(connection, of, " FOR NO KEY UPDATE")
}

/// Prevents new applications in the project. Needed to add a service, which all applications sell. Transactions that
/// add services do not block each other.
pub(crate) fn lock_applications(connection: &mut AnyConnection, of: ProjectId) -> QueryResult<()> {
    project(connection, of, " FOR SHARE")
}

/// Locks these rows of a table, in the order of their ids.
pub(crate) fn lock_rows(connection: &mut AnyConnection, table: &'static str, ids: &[i64]) -> QueryResult<()> {
    let rows = Statement::new(format!("SELECT id FROM {table} WHERE id")).among(ids);
    rows.hold(connection, " ORDER BY id FOR NO KEY UPDATE")
}

/// Locks these items, so that no other transaction changes them or their offers.
pub(crate) fn lock_items(connection: &mut AnyConnection, items: &[i64]) -> QueryResult<()> {
    if !connection.is_postgres() {
        return Ok(());
    }
    let mut items = items.to_vec();
    items.sort_unstable();
    items.dedup();
    for items in items.chunks(CHUNK) {
        lock_rows(connection, "nomenclatures", items)?;
    }
    Ok(())
}

/// Locks all that a new order depends on, in one statement: its customer against deletion, then its items, then the
/// discounts that cover a line. Each part counts the rows of the part before it, which sets the order of the locks.
/// Returns `false` if the customer is deleted or does not exist; then no item is locked.
pub(crate) fn lock_for_order(
    connection: &mut AnyConnection,
    customer: i64,
    items: &[i64],
    discounts: &[i64],
) -> QueryResult<bool> {
    let customer = Statement::new("SELECT id FROM counterparties WHERE deleted_at IS NULL AND id = ").value(customer);
    if !connection.is_postgres() {
        return customer.finds(connection);
    }
    Statement::new("WITH locked_customer AS (")
        .then(customer)
        .sql(" FOR SHARE), locked_items AS (SELECT id FROM nomenclatures WHERE id")
        .among(items)
        .sql(" AND (SELECT count(*) FROM locked_customer) = 1 ORDER BY id FOR NO KEY UPDATE), ")
        .sql("locked_discounts AS (SELECT id FROM discounts WHERE id")
        .among(discounts)
        .sql(" AND (SELECT count(*) FROM locked_items) >= 0 ORDER BY id FOR SHARE) ")
        // Named here too: without discounts, PostgreSQL evaluates no condition of their part.
        .sql("SELECT id FROM locked_customer WHERE (SELECT count(*) FROM locked_items) >= 0 ")
        .sql("AND (SELECT count(*) FROM locked_discounts) >= 0")
        .finds(connection)
}

/// As [`lock_items`], for the items of a spreadsheet, some of which are named by article.
pub(crate) fn lock_spreadsheet_items<'a>(
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
        items.extend(named.scalars::<i64>(connection)?);
    }
    for numbers in numbers.chunks(CHUNK) {
        let own = Statement::new("SELECT id FROM nomenclatures WHERE project_id = ").value(project.get());
        items.extend(own.sql(" AND id").among(numbers).scalars::<i64>(connection)?);
    }
    lock_items(connection, &items)
}

/// Selects these columns of the items of a project with one of these articles; at least one article is required. The
/// result is unsorted: to sort by number, SQLite would walk the whole project.
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

/// Locks the item of a stock level.
pub(crate) fn lock_item_of_stock(
    connection: &mut AnyConnection,
    project: ProjectId,
    inventory: i64,
) -> QueryResult<()> {
    if !connection.is_postgres() {
        return Ok(());
    }
    let stocked = Statement::new("SELECT nomenclature_id FROM inventories WHERE project_id = ").value(project.get());
    let stocked: Vec<i64> = stocked.sql(" AND id = ").value(inventory).scalars(connection)?;
    lock_items(connection, &stocked)
}

/// Locks the items of a warehouse. The caller holds a lock on the warehouse.
pub(crate) fn lock_items_of_warehouse(connection: &mut AnyConnection, warehouse: i64) -> QueryResult<()> {
    if !connection.is_postgres() {
        return Ok(());
    }
    let shelved =
        Statement::new("SELECT nomenclature_id FROM inventories WHERE deleted_at IS NULL AND warehouse_id = ");
    let shelved: Vec<i64> = shelved.value(warehouse).scalars(connection)?;
    lock_items(connection, &shelved)
}
