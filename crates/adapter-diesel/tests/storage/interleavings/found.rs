//! The walk detects a lost update.

use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;
use diesel::sql_types::BigInt;
use kontor_adapter_diesel::{Abort, AnyConnection, tests_with};
use kontor_kernel::StoreError;

use super::walk::faults;
use super::{Act, Actor, Facts, acts};

#[derive(diesel::QueryableByName)]
struct NumberRow {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// Adds to a figure that was read before its row was locked.
fn add_to_what_was_read(connection: &mut AnyConnection) -> Result<(), Abort<StoreError>> {
    let read: NumberRow = diesel::sql_query("SELECT active_seconds AS number FROM users").get_result(connection)?;
    Ok(connection.batch_execute(&format!("UPDATE users SET active_seconds = {}", read.number + 1))?)
}

/// Adds to the figure in the statement that locks its row.
fn add(connection: &mut AnyConnection) -> Result<(), Abort<StoreError>> {
    Ok(connection.batch_execute("UPDATE users SET active_seconds = active_seconds + 1")?)
}

const LOST: &[Act] = acts! {
    "add to what was read" => |actor| actor.store().write_and_invalidate_all(add_to_what_was_read);
};

const KEPT: &[Act] = acts! {
    "add" => |actor| actor.store().write_and_invalidate_all(add);
};

async fn a_lost_update() {
    let found = faults("a lost update", async |_: &Actor<'_>| Facts::new(), &[LOST], None).await;
    assert!(found.iter().any(|fault| fault.contains("active_seconds")), "{found:?}");
    let found = faults("no lost update", async |_: &Actor<'_>| Facts::new(), &[KEPT], None).await;
    assert!(found.is_empty(), "{found:?}");
}

tests_with!(postgres: a_lost_update);
