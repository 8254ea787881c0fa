//! Customer records.

mod change;
mod contact;
mod customer;
mod part;
#[cfg(test)]
pub(crate) mod samples;
mod staff_change;
mod staff_record;

pub use crate::notifications::Notification;
pub use change::{DecidedChange, PersonalData, ProfileChange};
pub use contact::{ContactChange, ContactDraft, ContactKind, CustomerContact};
pub use customer::{Customer, CustomerKind, Manager};
pub use part::{CustomerRecordPart, Owned, part_changes};
pub use staff_change::{CustomerChange, CustomerDraft};
pub use staff_record::{StaffCustomer, title, without_personal_values};
