use chrono::{DateTime, Utc};
use kontor_kernel::{Money, NomenclatureId, OrderId, Quantity, ReservationId, WarehouseId};

use super::{Named, OrderStatus, ReservationState};

/// An order line as staff see it among those of all orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReservationRecord {
    /// The number of the line.
    pub id: ReservationId,
    /// Its order.
    pub order_id: OrderId,
    /// Where the order stands.
    pub order_status: OrderStatus,
    /// The item, by the name it had when it was ordered.
    pub item: Named<NomenclatureId>,
    /// Where it is taken from; services are taken from nowhere.
    pub warehouse: Option<Named<WarehouseId>>,
    /// How many pieces.
    pub quantity: Quantity,
    /// What one piece costs.
    pub unit_price: Money,
    /// What the line costs.
    pub total: Money,
    /// What becomes of the reservation.
    pub state: ReservationState,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}
