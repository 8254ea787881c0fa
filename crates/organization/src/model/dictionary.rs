use chrono::{DateTime, Utc};
use kontor_kernel::{Name, StorageUnitId};

/// The system-wide dictionaries of one shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dictionary {
    /// Order statuses; the ids `1`-`6` and `22` carry meaning.
    OrderStatuses,
    /// Nomenclature kinds: `1` service, `2` goods.
    NomenclatureKinds,
    /// VAT rates.
    Vats,
}

impl Dictionary {
    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            Self::OrderStatuses => "order_statuses",
            Self::NomenclatureKinds => "nomenclature_kinds",
            Self::Vats => "vats",
        }
    }
}

/// One entry of a dictionary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DictionaryItem {
    /// Its number, unique inside the dictionary.
    pub id: i64,
    /// Its name, which differs between installations.
    pub name: Name,
    /// A picture.
    pub avatar: Option<String>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
}

/// A unit in which goods are counted or measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageUnit {
    /// Its number.
    pub id: StorageUnitId,
    /// Its name.
    pub name: Name,
    /// Its short form.
    pub abbreviation: Name,
}
