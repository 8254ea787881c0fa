//! Cards: the brand from the number, and the outcomes of the demo shop's test cards.

use chrono::{DateTime, Datelike as _, Utc};
use serde_json::{Value, json};

use super::payment::{Canceled, Party, Verdict};

/// The card used when the request names none.
pub const DEFAULT_CARD: &str = "5555555555554444";

/// Declining test cards `555555555555....`: last four digits, the party that declines, and the reason.
const DECLINING: [(&str, Party, &str); 13] = [
    ("4592", Party::PaymentNetwork, "3d_secure_failed"),
    ("4535", Party::PaymentNetwork, "call_issuer"),
    ("4543", Party::PaymentNetwork, "card_expired"),
    ("4568", Party::PaymentNetwork, "fraud_suspected"),
    ("4527", Party::PaymentNetwork, "general_decline"),
    ("4600", Party::PaymentNetwork, "insufficient_funds"),
    ("4618", Party::PaymentNetwork, "invalid_card_number"),
    ("4626", Party::PaymentNetwork, "invalid_csc"),
    ("4501", Party::PaymentNetwork, "issuer_unavailable"),
    ("4576", Party::PaymentNetwork, "payment_method_limit_exceeded"),
    ("4550", Party::PaymentNetwork, "payment_method_restricted"),
    ("4584", Party::YooMoney, "country_forbidden"),
    ("4634", Party::YooMoney, "fraud_suspected"),
];

/// Reasons of a decline by the payer's bank, as the page and the control interface offer them.
pub const DECLINE_REASONS: [&str; 15] = [
    "general_decline",
    "insufficient_funds",
    "card_expired",
    "3d_secure_failed",
    "call_issuer",
    "country_forbidden",
    "fraud_suspected",
    "identification_required",
    "internal_timeout",
    "invalid_card_number",
    "invalid_csc",
    "issuer_unavailable",
    "payment_method_limit_exceeded",
    "payment_method_restricted",
    "permission_revoked",
];

/// Returns the listed reason with this name.
pub fn decline_reason(name: &str) -> Option<&'static str> {
    DECLINE_REASONS.into_iter().find(|reason| *reason == name)
}

/// Successful test cards that require 3-D Secure.
const WITH_3D_SECURE: [&str; 2] = ["5555555555554477", "2200000000000004"];

/// A card number of 13 to 19 digits. The emulator keeps no more of it than the provider would show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardNumber(String);

impl CardNumber {
    /// Reads a number, ignoring spaces and hyphens. Cards other than the test cards need a valid check digit.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: String = text.chars().filter(|c| !matches!(c, ' ' | '-')).collect();
        let well_formed = (13..=19).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        (well_formed && (digits.starts_with("555555555555") || has_valid_check_digit(&digits))).then_some(Self(digits))
    }

    /// Returns the outcome of a payment by this card.
    pub fn verdict(&self) -> Verdict {
        let declining = self
            .0
            .strip_prefix("555555555555")
            .and_then(|last4| DECLINING.into_iter().find(|(declining, ..)| *declining == last4));
        match declining {
            Some((_, party, reason)) => Verdict::Declined(Canceled { party, reason }),
            None => Verdict::Approved { three_d_secure: WITH_3D_SECURE.contains(&self.0.as_str()) },
        }
    }

    /// Returns the data of the card that the provider shows.
    pub fn card(&self, now: DateTime<Utc>) -> Card {
        Card {
            first6: self.0.chars().take(6).collect(),
            last4: self.0.chars().skip(self.0.len().saturating_sub(4)).collect(),
            expiry_year: (now.year() + 4).to_string(),
            brand: brand(&self.0),
        }
    }
}

impl Default for CardNumber {
    fn default() -> Self {
        Self(DEFAULT_CARD.to_owned())
    }
}

/// Data of a card that the provider shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    first6: String,
    pub last4: String,
    expiry_year: String,
    brand: &'static str,
}

impl Card {
    /// Returns the `card` object.
    pub fn view(&self) -> Value {
        json!({
            "first6": self.first6,
            "last4": self.last4,
            "expiry_year": self.expiry_year,
            "expiry_month": "12",
            "card_type": self.brand,
            "issuer_country": "RU",
        })
    }

    /// Returns the title of a method that pays by this card.
    pub fn title(&self) -> String {
        format!("Bank card *{}", self.last4)
    }
}

fn brand(number: &str) -> &'static str {
    let prefix = |length: usize| number.get(..length).and_then(|digits| digits.parse::<u32>().ok()).unwrap_or_default();
    match (prefix(1), prefix(2), prefix(4)) {
        (_, _, 2200..=2204) => "Mir",
        (_, 51..=55, _) | (_, _, 2221..=2720) => "MasterCard",
        (_, 34 | 37, _) => "AmericanExpress",
        (_, _, 3528..=3589) => "JCB",
        (_, 30 | 36 | 38, _) => "DinersClub",
        (_, 62, _) => "UnionPay",
        (_, 65, _) | (_, _, 6011) => "DiscoverCard",
        (4, ..) => "Visa",
        _ => "Unknown",
    }
}

/// Applies the Luhn check.
fn has_valid_check_digit(digits: &str) -> bool {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, byte)| {
            let digit = u32::from(byte - b'0') * if place % 2 == 1 { 2 } else { 1 };
            digit / 10 + digit % 10
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(number: &str) -> Verdict {
        CardNumber::parse(number).unwrap().verdict()
    }

    #[test]
    fn the_test_cards_have_their_outcomes() {
        for number in ["5555555555554444", "4111111111111111", "2202 4743 0132 2987"] {
            assert_eq!(verdict(number), Verdict::Approved { three_d_secure: false }, "{number}");
        }
        for number in ["5555555555554477", "2200000000000004"] {
            assert_eq!(verdict(number), Verdict::Approved { three_d_secure: true }, "{number}");
        }
        let declined = |party, reason| Verdict::Declined(Canceled { party, reason });
        assert_eq!(verdict("5555555555554600"), declined(Party::PaymentNetwork, "insufficient_funds"));
        assert_eq!(verdict("5555555555554584"), declined(Party::YooMoney, "country_forbidden"));
        assert_eq!(verdict("5555555555554634"), declined(Party::YooMoney, "fraud_suspected"));
        assert_eq!(verdict("5555555555554568"), declined(Party::PaymentNetwork, "fraud_suspected"));
    }

    #[test]
    fn a_mistyped_number_is_no_card() {
        for text in ["", "4111", "4111111111111112", "4111111111111111x", "41111111111111111111111"] {
            assert_eq!(CardNumber::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_brand_follows_from_the_number() {
        let brands = ["5555555555554444", "4111111111111111", "2202474301322987", "378282246310005"].map(brand);
        assert_eq!(brands, ["MasterCard", "Visa", "Mir", "AmericanExpress"]);
    }
}
