use std::sync::Arc;

use kontor_kernel::{Listing, OrderId, Page, Permission, RecordError, Resource, Staff};

use crate::OrderError;
use crate::model::ReservationRecord;
use crate::ports::{OrderReader, ReservationReader};

/// Use cases for the list of order lines, for staff.
pub struct ReservationService {
    /// Reads order lines.
    pub reservations: Arc<dyn ReservationReader>,
    /// Reads their orders.
    pub orders: Arc<dyn OrderReader>,
}

impl ReservationService {
    /// Returns one page of the order lines of the employee's project. Fields: `id`, `order_id`,
    /// `nomenclature_id`, `warehouse_id`, `state`, `quantity`, `created_at`.
    pub async fn list(&self, staff: &Staff, listing: Listing) -> Result<Page<ReservationRecord>, RecordError> {
        staff.require(Permission::view(Resource::Reservations))?;
        Ok(self.reservations.list(staff.project_id, listing).await?)
    }

    /// Returns one page of the lines of one order of the project, with the same fields.
    pub async fn of_order(
        &self,
        staff: &Staff,
        order: OrderId,
        listing: Listing,
    ) -> Result<Page<ReservationRecord>, OrderError> {
        staff.require(Permission::view(Resource::Orders))?;
        staff.require_own(self.orders.find(order).await?)?;
        let own = listing.among("order_id", [order.get()]);
        Ok(self.reservations.list(staff.project_id, own).await?)
    }
}

#[cfg(test)]
mod tests {
    use kontor_kernel::listing::Sort;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{AccessDenied, PageRequest, ProjectId, ProjectScoped};

    use crate::model::testing::an_order;
    use crate::model::{Order, OrderStatus};
    use crate::ports::{MockOrderReader, MockReservationReader};

    use super::*;

    fn page() -> Listing {
        Listing::unfiltered(Sort::ascending("id"), PageRequest::new(1, 10, 10).unwrap())
    }

    /// A service whose reader expects this listing and returns one reservation.
    fn service(order: Option<ProjectScoped<Order>>, expected: Listing) -> ReservationService {
        let mut reservations = MockReservationReader::new();
        reservations
            .expect_list()
            .withf(move |project, listing| project.get() == 1 && *listing == expected)
            .returning(|_, listing| Ok(Page { items: vec![], total: 1, request: listing.page }));
        let mut orders = MockOrderReader::new();
        orders.expect_find().returning(move |_| Ok(order.clone()));
        ReservationService { reservations: Arc::new(reservations), orders: Arc::new(orders) }
    }

    #[tokio::test]
    async fn reservations_are_listed_for_who_may_see_them() {
        let viewer = staff_with([Permission::view(Resource::Reservations)]);
        assert_eq!(service(None, page()).list(&viewer, page()).await.unwrap().total, 1);
        let other = staff_with([Permission::view(Resource::Orders)]);
        assert!(matches!(service(None, page()).list(&other, page()).await, Err(RecordError::Denied(_))));
    }

    #[tokio::test]
    async fn those_of_an_order_are_its_own_and_of_the_project() {
        let viewer = staff_with([Permission::view(Resource::Orders)]);
        let id = OrderId::new(7).unwrap();
        let of = |project| Some(ProjectScoped::new(ProjectId::new(project).unwrap(), an_order(OrderStatus::Created)));
        let own = page().among("order_id", [7]);
        assert_eq!(service(of(1), own.clone()).of_order(&viewer, id, page()).await.unwrap().total, 1);
        let foreign = service(of(2), own.clone()).of_order(&viewer, id, page()).await;
        assert!(matches!(foreign, Err(OrderError::Denied(AccessDenied::ForeignProject))));
        let other = staff_with([Permission::view(Resource::Reservations)]);
        let denied = service(of(1), own).of_order(&other, id, page()).await;
        assert!(matches!(denied, Err(OrderError::Denied(AccessDenied::MissingPermission(_)))));
    }
}
