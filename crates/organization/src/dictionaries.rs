use std::sync::Arc;

use kontor_kernel::{DictionaryItemId, Permission, ProjectId, Resource, Staff, StorageUnitId, StoreError, Zone};

use crate::DictionaryError;
use crate::model::{Country, DeliveryType, Dictionary, DictionaryItem, Setting, StorageUnit};
use crate::ports::{CheckoutOptionRepository, DictionaryRepository};

/// Dictionaries as staff see them.
pub struct DictionaryService {
    /// Where they are kept.
    pub dictionaries: Arc<dyn DictionaryRepository>,
    /// Where delivery and payment types are kept.
    pub options: Arc<dyn CheckoutOptionRepository>,
}

impl DictionaryService {
    /// Every entry of a dictionary.
    pub async fn items(&self, staff: &Staff, dictionary: Dictionary) -> Result<Vec<DictionaryItem>, DictionaryError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        Ok(self.dictionaries.items(dictionary).await?)
    }

    /// One entry of a dictionary.
    pub async fn item(
        &self,
        staff: &Staff,
        dictionary: Dictionary,
        id: DictionaryItemId,
    ) -> Result<DictionaryItem, DictionaryError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        self.dictionaries.item(dictionary, id).await?.ok_or(DictionaryError::NotFound)
    }

    /// Every storage unit.
    pub async fn storage_units(&self, staff: &Staff) -> Result<Vec<StorageUnit>, DictionaryError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        Ok(self.dictionaries.storage_units().await?)
    }

    /// One storage unit.
    pub async fn storage_unit(&self, staff: &Staff, id: StorageUnitId) -> Result<StorageUnit, DictionaryError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        self.dictionaries.storage_unit(id).await?.ok_or(DictionaryError::NotFound)
    }

    /// Every country.
    pub async fn countries(&self, staff: &Staff) -> Result<Vec<Country>, DictionaryError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        Ok(self.dictionaries.countries().await?)
    }

    /// The zone that the days of a project are counted in.
    pub async fn time_zone(&self, project: ProjectId) -> Result<Zone, StoreError> {
        Ok(self.dictionaries.project_info(project).await?.map(|info| info.time_zone).unwrap_or_default())
    }

    /// The settings of the employee's project.
    pub async fn settings(&self, staff: &Staff) -> Result<Vec<Setting>, DictionaryError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        let info = self.dictionaries.project_info(staff.project_id).await?.ok_or(DictionaryError::NotFound)?;
        Ok(Setting::of(info).map_err(StoreError::corrupt)?)
    }

    /// One setting of the employee's project.
    pub async fn setting(&self, staff: &Staff, id: DictionaryItemId) -> Result<Setting, DictionaryError> {
        let settings = self.settings(staff).await?;
        settings.into_iter().find(|setting| setting.id == id).ok_or(DictionaryError::NotFound)
    }

    /// The delivery types of the employee's project.
    pub async fn delivery_types(&self, staff: &Staff) -> Result<Vec<DeliveryType>, DictionaryError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        Ok(self.options.delivery_types(staff.project_id).await?)
    }
}
