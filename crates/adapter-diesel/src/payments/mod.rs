//! Implementations of the payment ports: charges, refunds, saved methods, verifications, receipts.
//!
//! The effect of a charge outcome on an order or a customer is implemented in `charge_outcomes`. Every transaction
//! locks rows in this order: customer, refund, charge, purpose of the charge.

mod charges;
mod queues;
mod receipts;
mod refunds;
mod restored;
mod saved_methods;

pub(crate) use charges::{
    ChargeConsequences, Key, contradict, insert, is_sending, load, lock_paid, lock_refundable, mark_sending, record,
    store,
};
pub(crate) use queues::{CHARGES, RECEIPTS, REFUNDS, lease_charge, lease_refund};
pub(crate) use receipts::{hand_over, terms as receipt_terms, vat as receipt_vat};
pub(crate) use refunds::{
    claim_comparison, compared, find as load_refund, insert_outside, is_comparison_due, is_known as is_refund_known,
    of_charge as refunds_of, record as record_refund, store as store_refund,
};
pub use restored::PaymentComparison;
pub(crate) use restored::{assign_payment, count_charge, mark};
pub(crate) use saved_methods::{chargeable_method, deactivate as deactivate_method, find_saved};
