//! Small records that several responses share.

use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_auth::LogoutExtent;
use kontor_auth::model::AccessToken;
use kontor_kernel::{ExposeSecret, StorageUnit};
use serde::Serialize;
use utoipa::ToSchema;

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
