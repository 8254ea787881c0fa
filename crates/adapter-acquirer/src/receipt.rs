//! JSON of receipts.

use kontor_kernel::{Money, Word};
use kontor_payments::model::{
    GatewayReceipt, HandOverRequest, ProviderId, Receipt, ReceiptContact, ReceiptLine, Registration,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::wire::Amount;

/// Returns a receipt as part of a request.
pub(crate) fn body(receipt: &Receipt, currency: &str) -> Value {
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
    use super::*;
    use kontor_kernel::{Phone, Quantity};
    use kontor_payments::model::{PaymentMode, PaymentSubject, ReceiptItem, TaxSystem, VatCode};

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
            body(&receipt, "RUB").to_string(),
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
