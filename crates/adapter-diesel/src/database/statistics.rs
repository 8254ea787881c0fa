//! Statistics of PostgreSQL about its tables.

use diesel::connection::SimpleConnection as _;
use kontor_kernel::StoreError;

use super::{Abort, Database, DatabaseUrl};

/// Indexes of other owners are left alone.
const ENTER_NEW_ROWS: &str = "SELECT gin_clean_pending_list(c.oid) FROM pg_class c JOIN pg_am a ON a.oid = c.relam \
    WHERE a.amname = 'gin' AND c.relkind = 'i' AND c.relnamespace = current_schema()::regnamespace \
    AND pg_has_role(c.relowner, 'USAGE')";

impl Database {
    /// Runs `ANALYZE` on the growing tables, and enters new rows into the text indexes. PostgreSQL does both itself, but
    /// some time later. Until then, after many inserts, its plans fit small tables and scan large ones, and every search
    /// reads the list of rows that the index does not contain yet. SQLite needs neither.
    pub(crate) async fn analyze_tables(&self) {
        if !matches!(self.url(), DatabaseUrl::Postgres(_)) {
            return;
        }
        let tables = self.tables().growing;
        let looked = self.write_long(move |connection| {
            // Another session may be running it already.
            connection.batch_execute(&format!("SET LOCAL lock_timeout = '1s'; ANALYZE {tables}; {ENTER_NEW_ROWS}"))?;
            Ok::<_, Abort<StoreError>>(())
        });
        if let Err(error) = looked.await {
            tracing::warn!(%error, "query plans may be outdated: table statistics were not updated");
        }
    }
}
