//! What happens to stock when its warehouse is deleted.

use chrono::NaiveDateTime;
use diesel::prelude::*;

use crate::database::AnyConnection;
use crate::locks::lock_shelved;
use crate::schema::inventories;
use crate::statement::Statement;

/// Takes the stock records of a warehouse away, if not a piece lies in it. Whoever is about to put one there is waited
/// for, and comes too late afterwards; the caller holds the warehouse itself. Returns whether it was empty.
pub(crate) fn retire(connection: &mut AnyConnection, warehouse: i64, at: NaiveDateTime) -> QueryResult<bool> {
    let present =
        inventories::table.filter(inventories::warehouse_id.eq(warehouse)).filter(inventories::deleted_at.is_null());
    let stocked = diesel::dsl::exists(present.filter(inventories::quantity.gt(0)));
    if diesel::select(stocked).get_result(connection)? {
        return Ok(false);
    }
    lock_shelved(connection, warehouse)?;
    if connection.is_postgres() {
        Statement::new("SELECT id FROM inventories WHERE warehouse_id = ")
            .value(warehouse)
            .sql(" AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE")
            .run(connection)?;
    }
    // A piece may have come until they were held.
    if diesel::select(stocked).get_result(connection)? {
        return Ok(false);
    }
    diesel::update(present)
        .set((inventories::deleted_at.eq(at), inventories::updated_at.eq(at)))
        .execute(connection)?;
    Ok(true)
}

/// Keeps the warehouses of a project from being deleted while stock is put into one.
pub(crate) fn keep_warehouses(connection: &mut AnyConnection, project: i64) -> QueryResult<()> {
    if connection.is_postgres() {
        Statement::new("SELECT id FROM warehouses WHERE project_id = ")
            .value(project)
            .sql(" AND deleted_at IS NULL ORDER BY id FOR SHARE")
            .run(connection)?;
    }
    Ok(())
}
