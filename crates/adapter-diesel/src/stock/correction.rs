//! Figures that something else wrote.

use diesel::sql_types::BigInt;
use kontor_kernel::StoreError;
use kontor_kernel::history::Author;

use super::ledger::INSERT;
use super::{Cause, Reason};
use crate::database::{Abort, AnyConnection, Database};
use crate::statement::{Statement, by_place};

const CHUNK: i64 = 500;

by_place! {
    struct IdRow {
        id: i64 as BigInt,
    }
}

/// For the operator.
impl Database {
    /// Brings the ledger in line with the figures, by one movement per stock record that differs: for example after
    /// records were loaded by other means than this service. Returns how many movements it took.
    pub async fn correct_ledger(&self) -> Result<u64, StoreError> {
        let (mut last, mut sum) = (0, 0);
        loop {
            let (next, count) = self
                .write(move |connection| {
                    let held = match connection {
                        AnyConnection::Postgres(_) => " FOR NO KEY UPDATE",
                        AnyConnection::Sqlite(_) => "",
                    };
                    let ids: Vec<IdRow> = Statement::new("SELECT id FROM inventories WHERE id > ")
                        .value(last)
                        .sql(" ORDER BY id LIMIT ")
                        .value(CHUNK)
                        .sql(held)
                        .rows(connection)?;
                    let ids: Vec<i64> = ids.into_iter().map(|row| row.id).collect();
                    if ids.is_empty() {
                        return Ok::<_, Abort<StoreError>>((None, 0));
                    }
                    let count = correct(&ids, connection)?;
                    Ok((ids.last().copied(), u64::try_from(count).unwrap_or(u64::MAX)))
                })
                .await?;
            sum += count;
            match next {
                Some(next) => last = next,
                None => return Ok(sum),
            }
        }
    }
}

/// The movements are as old as the last change of the figures.
fn correct(ids: &[i64], connection: &mut AnyConnection) -> Result<usize, diesel::result::Error> {
    let at = chrono::NaiveDateTime::default();
    let cause = Cause { reason: Reason::Correction, order: None, by: Author::System, at };
    let [reason, source, source_id, actor, actor_id, _] = cause.values();
    let mut statement = Statement::new(INSERT).sql(
        "SELECT i.project_id, i.id, i.nomenclature_id, i.warehouse_id, i.quantity - i.moved, i.reserved - i.claimed, \
         i.quantity, i.reserved, NULL, NULL",
    );
    for value in [reason, source, source_id, actor, actor_id] {
        statement = statement.sql(", ").value(value);
    }
    let sum = |column: &str| {
        format!(
            "CAST(COALESCE((SELECT sum(m.{column}) FROM stock_movements m WHERE m.project_id = s.project_id \
             AND m.inventory_id = s.id), 0) AS BIGINT)"
        )
    };
    statement
        .sql(format!(
            ", i.updated_at FROM (SELECT s.*, {} AS moved, {} AS claimed FROM inventories s WHERE s.id",
            sum("quantity"),
            sum("reserved")
        ))
        .among(ids)
        .sql(") AS i WHERE i.quantity <> i.moved OR i.reserved <> i.claimed ORDER BY i.id")
        .once()
        .run(connection)
}
