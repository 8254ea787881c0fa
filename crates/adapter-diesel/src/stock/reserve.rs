//! Reservation, release and sale of the stock of orders. The guards are in the statements, which stay prepared: Diesel
//! would prepare its own updates on each call.

use std::collections::BTreeMap;

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::Money;

use super::{Cause, INSERT, Movement};
use crate::database::AnyConnection;
use crate::statement::{Statement, Value, by_place};

/// Units of a stock level to reserve.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    pub inventory: i64,
    /// Number of units.
    pub pieces: i64,
    /// Price at which they are sold.
    pub price: Money,
}

by_place! {
    struct FiguresRow {
        inventory: i64,
        project: i64,
        item: i64,
        warehouse: i64,
        quantity: i64,
        reserved: i64,
    }
}

/// Columns of a [`FiguresRow`].
const RETURNING: &str = " RETURNING inventories.id, inventories.project_id, inventories.nomenclature_id, \
     inventories.warehouse_id, inventories.quantity, inventories.reserved";

impl FiguresRow {
    fn movement(self, quantity: i64, reserved: i64) -> Movement {
        Movement {
            project: self.project,
            inventory: self.inventory,
            item: self.item,
            warehouse: self.warehouse,
            quantity,
            reserved,
            quantity_after: self.quantity,
            reserved_after: self.reserved,
            price: None,
        }
    }
}

/// Changes the figures of a stock level with the given column assignments, and returns the movement. Returns `None` if
/// there is no such stock level or a condition is not met.
fn change(
    connection: &mut AnyConnection,
    (project, inventory): (i64, i64),
    set: Statement,
    conditions: Statement,
    quantity: i64,
    reserved: i64,
    at: NaiveDateTime,
) -> QueryResult<Option<Movement>> {
    let changed: Option<FiguresRow> = Statement::new("UPDATE inventories SET updated_at = ")
        .value(at)
        .then(set)
        .sql(" WHERE id = ")
        .value(inventory)
        .sql(" AND project_id = ")
        .value(project)
        .then(conditions)
        .sql(RETURNING)
        .row(connection)
        .optional()?;
    Ok(changed.map(|after| after.movement(quantity, reserved)))
}

/// Returns the statement that reserves units of different stock levels of a project, where enough are available at the
/// price. It returns these with their new figures. The caller compares their number, and rolls back.
pub(crate) fn reserving(project: i64, claims: &[Claim], at: NaiveDateTime) -> Statement {
    let row =
        |claim: &Claim| -> [Value; 3] { [claim.inventory.into(), claim.pieces.into(), claim.price.minor().into()] };
    // A list of values has at least one row; this one matches no stock level.
    let none: Option<[Value; 3]> = claims.is_empty().then_some([Value::Int(None), Value::Int(None), Value::Int(None)]);
    Statement::new("UPDATE inventories SET updated_at = ")
        .value(at)
        .sql(", reserved = inventories.reserved + v.column2 FROM (VALUES ")
        .tuples(claims.iter().map(row).chain(none))
        .sql(
            ") AS v WHERE inventories.id = v.column1 AND inventories.quantity - inventories.reserved >= v.column2 \
             AND inventories.price = v.column3 AND inventories.project_id = ",
        )
        .value(project)
        .sql(RETURNING)
        .of_lines(claims.len())
}

/// Reserves units of different stock levels, as [`reserving`].
pub(crate) fn reserve(
    connection: &mut AnyConnection,
    project: i64,
    claims: &[Claim],
    at: NaiveDateTime,
) -> QueryResult<Vec<Movement>> {
    let rows: Vec<FiguresRow> = reserving(project, claims, at).rows(connection)?;
    let pieces: BTreeMap<i64, i64> = claims.iter().map(|claim| (claim.inventory, claim.pieces)).collect();
    let movement = |row: FiguresRow| {
        let pieces = pieces.get(&row.inventory).copied().unwrap_or_default();
        row.movement(0, pieces)
    };
    Ok(rows.into_iter().map(movement).collect())
}

/// Returns the statement that writes the movements of reservations, on PostgreSQL. It is part of a statement in which
/// `taken` is [`reserving`], and `held` returns `inventory_id` and `quantity` of the lines.
pub(crate) fn entries_of_taken(cause: &Cause) -> Statement {
    let mut entries = Statement::new(INSERT).sql(
        "SELECT taken.project_id, taken.id, taken.nomenclature_id, taken.warehouse_id, 0, held.quantity, \
         taken.quantity, taken.reserved, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT)",
    );
    for value in cause.values() {
        entries = entries.sql(", ").value(value);
    }
    entries.sql(" FROM taken JOIN held ON held.inventory_id = taken.id ORDER BY taken.id")
}

/// Returns `true` if a stock level still has the price of a claim.
pub(crate) fn has_price(connection: &mut AnyConnection, claim: &Claim) -> QueryResult<bool> {
    let current = Statement::new("SELECT price FROM inventories WHERE id = ").value(claim.inventory);
    Ok(current.scalar::<Option<i64>>(connection).optional()?.flatten() == Some(claim.price.minor()))
}

/// Releases reserved units of a stock level of the project.
pub(crate) fn release_reserved(
    connection: &mut AnyConnection,
    (project, inventory): (i64, i64),
    pieces: i64,
    at: NaiveDateTime,
) -> QueryResult<Movement> {
    let set = Statement::new(", reserved = reserved - ").value(pieces);
    change(connection, (project, inventory), set, Statement::default(), 0, -pieces, at)?.ok_or(diesel::NotFound)
}

/// Removes reserved units from the warehouse. The available quantity does not change.
pub(crate) fn remove_reserved(
    connection: &mut AnyConnection,
    (project, inventory): (i64, i64),
    pieces: i64,
    at: NaiveDateTime,
) -> QueryResult<Movement> {
    let set = Statement::new(", version = version + 1, quantity = quantity - ")
        .value(pieces)
        .sql(", reserved = reserved - ")
        .value(pieces);
    change(connection, (project, inventory), set, Statement::default(), -pieces, -pieces, at)?.ok_or(diesel::NotFound)
}

/// Returns sold units to the warehouse. Returns `None` if the warehouse is deleted together with its stock.
pub(crate) fn put_back(
    connection: &mut AnyConnection,
    (project, inventory): (i64, i64),
    pieces: i64,
    at: NaiveDateTime,
) -> QueryResult<Option<Movement>> {
    let set = Statement::new(", version = version + 1, quantity = quantity + ").value(pieces);
    change(connection, (project, inventory), set, Statement::new(" AND deleted_at IS NULL"), pieces, 0, at)
}
