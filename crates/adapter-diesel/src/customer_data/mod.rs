//! Functions on customers for every domain: locks during writes and anonymization on deletion. Also the pictures of
//! persons.

mod contact_owners;
mod customer_locks;
mod forget;
mod persons;
pub(crate) mod sessions;

pub(crate) use contact_owners::{BindError, Newcomer, bind, bound, create, find_or_bind, lock_bound_customer, owner};
pub(crate) use customer_locks::{
    CustomerOf, lock_customer, lock_customer_exclusively, lock_customer_of, mark_verified,
};
pub(crate) use forget::{
    contacts, delete_login_contacts, delete_logins, delete_receipts, delete_receipts_if_deleted, delete_remarks,
    delete_ticket_codes, end_subscriptions, remove_logins,
};
pub(crate) use persons::{EMPLOYEE, READY, avatar_key, is_avatar, is_employee};

/// Values of the column `guard` for the two kinds of tokens.
pub(crate) mod guard {
    pub(crate) const USER: &str = "user";
    pub(crate) const COUNTERPARTY: &str = "counterparty";
}
