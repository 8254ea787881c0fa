//! From a cart to an order.

mod allocation;
mod decide;
mod receipt;
mod service;
mod snapshot;
#[cfg(test)]
mod tests;

pub use allocation::{Allocated, Allocation, FewestWarehouses};
pub use decide::{OrderCommand, OrderRefused, PaymentProblem, StaffOrderCommand};
pub use service::{PaymentPage, PlacedOutcome, PlacementService};
pub use snapshot::{CartSnapshot, CartView, CartViewLine, ItemKind, Missing, OfferedItem, Packaging, WarehouseStock};
