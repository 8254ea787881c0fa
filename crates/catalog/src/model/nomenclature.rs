use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{
    BrandId, CategoryId, CountryId, Money, Name, NomenclatureId, NomenclatureTypeId, Reference, Resource, StorageUnit,
    TagId, VatId,
};

use super::Card;

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

impl Audited for Nomenclature {
    const RESOURCE: Resource = Resource::Nomenclatures;

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        self.card.audited_fields()
    }
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

/// Error: services and subscription plans are sold at their own price, so they need one. The price of goods is that of
/// the warehouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is required for a service and for a subscription plan")]
pub struct MissingPrice;

impl MissingPrice {
    /// Returns `true` if such an item needs its own price.
    pub fn of(kind: NomenclatureKind, is_subscription: bool) -> bool {
        is_subscription || kind == NomenclatureKind::Service
    }
}

/// Returns the price of a new stock level: the given one, otherwise that of the item. An item price of 0 is not used: a
/// price of 0 for goods must be entered at the stock level. Items without a price are not sold.
pub fn price_of_new_stock(written: Option<Money>, card: Option<Money>) -> Option<Money> {
    written.or(card.filter(|price| *price > Money::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_stock_costs_nothing_only_where_that_is_written() {
        let (nothing, one) = (Some(Money::ZERO), Some(Money::from_minor(100).unwrap()));
        for (written, card, price) in [
            (nothing, one, nothing),
            (nothing, None, nothing),
            (one, nothing, one),
            (None, one, one),
            (None, nothing, None),
            (None, None, None),
        ] {
            assert_eq!(price_of_new_stock(written, card), price, "{written:?} {card:?}");
        }
    }
}
