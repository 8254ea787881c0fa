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
//! Values are parsed once:
//! ```
//! use kontor_kernel::{Money, Phone};
//!
//! let price: Money = "265.00".parse()?;
//! assert_eq!(price.checked_times(3).map(|total| total.to_string()), Some("795.00".to_owned()));
//! assert_eq!(Phone::parse("8 (900) 123-45-67")?.as_str(), "79001234567");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod bank_requisite;
mod changes;
mod clock;
mod contact;
mod discount;
mod edit;
mod file_key;
mod hex;
pub mod history;
mod html;
mod ids;
mod language;
mod limits;
mod link;
pub mod listing;
mod look_alikes;
mod money;
mod move_direction;
mod ownership;
mod page;
mod photo_url;
mod quantity;
mod random;
mod record;
mod refusal;
mod requisites;
mod secrets;
mod sending;
mod share;
mod store;
#[cfg(feature = "mocks")]
pub mod testing;
mod text;
mod views;
mod violations;
mod word;
mod zone;

pub use access::{
    AccessDenied, Action, AppScope, CustomerScope, Permission, Resource, Staff, UnknownPermission, Visitor,
};
pub use bank_requisite::{BankRequisite, BankRequisiteChange, BankRequisiteDraft};
#[cfg(feature = "mocks")]
pub use changes::MockChangeLog;
pub use changes::{
    Change, ChangeCursor, ChangeLog, ChangePosition, ChangeService, ChangedList, Changes, ChangesError, CursorRefusal,
};
pub use clock::{AdjustableClock, Clock, ClockHold, EndsBeforeStart, FixedClock, Period, Phase};
pub use contact::{Contact, ContactError, Email, Phone};
pub use discount::{DiscountStatus, DiscountTarget, DiscountValue, InvalidDiscountValue, InvalidPromoCode, PromoCode};
pub use edit::Edit;
pub use file_key::{FileKey, InvalidFileKey};
pub use hex::hex;
pub use history::Stamp;
pub use html::{HtmlCleaner, SafeHtml, readable_text};
pub use ids::*;
pub use language::Language;
#[cfg(feature = "mocks")]
pub use limits::MockRateLimiter;
pub use limits::{Quota, RateLimiter, RateRule};
pub use link::{Link, LinkError};
pub use listing::Listing;
pub use money::{Money, MoneyError};
pub use move_direction::MoveDirection;
pub use ownership::ProjectScoped;
pub use page::{Page, PageError, PageRequest};
pub use photo_url::{PhotoUrl, PhotoUrlError};
pub use quantity::{Quantity, QuantityError, StockLevel};
pub use random::Random;
#[cfg(feature = "mocks")]
pub use record::MockRecordRepository;
pub use record::{
    DeletableRepository, ListedDeletableRepository, ListedRepository, Record, RecordErrorOf, RecordHistory,
    RecordRepository, RecordService,
};
pub use refusal::{RecordError, Refusal};
pub use requisites::{BankAccount, Bik, Inn, Kpp, RequisiteError};
pub use secrecy::{ExposeSecret, SecretString};
pub use secrets::{SecretCipher, UnsealError};
pub use sending::SendError;
pub use share::distribute;
pub use store::StoreError;
pub use text::{Line, Name, Prose, TextError};
pub use views::PendingViews;
pub use violations::Violations;
pub use word::Word;
pub use zone::{UnknownZone, Zone};
