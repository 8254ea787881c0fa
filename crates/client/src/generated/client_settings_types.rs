// Written by generate.py from docs/openapi.json.

use serde::{Deserialize, Serialize};

use super::*;

/// Client settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientSettings {
    /// `true` if the application sells wholesale.
    pub wholesale: bool,
}
