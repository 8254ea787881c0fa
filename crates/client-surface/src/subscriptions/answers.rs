//! Response envelopes of the customer's subscriptions.

use kontor_subscriptions::model::SubscriptionView;
use serde::Serialize;
use utoipa::ToSchema;

use kontor_web::envelope::one;
use kontor_web::subscription_record::SubscriptionRecord;

one!(pub(super) SubscriptionResponse { data: SubscriptionRecord });

#[derive(Serialize, ToSchema)]
pub(super) struct SubscriptionList {
    data: Vec<SubscriptionRecord>,
}

impl From<Vec<SubscriptionView>> for SubscriptionList {
    fn from(views: Vec<SubscriptionView>) -> Self {
        Self { data: views.into_iter().map(Into::into).collect() }
    }
}
