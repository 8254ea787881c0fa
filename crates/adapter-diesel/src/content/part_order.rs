//! Order of menu items and slides.

use async_trait::async_trait;
use diesel::result::QueryResult;
use kontor_content::PartError;
use kontor_content::model::shifted;
use kontor_content::ports::PartOrder;
use kontor_kernel::{ApplicationId, MoveDirection, Stamp};

use super::parts::{self, StoredPart};
use crate::database::{AnyConnection, Database};
use crate::records;
use crate::statement::Statement;

/// Part with a position among its siblings.
pub(super) trait OrderedPart: StoredPart {
    /// Returns the part of a statement that selects the part and its siblings: ` FROM ... WHERE ...`.
    fn siblings(&self, stamp: &Stamp) -> Statement;
}

/// Returns the position after all of these siblings.
pub(super) fn next_position(connection: &mut AnyConnection, siblings: Statement) -> QueryResult<i64> {
    let last = Statement::new("SELECT coalesce(max(position), 0)").then(siblings);
    Ok(last.scalar::<i64>(connection)? + 1)
}

/// Assigns positions to siblings in this order, where they differ.
fn arrange<P: StoredPart>(connection: &mut AnyConnection, stamp: &Stamp, order: &[i64]) -> QueryResult<()> {
    for (id, place) in order.iter().zip(1_i64..) {
        Statement::new("UPDATE ")
            .sql(P::TABLE)
            .sql(" SET version = version + 1, position = ")
            .value(place)
            .sql(", updated_at = ")
            .value(stamp.at.naive_utc())
            .sql(" WHERE id = ")
            .value(*id)
            .sql(" AND position <> ")
            .value(place)
            .run(connection)?;
    }
    Ok(())
}

#[async_trait]
impl<P: OrderedPart> PartOrder<P> for Database {
    async fn shift(
        &self,
        stamp: Stamp,
        application: ApplicationId,
        id: P::Id,
        shift: MoveDirection,
    ) -> Result<P, PartError> {
        let number: i64 = id.into();
        self.write(move |connection| {
            parts::lock_application(connection, &stamp, application)?;
            records::changed(connection, &stamp, number, |connection, before: &P| {
                parts::require_within(before, application)?;
                let order = Statement::new("SELECT id").then(before.siblings(&stamp)).sql(" ORDER BY position, id");
                let order = shifted(order.scalars(connection)?, number, shift);
                arrange::<P>(connection, &stamp, &order)?;
                Ok(1)
            })
        })
        .await
    }
}
