//! Payment methods: how a payment is paid, and the ones saved for later charges.

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

/// A method kept for later charges, or on its way there.
#[derive(Clone, Debug)]
pub struct SavedMethod {
    pub method: Method,
    /// Absent for a method saved along with a payment.
    pub confirmation: Option<Confirmation>,
    pub metadata: Map<String, Value>,
    /// What happens to its next charges.
    pub script: Script,
}

impl SavedMethod {
    /// Whether it may be charged without the payer.
    pub fn is_chargeable(&self) -> bool {
        self.method.saved && self.method.standing == Standing::Active
    }
}
