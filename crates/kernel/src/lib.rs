//! Types and ports shared by all other crates.
//!
//! **Owns** identifiers, [`Money`], [`Quantity`], [`Phone`], [`Email`], registration numbers and bank accounts of
//! companies, pages, [`Violations`], the callers with their permissions and scopes, and the ports for time, randomness,
//! secrets and rate limits.
//!
//! **Invariants**
//! - A value that exists is valid: every newtype has private fields and one checked constructor.
//! - Money is whole minor units; no computation uses floating point.
//! - The crate depends on no other crate of the workspace, no database, no HTTP and no async runtime.
//!
//! **Refusals**: a constructor refuses with its own error, such as [`MoneyError`]. [`RecordError`] is the error of the
//! use cases of a record: a missing permission, a missing record, a business refusal or a storage failure.
//!
//! **Ports**: [`Clock`], [`Random`], [`SecretCipher`], [`RateLimiter`], [`HtmlCleaner`], [`ChangeLog`],
//! [`history::Histories`], and [`RecordRepository`] of records that staff edit.
//!
//! **Features**: `mocks` adds mocks of `RateLimiter`, `ChangeLog`, `Histories` and `RecordRepository`. It also adds the
//! module `testing`: random numbers, a cipher and employees for tests.
//!
//! ```toml
//! [dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel" }
//!
//! [dev-dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel", features = ["mocks"] }
//! ```
//!
//! **When not to use it**
//! - Amounts with more than two decimals, or amounts that carry their currency: [`Money`] has whole hundredths and no
//!   currency.
//! - Phones outside the Russian numbering plan: [`Phone`] has eleven digits, the first is 7.
//!
//! Values are parsed once:
//! ```
//! use kontor_kernel::{Money, Phone};
//!
//! let price: Money = "265.00".parse()?;
//! assert_eq!(price.checked_times(3).map(|total| total.to_string()), Some("795.00".to_owned()));
//! assert_eq!(Phone::parse("8 (900) 123-45-67")?.as_str(), "79001234567");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An amount is split without losing a minor unit:
//! ```
//! use kontor_kernel::{Money, distribute};
//!
//! let price: Money = "1.00".parse()?;
//! assert_eq!(distribute(price.minor(), &[1, 1, 1]), [34, 33, 33]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! All wrong fields are reported at once, by path:
//! ```
//! use kontor_kernel::{Email, Phone, Violations};
//!
//! let mut wrong = Violations::default();
//! let phone = wrong.check("contacts.0.value", Phone::parse("12"));
//! let email = wrong.check("contacts.1.value", Email::parse("anna"));
//! assert!(phone.is_none() && email.is_none() && !wrong.is_empty());
//! assert_eq!(wrong.fields().keys().collect::<Vec<_>>(), ["contacts.0.value", "contacts.1.value"]);
//! ```

mod access;
mod changes;
mod clock;
mod contact;
mod discount;
mod edit;
pub mod history;
mod hold_hours;
mod ids;
mod limits;
mod link;
pub mod listing;
mod locale;
mod money;
mod record;
mod requisites;
mod secrets;
mod store;
#[cfg(feature = "testing")]
pub mod testing;
mod text;
mod violations;
mod word;

pub use access::{
    AccessDenied, Action, AppScope, CustomerScope, Permission, ProjectScoped, Resource, Staff, UnknownPermission,
    Visitor,
};
#[cfg(feature = "mocks")]
pub use changes::MockChangeLog;
pub use changes::{
    Change, ChangeCursor, ChangeLog, ChangePosition, ChangeService, ChangedList, Changes, ChangesError, CursorRefusal,
};
pub use clock::{AdjustableClock, Clock, ClockHold, EndsBeforeStart, FixedClock, Period, Phase};
pub use contact::{Contact, ContactError, Email, Phone};
pub use discount::{DiscountStatus, DiscountTarget, DiscountValue, InvalidDiscountValue, InvalidPromoCode, PromoCode};
pub use edit::{Edit, MoveDirection};
pub use history::Stamp;
pub use hold_hours::{HoldHours, InvalidHoldHours};
pub use ids::*;
#[cfg(feature = "mocks")]
pub use limits::MockRateLimiter;
pub use limits::{PendingViews, Quota, RateLimiter, RateRule};
pub use link::{FileKey, InvalidFileKey, Link, LinkError, PhotoUrl, PhotoUrlError};
pub use listing::{Listing, Page, PageError, PageRequest};
pub use locale::{Language, UnknownZone, Zone};
pub use money::{Money, MoneyError, Quantity, QuantityError, distribute};
#[cfg(feature = "mocks")]
pub use record::MockRecordRepository;
pub use record::{
    DeletableRepository, ListedDeletableRepository, ListedRepository, Record, RecordError, RecordErrorOf,
    RecordHistory, RecordRepository, RecordService, Refusal,
};
pub use requisites::{
    BankAccount, BankRequisite, BankRequisiteChange, BankRequisiteDraft, Bik, Inn, Kpp, RequisiteError,
};
pub use secrecy::{ExposeSecret, SecretString};
pub use secrets::{Random, SecretCipher, UnsealError};
pub use store::{ReadError, SendError, StoreError};
pub use text::{HtmlCleaner, Line, Name, Prose, SafeHtml, TextError, hex};
pub use violations::Violations;
pub use word::Word;
