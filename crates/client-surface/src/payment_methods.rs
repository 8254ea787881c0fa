//! Saved payment methods of the logged-in customer.

use actix_web::web::Path;
use actix_web::{delete, get};
use chrono::{DateTime, Utc};
use kontor_kernel::Word as _;
use kontor_payments::SavedMethodService;
use kontor_payments::model::SavedMethod;
use kontor_subscriptions::SubscriptionService;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, answer, list};
use kontor_web::records::Message;
use kontor_web::{PathId, Service, SignedInCustomer};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_payment_methods).service(delete_payment_method);
}

#[derive(Serialize, ToSchema)]
struct PaymentMethodRecord {
    id: i64,
    payment_method_type: &'static str,
    /// Payment system of the card.
    card_type: Option<String>,
    /// Last four digits of the card.
    card_last_4: Option<String>,
    /// Display name from the acquirer.
    title: Option<String>,
    is_active: bool,
    created_at: DateTime<Utc>,
}

impl From<SavedMethod> for PaymentMethodRecord {
    fn from(saved: SavedMethod) -> Self {
        Self {
            id: saved.id.get(),
            payment_method_type: saved.method.word(),
            card_type: saved.card_type,
            card_last_4: saved.card_last_4,
            title: saved.title,
            is_active: saved.is_active,
            created_at: saved.created_at,
        }
    }
}

list!(PaymentMethodList { data: [PaymentMethodRecord] });

/// List saved payment methods
///
/// Returns methods that the customer saved in this application and that can be charged, newest first.
#[utoipa::path(tag = "Client: subscriptions", responses((status = 200, body = PaymentMethodList)))]
#[get("/api/counterparty/payment-methods")]
async fn list_payment_methods(
    customer: SignedInCustomer,
    service: Service<SavedMethodService>,
) -> Answer<PaymentMethodList> {
    answer(service.list(*customer).await?)
}

/// Delete a saved payment method
///
/// The method is not charged any more, even if subscriptions use it. Paid subscriptions stay active until the end of
/// their period. To continue after that, they need another method.
#[utoipa::path(tag = "Client: subscriptions", responses((status = 200, body = Message)))]
#[delete("/api/counterparty/payment-methods/{id}")]
async fn delete_payment_method(
    customer: SignedInCustomer,
    service: Service<SubscriptionService>,
    id: Path<PathId>,
) -> Answer<Message> {
    service.delete_method(*customer, id.parse()?).await?;
    answer(Message::new("The payment method was deleted."))
}
