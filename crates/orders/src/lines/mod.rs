//! Changes of the lines of an order.
//!
//! Lines of an unpaid order change freely: prices, reservations and the payment follow in one commit. Lines of a
//! paid order can only be refunded. Preview and change use one function, [`decide`].

mod decide;
mod model;
mod paid;
mod preview;
#[cfg(test)]
mod properties;
mod service;
#[cfg(test)]
mod tests;
mod work;

pub use decide::{Decided, Terms, decide};
pub use model::{EditMode, LineCommand, LineEdit, LinesRefused};
pub use preview::{OrderPreview, PreviewLine, StockEffectOn};
pub use service::LinesChanged;
