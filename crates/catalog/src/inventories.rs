use std::sync::Arc;

use kontor_kernel::{Clock, InventoryId, Listing, Page, PageRequest, Permission, Resource, Staff, Stamp};

use crate::InventoryError;
use crate::model::{Inventory, InventoryDraft, StockChange, StockEntry};
use crate::ports::InventoryRepository;

/// Use cases of stock levels.
pub struct InventoryService {
    /// Storage.
    pub inventories: Arc<dyn InventoryRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl InventoryService {
    /// Returns one page of the stock levels of the employee's project. Fields: `id`, `warehouse_id`, `nomenclature_id`,
    /// `quantity`, `reserved`, `price`, `created_at`, `updated_at`. The text is searched in names and articles.
    pub async fn list(&self, staff: &Staff, listing: Listing) -> Result<Page<Inventory>, InventoryError> {
        staff.require(Permission::view(Resource::Inventories))?;
        Ok(self.inventories.list(staff.project_id, listing).await?)
    }

    /// Returns one stock level of the employee's project.
    pub async fn read(&self, staff: &Staff, id: InventoryId) -> Result<Inventory, InventoryError> {
        staff.require(Permission::view(Resource::Inventories))?;
        staff.require_own(self.inventories.find(id).await?)
    }

    /// Returns one page of the stock movements of a stock level of the employee's project, newest first.
    pub async fn history(
        &self,
        staff: &Staff,
        id: InventoryId,
        page: PageRequest,
    ) -> Result<Page<StockEntry>, InventoryError> {
        staff.require(Permission::view(Resource::Inventories))?;
        staff.require_own(self.inventories.find(id).await?)?;
        Ok(self.inventories.history(staff.project_id, id, page).await?)
    }

    /// Creates the stock level of an item in a warehouse of the employee's project.
    pub async fn create(&self, staff: &Staff, draft: InventoryDraft) -> Result<Inventory, InventoryError> {
        staff.require(Permission::create(Resource::Inventories))?;
        self.inventories.insert(Stamp::of(staff, self.clock.now()), draft).await
    }

    /// Sets quantity and price of a stock level of the employee's project. Refuses a quantity below the reserved units.
    pub async fn set_stock(
        &self,
        staff: &Staff,
        id: InventoryId,
        change: StockChange,
    ) -> Result<Inventory, InventoryError> {
        staff.require(Permission::edit(Resource::Inventories))?;
        staff.require_own(self.inventories.find(id).await?)?;
        self.inventories.set_stock(Stamp::of(staff, self.clock.now()), id, change).await
    }
}
