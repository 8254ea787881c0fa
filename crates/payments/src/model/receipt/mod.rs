//! Fiscal receipts: what a register prints about money that was taken or given back.

mod build;
mod part;
#[cfg(test)]
mod tests;
mod words;

use kontor_kernel::{Email, Money, Phone, Quantity};
use serde::{Deserialize, Serialize};

pub use words::{InvalidTaxSystem, InvalidVatCode, PaymentMode, PaymentSubject, Registration, TaxSystem, VatCode};

/// How many lines a receipt has at most.
pub const MOST_LINES: usize = 80;

/// How many characters the description of a line has at most.
pub const LONGEST_DESCRIPTION: usize = 128;

/// Why there is no such receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptProblem {
    /// Nothing on it costs anything.
    #[error("a receipt about nothing")]
    Empty,
    /// Its lines are not what is paid. A register would refuse it, and the acquirer the payment with it.
    #[error("the lines sum to {lines} and not to {amount}")]
    SumDiffers {
        /// What the lines sum to.
        lines: Money,
        /// What is paid.
        amount: Money,
    },
    /// A part that is more than the whole.
    #[error("it is about more than what was paid")]
    MoreThanPaid,
    /// More pieces or money than can be counted.
    #[error("its figures are too large")]
    TooLarge,
}

/// Where the register sends the receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptContact {
    /// Eleven digits.
    Phone(#[serde(with = "contact")] Phone),
    /// An address.
    Email(#[serde(with = "contact")] Email),
}

mod contact {
    use kontor_kernel::{ContactError, Email, Phone};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) trait Stored: Sized + std::ops::Deref<Target = str> {
        fn read(text: &str) -> Result<Self, ContactError>;
    }

    impl Stored for Phone {
        fn read(text: &str) -> Result<Self, ContactError> {
            Self::parse(text)
        }
    }

    impl Stored for Email {
        fn read(text: &str) -> Result<Self, ContactError> {
            Self::parse(text)
        }
    }

    pub(super) fn serialize<T: Stored, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(value)
    }

    pub(super) fn deserialize<'de, T: Stored, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        T::read(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Something that is sold: some pieces and what they cost together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptItem {
    /// Its name; what exceeds 128 characters is cut off.
    pub name: String,
    /// How many pieces.
    pub quantity: Quantity,
    /// What all of them cost, after every discount.
    pub total: Money,
    /// Its VAT.
    pub vat: VatCode,
    /// Goods or a service.
    pub subject: PaymentSubject,
    /// Whether it was handed over already.
    pub mode: PaymentMode,
}

/// A line of a receipt: pieces of one price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptLine {
    description: String,
    quantity: u32,
    /// In minor units.
    price: i64,
    vat: VatCode,
    subject: PaymentSubject,
    mode: PaymentMode,
}

impl ReceiptLine {
    /// What is sold: 1 to 128 characters.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// How many pieces, at least one.
    pub fn quantity(&self) -> u32 {
        self.quantity
    }

    /// What one piece costs, more than nothing.
    pub fn price(&self) -> Money {
        Money::from_minor(self.price).unwrap_or_default()
    }

    /// Its VAT.
    pub fn vat(&self) -> VatCode {
        self.vat
    }

    /// Goods or a service.
    pub fn subject(&self) -> PaymentSubject {
        self.subject
    }

    /// Whether it was handed over already.
    pub fn mode(&self) -> PaymentMode {
        self.mode
    }

    fn total(&self) -> Option<i64> {
        self.price.checked_mul(self.quantity.into())
    }

    fn is_sound(&self) -> bool {
        let letters = self.description.chars().count();
        (1..=LONGEST_DESCRIPTION).contains(&letters) && self.quantity > 0 && self.price > 0
    }
}

/// A receipt whose lines sum exactly to the money it is about. It is stored word for word with the request that carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Receipt {
    customer: ReceiptContact,
    #[serde(skip_serializing_if = "Option::is_none")]
    tax_system: Option<TaxSystem>,
    lines: Vec<ReceiptLine>,
}

/// A receipt as it stands in a row.
#[derive(Deserialize)]
struct Unchecked {
    customer: ReceiptContact,
    #[serde(default)]
    tax_system: Option<TaxSystem>,
    lines: Vec<ReceiptLine>,
}

impl TryFrom<Unchecked> for Receipt {
    type Error = ReceiptProblem;

    fn try_from(stored: Unchecked) -> Result<Self, ReceiptProblem> {
        let Unchecked { customer, tax_system, lines } = stored;
        sum(&lines).ok_or(ReceiptProblem::TooLarge)?;
        let sound = lines.len() <= MOST_LINES && lines.iter().all(ReceiptLine::is_sound);
        if lines.is_empty() || !sound { Err(ReceiptProblem::Empty) } else { Ok(Self { customer, tax_system, lines }) }
    }
}

fn sum(lines: &[ReceiptLine]) -> Option<Money> {
    let total = lines.iter().try_fold(0_i64, |sum, line| sum.checked_add(line.total()?))?;
    Money::from_minor(total).ok()
}

impl Receipt {
    /// A receipt about `amount`, to which the items must sum.
    ///
    /// - Pieces whose money does not divide are two lines of one description, the second a minor unit dearer.
    /// - Equal lines are one. What costs nothing is none.
    /// - Of more than 80 lines the first stay; the last are merged by VAT, subject and mode, each into one line of one
    ///   piece that is named by its first item and the number of pieces more: `Anchor + 12`.
    pub fn new(
        customer: ReceiptContact,
        tax_system: Option<TaxSystem>,
        items: &[ReceiptItem],
        amount: Money,
    ) -> Result<Self, ReceiptProblem> {
        let lines = build::lines(items).ok_or(ReceiptProblem::TooLarge)?;
        let total = sum(&lines).ok_or(ReceiptProblem::TooLarge)?;
        if lines.is_empty() {
            return Err(ReceiptProblem::Empty);
        }
        if total != amount {
            return Err(ReceiptProblem::SumDiffers { lines: total, amount });
        }
        Ok(Self { customer, tax_system, lines })
    }

    /// Where it is sent.
    pub fn customer(&self) -> &ReceiptContact {
        &self.customer
    }

    /// The seller's system of taxation; `None` when they have one only, which the acquirer knows.
    pub fn tax_system(&self) -> Option<TaxSystem> {
        self.tax_system
    }

    /// The lines: 1 to 80.
    pub fn lines(&self) -> &[ReceiptLine] {
        &self.lines
    }

    /// What the lines sum to.
    pub fn total(&self) -> Money {
        sum(&self.lines).unwrap_or_default()
    }
}
