//! Requests that a handle of the database writes for.

use std::sync::Arc;

use super::Database;
use super::idempotency::IdempotentRequest;
use super::preconditions::VersionedRequest;

/// Context of a request: its write operations store its idempotency key and check the version of its record. Background
/// work has an empty context.
#[derive(Debug, Clone, Default)]
pub struct RequestContext {
    /// Set if the request has an idempotency key.
    pub keyed: Option<Arc<IdempotentRequest>>,
    /// Set if the request is about one record.
    pub versioned: Option<Arc<VersionedRequest>>,
}

impl From<Arc<IdempotentRequest>> for RequestContext {
    fn from(keyed: Arc<IdempotentRequest>) -> Self {
        Self { keyed: Some(keyed), versioned: None }
    }
}

impl From<Arc<VersionedRequest>> for RequestContext {
    fn from(versioned: Arc<VersionedRequest>) -> Self {
        Self { keyed: None, versioned: Some(versioned) }
    }
}

impl Database {
    /// Returns a handle that writes for a request. It shares the pools, and replaces the context of this handle.
    #[must_use]
    pub fn for_request(&self, context: impl Into<RequestContext>) -> Self {
        let mut handle = self.clone();
        handle.context = context.into();
        handle
    }
}
