use std::sync::Arc;

use kontor_kernel::{DictionaryItemId, Permission, ProjectId, Resource, Staff, StorageUnitId, StoreError, Zone};

use crate::DictionaryError;
use crate::model::{Country, DeliveryType, Dictionary, DictionaryItem, Setting, StorageUnit};
use crate::ports::{CheckoutOptionRepository, DictionaryRepository};

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
