//! Customer records, their contacts and bank accounts, and their notifications.
//!
//! **Owns** the record of a customer, created by staff or by a first login.
//!
//! **Invariants**
//! - A customer belongs to one project and is not visible in others.
//! - Phones and addresses are normalized before they are stored.
//! - The phone that logs a customer in is not changed with the record.
//! - Deleted customers are anonymized, including in history entries, and cannot log in.
//! - A contact that logs one customer in is stored for no other.
//! - Contacts and bank accounts of a customer are not visible for other customers of the project.
//!
//! **Refusals**: [`CustomerError`] for customers themselves; it names all invalid fields at once. Staff have
//! [`StaffCustomerError`] and [`CustomerPartError`], with [`StaffCustomerRefusal`] and [`CustomerPartRefusal`].
//!
//! **Ports**: [`ports::CustomerRepository`] for customers themselves, [`ports::StaffCustomerRepository`] and
//! [`ports::CustomerPartRepository`] for staff, [`ports::NotificationReader`].
//!
//! **Services and their ports**; most also take a `Clock`, a `Random` or a `SecretCipher` of the kernel:
//!
//! | Service | Ports |
//! |---|---|
//! | [`ProfileService`], [`CustomerAdministration`] | `CustomerRepository` |
//! | [`StaffCustomerService`] | `StaffCustomerRepository`, `Histories` of the kernel |
//! | [`CustomerPartService`] | `StaffCustomerRepository`, `CustomerPartRepository` |
//! | [`NotificationService`] | `NotificationReader` |
//!
//! **Features**, none by default
//! - `mocks` adds a mock of every port.
//! - `testing` adds `testing::contract`, the promises of the stores: logins, deletion, concurrent changes and limits, as
//!   functions that the tests of an adapter run; and `testing::memory`, a storage in memory.
//!
//! ```toml
//! [dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel" }
//! kontor-customers = { path = "../kontor/crates/customers" }
//!
//! [dev-dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel", features = ["mocks"] }
//! kontor-customers = { path = "../kontor/crates/customers", features = ["mocks", "testing"] }
//! ```
//!
//! **When not to use it**
//! - Customers that several projects share: a customer belongs to one project.
//! - Records that must stay after a deletion: personal data is removed, and only a record without it remains.
//!
//! Customers change and delete their own record, in memory:
//! ```
//! # #[cfg(feature = "testing")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//!
//! use chrono::{DateTime, NaiveDate};
//! use kontor_customers::model::{PersonalData, ProfileChange};
//! use kontor_customers::testing::memory::InMemoryCustomers;
//! use kontor_customers::{CustomerError, ProfileService};
//! use kontor_kernel::{
//!     AppScope, ApplicationId, Contact, CustomerScope, Edit, FixedClock, Name, ProjectId, TokenId,
//! };
//!
//! // 1. A customer logs in for the first time.
//! let store = Arc::new(InMemoryCustomers::default());
//! let login = Contact::parse("8 (900) 123-45-67")?;
//! let project = ProjectId::new(1)?;
//! let counterparty_id = store.log_in(project, &login, DateTime::UNIX_EPOCH);
//!
//! // 2. The use cases, for an authenticated customer.
//! let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
//! let profiles = ProfileService { customers: store.clone(), clock };
//! let app = AppScope { project_id: project, application_id: ApplicationId::new(1)?, wholesale: false };
//! let scope = CustomerScope { app, counterparty_id, token_id: TokenId::new(1)? };
//!
//! let data = PersonalData { first_name: Edit::Set(Some(Name::parse("Anna")?)), ..PersonalData::default() };
//! let changed = profiles.change(scope, ProfileChange { data, phone_1: Edit::Keep }).await?;
//! assert_eq!(changed.first_name.unwrap().as_str(), "Anna");
//!
//! // The login phone cannot be changed, and a birthday cannot be in the future: the error names both fields.
//! let tomorrow = NaiveDate::from_ymd_opt(1970, 1, 2);
//! let data = PersonalData { birthday: Edit::Set(tomorrow), ..PersonalData::default() };
//! let refused = profiles.change(scope, ProfileChange { data, phone_1: Edit::Set(None) }).await;
//! let Err(CustomerError::Invalid(violations)) = refused else { panic!("{refused:?}") };
//! assert_eq!(violations.fields().keys().collect::<Vec<_>>(), ["birthday", "phone_1"]);
//!
//! // A customer of another project does not exist for the caller.
//! let elsewhere = CustomerScope { app: AppScope { project_id: ProjectId::new(2)?, ..app }, ..scope };
//! assert!(matches!(profiles.profile(elsewhere).await, Err(CustomerError::NotFound)));
//!
//! // 3. After a deletion, the same contact creates a new customer.
//! profiles.delete_account(scope).await?;
//! assert!(matches!(profiles.profile(scope).await, Err(CustomerError::NotFound)));
//! assert_ne!(store.log_in(project, &login, DateTime::UNIX_EPOCH), counterparty_id);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "testing"))]
//! # fn main() {}
//! ```

mod error;
pub mod model;
mod parts;
pub mod ports;
mod profile;
mod staff;
#[cfg(feature = "testing")]
pub mod testing {
    //! Helpers for the tests of use cases and of adapters.

    pub mod contract;
    pub mod memory;
}

pub use error::{
    CustomerError, CustomerPartError, CustomerPartRefusal, CustomerReference, StaffCustomerError, StaffCustomerRefusal,
};
pub use parts::CustomerPartService;
pub use profile::NotificationService;
pub use profile::{CustomerAdministration, ProfileService};
pub use staff::StaffCustomerService;
