//! Corrections of stock levels that were changed outside the service.

use std::collections::BTreeSet;

use chrono::NaiveDateTime;
use diesel::result::QueryResult;
use kontor_kernel::history::Author;

use super::ledger::INSERT;
use super::{Cause, Reason};
use crate::database::AnyConnection;
use crate::statement::{IdRow, Statement};

/// Corrects ledger and figures of stock levels, with one movement per level that differs. The quantity is taken from
/// the stock level. The reserved quantity is taken from the order lines, limited by the quantity. The caller has locked
/// the stock levels. Returns the number of differing ones.
pub(crate) fn correct(connection: &mut AnyConnection, ids: &[i64], at: NaiveDateTime) -> QueryResult<usize> {
    const MOVEMENTS: &str = "FROM stock_movements m WHERE m.project_id = s.project_id AND m.inventory_id = s.id";
    const HELD: &str = "CAST(COALESCE((SELECT sum(r.quantity - r.refunded_quantity) FROM reservations r WHERE r.inventory_id = s.id \
                        AND r.state = 'held'), 0) AS BIGINT)";
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
    let entered: Vec<IdRow> = movements
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
        .rows(connection)?;
    let reserved = Statement::new("UPDATE inventories SET reserved = h.held, updated_at = ")
        .value(at)
        .sql(format!(" FROM (SELECT s.id AS inventory, {HELD} AS held FROM inventories s WHERE s.id"));
    let moved_reserved: Vec<IdRow> = reserved
        .among(ids)
        .sql(
            ") AS h WHERE inventories.id = h.inventory AND inventories.reserved <> h.held \
             AND h.held <= inventories.quantity RETURNING inventories.id",
        )
        .once()
        .rows(connection)?;
    let corrected: BTreeSet<i64> = entered.iter().chain(&moved_reserved).map(|row| row.id).collect();
    Ok(corrected.len())
}
