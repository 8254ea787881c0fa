//! Codes and words of fiscal receipts.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Error for a number that is no VAT code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a VAT code from 1 to 12")]
pub struct InvalidVatCode;

/// VAT of a line, as the acquirer's code: `1` none, `2` 0 %, `3` 10 %, `4` 20 %, `5` 10/110, `6` 20/120, `7` 5
/// %, `8` 7 %, `9` 5/105, `10` 7/107, `11` 22 %, `12` 22/122.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct VatCode(u8);

impl VatCode {
    /// No VAT.
    pub const NONE: Self = Self(1);

    /// Accepts 1 to 12.
    pub fn new(code: u8) -> Result<Self, InvalidVatCode> {
        if (1..=12).contains(&code) { Ok(Self(code)) } else { Err(InvalidVatCode) }
    }

    /// Returns the code of an entry of the dictionary `vats`; `None` for an entry without VAT information.
    pub fn of_dictionary(entry: i64) -> Option<Self> {
        match entry {
            1 => Some(Self::NONE),
            2 => Some(Self(2)),
            3 => Some(Self(3)),
            4 => Some(Self(4)),
            5 => Some(Self(11)),
            _ => None,
        }
    }

    /// Number of the code.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for VatCode {
    type Error = InvalidVatCode;

    fn try_from(code: u8) -> Result<Self, InvalidVatCode> {
        Self::new(code)
    }
}

impl From<VatCode> for u8 {
    fn from(code: VatCode) -> Self {
        code.0
    }
}

/// Error for a number that is no tax system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a tax system code from 1 to 6")]
pub struct InvalidTaxSystem;

/// Tax system of the seller, as the acquirer's code: `1` general, `2` simplified (income), `3` simplified
/// (income less costs), `4` imputed income, `5` agricultural, `6` patent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct TaxSystem(u8);

impl TaxSystem {
    /// Accepts 1 to 6.
    pub fn new(code: u8) -> Result<Self, InvalidTaxSystem> {
        if (1..=6).contains(&code) { Ok(Self(code)) } else { Err(InvalidTaxSystem) }
    }

    /// Number of the code.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for TaxSystem {
    type Error = InvalidTaxSystem;

    fn try_from(code: u8) -> Result<Self, InvalidTaxSystem> {
        Self::new(code)
    }
}

impl From<TaxSystem> for u8 {
    fn from(system: TaxSystem) -> Self {
        system.0
    }
}

/// Subject of a line.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    VariantArray,
    IntoStaticStr,
    EnumString,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum PaymentSubject {
    /// Goods.
    Commodity,
    /// Service, including delivery.
    Service,
}

/// Payment mode of a line.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    VariantArray,
    IntoStaticStr,
    EnumString,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum PaymentMode {
    /// Paid in full before the handover; a second receipt follows at the handover.
    FullPrepayment,
    /// Paid in full at the handover.
    FullPayment,
}

/// State of a receipt at the register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Registration {
    /// The register is processing it.
    Pending,
    /// The receipt is registered.
    Succeeded,
    /// There is no receipt.
    Canceled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vat_of_the_dictionary_has_a_code() {
        let codes: Vec<_> = (1..=5).map(|entry| VatCode::of_dictionary(entry).map(VatCode::get)).collect();
        assert_eq!(codes, [Some(1), Some(2), Some(3), Some(4), Some(11)]);
        assert_eq!((VatCode::of_dictionary(0), VatCode::of_dictionary(6)), (None, None));
    }

    #[test]
    fn codes_have_their_bounds() {
        assert!(VatCode::new(0).is_err() && VatCode::new(13).is_err() && VatCode::new(12).is_ok());
        assert!(TaxSystem::new(0).is_err() && TaxSystem::new(7).is_err());
        let codes: Vec<u8> = (1..=6).map(|code| TaxSystem::new(code).unwrap().get()).collect();
        assert_eq!(codes, [1, 2, 3, 4, 5, 6]);
    }
}
