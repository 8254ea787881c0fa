//! Orders: no overselling, no double charge.
#![expect(clippy::indexing_slicing, clippy::panic, reason = "tests fail by panicking")]

mod contacts;
mod contract;
mod decided_anew;
mod delivery_charge;
mod lifecycle;
mod lines;
mod notices;
mod payments;
mod placement;
mod promo_codes;
mod races;
mod receipts;
mod refunds;
mod reports;
mod sale_prices;
pub mod shop;
pub mod staff_fixture;
pub mod tickets;
mod unconfirmed;
mod verifications;
