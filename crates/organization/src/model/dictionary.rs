use chrono::{DateTime, Utc};
use kontor_kernel::{CountryId, DictionaryItemId, Name, StorageUnitId};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The system-wide dictionaries of one shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Dictionary {
    /// Order statuses; the ids `1`-`6` and `22` carry meaning.
    OrderStatuses,
    /// Nomenclature kinds: `1` service, `2` goods.
    NomenclatureKinds,
    /// Nomenclature types: what staff call an item beside its kind.
    NomenclatureTypes,
    /// VAT rates.
    Vats,
    /// Kinds of customer: `1` person, `2` company.
    CounterpartyTypes,
    /// What a file is for: `1` employment contract, `2` avatar, `3` order file (fixed by the contract).
    FileTypes,
    /// States of a call.
    CallStatuses,
    /// States of a task.
    TaskStatuses,
    /// Kinds of page.
    PageTypes,
    /// Kinds of content block.
    BlockTypes,
    /// Kinds of integration.
    IntegrationTypes,
    /// The kinds of record that staff work on.
    Objects,
    /// Cities.
    Cities,
    /// How a project sells.
    SalesStrategies,
    /// Through what a project sells.
    SalesChannels,
}

/// One entry of a dictionary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DictionaryItem {
    /// Its number, unique inside the dictionary.
    pub id: DictionaryItemId,
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

/// A country goods come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Country {
    /// Its number.
    pub id: CountryId,
    /// Its name.
    pub name: Name,
    /// A picture.
    pub photo: Option<String>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
}
