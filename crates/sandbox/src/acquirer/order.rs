//! Parsing of the bodies of `POST /v3/payments`, `/refunds` and `/payment_methods`, with the provider's refusals.

use serde_json::{Map, Value};

use super::api::Refusal;
use super::method::Kind;
use super::payment::Confirmation;
use super::receipt;
use super::view::Amount;

const CARD_LIMITS: (Amount, Amount) = (Amount::roubles(1), Amount::roubles(350_000));

/// Source of the money.
#[derive(Debug, PartialEq, Eq)]
pub enum Source {
    /// The payer chooses on the page.
    Open,
    /// The payer must use this type of method.
    Chosen(Kind),
    /// A saved method is charged without the payer.
    Saved(String),
}

/// A valid request for a payment.
#[derive(Debug)]
pub struct PaymentOrder {
    pub amount: Amount,
    pub description: Option<String>,
    pub capture: bool,
    pub save: bool,
    pub source: Source,
    pub confirmation: Option<Confirmation>,
    pub metadata: Map<String, Value>,
    pub merchant_customer_id: Option<String>,
    pub receipt: Option<Value>,
}

impl PaymentOrder {
    pub fn read(body: &Map<String, Value>) -> Result<Self, Refusal> {
        let amount = Amount::read(body.get("amount"), "amount")?;
        let description = text(body, "description", 128)?;
        let capture = flag(body, "capture")?;
        let save = flag(body, "save_payment_method")?;
        let source = source(body)?;
        let confirmation = confirmation(body)?;
        match (&source, &confirmation) {
            (Source::Saved(_), Some(_)) => {
                let text = "Confirmation must be null when using payment_method_id";
                return Err(Refusal::invalid(text).at("confirmation"));
            }
            (Source::Open | Source::Chosen(_), None) => return Err(wrong("confirmation")),
            _ => {}
        }
        if let Source::Chosen(kind) = source {
            if save && !kind.is_savable() {
                return Err(wrong("save_payment_method"));
            }
            if kind == Kind::BANK_CARD && !(CARD_LIMITS.0..=CARD_LIMITS.1).contains(&amount) {
                return Err(Refusal::invalid("Payment amount is illegal").at("amount.value"));
            }
        }
        Ok(Self {
            amount,
            description,
            capture,
            save,
            source,
            confirmation,
            metadata: metadata(body)?,
            merchant_customer_id: text(body, "merchant_customer_id", 200)?,
            receipt: receipt::slip(body, Some(amount))?,
        })
    }
}

/// A valid request for a refund.
#[derive(Debug)]
pub struct RefundOrder {
    pub payment_id: String,
    pub amount: Amount,
    pub description: Option<String>,
    pub metadata: Map<String, Value>,
    pub receipt: Option<Value>,
}

impl RefundOrder {
    pub fn read(body: &Map<String, Value>) -> Result<Self, Refusal> {
        let payment_id = text(body, "payment_id", 36)?.ok_or_else(|| wrong("payment_id"))?;
        let amount =
            Amount::read(body.get("amount"), "amount").map_err(|refusal| match refusal.description.as_str() {
                "Currency code is illegal" => Refusal::invalid("Currencies do not match").at("amount.currency"),
                _ => refusal,
            })?;
        Ok(Self {
            payment_id,
            amount,
            description: text(body, "description", 250)?,
            metadata: metadata(body)?,
            receipt: receipt::slip(body, Some(amount))?,
        })
    }
}

/// A valid request to bind a method without paying.
#[derive(Debug)]
pub struct BindingOrder {
    pub kind: Kind,
    pub confirmation: Confirmation,
    pub metadata: Map<String, Value>,
}

impl BindingOrder {
    pub fn read(body: &Map<String, Value>) -> Result<Self, Refusal> {
        let kind = body
            .get("type")
            .and_then(Value::as_str)
            .and_then(Kind::named)
            .filter(|kind| matches!(*kind, Kind::BANK_CARD | Kind::SBP))
            .ok_or_else(|| Refusal::invalid("Illegal payment method type").at("type"))?;
        let confirmation = confirmation(body)?.ok_or_else(|| wrong("confirmation"))?;
        Ok(Self { kind, confirmation, metadata: metadata(body)? })
    }
}

/// Reads the optional sum of `POST /v3/payments/{id}/capture`.
pub fn capture_sum(body: &Map<String, Value>) -> Result<Option<Amount>, Refusal> {
    let sum = given(body, "amount").map(|amount| Amount::read(Some(amount), "amount")).transpose()?;
    receipt::slip(body, sum)?;
    Ok(sum)
}

pub(super) fn wrong(parameter: &str) -> Refusal {
    Refusal::invalid("Invalid request parameter").at(parameter)
}

/// Returns the field if it is present and not null.
pub(super) fn given<'a>(body: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    body.get(name).filter(|value| !value.is_null())
}

fn text(body: &Map<String, Value>, name: &str, longest: usize) -> Result<Option<String>, Refusal> {
    match given(body, name) {
        None => Ok(None),
        Some(Value::String(text)) if text.chars().count() <= longest => Ok(Some(text.clone())),
        Some(Value::String(_)) if name == "description" => {
            Err(Refusal::invalid(format!("Description is too long. Max. length is {longest}")).at(name))
        }
        Some(_) => Err(wrong(name)),
    }
}

fn flag(body: &Map<String, Value>, name: &str) -> Result<bool, Refusal> {
    match given(body, name) {
        None => Ok(false),
        Some(value) => value.as_bool().ok_or_else(|| wrong(name)),
    }
}

fn source(body: &Map<String, Value>) -> Result<Source, Refusal> {
    let (data, id, token) =
        (given(body, "payment_method_data"), given(body, "payment_method_id"), given(body, "payment_token"));
    match (data, id, token) {
        (None, None, None) => Ok(Source::Open),
        (Some(data), None, None) => data
            .get("type")
            .and_then(Value::as_str)
            .and_then(Kind::named)
            .map(Source::Chosen)
            .ok_or_else(|| Refusal::invalid("Illegal payment method type").at("payment_method_data.type")),
        (None, Some(id), None) => {
            id.as_str().map(|id| Source::Saved(id.to_owned())).ok_or_else(|| wrong("payment_method_id"))
        }
        // Tokens come from the provider's widget, which the sandbox does not have.
        (None, None, Some(_)) => Err(wrong("payment_token")),
        _ => Err(Refusal::invalid(
            "Request should contain only one of: payment_method_data, payment_method_id, payment_token",
        )),
    }
}

fn confirmation(body: &Map<String, Value>) -> Result<Option<Confirmation>, Refusal> {
    let Some(value) = given(body, "confirmation") else { return Ok(None) };
    let fields = value.as_object().ok_or_else(|| wrong("confirmation"))?;
    let kind = ["redirect", "external", "qr", "embedded", "mobile_application"]
        .into_iter()
        .find(|kind| fields.get("type").and_then(Value::as_str) == Some(kind))
        .ok_or_else(|| Refusal::invalid("Illegal confirmation type").at("confirmation.type"))?;
    let return_url = match given(fields, "return_url") {
        None | Some(Value::String(_)) => {
            given(fields, "return_url").and_then(Value::as_str).filter(|url| !url.is_empty())
        }
        Some(_) => return Err(wrong("confirmation.return_url")),
    };
    match return_url {
        None if matches!(kind, "redirect" | "mobile_application") => {
            return Err(Refusal::invalid("Return url is missing").at("confirmation.return_url"));
        }
        Some(url) if url.len() > 2048 || (kind != "mobile_application" && !is_web_url(url)) => {
            return Err(wrong("confirmation.return_url"));
        }
        _ => {}
    }
    Ok(Some(Confirmation {
        kind,
        return_url: return_url.map(str::to_owned),
        enforce: given(fields, "enforce").and_then(Value::as_bool),
    }))
}

/// Returns `true` if a browser may be redirected to the URL.
pub fn is_web_url(url: &str) -> bool {
    let has_host = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '[');
    url.bytes().all(|byte| byte > b' ' && byte != 0x7f)
        && ["http://", "https://"].iter().any(|scheme| {
            let (start, rest) = url.split_at_checked(scheme.len()).unwrap_or_default();
            start.eq_ignore_ascii_case(scheme) && has_host(rest)
        })
}

fn metadata(body: &Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
    let Some(value) = given(body, "metadata") else { return Ok(Map::new()) };
    let fields = value.as_object().ok_or_else(|| wrong("metadata"))?;
    if fields.len() > 16 {
        return Err(Refusal::invalid("Metadata object is limited to 16 keys").at("metadata"));
    }
    fields
        .iter()
        .map(|(name, value)| {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                _ => return Err(wrong(&format!("metadata.{name}"))),
            };
            if name.chars().count() > 32 || text.chars().count() > 512 {
                return Err(wrong(&format!("metadata.{name}")));
            }
            Ok((name.clone(), Value::String(text)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(body: &Value) -> (String, Option<String>) {
        let refusal = PaymentOrder::read(body.as_object().unwrap()).unwrap_err();
        (refusal.description, refusal.parameter)
    }

    fn with(field: &str, value: Value) -> Value {
        let mut body = json!({
            "amount": { "value": "10.00", "currency": "RUB" },
            "confirmation": { "type": "redirect", "return_url": "https://shop.test/back" },
        });
        body.as_object_mut().unwrap().insert(field.to_owned(), value);
        body
    }

    #[test]
    fn every_wrong_field_is_named_with_the_providers_text() {
        let cases = [
            ("amount", Value::Null, "Invalid request parameter", "amount"),
            ("amount", json!({ "value": "x", "currency": "RUB" }), "Payment amount is illegal", "amount.value"),
            ("amount", json!({ "value": "1.00", "currency": "USD" }), "Currency code is illegal", "amount.currency"),
            ("description", "d".repeat(129).into(), "Description is too long. Max. length is 128", "description"),
            ("capture", "yes".into(), "Invalid request parameter", "capture"),
            (
                "payment_method_data",
                json!({ "type": "gold" }),
                "Illegal payment method type",
                "payment_method_data.type",
            ),
            ("confirmation", json!({ "type": "pigeon" }), "Illegal confirmation type", "confirmation.type"),
            ("confirmation", json!({ "type": "redirect" }), "Return url is missing", "confirmation.return_url"),
            (
                "confirmation",
                json!({ "type": "redirect", "return_url": "javascript:alert(1)" }),
                "Invalid request parameter",
                "confirmation.return_url",
            ),
            ("confirmation", Value::Null, "Invalid request parameter", "confirmation"),
            ("metadata", json!({ "k": { "nested": 1 } }), "Invalid request parameter", "metadata.k"),
            ("receipt", json!({ "items": [] }), "Invalid request parameter", "receipt.items"),
            (
                "receipt",
                json!({ "items": [{ "description": "x", "quantity": 1, "amount": {} }] }),
                "Invalid request parameter",
                "receipt.items[0].vat_code",
            ),
            (
                "payment_method_id",
                "22e12f66".into(),
                "Confirmation must be null when using payment_method_id",
                "confirmation",
            ),
        ];
        for (field, value, description, parameter) in cases {
            assert_eq!(refusal(&with(field, value)), (description.to_owned(), Some(parameter.to_owned())));
        }
        let many: Map<_, _> = (0..17).map(|key| (key.to_string(), Value::from("v"))).collect();
        assert_eq!(refusal(&with("metadata", many.into())).0, "Metadata object is limited to 16 keys");
    }

    #[test]
    fn a_card_pays_no_more_than_its_limit() {
        let body = |value: &str| {
            let mut body = with("payment_method_data", json!({ "type": "bank_card" }));
            body.as_object_mut().unwrap()["amount"] = json!({ "value": value, "currency": "RUB" });
            PaymentOrder::read(body.as_object().unwrap()).is_ok()
        };
        assert!(body("1.00") && body("350000.00"));
        assert!(!body("0.99") && !body("350000.01"));
    }

    #[test]
    fn browsers_are_sent_to_web_pages_only() {
        for url in ["http://127.0.0.1:8080/a?b=1", "HTTPS://shop.test", "http://[::1]/"] {
            assert!(is_web_url(url), "{url}");
        }
        for url in ["", "/relative", "javascript:alert(1)", "https://", "http://a\r\nb", "ftp://shop.test", "http:///x"]
        {
            assert!(!is_web_url(url), "{url}");
        }
    }
}
