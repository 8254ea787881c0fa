use std::sync::Arc;

use kontor_kernel::{Clock, Permission, Resource, Staff, WarehouseId};

use crate::WarehouseError;
use crate::model::{Warehouse, WarehouseChange, WarehouseDraft};
use crate::ports::WarehouseRepository;

/// Use cases of warehouses.
pub struct WarehouseService {
    warehouses: Arc<dyn WarehouseRepository>,
    clock: Arc<dyn Clock>,
}

impl WarehouseService {
    /// Wires the ports.
    pub fn new(warehouses: Arc<dyn WarehouseRepository>, clock: Arc<dyn Clock>) -> Self {
        Self { warehouses, clock }
    }

    /// One warehouse of the employee's project.
    pub async fn read(&self, staff: &Staff, id: WarehouseId) -> Result<Warehouse, WarehouseError> {
        staff.require(Permission::view(Resource::Warehouses))?;
        self.own(staff, id).await
    }

    /// Adds a warehouse to the employee's project.
    pub async fn create(&self, staff: &Staff, draft: WarehouseDraft) -> Result<Warehouse, WarehouseError> {
        staff.require(Permission::create(Resource::Warehouses))?;
        self.warehouses.insert(staff.project_id, draft, self.clock.now()).await
    }

    /// Changes a warehouse of the employee's project.
    pub async fn update(
        &self,
        staff: &Staff,
        id: WarehouseId,
        change: WarehouseChange,
    ) -> Result<Warehouse, WarehouseError> {
        staff.require(Permission::edit(Resource::Warehouses))?;
        self.own(staff, id).await?;
        self.warehouses.update(staff.project_id, id, change, self.clock.now()).await
    }

    async fn own(&self, staff: &Staff, id: WarehouseId) -> Result<Warehouse, WarehouseError> {
        let warehouse = self.warehouses.find(id).await?.ok_or(WarehouseError::NotFound)?;
        staff.require_project(warehouse.project_id)?;
        Ok(warehouse)
    }
}
