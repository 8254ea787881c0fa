//! Small records that several answers share.

use serde::Serialize;
use utoipa::ToSchema;

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
