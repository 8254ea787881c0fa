//! Statistics of PostgreSQL about its tables.

use diesel::connection::SimpleConnection as _;
use kontor_kernel::StoreError;

use super::{Abort, Database, DatabaseUrl};

impl Database {
    /// Runs `ANALYZE` on the growing tables. PostgreSQL does so itself, but some time later. Until then, after many
    /// inserts, its plans fit small tables and scan large ones. SQLite needs no statistics.
    pub(crate) async fn analyze_tables(&self) {
        if !matches!(self.url(), DatabaseUrl::Postgres(_)) {
            return;
        }
        let tables = self.tables().growing;
        let looked = self.write_long(move |connection| {
            // Another session may be running it already.
            connection.batch_execute(&format!("SET LOCAL lock_timeout = '1s'; ANALYZE {tables}"))?;
            Ok::<_, Abort<StoreError>>(())
        });
        if let Err(error) = looked.await {
            tracing::warn!(%error, "query plans may be outdated: table statistics were not updated");
        }
    }
}
