//! Payment methods: the method of a payment, and the methods saved for later charges.

use serde_json::{Map, Value};

use super::cards::Card;
use super::payment::Confirmation;
use super::script::Script;

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

/// Method of a payment.
#[derive(Clone, Debug)]
pub struct Method {
    pub id: String,
    pub kind: Kind,
    pub saved: bool,
    pub standing: Standing,
    /// `None` until a card has been entered.
    pub card: Option<Card>,
    /// The bank's number of a completed SBP transfer.
    pub sbp_operation_id: Option<String>,
}

impl Method {
    /// Creates a method the payer has not used yet.
    pub fn chosen(id: String, kind: Kind) -> Self {
        Self { id, kind, saved: false, standing: Standing::Pending, card: None, sbp_operation_id: None }
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
        self.method.saved && self.method.standing == Standing::Active
    }
}
