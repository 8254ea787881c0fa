use chrono::{DateTime, Utc};
use kontor_kernel::{CountryId, DictionaryItemId, Name, StorageUnitId};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// System-wide dictionaries of one shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Dictionary {
    /// Order statuses; the ids `1`-`6` and `22` have a fixed meaning.
    OrderStatuses,
    /// Item kinds: `1` service, `2` goods.
    NomenclatureKinds,
    /// Item types: a classification by staff, besides the kind.
    NomenclatureTypes,
    /// VAT rates.
    Vats,
    /// Customer kinds: `1` person, `2` company.
    CounterpartyTypes,
    /// File types: `1` employment contract, `2` avatar, `3` order file (fixed by the contract).
    FileTypes,
    /// Call states.
    CallStatuses,
    /// Task states.
    TaskStatuses,
    /// Content page kinds.
    PageTypes,
    /// Content block kinds.
    BlockTypes,
    /// Integration kinds.
    IntegrationTypes,
    /// Record kinds that staff work on.
    Objects,
    /// Cities.
    Cities,
    /// Sales strategies of a project.
    SalesStrategies,
    /// Sales channels of a project.
    SalesChannels,
}

/// Entry of a dictionary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DictionaryItem {
    /// Identifier, unique in the dictionary.
    pub id: DictionaryItemId,
    /// Name; it may differ between installations.
    pub name: Name,
    /// Picture.
    pub avatar: Option<String>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

/// Unit in which goods are counted or measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageUnit {
    /// Identifier.
    pub id: StorageUnitId,
    /// Name.
    pub name: Name,
    /// Abbreviation.
    pub abbreviation: Name,
}

/// Country of origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Country {
    /// Identifier.
    pub id: CountryId,
    /// Name.
    pub name: Name,
    /// Picture.
    pub photo: Option<String>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}
