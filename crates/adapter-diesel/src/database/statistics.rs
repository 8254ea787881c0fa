//! What PostgreSQL knows about how its tables are filled.

use diesel::connection::SimpleConnection as _;
use kontor_kernel::StoreError;

use super::{Abort, Database, DatabaseUrl};

impl Database {
    /// Has PostgreSQL look at its tables now. It does so by itself, but some time later; plans that are made before, after
    /// many rows at once, are those for small tables and walk large ones. SQLite plans without looking.
    pub(crate) async fn look_at_tables(&self) {
        if !matches!(self.url(), DatabaseUrl::Postgres(_)) {
            return;
        }
        let tables = self.tables().growing;
        let looked = self.write_long(move |connection| {
            // Somebody may be at it already.
            connection.batch_execute(&format!("SET LOCAL lock_timeout = '1s'; ANALYZE {tables}"))?;
            Ok::<_, Abort<StoreError>>(())
        });
        if let Err(error) = looked.await {
            tracing::warn!(%error, "plans may be those for smaller tables for a while");
        }
    }
}
