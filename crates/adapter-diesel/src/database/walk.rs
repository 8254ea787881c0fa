//! Going through numbered records a few at a time.

use kontor_kernel::StoreError;

use super::{Abort, AnyConnection, Database};

impl Database {
    /// Runs a step on the records after a number, each time in a commit of its own, until it gives no last number. Returns
    /// the sum of what the steps count.
    pub(crate) async fn walk(
        &self,
        step: impl Fn(&mut AnyConnection, i64) -> Result<(Option<i64>, u64), Abort<StoreError>> + Copy + Send + 'static,
    ) -> Result<u64, StoreError> {
        let (mut last, mut sum) = (0, 0);
        loop {
            let (next, count) = self.write(move |connection| step(connection, last)).await?;
            sum += count;
            match next {
                Some(next) => last = next,
                None => return Ok(sum),
            }
        }
    }
}
