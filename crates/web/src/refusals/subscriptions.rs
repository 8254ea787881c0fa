//! Responses to refusals of `kontor-subscriptions`.

use crate::ApiError;
use kontor_subscriptions::SubscriptionError;

impl From<SubscriptionError> for ApiError {
    fn from(error: SubscriptionError) -> Self {
        Fields::OF_PATH.told(error)
    }
}
