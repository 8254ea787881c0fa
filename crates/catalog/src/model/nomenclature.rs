use chrono::{DateTime, Utc};
use kontor_kernel::{BrandId, CategoryId, CountryId, Name, NomenclatureId, NomenclatureTypeId, TagId, VatId};

use super::{Card, Reference, StorageUnit};

/// A number that names no kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 (service) or 2 (goods)")]
pub struct UnknownKind;

/// What an item is; the numbers are the contract's `kind_id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NomenclatureKind {
    /// `1`: needs no warehouse and is sold at the card price.
    Service,
    /// `2`: sold from warehouse stock at the price of the warehouse.
    Goods,
}

impl NomenclatureKind {
    /// The contract's number.
    pub fn id(self) -> i64 {
        match self {
            Self::Service => 1,
            Self::Goods => 2,
        }
    }
}

impl From<NomenclatureKind> for i64 {
    fn from(kind: NomenclatureKind) -> Self {
        kind.id()
    }
}

impl TryFrom<i64> for NomenclatureKind {
    type Error = UnknownKind;

    fn try_from(id: i64) -> Result<Self, UnknownKind> {
        match id {
            1 => Ok(Self::Service),
            2 => Ok(Self::Goods),
            _ => Err(UnknownKind),
        }
    }
}

/// An item of the catalogue: goods, a service or a subscription plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nomenclature {
    /// The number of the item.
    pub id: NomenclatureId,
    /// What staff say about it.
    pub card: Card,
    /// What the numbers on the card stand for.
    pub labels: CardLabels,
    /// Grows by one with every change.
    pub version: u64,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// The records a card refers to, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardLabels {
    /// The name of the kind.
    pub kind: Name,
    /// The type.
    pub nomenclature_type: Option<Reference<NomenclatureTypeId>>,
    /// The category.
    pub category: Option<Reference<CategoryId>>,
    /// The brand.
    pub brand: Option<Reference<BrandId>>,
    /// The country.
    pub country: Option<Reference<CountryId>>,
    /// The storage unit.
    pub storage_unit: Option<StorageUnit>,
    /// The VAT rate.
    pub vat: Option<Reference<VatId>>,
    /// The tags by number.
    pub tags: Vec<Reference<TagId>>,
}
