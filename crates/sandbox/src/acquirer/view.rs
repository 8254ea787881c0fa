//! API representations of the acquirer's objects. Money is `{"value": "1000.00", "currency": "RUB"}`.

use std::fmt;

use serde_json::{Map, Value, json};

use super::api::Refusal;
use super::ledger::Shop;
use super::method::{Method, MethodStatus, SavedMethod};
use super::payment::{Confirmation, Payment, Refund, RefundStatus, Status};
use super::receipt::{About, Receipt, Registration};
use crate::state::moment;

/// An amount in kopecks. The emulated shop trades in roubles only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(i64);

impl Amount {
    /// Reads an amount object; `parameter` is its path in the request.
    pub fn read(value: Option<&Value>, parameter: &str) -> Result<Self, Refusal> {
        let Some(Value::Object(fields)) = value else {
            return Err(Refusal::invalid("Invalid request parameter").at(parameter));
        };
        if fields.get("currency").and_then(Value::as_str) != Some("RUB") {
            return Err(Refusal::invalid("Currency code is illegal").at(format!("{parameter}.currency")));
        }
        fields
            .get("value")
            .and_then(Value::as_str)
            .and_then(Self::parse)
            .filter(|amount| amount.0 > 0)
            .ok_or_else(|| Refusal::invalid("Payment amount is illegal").at(format!("{parameter}.value")))
    }

    /// Reads `1000.00`: digits, optionally a dot and one or two more.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits_only = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits_only(whole) || !digits_only(fraction) || fraction.len() > 2 {
            return None;
        }
        let roubles: i64 = whole.parse().ok()?;
        let kopecks: i64 = format!("{fraction:0<2}").parse().ok()?;
        roubles.checked_mul(100)?.checked_add(kopecks).map(Self)
    }

    /// A sum of whole roubles.
    pub const fn roubles(roubles: i64) -> Self {
        Self(roubles.saturating_mul(100))
    }

    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Multiplies the price by a quantity in thousandths of a unit, rounded to kopecks. `None` on overflow.
    pub fn times_thousandths(self, pieces: i64) -> Option<Self> {
        let exact = i128::from(self.0) * i128::from(pieces);
        i64::try_from((exact + 500) / 1_000).ok().map(Self)
    }

    /// Returns the amount the shop receives after the acquirer's commission of 3.5 %.
    pub fn after_commission(self) -> Self {
        Self(self.0 - self.0.saturating_mul(35) / 1_000)
    }

    /// Returns the amount object.
    pub fn view(self) -> Value {
        json!({ "value": self.to_string(), "currency": "RUB" })
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

/// An object under construction. Absent fields are left out, as the provider does.
struct Fields(Map<String, Value>);

impl Fields {
    fn of(value: Value) -> Self {
        match value {
            Value::Object(fields) => Self(fields),
            _ => Self(Map::new()),
        }
    }

    fn with(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value.into());
        }
        self
    }

    fn done(self) -> Value {
        Value::Object(self.0)
    }
}

/// Returns the payment object.
pub fn payment(payment: &Payment, shop: &Shop) -> Value {
    let status = payment.status;
    let (captured_at, expires_at, canceled) = match status {
        Status::Pending => (None, None, None),
        Status::WaitingForCapture { until, .. } => (None, Some(moment(until)), None),
        Status::Succeeded { captured_at, .. } => (Some(moment(captured_at)), None, None),
        Status::Canceled(canceled) => (None, None, Some(canceled)),
    };
    let authorized = match status {
        Status::WaitingForCapture { three_d_secure, .. } | Status::Succeeded { three_d_secure, .. } => {
            Some(json!({ "three_d_secure": { "applied": three_d_secure } }))
        }
        Status::Pending | Status::Canceled(_) => None,
    };
    let succeeded = captured_at.is_some();
    let receipt = payment.receipt.as_ref().map(|slip| match status {
        Status::Succeeded { .. } => slip.state.name(),
        Status::Pending | Status::WaitingForCapture { .. } => Registration::Pending.name(),
        Status::Canceled(_) => Registration::Canceled.name(),
    });
    let pending_confirmation = payment.confirmation.as_ref().filter(|_| status == Status::Pending);
    Fields::of(json!({
        "id": payment.id,
        "status": status.name(),
        "amount": payment.amount.view(),
        "recipient": { "account_id": shop.id, "gateway_id": shop.gateway_id },
        "created_at": moment(payment.created_at),
        "test": shop.test,
        "paid": status.is_paid(),
        "refundable": payment.is_refundable(),
        "metadata": payment.metadata,
    }))
    .with("description", payment.description.as_deref())
    .with("payment_method", payment.method.as_ref().map(method))
    .with("income_amount", succeeded.then(|| payment.amount.after_commission().view()))
    .with("refunded_amount", succeeded.then(|| payment.refunded.view()))
    .with("captured_at", captured_at)
    .with("expires_at", expires_at)
    .with("confirmation", pending_confirmation.map(|asked| confirmation(asked, &shop.page_url("pay", &payment.id))))
    .with("authorization_details", authorized)
    .with(
        "cancellation_details",
        canceled.map(|canceled| json!({ "party": canceled.party.name(), "reason": canceled.reason })),
    )
    .with("receipt_registration", receipt)
    .with("merchant_customer_id", payment.merchant_customer_id.as_deref())
    .done()
}

/// Returns the refund object.
pub fn refund(refund: &Refund) -> Value {
    let canceled = json!({ "party": "refund_network", "reason": "rejected_by_payee" });
    let receipt = refund.receipt.map(|state| match refund.status {
        RefundStatus::Succeeded => state.name(),
        RefundStatus::Pending => Registration::Pending.name(),
        RefundStatus::Canceled => Registration::Canceled.name(),
    });
    Fields::of(json!({
        "id": refund.id,
        "payment_id": refund.payment_id,
        "status": refund.status.name(),
        "created_at": moment(refund.created_at),
        "amount": refund.amount.view(),
        "metadata": refund.metadata,
    }))
    .with("description", refund.description.as_deref())
    .with("cancellation_details", (refund.status == RefundStatus::Canceled).then_some(canceled))
    .with("receipt_registration", receipt)
    .done()
}

/// Returns the object of a receipt that was requested separately.
pub fn receipt(receipt: &Receipt) -> Value {
    let (kind, of_payment, of_refund) = match &receipt.order.about {
        About::Payment(id) => ("payment", Some(id.as_str()), None),
        About::Refund(id) => ("refund", None, Some(id.as_str())),
    };
    let registered = (receipt.state == Registration::Succeeded).then(|| moment(receipt.created_at));
    Fields::of(json!({
        "id": receipt.id,
        "type": kind,
        "status": receipt.state.name(),
        "items": receipt.order.items,
        "settlements": receipt.order.settlements,
    }))
    .with("payment_id", of_payment)
    .with("refund_id", of_refund)
    .with("tax_system_code", receipt.order.tax_system_code.clone())
    .with("fiscal_provider_id", registered.as_ref().map(|_| receipt.id.as_str()))
    .with("registered_at", registered)
    .done()
}

/// Returns the object of a method that is saved or being saved.
pub fn saved_method(saved: &SavedMethod, shop: &Shop) -> Value {
    let asked = saved.confirmation.as_ref().filter(|_| saved.method.status == MethodStatus::Pending);
    let metadata = (!saved.metadata.is_empty()).then(|| saved.metadata.clone());
    Fields::of(method(&saved.method))
        .with("holder", Some(json!({ "account_id": shop.id, "gateway_id": shop.gateway_id })))
        .with("confirmation", asked.map(|asked| confirmation(asked, &shop.page_url("bind", &saved.method.id))))
        .with("metadata", metadata)
        .done()
}

fn method(method: &Method) -> Value {
    // The test bank of the emulated SBP transfers.
    let payer_bank = json!({ "bank_id": "100000000111", "bic": "044525225" });
    Fields::of(json!({
        "type": method.kind.name(),
        "id": method.id,
        "saved": method.saved,
        "status": method.status.name(),
    }))
    .with("title", method.card.as_ref().map(super::method::Card::title))
    .with("card", method.card.as_ref().map(super::method::Card::view))
    .with("payer_bank_details", method.sbp_operation_id.as_ref().map(|_| payer_bank))
    .with("sbp_operation_id", method.sbp_operation_id.as_deref())
    .done()
}

fn confirmation(asked: &Confirmation, page: &str) -> Value {
    let address = match asked.kind {
        "redirect" | "mobile_application" => Some("confirmation_url"),
        "qr" => Some("confirmation_data"),
        "embedded" => Some("confirmation_token"),
        _ => None,
    };
    let fields = Fields::of(json!({ "type": asked.kind }));
    let fields = match address {
        Some(name) => fields.with(name, Some(page)),
        None => fields,
    };
    fields.with("return_url", asked.return_url.as_deref()).with("enforce", asked.enforce).done()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_exactly_and_written_with_two_decimals() {
        for (text, written) in [("1000.00", "1000.00"), ("0.05", "0.05"), ("7", "7.00"), ("7.5", "7.50")] {
            assert_eq!(Amount::parse(text).unwrap().to_string(), written);
        }
        for text in ["", ".", "1.", ".5", "1.234", "-1.00", "1e3", "1,00", "99999999999999999999"] {
            assert_eq!(Amount::parse(text), None, "{text}");
        }
    }

    #[test]
    fn an_amount_object_names_what_is_wrong() {
        let read = |value: Value| Amount::read(Some(&value), "amount").unwrap_err();
        assert_eq!(read(json!({ "value": "1.00", "currency": "EUR" })).parameter.as_deref(), Some("amount.currency"));
        assert_eq!(read(json!({ "value": "0.00", "currency": "RUB" })).description, "Payment amount is illegal");
        assert_eq!(read(json!({ "value": 1, "currency": "RUB" })).parameter.as_deref(), Some("amount.value"));
    }
}
