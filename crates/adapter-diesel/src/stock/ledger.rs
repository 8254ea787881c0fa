//! Stock movements.

use chrono::NaiveDateTime;
use diesel::result::QueryResult;
use kontor_catalog::model::StockReason;
use kontor_kernel::history::Author;
use kontor_kernel::{JobId, Stamp, Word as _};

use super::ROWS;
use crate::database::{AnyConnection, Topic};
use crate::decode;
use crate::statement::{Statement, Value};

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
    pub(super) fn values(&self) -> [Value; 7] {
        let (actor, actor_id) = decode::actor(self.by);
        let (source, number) = self.source.as_ref().map(Source::stored).unzip();
        let number = number.unwrap_or(Value::Int(None));
        let comment = self.comment.as_deref().into();
        [self.reason.word().into(), source.into(), number, actor.into(), actor_id.into(), self.at.into(), comment]
    }
}

/// Columns of a movement, followed by those of its cause.
pub(super) const INSERT: &str = "INSERT INTO stock_movements (project_id, inventory_id, nomenclature_id, warehouse_id, \
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
        entries(connection, movements, cause).run(connection)?;
    }
    Ok(())
}

/// Returns the statement that writes movements, at least one and not more than one statement takes.
pub(crate) fn entries(connection: &mut AnyConnection, movements: &[Movement], cause: &Cause) -> Statement {
    for movement in movements {
        connection.invalidate(Topic::Storefront, movement.project);
    }
    let rows = movements.iter().map(|movement| movement.values().into_iter().chain(cause.values()));
    Statement::new(INSERT).sql("VALUES ").tuples(rows).of_lines(movements.len())
}
