//! JSON of the protocol: payments, refunds, and receipts.

use kontor_kernel::{Money, SubscriptionId, Word};
use kontor_payments::model::{
    ChargePurpose, ChargeRequest, GatewayMethod, GatewayPayment, GatewayReceipt, GatewayRefund, GatewayStatus,
    HandOverRequest, PaymentMethod, ProviderId, Receipt, ReceiptContact, ReceiptLine, RefundRequest, Registration,
    Renewal,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// Returns the request body for a payment. A charge of a saved method needs no confirmation by the customer.
pub(crate) fn body(request: &ChargeRequest) -> Value {
    let mut body = json!({
        "amount": { "value": request.amount.to_string(), "currency": request.currency },
        "capture": true,
        "description": request.description,
        "metadata": metadata(request),
    });
    let Some(fields) = body.as_object_mut() else { return body };
    if let Some(receipt) = &request.receipt {
        fields.insert("receipt".to_owned(), receipt_body(receipt, &request.currency));
    }
    if let Some(saved) = &request.saved_method {
        fields.insert("payment_method_id".to_owned(), json!(saved.provider_id.as_str()));
        return body;
    }
    fields.insert("confirmation".to_owned(), json!({ "type": "redirect", "return_url": request.return_url }));
    fields.insert("payment_method_data".to_owned(), json!({ "type": request.method.word() }));
    if request.save_method {
        fields.insert("save_payment_method".to_owned(), json!(true));
    }
    body
}

fn metadata(request: &ChargeRequest) -> Value {
    let (purpose, number) = (format!("{}_id", request.purpose.kind()), request.purpose.number().to_string());
    let mut metadata = json!({ purpose: number, "attempt": request.key.to_string() });
    if let (Some(renewal), Some(fields)) = (request.renewal, metadata.as_object_mut()) {
        let Renewal { installation, subscription, period, number } = renewal;
        fields.insert("installation".to_owned(), json!(installation.to_string()));
        fields.insert("renewed_subscription".to_owned(), json!(subscription.to_string()));
        fields.insert("renewed_period".to_owned(), json!(period.to_string()));
        fields.insert("renewal_number".to_owned(), json!(number.to_string()));
    }
    metadata
}

fn renewal(metadata: &Value) -> Option<Renewal> {
    let text = |key| metadata_text(metadata, key);
    Some(Renewal {
        installation: text("installation")?.parse().ok()?,
        subscription: SubscriptionId::new(text("renewed_subscription")?.parse().ok()?).ok()?,
        period: text("renewed_period")?.parse().ok()?,
        number: text("renewal_number")?.parse().ok()?,
    })
}

fn purpose(metadata: &Value) -> Option<ChargePurpose> {
    ChargePurpose::KINDS.into_iter().find_map(|kind| {
        let number = metadata_text(metadata, &format!("{kind}_id"))?.parse().ok()?;
        ChargePurpose::from_parts(kind, number).ok()?
    })
}

/// Returns the request body for a refund.
pub(crate) fn refund_body(request: &RefundRequest) -> Value {
    let mut body = json!({
        "payment_id": request.payment.as_str(),
        "amount": { "value": request.amount.to_string(), "currency": request.currency },
        "description": request.description,
        "metadata": { "attempt": request.key.to_string() },
    });
    if let (Some(receipt), Some(fields)) = (&request.receipt, body.as_object_mut()) {
        fields.insert("receipt".to_owned(), receipt_body(receipt, &request.currency));
    }
    body
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
    #[serde(default)]
    payment_method: Option<MethodObject>,
    #[serde(default)]
    receipt_registration: Option<String>,
}

/// Payment method of any kind. A method that is not `saved`, or of another kind than requested, cannot be charged
/// again.
#[derive(Deserialize)]
struct MethodObject {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    saved: bool,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    card: Option<CardObject>,
}

#[derive(Deserialize)]
struct CardObject {
    #[serde(default)]
    card_type: Option<String>,
    #[serde(default)]
    last4: Option<String>,
}

impl MethodObject {
    fn saved(self) -> Option<GatewayMethod> {
        let provider_id = self.id.filter(|_| self.saved).and_then(|id| ProviderId::parse(&id).ok())?;
        let method = PaymentMethod::parse(&self.kind).ok()?;
        let (card_type, card_last_4) = self.card.map(|card| (card.card_type, card.last4)).unwrap_or_default();
        Some(GatewayMethod { provider_id, method, card_type, card_last_4, title: self.title })
    }
}

/// Amount and currency.
#[derive(Deserialize)]
pub(crate) struct Amount {
    pub value: String,
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

/// Returns the idempotency key in the metadata of a payment or a refund.
pub(crate) fn key_of(object: &Value) -> Option<Uuid> {
    object.get("metadata").and_then(|metadata| metadata_text(metadata, "attempt")).and_then(|text| text.parse().ok())
}

fn metadata_text(metadata: &Value, key: &str) -> Option<String> {
    metadata.get(key)?.as_str().map(str::to_owned)
}

/// Parses a payment; `Err` contains the reason for a failure.
pub(crate) fn payment(object: Value) -> Result<GatewayPayment, String> {
    let key = key_of(&object);
    let object: PaymentObject = serde_json::from_value(object).map_err(|error| error.to_string())?;
    let status = match object.status.as_str() {
        "pending" | "waiting_for_capture" => GatewayStatus::Pending,
        "succeeded" => GatewayStatus::Succeeded,
        "canceled" => GatewayStatus::Canceled,
        other => return Err(format!("the payment is {other}")),
    };
    Ok(GatewayPayment {
        id: ProviderId::parse(&object.id).map_err(|error| error.to_string())?,
        status,
        amount: object.amount.value.parse::<Money>().map_err(|error| error.to_string())?,
        currency: object.amount.currency,
        confirmation_url: object.confirmation.and_then(|confirmation| confirmation.confirmation_url),
        reason: object.cancellation_details.and_then(|details| details.reason),
        purpose: object.metadata.as_ref().and_then(purpose),
        key,
        renewal: object.metadata.as_ref().and_then(renewal),
        saved_method: object.payment_method.and_then(MethodObject::saved),
        receipt: registration(object.receipt_registration.as_deref()),
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
    #[serde(default)]
    receipt_registration: Option<String>,
}

/// Parses a refund; `Err` contains the reason for a failure.
pub(crate) fn refund(object: Value) -> Result<GatewayRefund, String> {
    let key = key_of(&object);
    let object: RefundObject = serde_json::from_value(object).map_err(|error| error.to_string())?;
    let status = match object.status.as_str() {
        "pending" => GatewayStatus::Pending,
        "succeeded" => GatewayStatus::Succeeded,
        "canceled" => GatewayStatus::Canceled,
        other => return Err(format!("the refund is {other}")),
    };
    Ok(GatewayRefund {
        id: ProviderId::parse(&object.id).map_err(|error| error.to_string())?,
        payment: ProviderId::parse(&object.payment_id).map_err(|error| error.to_string())?,
        status,
        amount: object.amount.value.parse::<Money>().map_err(|error| error.to_string())?,
        currency: object.amount.currency,
        reason: object.cancellation_details.and_then(|details| details.reason),
        key,
        receipt: registration(object.receipt_registration.as_deref()),
    })
}

/// One page of payments, refunds or receipts.
#[derive(Deserialize)]
pub(crate) struct ObjectList {
    pub items: Vec<Value>,
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Error response of the acquirer.
#[derive(Deserialize, Default)]
pub(crate) struct ErrorObject {
    #[serde(default)]
    pub code: Option<String>,
    #[serde(default)]
    pub description: Option<String>,
    /// Milliseconds.
    #[serde(default)]
    pub retry_after: Option<u64>,
}

/// Returns a receipt as part of a request.
pub(crate) fn receipt_body(receipt: &Receipt, currency: &str) -> Value {
    Value::Object(fields(receipt, currency))
}

fn fields(receipt: &Receipt, currency: &str) -> Map<String, Value> {
    let customer = match receipt.customer() {
        ReceiptContact::Phone(phone) => json!({ "phone": phone.as_str() }),
        ReceiptContact::Email(email) => json!({ "email": email.as_str() }),
    };
    let items: Vec<Value> = receipt.lines().iter().map(|line| item(line, currency)).collect();
    let mut fields = Map::new();
    fields.insert("customer".to_owned(), customer);
    fields.insert("items".to_owned(), items.into());
    if let Some(system) = receipt.tax_system() {
        fields.insert("tax_system_code".to_owned(), system.get().into());
    }
    fields
}

fn item(line: &ReceiptLine, currency: &str) -> Value {
    json!({
        "description": line.description(),
        "quantity": line.quantity(),
        "amount": { "value": line.price().to_string(), "currency": currency },
        "vat_code": line.vat().get(),
        "measure": "piece",
        "payment_subject": line.subject().word(),
        "payment_mode": line.mode().word(),
    })
}

/// Returns the request body for a hand-over receipt: its whole amount was prepaid.
pub(crate) fn hand_over_body(request: &HandOverRequest) -> Value {
    let total = json!({ "value": request.receipt.total().to_string(), "currency": request.currency });
    let mut body = fields(&request.receipt, &request.currency);
    body.insert("type".to_owned(), json!("payment"));
    body.insert("payment_id".to_owned(), json!(request.payment.as_str()));
    body.insert("send".to_owned(), json!(true));
    body.insert("settlements".to_owned(), json!([{ "type": "prepayment", "amount": total }]));
    Value::Object(body)
}

/// Returns the registration state in a payment or a refund. An unknown word counts as pending.
pub(crate) fn registration(word: Option<&str>) -> Option<Registration> {
    word.map(|word| Registration::from_word(word).unwrap_or(Registration::Pending))
}

#[derive(Deserialize)]
struct ReceiptObject {
    id: String,
    status: String,
    #[serde(default)]
    payment_id: Option<String>,
    #[serde(default)]
    settlements: Vec<Settlement>,
}

#[derive(Deserialize)]
struct Settlement {
    #[serde(rename = "type")]
    kind: String,
    amount: Amount,
}

/// Parses a receipt; `Err` contains the reason for a failure.
pub(crate) fn receipt(object: Value) -> Result<GatewayReceipt, String> {
    let object: ReceiptObject = serde_json::from_value(object).map_err(|error| error.to_string())?;
    let provider = |id: &str| ProviderId::parse(id).map_err(|error| error.to_string());
    let mut prepaid = Money::ZERO;
    for settlement in object.settlements.iter().filter(|settlement| settlement.kind == "prepayment") {
        let amount: Money = settlement.amount.value.parse().map_err(|error| format!("a settlement {error}"))?;
        prepaid = prepaid.checked_add(amount).ok_or("the sum of the settlements is too large")?;
    }
    Ok(GatewayReceipt {
        id: provider(&object.id)?,
        payment: object.payment_id.as_deref().map(provider).transpose()?,
        status: Registration::from_word(&object.status).ok_or_else(|| format!("the receipt is {}", object.status))?,
        prepaid,
    })
}

#[cfg(test)]
mod tests {
    use kontor_kernel::{OrderId, Phone, Quantity, SavedMethodId};
    use kontor_payments::model::{MethodReference, PaymentMode, PaymentSubject, ReceiptItem, TaxSystem, VatCode};

    use super::*;

    #[test]
    fn the_same_request_is_the_same_body() {
        let request = ChargeRequest {
            renewal: None,
            purpose: ChargePurpose::Order(OrderId::new(7).unwrap()),
            key: Uuid::nil(),
            amount: Money::from_minor(26_550).unwrap(),
            currency: "RUB".to_owned(),
            method: PaymentMethod::Sbp,
            description: "Order 7".to_owned(),
            return_url: "https://shop.example/7".to_owned(),
            save_method: false,
            saved_method: None,
            receipt: None,
        };
        assert_eq!(
            body(&request).to_string(),
            r#"{"amount":{"currency":"RUB","value":"265.50"},"capture":true,"confirmation":{"return_url":"https://shop.example/7","type":"redirect"},"description":"Order 7","metadata":{"attempt":"00000000-0000-0000-0000-000000000000","order_id":"7"},"payment_method_data":{"type":"sbp"}}"#
        );
        let saving = ChargeRequest { save_method: true, ..request.clone() };
        assert_eq!(body(&saving)["save_payment_method"], json!(true));
        let mark =
            Renewal { installation: Uuid::nil(), subscription: SubscriptionId::new(9).unwrap(), period: 3, number: 2 };
        let renewing = body(&ChargeRequest { renewal: Some(mark), ..request.clone() });
        let object = json!({ "id": "p-1", "status": "succeeded", "amount": renewing["amount"], "metadata": renewing["metadata"] });
        let shown = payment(object).unwrap();
        assert_eq!((shown.renewal, shown.purpose, shown.key), (Some(mark), Some(request.purpose), Some(request.key)));
        let provider_id = ProviderId::parse("pm-1").unwrap();
        let saved_method = Some(MethodReference { id: SavedMethodId::new(4).unwrap(), provider_id });
        let purpose = ChargePurpose::Subscription(SubscriptionId::new(9).unwrap());
        assert_eq!(
            body(&ChargeRequest { purpose, saved_method, ..request }).to_string(),
            r#"{"amount":{"currency":"RUB","value":"265.50"},"capture":true,"description":"Order 7","metadata":{"attempt":"00000000-0000-0000-0000-000000000000","subscription_id":"9"},"payment_method_id":"pm-1"}"#
        );
    }

    #[test]
    fn foreign_and_malformed_objects_are_distinguished() {
        let object = json!({ "id": "p-1", "status": "succeeded", "amount": { "value": "1.00", "currency": "RUB" } });
        let known = payment(object.clone()).unwrap();
        assert_eq!((known.purpose, known.key, known.saved_method), (None, None, None));
        let method = |saved| json!({ "type": "bank_card", "id": "pm-1", "saved": saved, "card": { "last4": "4444" } });
        let with_method = |saved| {
            let mut with_method = object.clone();
            with_method["payment_method"] = method(saved);
            payment(with_method).unwrap().saved_method
        };
        assert_eq!(with_method(true).unwrap().card_last_4.as_deref(), Some("4444"));
        assert_eq!(with_method(false), None);
        for (path, value) in [("status", json!("odd")), ("id", json!("../x")), ("amount", json!({ "value": "x" }))] {
            let mut broken = object.clone();
            broken[path] = value;
            assert!(payment(broken).is_err(), "{path}");
        }
        let with_receipt = json!({ "id": "p-1", "status": "succeeded", "amount": object["amount"], "receipt_registration": "canceled" });
        assert_eq!(payment(with_receipt).unwrap().receipt, Some(Registration::Canceled));
        let object = json!({ "id": "r-1", "payment_id": "p-1", "status": "succeeded", "amount": object["amount"] });
        assert_eq!(refund(object.clone()).unwrap().status, GatewayStatus::Succeeded);
        for (path, value) in [("status", json!("odd")), ("payment_id", json!(null)), ("amount", json!({}))] {
            let mut broken = object.clone();
            broken[path] = value;
            assert!(refund(broken).is_err(), "{path}");
        }
    }

    #[test]
    fn the_same_receipt_is_the_same_body() {
        let total = Money::from_minor(1_001).unwrap();
        let item = ReceiptItem {
            name: "Tea".to_owned(),
            quantity: Quantity::new(2).unwrap(),
            total,
            vat: VatCode::new(4).unwrap(),
            subject: PaymentSubject::Commodity,
            mode: PaymentMode::FullPrepayment,
        };
        let customer = ReceiptContact::Phone(Phone::parse("79001234567").unwrap());
        let receipt = Receipt::new(customer, TaxSystem::new(2).ok(), &[item], total).unwrap();
        assert_eq!(
            receipt_body(&receipt, "RUB").to_string(),
            r#"{"customer":{"phone":"79001234567"},"items":[{"amount":{"currency":"RUB","value":"5.00"},"description":"Tea","measure":"piece","payment_mode":"full_prepayment","payment_subject":"commodity","quantity":1,"vat_code":4},{"amount":{"currency":"RUB","value":"5.01"},"description":"Tea","measure":"piece","payment_mode":"full_prepayment","payment_subject":"commodity","quantity":1,"vat_code":4}],"tax_system_code":2}"#
        );
        let payment = ProviderId::parse("pay-1").unwrap();
        let request = HandOverRequest { payment, key: "k".to_owned(), currency: "RUB".to_owned(), receipt };
        let body = hand_over_body(&request);
        assert_eq!(
            (&body["type"], &body["payment_id"], &body["send"]),
            (&json!("payment"), &json!("pay-1"), &json!(true))
        );
        assert_eq!(
            body["settlements"],
            json!([{ "type": "prepayment", "amount": { "value": "10.01", "currency": "RUB" } }])
        );
    }

    #[test]
    fn only_what_was_prepaid_is_a_hand_over() {
        let amount = json!({ "value": "10.01", "currency": "RUB" });
        let object = |kind: &str| json!({ "id": "rt_1", "status": "succeeded", "payment_id": "pay-1", "settlements": [{ "type": kind, "amount": amount }] });
        assert_eq!(receipt(object("prepayment")).unwrap().prepaid.minor(), 1_001);
        assert_eq!(receipt(object("cashless")).unwrap().prepaid.minor(), 0);
        for (path, value) in [("status", json!("odd")), ("id", json!("../x")), ("settlements", json!([{}]))] {
            let mut broken = object("prepayment");
            broken[path] = value;
            assert!(receipt(broken).is_err(), "{path}");
        }
        assert_eq!(registration(Some("succeeded")), Some(Registration::Succeeded));
        assert_eq!((registration(Some("odd")), registration(None)), (Some(Registration::Pending), None));
    }
}
