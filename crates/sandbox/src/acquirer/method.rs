//! Payment methods: how a payment is paid, and the ones saved for later charges.

use serde_json::{Map, Value};

use super::cards::Card;
use super::payment::{Canceled, Confirmation, Verdict};

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

/// The type of a payment method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind(&'static str);

impl Kind {
    pub const BANK_CARD: Self = Self("bank_card");
    pub const SBP: Self = Self("sbp");

    /// The type with this name, if a request may name it.
    pub fn named(name: &str) -> Option<Self> {
        KINDS.into_iter().find(|kind| *kind == name).map(Self)
    }

    pub fn name(self) -> &'static str {
        self.0
    }

    /// Whether a method of this type can be saved for later charges.
    pub fn is_savable(self) -> bool {
        matches!(self.0, "bank_card" | "sbp" | "sberbank" | "tinkoff_bank" | "yoo_money")
    }
}

/// Whether a method can be charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Pending,
    Active,
    Inactive,
}

impl Standing {
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Inactive => "inactive",
        }
    }
}

/// How a payment is paid.
#[derive(Clone, Debug)]
pub struct Method {
    pub id: String,
    pub kind: Kind,
    pub saved: bool,
    pub standing: Standing,
    /// Known once a card has been entered.
    pub card: Option<Card>,
    /// The bank's number of a completed SBP transfer.
    pub sbp_operation_id: Option<String>,
}

impl Method {
    /// A method the payer has not used yet.
    pub fn chosen(id: String, kind: Kind) -> Self {
        Self { id, kind, saved: false, standing: Standing::Pending, card: None, sbp_operation_id: None }
    }
}

/// What the next charges of a saved method will say instead of succeeding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decline {
    pub reason: &'static str,
    /// How many more charges; `None` for all.
    pub times: Option<u32>,
}

/// A method kept for later charges, or on its way there.
#[derive(Clone, Debug)]
pub struct SavedMethod {
    pub method: Method,
    /// Absent for a method saved along with a payment.
    pub confirmation: Option<Confirmation>,
    pub metadata: Map<String, Value>,
    pub decline: Option<Decline>,
}

impl SavedMethod {
    /// Whether it may be charged without the payer.
    pub fn is_chargeable(&self) -> bool {
        self.method.saved && self.method.standing == Standing::Active
    }

    /// What the bank says to the next charge.
    pub fn charge(&mut self) -> Verdict {
        let Some(decline) = self.decline else { return Verdict::Approved { three_d_secure: false } };
        self.decline = match decline.times.map(|times| times.saturating_sub(1)) {
            Some(0) => None,
            times => Some(Decline { times, ..decline }),
        };
        Verdict::Declined(Canceled::by_network(decline.reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_method_declines_as_often_as_told() {
        let mut saved = SavedMethod {
            method: Method::chosen("1".to_owned(), Kind::SBP),
            confirmation: None,
            metadata: Map::new(),
            decline: Some(Decline { reason: "insufficient_funds", times: Some(1) }),
        };
        assert!(!saved.is_chargeable());
        assert_eq!(saved.charge(), Verdict::Declined(Canceled::by_network("insufficient_funds")));
        assert_eq!(saved.charge(), Verdict::Approved { three_d_secure: false });
    }
}
