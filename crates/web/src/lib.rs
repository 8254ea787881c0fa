//! HTTP kit of the two API surfaces.
//!
//! **Owns** statuses, errors, guards as extractors, endpoint policies, envelopes, wire types that both surfaces use,
//! idempotency keys, preconditions, rate limits and the response cache.
//!
//! **Invariants**
//! - A guard that a handler extracts is the proof of its access.
//! - Invalid input is rejected with all field errors at once.
//! - No code here knows the configuration or an endpoint: [`Settings`] and the policies are passed in.

pub mod agent_actions;
pub mod agent_gate;
pub mod body;
pub mod body_budget;
pub mod body_buffer;
pub mod client_ip;
pub mod description;
pub mod envelope;
pub mod error;
pub mod error_codes;
pub mod file_contents;
pub mod idempotency;
pub mod in_process;
pub mod limits;
pub mod named;
pub mod order_record;
pub mod paging;
pub mod password_queue;
pub mod path;
pub mod policy;
pub mod preconditions;
pub mod records;
pub mod refusals;
pub mod rehearsal;
pub mod request_id;
pub mod request_services;
pub mod response_cache;
pub mod review_page;
pub mod scopes;
pub mod subscription_record;
pub mod suggestions;
pub mod traffic;
pub mod upload;
pub mod wire;

pub use body::{Body, DryRun, Form, Query, Unpaged};
pub use body_buffer::BodyReader;
pub use client_ip::{ClientIp, TrustedProxies};
pub use error::ApiError;
pub use error_codes::NextAction;
pub use file_contents::ResizeQueue;
pub use in_process::{InProcess, InProcessCall, InProcessCaller, InProcessResponse};
pub use limits::Throttle;
pub use named::{NamedError, RefusalLog};
pub use paging::PageQuery;
pub use password_queue::PasswordQueue;
pub use path::{FourIds, PathId, ThreeIds, TwoIds};
pub use records::HistoryList;
pub use request_services::Service;
pub use scopes::{Backend, BearerCustomer, CallingApp, CallingVisitor, SignedInCustomer, SignedInStaff, StaffProject};

/// Settings that handlers read. The process fills them in from its configuration.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Public URL of the service, without a path.
    pub public_url: String,
    /// Maximum size of a JSON body, in bytes.
    pub body_limit: usize,
    /// Maximum time for receiving a JSON body, in seconds.
    pub body_seconds: u32,
    /// Maximum memory of request bodies, over all connections, in megabytes.
    pub body_memory_mb: u32,
    /// Maximum size of an uploaded file, in bytes, except for imports.
    pub upload_limit: u64,
    /// Maximum size of a file for `POST /api/files`, in bytes.
    pub files_limit: u64,
    /// Maximum size of an import file, in bytes.
    pub import_limit: u64,
    /// Maximum size of an import file that is processed within the request, in bytes; larger files become jobs.
    pub import_inline_bytes: u64,
    /// Maximum number of rows of an import that is processed within the request; larger imports become jobs.
    pub import_inline_rows: u32,
}
