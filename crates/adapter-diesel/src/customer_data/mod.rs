//! Functions on customers for every domain: locks during writes and anonymization on deletion. Also the pictures of
//! persons.

mod avatars;
mod contact_owners;
mod customer_locks;
mod employees;
mod forget;
mod receipts;
mod remarks;
pub(crate) mod sessions;
mod subscriptions;
mod tickets;

pub(crate) use avatars::{READY, avatar_key, is_avatar};
pub(crate) use contact_owners::{BindError, Newcomer, bind, bound, create, find_or_bind, lock_bound_customer, owner};
pub(crate) use customer_locks::{
    CustomerOf, lock_customer, lock_customer_exclusively, lock_customer_of, mark_verified,
};
pub(crate) use employees::{EMPLOYEE, is_employee};
pub(crate) use forget::{contacts, delete_login_contacts, delete_logins, remove_logins};
pub(crate) use receipts::{delete_receipts, delete_receipts_if_deleted};
pub(crate) use remarks::delete_remarks;
pub(crate) use subscriptions::end_subscriptions;
pub(crate) use tickets::delete_ticket_codes;

/// Values of the column `guard` for the two kinds of tokens.
pub(crate) mod guard {
    pub(crate) const USER: &str = "user";
    pub(crate) const COUNTERPARTY: &str = "counterparty";
}
