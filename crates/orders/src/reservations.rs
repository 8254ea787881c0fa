use std::sync::Arc;

use kontor_kernel::{Listing, Page, Permission, Resource, Staff};

use crate::OrderError;
use crate::model::ReservationRecord;
use crate::ports::ReservationReader;

/// The lines of all orders, as staff look through them.
pub struct ReservationService {
    reservations: Arc<dyn ReservationReader>,
}

impl ReservationService {
    /// Wires the port.
    pub fn new(reservations: Arc<dyn ReservationReader>) -> Self {
        Self { reservations }
    }

    /// One page of the order lines of the employee's project. Fields: `id`, `order_id`, `nomenclature_id`,
    /// `warehouse_id`, `state`, `quantity`, `created_at`.
    pub async fn list(&self, staff: &Staff, listing: Listing) -> Result<Page<ReservationRecord>, OrderError> {
        staff.require(Permission::view(Resource::Reservations))?;
        Ok(self.reservations.list(staff.project_id, listing).await?)
    }
}
