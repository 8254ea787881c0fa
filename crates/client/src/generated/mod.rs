// Written by generate.py from docs/openapi.json.

//! Types and operations of the API.

mod client;
mod common;
mod platform;

pub use self::client::*;
pub use self::common::*;
pub use self::platform::*;
