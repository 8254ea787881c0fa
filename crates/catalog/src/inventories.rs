use std::sync::Arc;

use kontor_kernel::{Clock, InventoryId, Page, PageRequest, Permission, Resource, Staff};

use crate::InventoryError;
use crate::model::{Inventory, InventoryDraft, InventoryFilter, StockChange};
use crate::ports::InventoryRepository;

/// Use cases of stock.
pub struct InventoryService {
    inventories: Arc<dyn InventoryRepository>,
    clock: Arc<dyn Clock>,
}

impl InventoryService {
    /// Wires the ports.
    pub fn new(inventories: Arc<dyn InventoryRepository>, clock: Arc<dyn Clock>) -> Self {
        Self { inventories, clock }
    }

    /// One page of the stock of the employee's project.
    pub async fn list(
        &self,
        staff: &Staff,
        filter: InventoryFilter,
        page: PageRequest,
    ) -> Result<Page<Inventory>, InventoryError> {
        staff.require(Permission::view(Resource::Inventories))?;
        Ok(self.inventories.list(staff.project_id, filter, page).await?)
    }

    /// Adds stock of an item to a warehouse of the employee's project.
    pub async fn create(&self, staff: &Staff, draft: InventoryDraft) -> Result<Inventory, InventoryError> {
        staff.require(Permission::create(Resource::Inventories))?;
        self.inventories.insert(staff.project_id, draft, self.clock.now()).await
    }

    /// Sets quantity and price of stock of the employee's project, never below what orders have reserved.
    pub async fn set_stock(
        &self,
        staff: &Staff,
        id: InventoryId,
        change: StockChange,
    ) -> Result<Inventory, InventoryError> {
        staff.require(Permission::edit(Resource::Inventories))?;
        let current = self.inventories.find(id).await?.ok_or(InventoryError::NotFound)?;
        staff.require_project(current.project_id)?;
        self.inventories.set_stock(staff.project_id, id, change, self.clock.now()).await
    }
}
