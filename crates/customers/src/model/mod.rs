//! Customer records.

mod customer;
mod part;
#[cfg(test)]
pub(crate) mod samples;
mod staff_record;

pub use crate::profile::Notification;
pub use customer::{Customer, CustomerKind, DecidedChange, Manager, PersonalData, ProfileChange};
pub use part::{ContactChange, ContactDraft, ContactKind, CustomerContact, CustomerRecordPart, Owned, part_changes};
pub use staff_record::{CustomerChange, CustomerDraft, StaffCustomer, title, without_personal_values};
