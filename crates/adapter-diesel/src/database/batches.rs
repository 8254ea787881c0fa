//! Batches: going through numbered records a few at a time.

use kontor_kernel::StoreError;

use super::{Abort, AnyConnection, Database};

/// The number of the last record that a step came to, if any, and what it counts.
type Done = (Option<i64>, u64);

impl Database {
    /// Runs a step on the records after a number, each time in a commit of its own, until it gives no last number. Returns
    /// the sum of what the steps count.
    pub(crate) async fn walk(
        &self,
        step: impl Fn(&mut AnyConnection, i64) -> Result<Done, Abort<StoreError>> + Copy + Send + 'static,
    ) -> Result<u64, StoreError> {
        self.steps(step, false).await
    }

    /// The same where the steps fill tables: whenever twice as many are done, the database looks at these, so that no step is
    /// planned for much smaller ones.
    pub(crate) async fn fill(
        &self,
        step: impl Fn(&mut AnyConnection, i64) -> Result<Done, Abort<StoreError>> + Copy + Send + 'static,
    ) -> Result<u64, StoreError> {
        self.look_at_tables().await;
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
                None => return Ok(sum),
            }
            if is_filling && steps.is_power_of_two() {
                self.look_at_tables().await;
            }
        }
    }
}
