//! Batches: processing numbered records a few at a time.

use kontor_kernel::StoreError;

use super::{Abort, AnyConnection, Database};

/// Number of the last record of a batch, if any, and the count it adds.
type Done = (Option<i64>, u64);

impl Database {
    /// Runs an operation on the records after a number, each time in its own transaction, until it returns no last
    /// number. Returns the sum of the counts.
    pub(crate) async fn walk(
        &self,
        step: impl Fn(&mut AnyConnection, i64) -> Result<Done, Abort<StoreError>> + Copy + Send + 'static,
    ) -> Result<u64, StoreError> {
        self.steps(step, false).await
    }

    /// As [`Database::walk`], for operations that fill tables. Whenever the number of batches has doubled, and at the
    /// end, `ANALYZE` runs, so that no plan is made for much smaller tables.
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
            self.analyze_tables().await;
        }
        Ok(sum)
    }
}
