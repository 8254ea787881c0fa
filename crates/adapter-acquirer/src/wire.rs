//! The JSON of the protocol.

use kontor_kernel::{Money, OrderId, VerificationId};
use kontor_orders::model::{
    GatewayPayment, GatewayRefund, GatewayStatus, PaymentRequest, ProviderPaymentId, Purpose, RefundRequest,
    RefundStatus,
};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

/// The body that asks for a payment.
pub(crate) fn body(request: &PaymentRequest) -> Value {
    json!({
        "amount": { "value": request.amount.to_string(), "currency": request.currency },
        "capture": true,
        "confirmation": { "type": "redirect", "return_url": request.return_url },
        "description": request.description,
        "payment_method_data": { "type": request.method.as_str() },
        "metadata": metadata(request),
    })
}

fn metadata(request: &PaymentRequest) -> Value {
    let attempt = request.attempt.to_string();
    match request.purpose {
        Purpose::Order(id) => json!({ "order_id": id.to_string(), "attempt": attempt }),
        Purpose::Verification(id) => json!({ "verification_id": id.to_string(), "attempt": attempt }),
    }
}

/// The body that asks for a refund.
pub(crate) fn refund_body(request: &RefundRequest) -> Value {
    json!({
        "payment_id": request.payment.as_str(),
        "amount": { "value": request.amount.to_string(), "currency": request.currency },
        "description": request.description,
        "metadata": { "attempt": request.key.to_string() },
    })
}

#[derive(Deserialize)]
struct PaymentObject {
    id: String,
    status: String,
    amount: Amount,
    #[serde(default)]
    confirmation: Option<Confirmation>,
    #[serde(default)]
    cancellation_details: Option<Cancellation>,
    #[serde(default)]
    metadata: Option<Value>,
}

#[derive(Deserialize)]
struct Amount {
    value: String,
    currency: String,
}

#[derive(Deserialize)]
struct Confirmation {
    #[serde(default)]
    confirmation_url: Option<String>,
}

#[derive(Deserialize)]
struct Cancellation {
    #[serde(default)]
    reason: Option<String>,
}

/// The attempt a payment object carries in its metadata.
pub(crate) fn attempt_of(object: &Value) -> Option<Uuid> {
    object.get("metadata").and_then(|metadata| metadata_text(metadata, "attempt")).and_then(|text| text.parse().ok())
}

fn metadata_text(metadata: &Value, key: &str) -> Option<String> {
    metadata.get(key)?.as_str().map(str::to_owned)
}

/// A payment object; `Err` says why it cannot be one.
pub(crate) fn payment(object: Value) -> Result<GatewayPayment, String> {
    let attempt = attempt_of(&object);
    let object: PaymentObject = serde_json::from_value(object).map_err(|error| error.to_string())?;
    let status = match object.status.as_str() {
        "pending" | "waiting_for_capture" => GatewayStatus::Pending,
        "succeeded" => GatewayStatus::Succeeded,
        "canceled" => GatewayStatus::Canceled,
        other => return Err(format!("the payment is {other}")),
    };
    let number = |key: &str| {
        let text = object.metadata.as_ref().and_then(|metadata| metadata_text(metadata, key));
        text.and_then(|text| text.parse::<i64>().ok())
    };
    let order = number("order_id").and_then(|id| OrderId::new(id).ok()).map(Purpose::Order);
    let verification = || number("verification_id").and_then(|id| VerificationId::new(id).ok());
    let purpose = order.or_else(|| verification().map(Purpose::Verification));
    Ok(GatewayPayment {
        id: ProviderPaymentId::parse(&object.id).map_err(|error| error.to_string())?,
        status,
        amount: object.amount.value.parse::<Money>().map_err(|error| error.to_string())?,
        currency: object.amount.currency,
        confirmation_url: object.confirmation.and_then(|confirmation| confirmation.confirmation_url),
        reason: object.cancellation_details.and_then(|details| details.reason),
        purpose,
        attempt,
    })
}

#[derive(Deserialize)]
struct RefundObject {
    id: String,
    payment_id: String,
    status: String,
    amount: Amount,
    #[serde(default)]
    cancellation_details: Option<Cancellation>,
}

/// A refund object; `Err` says why it cannot be one.
pub(crate) fn refund(object: Value) -> Result<GatewayRefund, String> {
    let object: RefundObject = serde_json::from_value(object).map_err(|error| error.to_string())?;
    let status = match object.status.as_str() {
        "pending" => RefundStatus::Pending,
        "succeeded" => RefundStatus::Succeeded,
        "canceled" => RefundStatus::Canceled,
        other => return Err(format!("the refund is {other}")),
    };
    Ok(GatewayRefund {
        id: ProviderPaymentId::parse(&object.id).map_err(|error| error.to_string())?,
        payment: ProviderPaymentId::parse(&object.payment_id).map_err(|error| error.to_string())?,
        status,
        amount: object.amount.value.parse::<Money>().map_err(|error| error.to_string())?,
        currency: object.amount.currency,
        reason: object.cancellation_details.and_then(|details| details.reason),
    })
}

/// One page of payments or refunds.
#[derive(Deserialize)]
pub(crate) struct ObjectList {
    pub items: Vec<Value>,
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// What the acquirer says when it says no.
#[derive(Deserialize, Default)]
pub(crate) struct ErrorObject {
    #[serde(default)]
    pub code: Option<String>,
    #[serde(default)]
    pub description: Option<String>,
    /// In milliseconds.
    #[serde(default)]
    pub retry_after: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_orders::model::PaymentMethod;

    #[test]
    fn the_same_request_is_the_same_body() {
        let request = PaymentRequest {
            purpose: Purpose::Order(OrderId::new(7).unwrap()),
            attempt: Uuid::nil(),
            amount: Money::from_minor(26_550).unwrap(),
            currency: "RUB".to_owned(),
            method: PaymentMethod::Sbp,
            description: "Order 7".to_owned(),
            return_url: "https://shop.example/7".to_owned(),
        };
        assert_eq!(
            body(&request).to_string(),
            r#"{"amount":{"currency":"RUB","value":"265.50"},"capture":true,"confirmation":{"return_url":"https://shop.example/7","type":"redirect"},"description":"Order 7","metadata":{"attempt":"00000000-0000-0000-0000-000000000000","order_id":"7"},"payment_method_data":{"type":"sbp"}}"#
        );
    }

    #[test]
    fn foreign_and_broken_objects_are_told_apart() {
        let object = json!({ "id": "p-1", "status": "succeeded", "amount": { "value": "1.00", "currency": "RUB" } });
        let known = payment(object.clone()).unwrap();
        assert_eq!((known.purpose, known.attempt), (None, None));
        for (path, value) in [("status", json!("odd")), ("id", json!("../x")), ("amount", json!({ "value": "x" }))] {
            let mut broken = object.clone();
            broken[path] = value;
            assert!(payment(broken).is_err(), "{path}");
        }
        let object = json!({ "id": "r-1", "payment_id": "p-1", "status": "succeeded", "amount": object["amount"] });
        assert_eq!(refund(object.clone()).unwrap().status, RefundStatus::Succeeded);
        for (path, value) in [("status", json!("odd")), ("payment_id", json!(null)), ("amount", json!({}))] {
            let mut broken = object.clone();
            broken[path] = value;
            assert!(refund(broken).is_err(), "{path}");
        }
    }
}
