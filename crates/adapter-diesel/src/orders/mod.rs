//! Implementations of the order ports.
//!
//! Every transaction locks rows in this order: customer (see `customer_data`), charge, order, items by
//! ascending id (see `locks`), their stock, discount, data shown by storefronts.

mod cart_rows;
mod charge_outcome;
mod delivery_terms;
mod discounts;
mod history;
mod place;
mod reader;
mod refunds;
mod replace_lines;
mod reports;
mod reservations;
mod snapshot;
mod store;
mod tickets;
mod unconfirmed;

pub(crate) use charge_outcome::{apply_charge, apply_doubt, refund_late_money};
pub(crate) use reader::numbered;
pub(crate) use refunds::{add_outside_refund, apply_refund_outcome};
pub(crate) use store::locked;

use kontor_kernel::StoreError;
use kontor_orders::OrderError;

use crate::database::Abort;

/// Converts a refusal into a storage error, because no caller could receive the refusal.
pub(crate) fn to_storage(abort: Abort<OrderError>) -> Abort<StoreError> {
    match abort {
        Abort::Refused(OrderError::Store(error)) | Abort::Store(error) => Abort::Store(error),
        Abort::Refused(refused) => Abort::Store(StoreError::corrupt(refused)),
        Abort::Query(error) => Abort::Query(error),
    }
}
