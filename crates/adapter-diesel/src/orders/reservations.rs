//! Stock that orders reserved: its lines in a project, its release and its sale.

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::history::Author;
use kontor_kernel::{Listing, Page, ProjectId, Quantity, StoreError, Word};
use kontor_orders::model::{Named, OrderStatus, ReservationRecord, ReservationState};
use kontor_orders::ports::ReservationReader;

use super::discounts;
use crate::database::{Abort, AnyConnection, Database};
use crate::listing::{Source, Totals, in_order, unsearched};
use crate::locks::lock_items;
use crate::read_models::offers;
use crate::schema::reservations;
use crate::statement::{Statement, by_place};
use crate::stock::{Cause, Reason, release_reserved, remove_reserved, write_movements};
use crate::{decode, unreadable};

by_place! {
    struct LineRow {
        id: i64,
        order: i64,
        status: i64,
        item: i64,
        name: String,
        warehouse: Option<i64>,
        warehouse_name: Option<String>,
        quantity: i64,
        unit_price: i64,
        total: i64,
        state: String,
        created_at: NaiveDateTime,
        updated_at: NaiveDateTime,
    }
}

impl TryFrom<LineRow> for ReservationRecord {
    type Error = StoreError;

    fn try_from(row: LineRow) -> Result<Self, StoreError> {
        let warehouse = match (row.warehouse, row.warehouse_name) {
            (Some(id), Some(name)) => Some(Named { id: decode::id(id)?, name }),
            _ => None,
        };
        let state = ReservationState::from_word(&row.state);
        Ok(Self {
            id: decode::id(row.id)?,
            order_id: decode::id(row.order)?,
            order_status: OrderStatus::from_id(row.status)
                .ok_or_else(|| decode::unknown("orders", row.order, "status_id", row.status))?,
            item: Named { id: decode::id(row.item)?, name: row.name },
            warehouse,
            quantity: Quantity::new(row.quantity).map_err(StoreError::corrupt)?,
            unit_price: decode::money(row.unit_price)?,
            total: decode::money(row.total)?,
            state: state.ok_or_else(|| decode::unknown("reservations", row.id, "state", &row.state))?,
            created_at: decode::moment(row.created_at),
            updated_at: decode::moment(row.updated_at),
        })
    }
}

/// Order lines of a project.
const LINES: Source = Source {
    from: "reservations r LEFT JOIN inventories i ON i.id = r.inventory_id AND i.project_id = r.project_id",
    id: "r.id",
    fields: &[
        ("id", "r.id"),
        ("order_id", "r.order_id"),
        ("nomenclature_id", "r.nomenclature_id"),
        ("warehouse_id", "i.warehouse_id"),
        ("state", "r.state"),
        ("quantity", "r.quantity"),
        ("created_at", "r.created_at"),
    ],
    search: unsearched,
};

#[async_trait]
impl ReservationReader for Database {
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<ReservationRecord>, StoreError> {
        let totals = self.memory::<Totals>();
        self.snapshot(move |connection| {
            let own = Statement::new("r.project_id = ").value(project.get());
            let found = LINES.page_of_many(connection, own, &listing, &totals)?;
            let rows: Vec<LineRow> = Statement::new(
                "SELECT r.id, r.order_id, o.status_id, r.nomenclature_id, r.name, w.id, w.name, r.quantity, \
                 r.unit_price, r.total, r.state, r.created_at, r.updated_at FROM reservations r \
                 JOIN orders o ON o.id = r.order_id AND o.project_id = r.project_id LEFT JOIN inventories i \
                 ON i.id = r.inventory_id AND i.project_id = r.project_id \
                 LEFT JOIN warehouses w ON w.id = i.warehouse_id AND w.project_id = i.project_id WHERE r.id",
            )
            .among(&found.items)
            .rows(connection)?;
            let lines = unreadable::rows("reservations", rows, |row| row.id, ReservationRecord::try_from)?;
            let lines = in_order(&found.items, lines, |line| line.id.get());
            Ok::<_, Abort<StoreError>>(found.with_items(lines))
        })
        .await
    }
}

type HeldLine = (Option<i64>, i64, i64);

/// Returns the reserved units of an order, by ascending inventory id. The caller has locked the order. Items are locked
/// first, as in every stock change.
fn held(connection: &mut AnyConnection, order: i64) -> QueryResult<Vec<(i64, i64)>> {
    let lines: Vec<HeldLine> = reservations::table
        .filter(reservations::order_id.eq(order))
        .filter(reservations::state.eq(ReservationState::Held.word()))
        .order(reservations::inventory_id)
        .select((
            reservations::inventory_id,
            reservations::quantity - reservations::refunded_quantity,
            reservations::nomenclature_id,
        ))
        .load(connection)?;
    let stocked = lines.iter().filter(|(inventory, ..)| inventory.is_some());
    lock_items(connection, &stocked.map(|(.., item)| *item).collect::<Vec<_>>())?;
    Ok(lines.into_iter().filter_map(|(inventory, pieces, _)| Some((inventory?, pieces))).collect())
}

fn set_state(
    connection: &mut AnyConnection,
    project: i64,
    order: i64,
    state: ReservationState,
    at: NaiveDateTime,
) -> QueryResult<()> {
    diesel::update(
        reservations::table
            .filter(reservations::order_id.eq(order))
            .filter(reservations::project_id.eq(project))
            .filter(reservations::state.eq(ReservationState::Held.word())),
    )
    .set((reservations::state.eq(state.word()), reservations::updated_at.eq(at)))
    .execute(connection)?;
    Ok(())
}

/// Releases the reserved stock of an order and its use of a discount. Items that become available return to the
/// storefront.
pub(super) fn release(
    connection: &mut AnyConnection,
    project: i64,
    order: i64,
    by: Author,
    at: NaiveDateTime,
) -> QueryResult<()> {
    let mut movements = Vec::new();
    for (inventory, pieces) in held(connection, order)? {
        movements.push(release_reserved(connection, (project, inventory), pieces, at)?);
    }
    write_movements(connection, &movements, &Cause::of_order(Reason::Release, order, by, at))?;
    set_state(connection, project, order, ReservationState::Released, at)?;
    let returned = movements.iter().filter(|movement| movement.left() == -movement.reserved);
    let returned: Vec<i64> = returned.map(|movement| movement.item).collect();
    discounts::return_use(connection, project, order)?;
    offers::refresh_locked(connection, &returned)?;
    Ok(())
}

/// Removes the sold units of an order from the warehouses.
pub(super) fn sell(
    connection: &mut AnyConnection,
    project: i64,
    order: i64,
    by: Author,
    at: NaiveDateTime,
) -> QueryResult<()> {
    let mut movements = Vec::new();
    for (inventory, pieces) in held(connection, order)? {
        movements.push(remove_reserved(connection, (project, inventory), pieces, at)?);
    }
    write_movements(connection, &movements, &Cause::of_order(Reason::Sale, order, by, at))?;
    set_state(connection, project, order, ReservationState::Sold, at)
}
