//! Fiscal receipts of payments and refunds.

mod build;
#[cfg(test)]
mod tests;
mod words;

use kontor_kernel::{Email, Money, Phone, Quantity};
use serde::{Deserialize, Serialize};

pub use words::{InvalidTaxSystem, InvalidVatCode, PaymentMode, PaymentSubject, Registration, TaxSystem, VatCode};

/// Maximum lines of a receipt.
pub const MAX_LINES: usize = 80;

/// Maximum characters in the description of a line.
pub const MAX_DESCRIPTION_LENGTH: usize = 128;

/// Reasons why a receipt cannot be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptProblem {
    /// No item has a price above zero.
    #[error("the receipt is empty")]
    Empty,
    /// The sum of the lines differs from the amount. The register would refuse it, and the acquirer would refuse
    /// the payment with it.
    #[error("the lines sum to {lines} and not to {amount}")]
    SumDiffers {
        /// Sum of the lines.
        lines: Money,
        /// Amount of the payment.
        amount: Money,
    },
    /// The part exceeds the whole.
    #[error("it exceeds the paid amount")]
    MoreThanPaid,
    /// A quantity or sum overflows.
    #[error("its amounts are too large")]
    TooLarge,
}

/// Recipient of the receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptContact {
    /// Phone, eleven digits.
    Phone(#[serde(with = "contact")] Phone),
    /// E-mail address.
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

/// Sold item: a quantity and its total price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptItem {
    /// Name; characters above 128 are cut off.
    pub name: String,
    /// Number of units.
    pub quantity: Quantity,
    /// Price of all units, after every discount.
    pub total: Money,
    /// VAT.
    pub vat: VatCode,
    /// Goods or service.
    pub subject: PaymentSubject,
    /// Prepayment or payment at the handover.
    pub mode: PaymentMode,
}

/// Line of a receipt: units of one price.
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
    /// Description: 1 to 128 characters.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Number of units, at least 1.
    pub fn quantity(&self) -> u32 {
        self.quantity
    }

    /// Price per unit, above zero.
    pub fn price(&self) -> Money {
        Money::from_minor(self.price).unwrap_or_default()
    }

    /// VAT.
    pub fn vat(&self) -> VatCode {
        self.vat
    }

    /// Goods or service.
    pub fn subject(&self) -> PaymentSubject {
        self.subject
    }

    /// Prepayment or payment at the handover.
    pub fn mode(&self) -> PaymentMode {
        self.mode
    }

    fn total(&self) -> Option<i64> {
        self.price.checked_mul(self.quantity.into())
    }

    fn is_valid(&self) -> bool {
        let letters = self.description.chars().count();
        (1..=MAX_DESCRIPTION_LENGTH).contains(&letters) && self.quantity > 0 && self.price > 0
    }
}

/// Receipt whose lines sum exactly to its amount. It is stored unchanged with the request that carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Receipt {
    customer: ReceiptContact,
    #[serde(skip_serializing_if = "Option::is_none")]
    tax_system: Option<TaxSystem>,
    lines: Vec<ReceiptLine>,
}

/// Receipt as stored in a row, not checked yet.
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
        let sound = lines.len() <= MAX_LINES && lines.iter().all(ReceiptLine::is_valid);
        if lines.is_empty() || !sound { Err(ReceiptProblem::Empty) } else { Ok(Self { customer, tax_system, lines }) }
    }
}

fn sum(lines: &[ReceiptLine]) -> Option<Money> {
    let total = lines.iter().try_fold(0_i64, |sum, line| sum.checked_add(line.total()?))?;
    Money::from_minor(total).ok()
}

impl Receipt {
    /// Creates a receipt for `amount`, which must equal the sum of the items.
    ///
    /// - If the price of an item does not divide by its units, it gives two lines with the same description; the
    ///   second costs one minor unit more.
    /// - Equal lines are joined. Free items give no line.
    /// - Of more than 80 lines the first stay. The last are merged by VAT, subject and mode, each group into one
    ///   line of one unit. Its description is the first item and the number of further units: `Anchor + 12`.
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

    /// Recipient.
    pub fn customer(&self) -> &ReceiptContact {
        &self.customer
    }

    /// Tax system of the seller; `None` if they have only one, which the acquirer has on file.
    pub fn tax_system(&self) -> Option<TaxSystem> {
        self.tax_system
    }

    /// Lines: 1 to 80.
    pub fn lines(&self) -> &[ReceiptLine] {
        &self.lines
    }

    /// Sum of the lines.
    pub fn total(&self) -> Money {
        sum(&self.lines).unwrap_or_default()
    }
}
