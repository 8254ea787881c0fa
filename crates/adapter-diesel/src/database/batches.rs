//! Batches: processing numbered records a few at a time.

use diesel::connection::SimpleConnection as _;
use kontor_kernel::StoreError;

use super::{Abort, AnyConnection, Database, DatabaseUrl};

/// Number of the last record of a batch, if any, and the count it adds.
type Done = (Option<i64>, u64);

/// Indexes of other owners are left alone.
const ENTER_NEW_ROWS: &str = "SELECT gin_clean_pending_list(c.oid) FROM pg_class c JOIN pg_am a ON a.oid = c.relam \
    WHERE a.amname = 'gin' AND c.relkind = 'i' AND c.relnamespace = current_schema()::regnamespace \
    AND pg_has_role(c.relowner, 'USAGE')";

impl Database {
    /// Runs an operation on the records after a number, each time in its own transaction, until it returns no last
    /// number. Returns the sum of the counts.
    pub(crate) async fn walk(
        &self,
        step: impl Fn(&mut AnyConnection, i64) -> Result<Done, Abort<StoreError>> + Copy + Send + 'static,
    ) -> Result<u64, StoreError> {
        self.steps(step, false).await
    }

    /// As [`Database::walk`], for operations that fill tables. Whenever the number of batches has doubled, `ANALYZE`
    /// runs, so that no plan is made for much smaller tables.
    pub(crate) async fn fill(
        &self,
        step: impl Fn(&mut AnyConnection, i64) -> Result<Done, Abort<StoreError>> + Copy + Send + 'static,
    ) -> Result<u64, StoreError> {
        self.analyze_tables().await;
        self.steps(step, true).await
    }

    async fn steps(
        &self,
        step: impl Fn(&mut AnyConnection, i64) -> Result<Done, Abort<StoreError>> + Copy + Send + 'static,
        is_filling: bool,
    ) -> Result<u64, StoreError> {
        let (mut last, mut sum, mut steps) = (0, 0, 0_u64);
        loop {
            let (next, count) = self.write_long(move |connection| step(connection, last)).await?;
            sum += count;
            steps += 1;
            match next {
                Some(next) => last = next,
                None => break,
            }
            if is_filling && steps.is_power_of_two() {
                self.analyze_tables().await;
            }
        }
        if is_filling {
            self.enter_new_rows().await;
        }
        Ok(sum)
    }

    /// Runs `ANALYZE` on the growing tables. PostgreSQL does so itself, but some time later. Until then, after many
    /// inserts, its plans fit small tables and scan large ones. SQLite needs no statistics.
    pub(crate) async fn analyze_tables(&self) {
        // Another session may be running it already.
        let tables = self.tables().growing;
        self.maintain(format!("SET LOCAL lock_timeout = '1s'; ANALYZE {tables}")).await;
    }

    /// Enters new rows into the text indexes. PostgreSQL does so itself, but some time later. Until then, every search
    /// reads the list of rows that the index does not contain yet. SQLite has no such list.
    pub(crate) async fn enter_new_rows(&self) {
        self.maintain(ENTER_NEW_ROWS.to_owned()).await;
    }

    async fn maintain(&self, statements: String) {
        if !matches!(self.url(), DatabaseUrl::Postgres(_)) {
            return;
        }
        let maintained =
            self.write_long(move |connection| Ok::<_, Abort<StoreError>>(connection.batch_execute(&statements)?));
        if let Err(error) = maintained.await {
            tracing::warn!(%error, "searches may be slow: statistics or text indexes were not updated");
        }
    }
}
