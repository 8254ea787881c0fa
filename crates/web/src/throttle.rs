//! Rate limits of single operations.

use std::sync::Arc;

use actix_web::{HttpMessage, HttpRequest};
use kontor_kernel::{Quota, RateLimiter, RateRule};

use super::ApiError;
use super::limits::LimitSettings;

/// Rate limiter of the process.
#[derive(Clone)]
pub struct Throttle {
    limiter: Arc<dyn RateLimiter>,
    settings: LimitSettings,
}

/// Counter shown in the response headers: the exhausted counter, otherwise the one with the fewest hits left.
#[derive(Clone, Copy)]
pub struct TightestQuota(pub Quota);

impl Throttle {
    /// Creates the throttle from a limiter.
    pub fn new(limiter: Arc<dyn RateLimiter>, settings: LimitSettings) -> Self {
        Self { limiter, settings }
    }

    /// Counts one hit against each rule in order, up to the first exhausted rule, which rejects the request. The rules
    /// before it have counted, the rules after it have not. Put the rule by address first: callers rejected by address
    /// then use up no contact's quota.
    pub async fn hit(&self, request: &HttpRequest, hits: &[(RateRule, impl AsRef<str>)]) -> Result<(), ApiError> {
        self.count(request, hits).await.map_err(ApiError::Throttled)
    }

    /// Counts like [`Self::hit`], for flows with named codes: returns the exhausted counter, see
    /// [`super::retry_after`].
    pub async fn count(&self, request: &HttpRequest, hits: &[(RateRule, impl AsRef<str>)]) -> Result<(), Quota> {
        for (rule, subject) in hits {
            let quota = self.limiter.hit(self.settings.configured(*rule), subject.as_ref()).await;
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
