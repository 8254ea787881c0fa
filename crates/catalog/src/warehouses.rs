use std::sync::Arc;

use kontor_kernel::history::{Histories, HistoryEntry};
use kontor_kernel::{Clock, Listing, Page, PageRequest, Permission, Resource, Staff, Stamp, WarehouseId};

use crate::WarehouseError;
use crate::model::{Warehouse, WarehouseChange, WarehouseDraft};
use crate::ports::WarehouseRepository;

/// Use cases of warehouses.
pub struct WarehouseService {
    /// Storage.
    pub warehouses: Arc<dyn WarehouseRepository>,
    /// History entries.
    pub histories: Arc<dyn Histories>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl WarehouseService {
    /// Returns one page of the warehouses of the employee's project. Fields: `id`, `name`, `branch_id`, `created_at`,
    /// `updated_at`.
    pub async fn list(&self, staff: &Staff, listing: Listing) -> Result<Page<Warehouse>, WarehouseError> {
        staff.require(Permission::view(Resource::Warehouses))?;
        Ok(self.warehouses.list(staff.project_id, listing).await?)
    }

    /// Returns one warehouse of the employee's project.
    pub async fn read(&self, staff: &Staff, id: WarehouseId) -> Result<Warehouse, WarehouseError> {
        staff.require(Permission::view(Resource::Warehouses))?;
        staff.require_own(self.warehouses.find(id).await?)
    }

    /// Creates a warehouse in the employee's project.
    pub async fn create(&self, staff: &Staff, draft: WarehouseDraft) -> Result<Warehouse, WarehouseError> {
        staff.require(Permission::create(Resource::Warehouses))?;
        self.warehouses.insert(Stamp::of(staff, self.clock.now()), draft).await
    }

    /// Changes a warehouse of the employee's project.
    pub async fn update(
        &self,
        staff: &Staff,
        id: WarehouseId,
        change: WarehouseChange,
    ) -> Result<Warehouse, WarehouseError> {
        staff.require(Permission::edit(Resource::Warehouses))?;
        staff.require_own(self.warehouses.find(id).await?)?;
        self.warehouses.update(Stamp::of(staff, self.clock.now()), id, change).await
    }

    /// Deletes an empty warehouse of the employee's project.
    pub async fn delete(&self, staff: &Staff, id: WarehouseId) -> Result<(), WarehouseError> {
        staff.require(Permission::edit(Resource::Warehouses))?;
        staff.require_own(self.warehouses.find(id).await?)?;
        self.warehouses.delete(Stamp::of(staff, self.clock.now()), id).await
    }

    /// Returns one page of the history of a warehouse of the employee's project, newest first.
    pub async fn history(
        &self,
        staff: &Staff,
        id: WarehouseId,
        page: PageRequest,
    ) -> Result<Page<HistoryEntry>, WarehouseError> {
        staff.require(Permission::view(Resource::Warehouses))?;
        staff.require_own(self.warehouses.find(id).await?)?;
        Ok(self.histories.page(staff.project_id, Resource::Warehouses.name(), id.get(), page).await?)
    }
}
