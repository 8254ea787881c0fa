use std::sync::Arc;

use kontor_kernel::{Listing, Page, Permission, RecordError, Resource, Staff};

use crate::model::ReservationRecord;
use crate::ports::ReservationReader;

/// The lines of all orders, as staff look through them.
pub struct ReservationService {
    /// Where they are read.
    pub reservations: Arc<dyn ReservationReader>,
}

impl ReservationService {
    /// One page of the order lines of the employee's project. Fields: `id`, `order_id`, `nomenclature_id`,
    /// `warehouse_id`, `state`, `quantity`, `created_at`.
    pub async fn list(&self, staff: &Staff, listing: Listing) -> Result<Page<ReservationRecord>, RecordError> {
        staff.require(Permission::view(Resource::Reservations))?;
        Ok(self.reservations.list(staff.project_id, listing).await?)
    }
}
