//! Rate limits of single operations.

use std::sync::Arc;

use actix_web::{HttpMessage, HttpRequest};
use kontor_kernel::{Quota, RateLimiter, RateRule};

use super::ApiError;

/// The limiter of the process.
#[derive(Clone)]
pub struct Throttle(Arc<dyn RateLimiter>);

/// The tightest counter of a request, to be told in the headers of the answer.
#[derive(Clone, Copy)]
pub struct TightestQuota(pub Quota);

impl Throttle {
    /// Wires the port.
    pub fn new(limiter: Arc<dyn RateLimiter>) -> Self {
        Self(limiter)
    }

    /// Counts one hit against each rule; the first exhausted one refuses.
    pub async fn hit(&self, request: &HttpRequest, hits: &[(RateRule, &str)]) -> Result<(), ApiError> {
        // A request may be counted in several steps.
        let mut tightest = request.extensions().get::<TightestQuota>().map(|so_far| so_far.0);
        for (rule, subject) in hits {
            let quota = self.0.hit(*rule, subject).await;
            if !quota.allowed {
                return Err(ApiError::Throttled(quota));
            }
            if tightest.is_none_or(|so_far| quota.remaining < so_far.remaining) {
                tightest = Some(quota);
            }
        }
        if let Some(quota) = tightest {
            request.extensions_mut().insert(TightestQuota(quota));
        }
        Ok(())
    }
}
