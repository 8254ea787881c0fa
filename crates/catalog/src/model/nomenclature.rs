use chrono::{DateTime, Utc};
use kontor_kernel::{BrandId, CategoryId, CountryId, Name, NomenclatureId, NomenclatureTypeId, TagId, VatId};

use super::{Card, Reference, StorageUnit};

/// Error: the number is not a kind of item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 (service) or 2 (goods)")]
pub struct UnknownKind;

/// Kind of an item; the numbers are the contract's `kind_id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NomenclatureKind {
    /// `1`: needs no warehouse and is sold at its own price.
    Service,
    /// `2`: sold from warehouse stock at the warehouse price.
    Goods,
}

impl NomenclatureKind {
    /// Returns the contract's number.
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

/// Item of the catalog: goods, a service or a subscription plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nomenclature {
    /// Identifier of the item.
    pub id: NomenclatureId,
    /// Editable fields.
    pub card: Card,
    /// Names of the records that the item refers to.
    pub labels: CardLabels,
    /// Version, incremented by every change.
    pub version: u64,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

/// Records that an item refers to, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardLabels {
    /// Name of the kind.
    pub kind: Name,
    /// Type.
    pub nomenclature_type: Option<Reference<NomenclatureTypeId>>,
    /// Category.
    pub category: Option<Reference<CategoryId>>,
    /// Brand.
    pub brand: Option<Reference<BrandId>>,
    /// Country.
    pub country: Option<Reference<CountryId>>,
    /// Storage unit.
    pub storage_unit: Option<StorageUnit>,
    /// VAT rate.
    pub vat: Option<Reference<VatId>>,
    /// Tags, by identifier.
    pub tags: Vec<Reference<TagId>>,
}
