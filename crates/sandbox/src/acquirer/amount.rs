//! Money on the acquirer's wire: `{"value": "1000.00", "currency": "RUB"}`.

use std::fmt;

use serde_json::{Value, json};

use super::refusal::Refusal;

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
