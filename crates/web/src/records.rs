//! Small records that several responses share, and histories.

use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_auth::LogoutExtent;
use kontor_auth::model::AccessToken;
use kontor_content::model::PageTag;
use kontor_customers::model::{CustomerKind, Manager};
use kontor_kernel::history::{Author, FieldChange, HistoryEntry};
use kontor_kernel::{ExposeSecret, StorageUnit, Word};
use kontor_organization::model::{DeliverySubtype, DeliveryType};
use serde::Serialize;
use utoipa::ToSchema;

use super::envelope::list;
use super::wire::{self, InputErrors};

/// Picture.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Picture {
    /// URL of the picture.
    pub url: String,
}

/// Returns a picture, or `None` without a URL.
pub fn picture(url: Option<String>) -> Option<Picture> {
    url.map(|url| Picture { url })
}

/// Unit of quantities, such as pieces.
#[derive(Serialize, ToSchema)]
pub struct StorageUnitRecord {
    id: i64,
    name: String,
    abbreviation: String,
}

impl From<StorageUnit> for StorageUnitRecord {
    fn from(unit: StorageUnit) -> Self {
        Self { id: unit.id.get(), name: unit.name.into(), abbreviation: unit.abbreviation.into() }
    }
}

/// Result of the operation in human-readable form.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Message {
    message: &'static str,
}

impl Message {
    /// Creates the response of an operation that returns no record.
    pub const fn new(message: &'static str) -> Self {
        Self { message }
    }
}

/// New Bearer token. It is shown only once.
#[derive(Serialize, ToSchema)]
pub struct AccessTokenRecord {
    /// Token to send unchanged, in the form `<id>|<secret>`.
    value: String,
    /// Expiry time.
    expires_at: DateTime<Utc>,
}

impl From<AccessToken> for AccessTokenRecord {
    fn from(token: AccessToken) -> Self {
        Self { value: token.value.expose_secret().to_owned(), expires_at: token.expires_at }
    }
}

/// Extent of a logout.
#[derive(Default, Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub struct Logout {
    /// `true` ends all sessions of the customer or employee. By default only the token of the request is revoked.
    #[deserr(default)]
    from_all_devices: Option<wire::Flag>,
}

impl From<Logout> for LogoutExtent {
    fn from(logout: Logout) -> Self {
        if logout.from_all_devices.is_some_and(|flag| flag.0) { Self::AllDevices } else { Self::ThisDevice }
    }
}

/// Tag of a content page.
#[derive(Serialize, ToSchema)]
pub struct PageTagRecord {
    id: i64,
    name: String,
}

impl From<PageTag> for PageTagRecord {
    fn from(tag: PageTag) -> Self {
        Self { id: tag.id.get(), name: tag.name.into() }
    }
}

/// Delivery type or subtype.
#[derive(Serialize, ToSchema)]
pub struct DeliveryOptionRecord {
    id: i64,
    name: String,
    /// Decimal string.
    price: String,
    /// `1` or `0`.
    is_active: u8,
}

impl From<DeliveryType> for DeliveryOptionRecord {
    fn from(kind: DeliveryType) -> Self {
        Self {
            id: kind.id.get(),
            name: kind.name.into(),
            price: kind.price.to_string(),
            is_active: kind.is_active.into(),
        }
    }
}

impl From<DeliverySubtype> for DeliveryOptionRecord {
    fn from(kind: DeliverySubtype) -> Self {
        Self {
            id: kind.id.get(),
            name: kind.name.into(),
            price: kind.price.to_string(),
            is_active: kind.is_active.into(),
        }
    }
}

/// Customer type: person or company.
#[derive(Serialize, ToSchema)]
pub struct CustomerType {
    id: i64,
    name: String,
    created_at: DateTime<Utc>,
}

impl From<CustomerKind> for CustomerType {
    fn from(kind: CustomerKind) -> Self {
        Self { id: kind.id, name: kind.name.into(), created_at: kind.created_at }
    }
}

/// Employee responsible for a customer.
#[derive(Serialize, ToSchema)]
pub struct ManagerRecord {
    id: i64,
    first_name: String,
    last_name: String,
    middle_name: Option<String>,
    name: String,
}

impl From<Manager> for ManagerRecord {
    fn from(manager: Manager) -> Self {
        Self {
            id: manager.id.get(),
            name: manager.name(),
            first_name: manager.first_name.into(),
            last_name: manager.last_name.into(),
            middle_name: manager.middle_name.map(Into::into),
        }
    }
}

/// Changed field.
#[derive(Serialize, ToSchema)]
struct FieldChangeRecord {
    /// Name of the field in requests.
    field: String,
    old: Option<String>,
    new: Option<String>,
}

impl From<FieldChange> for FieldChangeRecord {
    fn from(change: FieldChange) -> Self {
        Self { field: change.field, old: change.old, new: change.new }
    }
}

/// Author of a change.
#[derive(Serialize, ToSchema)]
struct AuthorRecord {
    id: i64,
    name: Option<String>,
}

/// History entry. `user` is the employee or agent who made the change, `counterparty` the customer. Both are `null` for
/// changes by the service itself.
#[derive(Serialize, ToSchema)]
pub struct HistoryRecord {
    id: i64,
    /// `created`, `changed` or `deleted`
    action: &'static str,
    #[serde(rename = "dateTime")]
    date_time: DateTime<Utc>,
    user: Option<AuthorRecord>,
    counterparty: Option<AuthorRecord>,
    changes: Vec<FieldChangeRecord>,
}

impl From<HistoryEntry> for HistoryRecord {
    fn from(entry: HistoryEntry) -> Self {
        let name = entry.author_name;
        let (user, counterparty) = match entry.author {
            Author::User(id) => (Some(AuthorRecord { id: id.get(), name }), None),
            Author::Customer(id) => (None, Some(AuthorRecord { id: id.get(), name })),
            Author::System => (None, None),
        };
        Self {
            id: entry.id,
            action: entry.action.word(),
            date_time: entry.at,
            user,
            counterparty,
            changes: entry.changes.into_iter().map(Into::into).collect(),
        }
    }
}

list!(
    /// Page of a history, newest first.
    pub HistoryList { histories: [HistoryRecord], histories_count of all, pagination }
);
