//! Small records that several answers share.

use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_auth::LogoutExtent;
use kontor_auth::model::AccessToken;
use kontor_catalog::model as catalog;
use kontor_kernel::ExposeSecret;
use kontor_organization::model as organization;
use serde::Serialize;
use utoipa::ToSchema;

use super::wire::{self, InputErrors};

/// A picture.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Picture {
    /// Where it is.
    pub url: String,
}

/// A picture, or `null`.
pub fn picture(url: Option<String>) -> Option<Picture> {
    url.map(|url| Picture { url })
}

#[derive(Serialize, ToSchema)]
pub(crate) struct StorageUnitRecord {
    id: i64,
    name: String,
    abbreviation: String,
}

impl From<catalog::StorageUnit> for StorageUnitRecord {
    fn from(unit: catalog::StorageUnit) -> Self {
        Self { id: unit.id.get(), name: unit.name.into(), abbreviation: unit.abbreviation.into() }
    }
}

impl From<organization::StorageUnit> for StorageUnitRecord {
    fn from(unit: organization::StorageUnit) -> Self {
        Self { id: unit.id.get(), name: unit.name.into(), abbreviation: unit.abbreviation.into() }
    }
}

/// What was done, for people.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Message {
    message: &'static str,
}

impl Message {
    /// The answer of operations that return no record.
    pub const fn new(message: &'static str) -> Self {
        Self { message }
    }
}

/// A new bearer token, shown this once.
#[derive(Serialize, ToSchema)]
pub struct AccessTokenRecord {
    /// `<id>|<secret>`, to be sent whole.
    value: String,
    /// The end of its validity.
    expires_at: DateTime<Utc>,
}

impl From<AccessToken> for AccessTokenRecord {
    fn from(token: AccessToken) -> Self {
        Self { value: token.value.expose_secret().to_owned(), expires_at: token.expires_at }
    }
}

/// How far logging out goes.
#[derive(Default, Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub struct Logout {
    /// Whether every token of the person ends; by default only the token of the call.
    #[deserr(default)]
    from_all_devices: Option<wire::Flag>,
}

impl From<Logout> for LogoutExtent {
    fn from(logout: Logout) -> Self {
        if logout.from_all_devices.is_some_and(|flag| flag.0) { Self::AllDevices } else { Self::ThisDevice }
    }
}
