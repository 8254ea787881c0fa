//! Deletion of the stock of a deleted warehouse.

use chrono::NaiveDateTime;
use diesel::prelude::*;

use crate::database::AnyConnection;
use crate::locks::lock_items_of_warehouse;
use crate::schema::inventories;
use crate::statement::Statement;

/// Deletes the stock levels of a warehouse if all are empty. Waits for concurrent writes of stock; later writes are
/// refused. The caller has locked the warehouse. Returns `true` if it was empty.
pub(crate) fn retire(connection: &mut AnyConnection, warehouse: i64, at: NaiveDateTime) -> QueryResult<bool> {
    let present =
        inventories::table.filter(inventories::warehouse_id.eq(warehouse)).filter(inventories::deleted_at.is_null());
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
