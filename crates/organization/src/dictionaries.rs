use std::sync::Arc;

use kontor_kernel::{Permission, Resource, Staff};

use crate::DictionaryError;
use crate::model::{DeliveryType, Dictionary, DictionaryItem, StorageUnit};
use crate::ports::{CheckoutOptionRepository, DictionaryRepository};

/// Dictionaries as staff see them.
pub struct DictionaryService {
    dictionaries: Arc<dyn DictionaryRepository>,
    options: Arc<dyn CheckoutOptionRepository>,
}

impl DictionaryService {
    /// Wires the ports.
    pub fn new(dictionaries: Arc<dyn DictionaryRepository>, options: Arc<dyn CheckoutOptionRepository>) -> Self {
        Self { dictionaries, options }
    }

    /// Every entry of a dictionary.
    pub async fn items(&self, staff: &Staff, dictionary: Dictionary) -> Result<Vec<DictionaryItem>, DictionaryError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        Ok(self.dictionaries.items(dictionary).await?)
    }

    /// Every storage unit.
    pub async fn storage_units(&self, staff: &Staff) -> Result<Vec<StorageUnit>, DictionaryError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        Ok(self.dictionaries.storage_units().await?)
    }

    /// The delivery types of the employee's project.
    pub async fn delivery_types(&self, staff: &Staff) -> Result<Vec<DeliveryType>, DictionaryError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        Ok(self.options.delivery_types(staff.project_id).await?)
    }
}
