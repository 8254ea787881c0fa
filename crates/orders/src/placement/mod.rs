//! From a cart to an order.

mod decide;
mod service;
mod snapshot;
#[cfg(test)]
mod tests;

pub use decide::{OrderCommand, OrderRefused, PaymentProblem};
pub use service::{PaymentPage, PlacedOutcome, PlacementService};
pub use snapshot::{CartSnapshot, CartView, CartViewLine, ItemKind, OfferedItem, Packaging, WarehouseStock};
