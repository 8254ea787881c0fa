//! Rate limits of single operations.

use std::sync::Arc;
use std::time::Duration;

use actix_web::{HttpMessage, HttpRequest};
use kontor_kernel::{Quota, RateLimiter, RateRule};

use super::ApiError;

/// The limiter of the process.
#[derive(Clone)]
pub struct Throttle(Arc<dyn RateLimiter>);

/// The counter that the headers of the answer tell: the one that refused, else the one with the fewest hits left.
#[derive(Clone, Copy)]
pub struct TightestQuota(pub Quota);

/// The whole seconds of a time to wait, at least one: who waits this long is let in.
pub fn whole_seconds(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u64::MAX).max(1)
}

/// How long a refused client has to wait, in whole seconds.
pub fn seconds_to_wait(quota: &Quota) -> u64 {
    whole_seconds(quota.resets_in)
}

impl Throttle {
    /// Wires the port.
    pub fn new(limiter: Arc<dyn RateLimiter>) -> Self {
        Self(limiter)
    }

    /// Counts one hit against each rule, in this order, up to the first that is exhausted: that one refuses, the ones
    /// before it have counted, the ones behind it have not. So put the address first: who is refused by his address
    /// uses up nobody's contact.
    pub async fn hit(&self, request: &HttpRequest, hits: &[(RateRule, impl AsRef<str>)]) -> Result<(), ApiError> {
        self.count(request, hits).await.map_err(ApiError::Throttled)
    }

    /// The same for flows that name their refusals: gives the exhausted counter, see [`seconds_to_wait`].
    pub async fn count(&self, request: &HttpRequest, hits: &[(RateRule, impl AsRef<str>)]) -> Result<(), Quota> {
        for (rule, subject) in hits {
            let quota = self.0.hit(*rule, subject.as_ref()).await;
            let mut known = request.extensions_mut();
            let tighter = known
                .get::<TightestQuota>()
                .is_none_or(|TightestQuota(tightest)| !quota.allowed || quota.remaining < tightest.remaining);
            if tighter {
                known.insert(TightestQuota(quota));
            }
            drop(known);
            if !quota.allowed {
                return Err(quota);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_second_is_waited_for_whole() {
        let wait = |millis| {
            let resets_in = Duration::from_millis(millis);
            seconds_to_wait(&Quota { allowed: false, limit: 5, remaining: 0, resets_in })
        };
        assert_eq!([0, 1, 999, 1_000, 1_001, 60_000].map(wait), [1, 1, 1, 1, 2, 60]);
    }
}
