use chrono::{DateTime, Utc};
use kontor_kernel::{CountryId, DictionaryItemId, Name, StorageUnitId};

macro_rules! dictionaries {
    ($($(#[$doc:meta])+ $name:ident = $stored:literal;)+) => {
        /// The system-wide dictionaries of one shape.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Dictionary {
            $($(#[$doc])+ $name,)+
        }

        impl Dictionary {
            /// The stored name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $stored,)+ }
            }
        }
    };
}

dictionaries! {
    /// Order statuses; the ids `1`-`6` and `22` carry meaning.
    OrderStatuses = "order_statuses";
    /// Nomenclature kinds: `1` service, `2` goods.
    NomenclatureKinds = "nomenclature_kinds";
    /// Nomenclature types: what staff call an item beside its kind.
    NomenclatureTypes = "nomenclature_types";
    /// VAT rates.
    Vats = "vats";
    /// Kinds of customer: `1` person, `2` company.
    CounterpartyTypes = "counterparty_types";
    /// What a file is for: `1` employment contract, `2` avatar, `3` order file (fixed by the contract).
    FileTypes = "file_types";
    /// States of a call.
    CallStatuses = "call_statuses";
    /// States of a task.
    TaskStatuses = "task_statuses";
    /// Kinds of page.
    PageTypes = "page_types";
    /// Kinds of content block.
    BlockTypes = "block_types";
    /// Kinds of integration.
    IntegrationTypes = "integration_types";
    /// The kinds of record that staff work on.
    Objects = "objects";
    /// Cities.
    Cities = "cities";
    /// How a project sells.
    SalesStrategies = "sales_strategies";
    /// Through what a project sells.
    SalesChannels = "sales_channels";
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
