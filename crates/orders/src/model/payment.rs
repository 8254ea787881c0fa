//! Online payment of orders.

use chrono::{DateTime, SecondsFormat, Utc};
use kontor_kernel::{ApplicationId, Money, OrderId, ProjectId};
use kontor_payments::model::{ChargePurpose, ChargeRequest, PaymentMethod, Receipt};
use uuid::Uuid;

use super::OrderStatus;

/// Charge request without the number of its order, which the storage assigns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedPayment {
    /// Idempotency key.
    pub key: Uuid,
    /// Amount.
    pub amount: Money,
    /// Currency, three letters.
    pub currency: String,
    /// Payment method.
    pub method: PaymentMethod,
    /// Return address of the payer; `{order_id}` is replaced.
    pub return_url: String,
    /// Time at which a worker takes over if the call after the commit does not finish.
    pub next_check_at: DateTime<Utc>,
    /// Receipt of the payment; `None` if the project has no fiscal receipts.
    pub receipt: Option<Receipt>,
}

impl PreparedPayment {
    /// Returns the request for this order.
    pub fn request(&self, order_id: OrderId) -> ChargeRequest {
        ChargeRequest {
            renewal: None,
            purpose: ChargePurpose::Order(order_id),
            key: self.key,
            amount: self.amount,
            currency: self.currency.clone(),
            method: self.method,
            description: format!("Order {order_id}"),
            return_url: self.return_url.replace("{order_id}", &order_id.to_string()),
            save_method: false,
            saved_method: None,
            receipt: self.receipt.clone(),
        }
    }
}

/// The event `order.paid`, written to the outbox in the commit that makes an order paid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaidEvent {
    /// Identifier of the event.
    pub event_id: Uuid,
    /// Order.
    pub order_id: OrderId,
    /// Application whose webhooks receive it.
    pub application_id: ApplicationId,
    /// Project of the order and the application.
    pub project_id: ProjectId,
    /// Amount paid.
    pub amount: Money,
    /// Currency, three letters.
    pub currency: String,
    /// Time of the payment.
    pub paid_at: DateTime<Utc>,
}

impl PaidEvent {
    /// Topic in the outbox and name of the public event.
    pub const TOPIC: &str = "order.paid";

    /// Returns the body that webhooks receive.
    pub fn payload(&self) -> serde_json::Value {
        let moment = self.paid_at.to_rfc3339_opts(SecondsFormat::Secs, true);
        serde_json::json!({
            "id": self.event_id,
            "event": Self::TOPIC,
            "created_at": moment,
            "data": {
                "order_id": self.order_id,
                "application_id": self.application_id,
                "project_id": self.project_id,
                "status_id": OrderStatus::Paid.id(),
                "amount": self.amount.to_string(),
                "currency": self.currency,
                "paid_at": moment,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::testing::a_payment;

    #[test]
    fn the_payer_comes_back_to_the_order() {
        let return_url = "https://shop.example/thanks?order={order_id}".to_owned();
        let prepared = PreparedPayment { return_url, ..a_payment(Money::from_minor(26_550).unwrap()) };
        let request = prepared.request(OrderId::new(7).unwrap());
        assert_eq!(request.return_url, "https://shop.example/thanks?order=7");
        assert_eq!((request.purpose.number(), request.description.as_str()), (7, "Order 7"));
    }

    #[test]
    fn applications_are_notified_of_payments() {
        let event = PaidEvent {
            event_id: Uuid::from_u128(5),
            order_id: OrderId::new(7).unwrap(),
            application_id: ApplicationId::new(3).unwrap(),
            project_id: ProjectId::new(1).unwrap(),
            amount: Money::from_minor(26_550).unwrap(),
            currency: "RUB".to_owned(),
            paid_at: DateTime::UNIX_EPOCH,
        };
        let expected = serde_json::json!({
            "id": "00000000-0000-0000-0000-000000000005",
            "event": "order.paid",
            "created_at": "1970-01-01T00:00:00Z",
            "data": {
                "order_id": 7,
                "application_id": 3,
                "project_id": 1,
                "status_id": 22,
                "amount": "265.50",
                "currency": "RUB",
                "paid_at": "1970-01-01T00:00:00Z",
            },
        });
        assert_eq!(event.payload(), expected);
    }
}
