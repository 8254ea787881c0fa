use chrono::{DateTime, Utc};
use kontor_kernel::{Money, NomenclatureId, OrderId, Quantity, ReservationId, WarehouseId};

use super::{Named, OrderStatus, ReservationState};

/// Order line in the list of the lines of all orders, for staff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReservationRecord {
    /// Identifier of the line.
    pub id: ReservationId,
    /// Order.
    pub order_id: OrderId,
    /// Status of the order.
    pub order_status: OrderStatus,
    /// Item, with its name when it was ordered.
    pub item: Named<NomenclatureId>,
    /// Warehouse; `None` for a service.
    pub warehouse: Option<Named<WarehouseId>>,
    /// Number of units.
    pub quantity: Quantity,
    /// Price per unit.
    pub unit_price: Money,
    /// Price of the line.
    pub total: Money,
    /// State of the reservation.
    pub state: ReservationState,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}
