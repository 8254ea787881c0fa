//! Consents of a customer to recurring charges.

use actix_web::get;
use actix_web::web::{Data, Path};
use kontor_subscriptions::SubscriptionService;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::queries::SubscriptionPaymentQuery;
use kontor_web::envelope::{Answer, answer};
use kontor_web::paging::paginated;
use kontor_web::subscription_record::ConsentRecord;
use kontor_web::{PathId, Query, SignedInCustomer};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_subscription_consents);
}

paginated!(
    /// One page of consents.
    SubscriptionConsentPage [ConsentRecord]
);

/// List the consents of a subscription
///
/// Newest first.
#[utoipa::path(
    tag = "Client: subscriptions",
    params(SubscriptionPaymentQuery),
    responses((status = 200, body = SubscriptionConsentPage)),
)]
#[get("/api/counterparty/subscriptions/{id}/consents")]
async fn list_subscription_consents(
    customer: SignedInCustomer,
    service: Data<SubscriptionService>,
    id: Path<PathId>,
    query: Query<SubscriptionPaymentQuery>,
) -> Answer<SubscriptionConsentPage> {
    answer(service.consents(*customer, id.parse()?, query.0.page()?).await?)
}
