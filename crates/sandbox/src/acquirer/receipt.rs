//! Fiscal receipts: those sent with payments and refunds, and those requested separately.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use super::api::Refusal;
use super::order::{given, wrong};
use super::view::Amount;

const MAX_ITEMS: usize = 80;
const MAX_DESCRIPTION_LENGTH: usize = 128;

named! {
    /// Registration status of a receipt.
    Registration {
        Pending = "pending",
        Succeeded = "succeeded",
        Canceled = "canceled",
    }
}

/// A receipt sent with a payment or a refund.
#[derive(Clone, Debug, PartialEq)]
pub struct AttachedReceipt {
    pub state: Registration,
    /// The receipt as received.
    pub body: Value,
}

/// A receipt requested separately.
#[derive(Clone, Debug)]
pub struct Receipt {
    pub id: String,
    pub order: ReceiptOrder,
    pub state: Registration,
    pub created_at: DateTime<Utc>,
}

/// Subject of a receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    Payment(String),
    Refund(String),
}

/// A valid request for a receipt.
#[derive(Clone, Debug)]
pub struct ReceiptOrder {
    pub about: About,
    pub items: Value,
    pub settlements: Value,
    pub tax_system_code: Option<Value>,
}

impl ReceiptOrder {
    pub fn read(body: &Map<String, Value>) -> Result<Self, Refusal> {
        let text = |name: &str| given(body, name).and_then(Value::as_str).map(str::to_owned);
        let about = match text("type").as_deref() {
            Some("payment") => About::Payment(text("payment_id").ok_or_else(|| wrong("payment_id"))?),
            Some("refund") => About::Refund(text("refund_id").ok_or_else(|| wrong("refund_id"))?),
            _ => return Err(wrong("type")),
        };
        if given(body, "send").and_then(Value::as_bool) != Some(true) {
            return Err(wrong("send"));
        }
        customer(body, "")?;
        let sum = items(body, "")?;
        tax_system(body, "")?;
        if sum != settlements(body)? {
            return Err(Refusal::invalid("Receipt items do not sum to its settlements").at("settlements"));
        }
        let part = |name: &str| given(body, name).cloned();
        Ok(Self {
            about,
            items: part("items").unwrap_or_default(),
            settlements: part("settlements").unwrap_or_default(),
            tax_system_code: part("tax_system_code"),
        })
    }
}

fn settlements(body: &Map<String, Value>) -> Result<Amount, Refusal> {
    let list = given(body, "settlements").and_then(Value::as_array).filter(|list| !list.is_empty());
    let mut sum = Amount::default();
    for (number, settlement) in list.ok_or_else(|| wrong("settlements"))?.iter().enumerate() {
        let kind = settlement.get("type").and_then(Value::as_str).unwrap_or_default();
        if !["cashless", "prepayment", "postpayment", "consideration"].contains(&kind) {
            return Err(wrong(&format!("settlements[{number}].type")));
        }
        sum = sum.plus(Amount::read(settlement.get("amount"), &format!("settlements[{number}].amount"))?);
    }
    Ok(sum)
}

/// Reads the receipt sent with a request, if any. Refuses a receipt that is malformed or whose items do not add up to
/// the amount.
pub fn slip(body: &Map<String, Value>, amount: Option<Amount>) -> Result<Option<Value>, Refusal> {
    let Some(value) = given(body, "receipt") else { return Ok(None) };
    let receipt = value.as_object().ok_or_else(|| wrong("receipt"))?;
    let sum = items(receipt, "receipt.")?;
    customer(receipt, "receipt.")?;
    tax_system(receipt, "receipt.")?;
    if amount.is_some_and(|amount| amount != sum) {
        return Err(Refusal::invalid("Receipt items do not sum to the amount").at("receipt"));
    }
    Ok(Some(value.clone()))
}

/// Checks the contact of the customer, an e-mail address or a phone.
fn customer(receipt: &Map<String, Value>, place: &str) -> Result<(), Refusal> {
    let customer = given(receipt, "customer").and_then(Value::as_object);
    let filled = |name: &str, fits: fn(&str) -> bool| {
        customer.and_then(|customer| customer.get(name)).and_then(Value::as_str).is_some_and(fits)
    };
    let digits = |text: &str| (10..=15).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if filled("phone", digits) || filled("email", |text| text.contains('@')) {
        Ok(())
    } else {
        Err(wrong(&format!("{place}customer")))
    }
}

fn tax_system(receipt: &Map<String, Value>, place: &str) -> Result<(), Refusal> {
    let fits = |code: &Value| code.as_i64().is_some_and(|code| (1..=6).contains(&code));
    let known = given(receipt, "tax_system_code").is_none_or(fits);
    if known { Ok(()) } else { Err(wrong(&format!("{place}tax_system_code"))) }
}

/// Returns the sum of the items.
fn items(receipt: &Map<String, Value>, place: &str) -> Result<Amount, Refusal> {
    let list = format!("{place}items");
    let items = receipt.get("items").and_then(Value::as_array).ok_or_else(|| wrong(&list))?;
    if items.is_empty() || items.len() > MAX_ITEMS {
        return Err(wrong(&list));
    }
    let mut sum = Amount::default();
    for (number, item) in items.iter().enumerate() {
        let path = |field: &str| format!("{list}[{number}].{field}");
        for field in ["description", "quantity", "amount", "vat_code"] {
            if item.get(field).is_none_or(Value::is_null) {
                return Err(wrong(&path(field)));
            }
        }
        let vat_code = item.get("vat_code").and_then(|code| code.as_i64().or_else(|| code.as_str()?.parse().ok()));
        if !vat_code.is_some_and(|code| (1..=12).contains(&code)) {
            return Err(wrong(&path("vat_code")));
        }
        let letters = item.get("description").and_then(Value::as_str).map_or(0, |text| text.chars().count());
        if !(1..=MAX_DESCRIPTION_LENGTH).contains(&letters) {
            return Err(wrong(&path("description")));
        }
        let price = Amount::read(item.get("amount"), &path("amount"))?;
        let total = item.get("quantity").and_then(thousandths).and_then(|pieces| price.times_thousandths(pieces));
        sum = sum.plus(total.ok_or_else(|| wrong(&path("quantity")))?);
    }
    Ok(sum)
}

/// Reads a quantity with at most three decimals, given as a number or a string.
fn thousandths(value: &Value) -> Option<i64> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 3 {
        return None;
    }
    let fraction: i64 = format!("{fraction:0<3}").parse().ok()?;
    whole.parse::<i64>().ok()?.checked_mul(1_000)?.checked_add(fraction).filter(|pieces| *pieces > 0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn item(quantity: Value, price: &str) -> Value {
        let amount = json!({ "value": price, "currency": "RUB" });
        json!({ "description": "Tea", "quantity": quantity, "amount": amount, "vat_code": 1 })
    }

    fn read(receipt: Value) -> Result<Option<Value>, Option<String>> {
        let body = json!({ "receipt": receipt });
        slip(body.as_object().unwrap(), Amount::parse("10.00")).map_err(|refusal| refusal.parameter)
    }

    #[test]
    fn a_register_refuses_what_does_not_sum() {
        let customer = json!({ "phone": "79001234567" });
        let with = |items: Value| json!({ "customer": customer, "items": items });
        assert!(read(with(json!([item(json!(3), "3.00"), item(json!("1.000"), "1.00")]))).is_ok());
        assert!(read(with(json!([item(json!(0.5), "20.00")]))).is_ok());
        let parameter = |receipt| read(receipt).unwrap_err().unwrap();
        assert_eq!(parameter(with(json!([item(json!(3), "3.33")]))), "receipt");
        assert_eq!(parameter(with(json!([item(json!(0), "10.00")]))), "receipt.items[0].quantity");
        assert_eq!(parameter(with(vec![item(json!(1), "0.10"); 81].into())), "receipt.items");
        assert_eq!(parameter(json!({ "items": [item(json!(1), "10.00")] })), "receipt.customer");
        assert_eq!(
            parameter(json!({ "customer": { "phone": "+7" }, "items": [item(json!(1), "10.00")] })),
            "receipt.customer"
        );
        let mut wrong_vat = item(json!(1), "10.00");
        wrong_vat["vat_code"] = json!(13);
        assert_eq!(parameter(with(json!([wrong_vat]))), "receipt.items[0].vat_code");
    }

    #[test]
    fn a_receipt_by_itself_sums_to_its_settlements() {
        let body = |change: &dyn Fn(&mut Value)| {
            let mut body = json!({
                "type": "payment", "payment_id": "p", "send": true, "customer": { "email": "a@b.c" },
                "items": [item(json!(2), "5.00")],
                "settlements": [{ "type": "prepayment", "amount": { "value": "10.00", "currency": "RUB" } }],
            });
            change(&mut body);
            ReceiptOrder::read(body.as_object().unwrap()).map_err(|refusal| refusal.parameter.unwrap())
        };
        assert_eq!(body(&|_| ()).unwrap().about, About::Payment("p".to_owned()));
        let refused = |name: &'static str, value: Value| body(&move |body| body[name] = value.clone()).unwrap_err();
        assert_eq!(refused("type", json!("gift")), "type");
        assert_eq!(refused("send", json!(false)), "send");
        assert_eq!(refused("payment_id", Value::Null), "payment_id");
        assert_eq!(refused("settlements", json!([])), "settlements");
        assert_eq!(refused("items", json!([item(json!(1), "5.00")])), "settlements");
    }
}
