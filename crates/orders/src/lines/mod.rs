//! Changes of the lines of an order.
//!
//! Lines of an order that is not paid change freely: what they cost, what they reserve and what is to be paid follow in one
//! commit. Of a paid order pieces and money only go back, as a refund. Looking and doing is one function, [`decide`].

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
pub use model::{LineCommand, LineEdit, LinesRefused, Standing};
pub use preview::{OrderPreview, PreviewLine, StockEffectOn};
pub use service::LinesChanged;
