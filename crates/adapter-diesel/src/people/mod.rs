//! Functions on customers for every domain: locks during writes and anonymization on deletion. Also the pictures of
//! persons.

mod avatars;
mod customer_locks;
mod employees;
mod forget;
mod receipts;
mod remarks;
pub(crate) mod sessions;
mod subscriptions;
mod tickets;

pub(crate) use avatars::{READY, avatar_key, is_avatar};
pub(crate) use customer_locks::{CustomerOf, hold_customer, lock_customer, lock_customer_exclusively, mark_verified};
pub(crate) use employees::{EMPLOYEE, is_employee};
pub(crate) use forget::{contacts, forget_contacts, forget_customer, take_away};
pub(crate) use receipts::{forget_receipts, forget_receipts_if_left};
pub(crate) use remarks::forget_remarks;
pub(crate) use subscriptions::end_subscriptions;
pub(crate) use tickets::forget_tickets;

/// Values of the column `guard` for the two kinds of tokens.
pub(crate) mod guard {
    pub(crate) const USER: &str = "user";
    pub(crate) const COUNTERPARTY: &str = "counterparty";
}
