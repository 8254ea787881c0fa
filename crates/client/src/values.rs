//! Values of fields: exact money, secrets, and changes that may clear a field.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Token, password or code. Its `Debug` form does not contain it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Returns the text.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Change of a field that may be empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// The field stays. It is not sent.
    #[default]
    Keep,
    /// The field becomes empty. `null` is sent.
    Clear,
    /// The new value.
    Set(T),
}

impl<T> Patch<T> {
    /// Returns `true` if the field stays.
    pub fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }
}

impl<T> From<T> for Patch<T> {
    fn from(value: T) -> Self {
        Self::Set(value)
    }
}

impl<T: Serialize> Serialize for Patch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Keep | Self::Clear => serializer.serialize_none(),
            Self::Set(value) => value.serialize(serializer),
        }
    }
}

/// Amount in whole minor units (kopecks, cents). The API sends it as a decimal string such as `"265.00"`, in prices of
/// carts and orders as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money(i64);

/// The text is not an amount with at most two decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an amount with at most two decimals")]
pub struct MoneyError;

impl Money {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// Creates an amount from minor units.
    pub const fn from_minor(minor: i64) -> Self {
        Self(minor)
    }

    /// Returns the amount in minor units.
    pub const fn minor(self) -> i64 {
        self.0
    }

    /// Returns the sum, or `None` on overflow.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// Returns the difference, or `None` on overflow.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// Returns the product, or `None` on overflow.
    pub fn checked_times(self, count: i64) -> Option<Self> {
        self.0.checked_mul(count).map(Self)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, minor) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        write!(f, "{sign}{}.{:02}", minor / 100, minor % 100)
    }
}

impl FromStr for Money {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Self, MoneyError> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        let numeric = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !numeric(whole) || !numeric(fraction) {
            return Err(MoneyError);
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > 2 {
            return Err(MoneyError);
        }
        let minor = format!("{whole}{fraction:0<2}").parse::<i64>().map_err(|_| MoneyError)?;
        Ok(Self(if digits.len() < text.len() { -minor } else { minor }))
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Amount)
    }
}

/// Reads an amount. A number is read from its shortest decimal form, which has the digits that were sent.
struct Amount;

impl de::Visitor<'_> for Amount {
    type Value = Money;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount with at most two decimals")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Money, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Money, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Money, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Money, E> {
        self.visit_str(&number.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::ProfilePatch;

    #[test]
    fn a_change_sends_what_changes() {
        let change = ProfilePatch {
            first_name: Patch::Set("Ada".to_owned()),
            middle_name: Patch::Clear,
            ..ProfilePatch::default()
        };
        assert_eq!(serde_json::to_string(&change).unwrap(), r#"{"first_name":"Ada","middle_name":null}"#);
    }

    #[test]
    fn a_secret_is_sent_and_not_printed() {
        let secret = Secret::from("1|token");
        assert_eq!((format!("{secret:?}"), secret.expose()), ("Secret(..)".to_owned(), "1|token"));
        assert_eq!(serde_json::to_string(&secret).unwrap(), "\"1|token\"");
    }

    #[test]
    fn amounts_are_read_from_strings_and_numbers_and_sent_as_strings() {
        let read = |json: &str| serde_json::from_str::<Money>(json).map(Money::minor);
        for (json, minor) in
            [("\"265.00\"", 26_500), ("8.82", 882), ("0", 0), ("9.8", 980), ("-0.05", -5), ("\"7\"", 700)]
        {
            assert_eq!(read(json).unwrap(), minor, "{json}");
        }
        for wrong in ["\"\"", "\"1.\"", "\".5\"", "\"1.005\"", "1.005", "\"+1\"", "\"1e3\"", "null", "1e300"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert_eq!(serde_json::to_string(&Money::from_minor(-1_205)).unwrap(), "\"-12.05\"");
    }

    #[test]
    fn sums_do_not_overflow() {
        let (some, most) = (Money::from_minor(30), Money::from_minor(i64::MAX));
        assert_eq!((some.checked_times(3), some.checked_sub(some)), (Some(Money::from_minor(90)), Some(Money::ZERO)));
        assert_eq!((most.checked_add(some), most.checked_times(2)), (None, None));
    }
}
