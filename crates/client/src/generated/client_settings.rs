// Written by generate.py from docs/openapi.json.

use super::*;
use crate::{Call, ClientSurface, Method};

impl ClientSurface {
    /// Get the application's settings.
    ///
    /// Use it to check an App Token.
    ///
    /// `GET /api/counterparty/settings`
    pub fn show_settings(&self) -> Call<ClientSettings> {
        self.call(Method::GET, "/api/counterparty/settings")
    }
}
