use std::sync::Arc;

use kontor_kernel::{Listing, OrderId, Page, Permission, RecordError, Resource, Staff};

use crate::OrderError;
use crate::model::ReservationRecord;
use crate::ports::{OrderReader, ReservationReader};

/// Order lines, as staff look through them.
pub struct ReservationService {
    /// Where they are read.
    pub reservations: Arc<dyn ReservationReader>,
    /// Where their orders are read.
    pub orders: Arc<dyn OrderReader>,
}

impl ReservationService {
    /// One page of the order lines of the employee's project. Fields: `id`, `order_id`, `nomenclature_id`,
    /// `warehouse_id`, `state`, `quantity`, `created_at`.
    pub async fn list(&self, staff: &Staff, listing: Listing) -> Result<Page<ReservationRecord>, RecordError> {
        staff.require(Permission::view(Resource::Reservations))?;
        Ok(self.reservations.list(staff.project_id, listing).await?)
    }

    /// One page of the lines of one order of the project, by the same fields.
    pub async fn of_order(
        &self,
        staff: &Staff,
        order: OrderId,
        listing: Listing,
    ) -> Result<Page<ReservationRecord>, OrderError> {
        staff.require(Permission::view(Resource::Orders))?;
        staff.own(self.orders.find(order).await?)?;
        let own = listing.among("order_id", [order.get()]);
        Ok(self.reservations.list(staff.project_id, own).await?)
    }
}
