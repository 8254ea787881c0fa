//! Stock ledger: every change of a quantity, a reserved quantity or a price is a movement with reason, author and
//! source. The figures of `inventories` are stored beside it, so that reads need no sums.
//!
//! No statement outside this module changes figures (a test checks the sources). Each change returns a [`Movement`],
//! which the caller enters in the same transaction. `doctor` compares the figures with the sums of the ledger.

mod history;
mod levels;
mod reserve;

pub(crate) use history::history;
pub(crate) use kontor_catalog::model::StockReason as Reason;
pub(crate) use levels::{NewStock, StockLevels, create, set};
pub(crate) use reserve::{
    Claim, entries_of_taken, has_price, put_back, release_reserved, remove_reserved, reserve, reserving,
};

use std::collections::BTreeSet;

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::QueryResult;
use kontor_catalog::model::StockReason;
use kontor_kernel::history::Author;
use kontor_kernel::{JobId, Stamp, Word as _};

use crate::database::{AnyConnection, Topic};
use crate::decode;
use crate::locks::lock_items_of_warehouse;
use crate::schema::inventories;
use crate::statement::{Statement, Value};

/// Rows per statement, well below the maximum number of bound values.
const ROWS: usize = 500;

/// Record that movements belong to, by its id.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    Order(Value),
    Job(Value),
}

impl Source {
    /// Returns the columns `source` and `source_id`.
    fn stored(&self) -> (&'static str, Value) {
        match self {
            Self::Order(id) => ("order", id.clone()),
            Self::Job(id) => ("job", id.clone()),
        }
    }
}

/// Cause of movements.
#[derive(Debug, Clone)]
pub(crate) struct Cause {
    /// Reason.
    pub reason: StockReason,
    /// Record that the movement belongs to.
    pub source: Option<Source>,
    /// Author.
    pub by: Author,
    /// Time.
    pub at: NaiveDateTime,
    /// Comment of the author.
    pub comment: Option<String>,
}

impl Cause {
    /// Creates a cause without a source.
    pub fn new(reason: StockReason, stamp: &Stamp) -> Self {
        Self { reason, source: None, by: stamp.author, at: stamp.at.naive_utc(), comment: None }
    }

    /// Creates the cause for a background job.
    pub fn of_job(reason: StockReason, job: JobId, stamp: &Stamp) -> Self {
        Self { source: Some(Source::Job(job.get().into())), ..Self::new(reason, stamp) }
    }

    /// Creates the cause for an order.
    pub fn of_order(reason: StockReason, order: impl Into<Value>, by: Author, at: NaiveDateTime) -> Self {
        Self { reason, source: Some(Source::Order(order.into())), by, at, comment: None }
    }

    /// Returns the values of [`CAUSE`].
    fn values(&self) -> [Value; 7] {
        let (actor, actor_id) = decode::actor(self.by);
        let (source, number) = self.source.as_ref().map(Source::stored).unzip();
        let number = number.unwrap_or(Value::Int(None));
        let comment = self.comment.as_deref().into();
        [self.reason.word().into(), source.into(), number, actor.into(), actor_id.into(), self.at.into(), comment]
    }
}

/// Columns of a movement, followed by those of its cause.
const INSERT: &str = "INSERT INTO stock_movements (project_id, inventory_id, nomenclature_id, warehouse_id, \
     quantity, reserved, quantity_after, reserved_after, price_before, price_after, \
     reason, source, source_id, actor, actor_id, created_at, comment) ";

/// One change of one stock level.
#[must_use = "a figure has changed that the ledger does not know of"]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Movement {
    pub project: i64,
    pub inventory: i64,
    pub item: i64,
    pub warehouse: i64,
    /// Change of the quantity.
    pub quantity: i64,
    /// Change of the reserved quantity.
    pub reserved: i64,
    pub quantity_after: i64,
    pub reserved_after: i64,
    /// Price of new stock.
    pub price: Option<i64>,
}

impl Movement {
    /// Returns the available quantity after the change.
    pub fn left(&self) -> i64 {
        self.quantity_after - self.reserved_after
    }

    fn values(&self) -> [Value; 10] {
        [
            self.project.into(),
            self.inventory.into(),
            self.item.into(),
            self.warehouse.into(),
            self.quantity.into(),
            self.reserved.into(),
            self.quantity_after.into(),
            self.reserved_after.into(),
            None::<i64>.into(),
            self.price.into(),
        ]
    }
}

/// Writes movements, in one statement unless there are very many.
pub(crate) fn write_movements(
    connection: &mut AnyConnection,
    movements: &[Movement],
    cause: &Cause,
) -> QueryResult<()> {
    for movements in movements.chunks(ROWS) {
        for movement in movements {
            connection.invalidate(Topic::Storefront, movement.project);
        }
        let rows = movements.iter().map(|movement| movement.values().into_iter().chain(cause.values()));
        Statement::new(INSERT).sql("VALUES ").tuples(rows).of_lines(movements.len()).run(connection)?;
    }
    Ok(())
}

/// Corrects ledger and figures of stock levels, with one movement per level that differs. The quantity is taken from
/// the stock level. The reserved quantity is taken from the order lines, limited by the quantity. The caller has locked
/// the stock levels. Returns the number of differing ones.
pub(crate) fn correct(connection: &mut AnyConnection, ids: &[i64], at: NaiveDateTime) -> QueryResult<usize> {
    const MOVEMENTS: &str = "FROM stock_movements m WHERE m.project_id = s.project_id AND m.inventory_id = s.id";
    const HELD: &str = "CAST(COALESCE((SELECT sum(r.quantity - r.refunded_quantity) FROM reservations r \
                        WHERE r.project_id = s.project_id AND r.inventory_id = s.id AND r.state = 'held'), 0) \
                        AS BIGINT)";
    let sum = |column: &str| format!("CAST(COALESCE((SELECT sum(m.{column}) {MOVEMENTS}), 0) AS BIGINT)");
    let left = |column: &str| format!("COALESCE((SELECT m.{column} {MOVEMENTS} ORDER BY m.id DESC LIMIT 1), 0)");
    let cause = Cause { reason: Reason::Correction, source: None, by: Author::System, at, comment: None };
    let mut movements = Statement::new(INSERT).sql(
        "SELECT i.project_id, i.id, i.nomenclature_id, i.warehouse_id, i.quantity - i.moved, i.due - i.moved_reserved, \
         i.quantity, i.due, NULL, NULL",
    );
    for value in cause.values() {
        movements = movements.sql(", ").value(value);
    }
    let entered: Vec<i64> = movements
        .sql(format!(
            " FROM (SELECT s.*, {} AS moved, {} AS moved_reserved, {} AS quantity_left, {} AS reserved_left, \
             CASE WHEN {HELD} <= s.quantity THEN {HELD} ELSE s.reserved END AS due FROM inventories s WHERE s.id",
            sum("quantity"),
            sum("reserved"),
            left("quantity_after"),
            left("reserved_after"),
        ))
        .among(ids)
        .sql(
            ") AS i WHERE i.quantity <> i.moved OR i.due <> i.moved_reserved OR i.quantity <> i.quantity_left \
             OR i.due <> i.reserved_left ORDER BY i.id RETURNING inventory_id",
        )
        .once()
        .scalars(connection)?;
    let reserved = Statement::new("UPDATE inventories SET reserved = h.held, updated_at = ").value(at).sql(format!(
        " FROM (SELECT s.project_id AS project, s.id AS inventory, {HELD} AS held FROM inventories s WHERE s.id"
    ));
    let moved_reserved: Vec<i64> = reserved
        .among(ids)
        .sql(
            ") AS h WHERE inventories.project_id = h.project AND inventories.id = h.inventory AND inventories.reserved <> h.held \
             AND h.held <= inventories.quantity RETURNING inventories.id",
        )
        .once()
        .scalars(connection)?;
    let corrected: BTreeSet<i64> = entered.into_iter().chain(moved_reserved).collect();
    Ok(corrected.len())
}

/// Deletes the stock levels of a warehouse if all are empty. Waits for concurrent writes of stock; later writes are
/// refused. The caller has locked the warehouse. Returns `true` if it was empty.
pub(crate) fn retire(
    connection: &mut AnyConnection,
    project: i64,
    warehouse: i64,
    at: NaiveDateTime,
) -> QueryResult<bool> {
    let present = inventories::table
        .filter(inventories::warehouse_id.eq(warehouse))
        .filter(inventories::project_id.eq(project))
        .filter(inventories::deleted_at.is_null());
    let stocked = diesel::dsl::exists(present.filter(inventories::quantity.gt(0)));
    if diesel::select(stocked).get_result(connection)? {
        return Ok(false);
    }
    lock_items_of_warehouse(connection, warehouse)?;
    Statement::new("SELECT id FROM inventories WHERE warehouse_id = ")
        .value(warehouse)
        .hold(connection, " AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE")?;
    // Units may have been added before the rows were locked.
    if diesel::select(stocked).get_result(connection)? {
        return Ok(false);
    }
    diesel::update(present)
        .set((inventories::deleted_at.eq(at), inventories::updated_at.eq(at)))
        .execute(connection)?;
    Ok(true)
}

/// Prevents the deletion of a project's warehouses while stock is written.
pub(crate) fn lock_warehouses(connection: &mut AnyConnection, project: i64) -> QueryResult<()> {
    Statement::new("SELECT id FROM warehouses WHERE project_id = ")
        .value(project)
        .hold(connection, " AND deleted_at IS NULL ORDER BY id FOR SHARE")
}
