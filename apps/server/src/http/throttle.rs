//! Rate limits of single operations.

use std::sync::Arc;

use actix_web::{HttpMessage, HttpRequest};
use kontor_kernel::{Quota, RateLimiter, RateRule};

use super::ApiError;
use super::limits::LimitSettings;

/// The limiter of the process.
#[derive(Clone)]
pub struct Throttle {
    limiter: Arc<dyn RateLimiter>,
    settings: LimitSettings,
}

/// The counter that the headers of the answer tell: the one that refused, else the one with the fewest hits left.
#[derive(Clone, Copy)]
pub struct TightestQuota(pub Quota);

impl Throttle {
    /// Wires the port.
    pub fn new(limiter: Arc<dyn RateLimiter>, settings: LimitSettings) -> Self {
        Self { limiter, settings }
    }

    /// Counts one hit against each rule, in this order, up to the first that is exhausted: that one refuses, the ones
    /// before it have counted, the ones behind it have not. So put the address first: who is refused by his address
    /// uses up nobody's contact.
    pub async fn hit(&self, request: &HttpRequest, hits: &[(RateRule, impl AsRef<str>)]) -> Result<(), ApiError> {
        self.count(request, hits).await.map_err(ApiError::Throttled)
    }

    /// The same for flows that name their refusals: gives the exhausted counter, see [`super::retry_after`].
    pub async fn count(&self, request: &HttpRequest, hits: &[(RateRule, impl AsRef<str>)]) -> Result<(), Quota> {
        for (rule, subject) in hits {
            let quota = self.limiter.hit(self.settings.effective(*rule), subject.as_ref()).await;
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
