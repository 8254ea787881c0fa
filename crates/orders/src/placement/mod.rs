//! Placement: from a cart to an order.

mod contact;
mod decide;
mod service;
mod snapshot;
#[cfg(test)]
mod tests;

pub use contact::{ContactProblem, ContactTerms, Unconfirmed};
#[cfg(any(test, feature = "testing"))]
pub(crate) use decide::{Buyer, OrderContext, decide as place_purely};
pub use decide::{ContactOrderCommand, OrderCommand, OrderRefused, PaymentProblem, StaffOrderCommand};
pub(crate) use decide::{applied_discounts, delivery_item, delivery_name, receipt_for, vat};
pub(crate) use service::MAX_ATTEMPTS;
pub use service::{PaymentPage, PlacedOutcome, PlacementService};
pub use snapshot::{
    Allocated, Allocation, CartSnapshot, CartView, CartViewLine, FewestWarehouses, ItemKind, Missing, OfferedItem,
    Packaging, WarehouseStock,
};
