//! Everything HTTP that is not an endpoint.

pub mod body;
pub mod client_ip;
pub mod error;
pub mod health;
pub mod json;
pub mod limits;
pub mod named;
pub mod observe;
pub mod openapi;
pub mod order_record;
pub mod paging;
pub mod path;
pub mod policy;
pub mod records;
pub mod routes;
pub mod scopes;
pub mod server;
pub mod sheets;
pub mod throttle;
pub mod unrouted;
pub mod upload;
pub mod wire;

pub use body::{Body, Query};
pub use client_ip::{ClientIp, TrustedProxies};
pub use error::ApiError;
pub use json::Json;
pub use named::{NamedError, NextAction};
pub use path::PathId;
pub use scopes::{BearerCustomer, CallingApp, SignedInCustomer, SignedInStaff};
pub use throttle::Throttle;
