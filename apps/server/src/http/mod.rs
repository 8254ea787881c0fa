//! Everything HTTP that is not an endpoint.

pub mod body;
pub mod client_ip;
pub mod error;
pub mod failures;
pub mod health;
pub mod limits;
pub mod named;
pub mod observe;
pub mod openapi;
pub mod order_record;
pub mod paging;
pub mod path;
pub mod policy;
pub mod records;
pub mod request_id;
pub mod review_page;
pub mod routes;
pub mod scopes;
pub mod server;
pub mod sheets;
pub mod throttle;
pub mod traffic;
pub mod unrouted;
pub mod upload;
pub mod wire;

pub use body::{Body, Form, Query};
pub use client_ip::{ClientIp, TrustedProxies};
pub use error::ApiError;
pub use failures::FailureLog;
pub use named::{NamedError, NextAction};
pub use path::PathId;
pub use scopes::{Backend, BearerCustomer, CallingApp, SignedInCustomer, SignedInStaff};
pub use throttle::Throttle;
