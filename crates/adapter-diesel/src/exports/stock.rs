//! Stock, in the format of a stock import.

use std::collections::HashMap;

use kontor_catalog::bulk::{ExportCursor, ExportRow};
use kontor_catalog::spreadsheet::Content;
use kontor_kernel::{Name, StoreError};

use super::{ExportPage, money, number, text};
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::statement::{Statement, by_place};

/// Column names. `kontor_id` is the id of the item, as in an item export. An import ignores the names and the reserved
/// quantity.
pub(super) const HEADER: [&str; 8] =
    ["article", "warehouse", "quantity", "price", "name", "reserved", "available", "kontor_id"];

by_place! {
    struct StockRow {
        id: i64,
        article: Option<String>,
        warehouse_id: i64,
        quantity: i64,
        price: Option<i64>,
        name: String,
        reserved: i64,
        item_id: i64,
    }
}

by_place! {
    struct WarehouseRow {
        id: i64,
        name: String,
    }
}

pub(super) fn total(project: i64) -> Statement {
    Statement::new("SELECT count(*) FROM inventories WHERE deleted_at IS NULL AND project_id = ").value(project)
}

/// Returns the cells for warehouses: the name, or the id if several warehouses share the name.
fn warehouses(connection: &mut AnyConnection, project: i64) -> Result<HashMap<i64, String>, Abort<StoreError>> {
    let own = Statement::new("SELECT id, name FROM warehouses WHERE deleted_at IS NULL AND project_id = ");
    let rows: Vec<WarehouseRow> = own.value(project).rows(connection)?;
    let mut called: HashMap<String, u32> = HashMap::new();
    let mut keys = Vec::with_capacity(rows.len());
    for row in &rows {
        let name: Name = decode::text(&row.name)?;
        *called.entry(name.key()).or_default() += 1;
        keys.push(name.key());
    }
    let cell = |(row, key): (WarehouseRow, String)| {
        let is_shared = called.get(&key).is_some_and(|warehouses| *warehouses > 1);
        (row.id, if is_shared { row.id.to_string() } else { row.name })
    };
    Ok(rows.into_iter().zip(keys).map(cell).collect())
}

pub(super) fn rows(connection: &mut AnyConnection, asked: &ExportPage) -> Result<Vec<ExportRow>, Abort<StoreError>> {
    let page = Statement::new(
        "SELECT i.id, n.article, i.warehouse_id, i.quantity, i.price, n.name, i.reserved, n.id AS item_id \
         FROM inventories i JOIN nomenclatures n ON n.id = i.nomenclature_id AND n.project_id = i.project_id \
         WHERE i.deleted_at IS NULL \
         AND i.project_id = ",
    );
    let page = page.value(asked.project).sql(" AND i.id > ").value(asked.after.record).sql(" ORDER BY i.id");
    let rows: Vec<StockRow> = asked.limited(page).rows(connection)?;
    let warehouses = if rows.is_empty() { HashMap::new() } else { warehouses(connection, asked.project)? };
    let row = |row: StockRow| {
        let warehouse = warehouses.get(&row.warehouse_id).cloned().unwrap_or_else(|| row.warehouse_id.to_string());
        let cells = vec![
            text(row.article),
            text(Some(warehouse)),
            number(row.quantity),
            row.price.map_or(Ok(Content::Empty), money)?,
            text(Some(row.name)),
            number(row.reserved),
            number(row.quantity - row.reserved),
            number(row.item_id),
        ];
        Ok(ExportRow { at: ExportCursor { record: row.id, line: 0 }, cells })
    };
    rows.into_iter().map(row).collect()
}
