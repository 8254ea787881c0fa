//! Payment methods: the method of a payment, and the methods saved for later charges. The brand of a card follows from
//! its number; the test cards of the demo shop have their outcomes. The script of a saved method contains the outcomes
//! of its next charges, in order.

use std::collections::VecDeque;

use chrono::{DateTime, Datelike as _, TimeDelta, Utc};
use serde_json::{Map, Value, json};

use super::api::Refusal;
use super::ledger::{Ledger, Object};
use super::payment::{Canceled, Confirmation, Party, Verdict};
use crate::faults::{Fault, FaultKind};

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

/// Method types a payment request may name.
const KINDS: [&str; 12] = [
    "bank_card",
    "sbp",
    "cash",
    "sberbank",
    "tinkoff_bank",
    "yoo_money",
    "mobile_balance",
    "b2b_sberbank",
    "sber_loan",
    "electronic_certificate",
    "sber_bnpl",
    "alfa_pay",
];

/// Type of a payment method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind(&'static str);

impl Kind {
    pub const BANK_CARD: Self = Self("bank_card");
    pub const SBP: Self = Self("sbp");

    /// Returns the type with this name, if a request may name it.
    pub fn named(name: &str) -> Option<Self> {
        KINDS.into_iter().find(|kind| *kind == name).map(Self)
    }

    pub fn name(self) -> &'static str {
        self.0
    }

    /// Returns `true` if a method of this type can be saved for later charges.
    pub fn is_savable(self) -> bool {
        matches!(self.0, "bank_card" | "sbp" | "sberbank" | "tinkoff_bank" | "yoo_money")
    }
}

/// Status of a payment method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodStatus {
    Pending,
    Active,
    Inactive,
}

impl MethodStatus {
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Inactive => "inactive",
        }
    }
}

/// Method of a payment.
#[derive(Clone, Debug)]
pub struct Method {
    pub id: String,
    pub kind: Kind,
    pub saved: bool,
    pub status: MethodStatus,
    /// `None` until a card has been entered.
    pub card: Option<Card>,
    /// The bank's number of a completed SBP transfer.
    pub sbp_operation_id: Option<String>,
}

impl Method {
    /// Creates a method the payer has not used yet.
    pub fn chosen(id: String, kind: Kind) -> Self {
        Self { id, kind, saved: false, status: MethodStatus::Pending, card: None, sbp_operation_id: None }
    }
}

/// A method that is saved, or being saved, for later charges.
#[derive(Clone, Debug)]
pub struct SavedMethod {
    pub method: Method,
    /// `None` for a method saved along with a payment.
    pub confirmation: Option<Confirmation>,
    pub metadata: Map<String, Value>,
    /// Outcomes of its next charges.
    pub script: Script,
}

impl SavedMethod {
    /// Returns `true` if the method may be charged without the payer.
    pub fn is_chargeable(&self) -> bool {
        self.method.saved && self.method.status == MethodStatus::Active
    }
}

/// Outcome of a charge and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The response to the request contains the outcome.
    AtOnce(Verdict),
    /// The payment is pending for this duration.
    After(TimeDelta, Verdict),
    /// The payment is pending until the control interface ends it.
    OnRequest,
}

/// Outcome of one charge, or of several in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub ending: Ending,
    /// Fault of the request.
    pub fault: Option<Fault>,
    /// Fault of the payment's notifications.
    pub notifications: Option<FaultKind>,
    /// `true` if the shop is notified before the response to the request.
    pub notifies_first: bool,
    /// Number of charges; `None` for all that follow.
    pub times: Option<u32>,
}

impl Step {
    /// A step for one charge with this ending and no faults.
    pub const fn new(ending: Ending) -> Self {
        Self { ending, fault: None, notifications: None, notifies_first: false, times: Some(1) }
    }

    /// Returns `true` if the payment is never created.
    pub fn prevents_work(&self) -> bool {
        self.fault.is_some_and(|fault| fault.kind.prevents_work())
    }
}

/// The remaining steps. Charges succeed once all are used up.
#[derive(Clone, Debug, Default)]
pub struct Script(VecDeque<Step>);

impl Script {
    /// Returns the remaining steps, in order.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.0.iter()
    }

    /// Returns the step for the next charge and uses it up.
    pub fn take(&mut self) -> Step {
        let Some(step) = self.0.front_mut() else {
            return Step::new(Ending::AtOnce(Verdict::APPROVED));
        };
        let taken = *step;
        step.times = taken.times.map(|times| times.saturating_sub(1));
        if step.times == Some(0) {
            self.0.pop_front();
        }
        taken
    }
}

impl From<Step> for Script {
    fn from(step: Step) -> Self {
        Self(VecDeque::from([step]))
    }
}

impl FromIterator<Step> for Script {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl Ledger {
    /// Returns the method that pays the charge, and the script step the charge follows.
    pub(super) fn charge(&mut self, method_id: &str) -> Result<(Method, Step), Refusal> {
        let refuse = |description: &str| Refusal::invalid(description).at("payment_method_id");
        let Some(saved) = self.methods.get_mut(method_id) else {
            let known = self.payments.get(method_id).is_some_and(|payment| payment.method.is_some());
            return Err(refuse(if known { "Payment method is not saved" } else { "Payment method is not found" }));
        };
        if !saved.is_chargeable() {
            return Err(refuse("Payment method is not saved"));
        }
        let method = Method {
            sbp_operation_id: (saved.method.kind == Kind::SBP).then(|| self.chance.digits(18)),
            ..saved.method.clone()
        };
        Ok((method, saved.script.take()))
    }

    /// Replaces the script of a saved method. `None` when there is no such method.
    pub fn direct(&mut self, method_id: &str, script: Script) -> Option<Object> {
        self.methods.get_mut(method_id)?.script = script;
        Some(Object::Method(method_id.to_owned()))
    }

    /// Returns the scripted verdict of the bank on a charge whose scripted delay is over.
    pub(super) fn scripted_verdict(&self, payment: &Object) -> Option<Verdict> {
        let Object::Payment(id) = payment else { return None };
        match self.payments.get(id)?.step?.ending {
            Ending::After(_, verdict) => Some(verdict),
            Ending::AtOnce(_) | Ending::OnRequest => None,
        }
    }

    /// Applies the verdict of the bank to a pending payment.
    pub(super) fn conclude(&mut self, payment: &Object, verdict: Verdict, now: DateTime<Utc>) {
        if let Object::Payment(id) = payment
            && let Some(pending) = self.payments.get(id)
            && let Some(status) = pending.status.confirmed(verdict, pending.capture, now)
        {
            self.change_payment(id, |payment| payment.status = status);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquirer::payment::Canceled;

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

    const APPROVED: Ending = Ending::AtOnce(Verdict::APPROVED);

    fn declined(reason: &'static str) -> Ending {
        Ending::AtOnce(Verdict::Declined(Canceled::by_network(reason)))
    }

    #[test]
    fn steps_are_used_up_in_order_and_then_charges_succeed() {
        let twice = Step { times: Some(2), ..Step::new(declined("insufficient_funds")) };
        let mut script = Script::from_iter([twice, Step::new(Ending::OnRequest)]);
        let endings = [(); 4].map(|()| script.take().ending);
        let poor = declined("insufficient_funds");
        assert_eq!(endings, [poor, poor, Ending::OnRequest, APPROVED]);
        assert_eq!(script.steps().count(), 0);
    }

    #[test]
    fn a_step_without_an_end_covers_all_that_follow() {
        let mut script = Script::from(Step { times: None, ..Step::new(declined("card_expired")) });
        assert_eq!([(); 3].map(|()| script.take().ending), [declined("card_expired"); 3]);
    }
}
