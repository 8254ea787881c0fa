//! Placement: from a cart to an order.

mod allocation;
mod contact;
mod decide;
mod receipt;
mod service;
mod snapshot;
#[cfg(test)]
mod tests;

pub use allocation::{Allocated, Allocation, FewestWarehouses};
pub use contact::{ContactProblem, ContactTerms, Unconfirmed};
pub(crate) use decide::applied_discounts;
#[cfg(any(test, feature = "testing"))]
pub(crate) use decide::{Buyer, OrderContext, decide as place_purely};
pub use decide::{ContactOrderCommand, OrderCommand, OrderRefused, PaymentProblem, StaffOrderCommand};
pub(crate) use receipt::{delivery_item, delivery_name, receipt_for, vat};
pub(crate) use service::MAX_ATTEMPTS;
pub use service::{PaymentPage, PlacedOutcome, PlacementService};
pub use snapshot::{CartSnapshot, CartView, CartViewLine, ItemKind, Missing, OfferedItem, Packaging, WarehouseStock};
