use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::{
    CountryId, DictionaryItemId, InvalidId, Language, Name, Permission, ProjectId, Resource, Staff, StorageUnit,
    StorageUnitId, StoreError, Word as _, Zone,
};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::DictionaryError;
use crate::model::DeliveryType;
use crate::ports::{CheckoutOptionRepository, DictionaryRepository};

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

/// Data of a project that staff cannot change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectInfo {
    /// Name of the project.
    pub name: String,
    /// Currency of every amount, ISO 4217.
    pub currency: String,
    /// Time zone, which defines its days.
    pub time_zone: Zone,
    /// Language of messages to customers.
    pub language: Language,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

/// Setting of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Identifier, the same in every project.
    pub id: DictionaryItemId,
    /// Name.
    pub name: &'static str,
    /// Value.
    pub value: String,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

impl Setting {
    /// Returns every setting of a project: `1` project name, `2` currency, `3` time zone, `4` language.
    pub fn of(info: ProjectInfo) -> Result<Vec<Self>, InvalidId> {
        let ProjectInfo { name, currency, time_zone, language, created_at } = info;
        let values = [
            ("project_name", name),
            ("currency", currency),
            ("time_zone", time_zone.name().to_owned()),
            ("language", language.word().to_owned()),
        ];
        (1..)
            .zip(values)
            .map(|(id, (name, value))| Ok(Self { id: DictionaryItemId::new(id)?, name, value, created_at }))
            .collect()
    }
}

/// Use cases of dictionaries, for staff.
pub struct DictionaryService {
    /// Storage of dictionaries.
    pub dictionaries: Arc<dyn DictionaryRepository>,
    /// Storage of delivery and payment types.
    pub options: Arc<dyn CheckoutOptionRepository>,
}

impl DictionaryService {
    /// Returns every entry of a dictionary.
    pub async fn items(&self, staff: &Staff, dictionary: Dictionary) -> Result<Vec<DictionaryItem>, DictionaryError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        Ok(self.dictionaries.items(dictionary).await?)
    }

    /// Returns one entry of a dictionary.
    pub async fn item(
        &self,
        staff: &Staff,
        dictionary: Dictionary,
        id: DictionaryItemId,
    ) -> Result<DictionaryItem, DictionaryError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        self.dictionaries.item(dictionary, id).await?.ok_or(DictionaryError::NotFound)
    }

    /// Returns every storage unit.
    pub async fn storage_units(&self, staff: &Staff) -> Result<Vec<StorageUnit>, DictionaryError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        Ok(self.dictionaries.storage_units().await?)
    }

    /// Returns one storage unit.
    pub async fn storage_unit(&self, staff: &Staff, id: StorageUnitId) -> Result<StorageUnit, DictionaryError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        self.dictionaries.storage_unit(id).await?.ok_or(DictionaryError::NotFound)
    }

    /// Returns every country.
    pub async fn countries(&self, staff: &Staff) -> Result<Vec<Country>, DictionaryError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        Ok(self.dictionaries.countries().await?)
    }

    /// Returns the time zone of a project, which defines its days.
    pub async fn time_zone(&self, project: ProjectId) -> Result<Zone, StoreError> {
        Ok(self.dictionaries.project_info(project).await?.map(|info| info.time_zone).unwrap_or_default())
    }

    /// Returns the settings of the employee's project.
    pub async fn settings(&self, staff: &Staff) -> Result<Vec<Setting>, DictionaryError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        let info = self.dictionaries.project_info(staff.project_id).await?.ok_or(DictionaryError::NotFound)?;
        Ok(Setting::of(info).map_err(StoreError::corrupt)?)
    }

    /// Returns one setting of the employee's project.
    pub async fn setting(&self, staff: &Staff, id: DictionaryItemId) -> Result<Setting, DictionaryError> {
        let settings = self.settings(staff).await?;
        settings.into_iter().find(|setting| setting.id == id).ok_or(DictionaryError::NotFound)
    }

    /// Returns the delivery types of the employee's project.
    pub async fn delivery_types(&self, staff: &Staff) -> Result<Vec<DeliveryType>, DictionaryError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        Ok(self.options.delivery_types(staff.project_id).await?)
    }
}
