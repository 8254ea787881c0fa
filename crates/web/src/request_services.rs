//! Services of a request: what they write belongs to the request.
//!
//! A write with an idempotency key or about a versioned record carries a [`RequestContext`] in its extensions. Its
//! handler gets each [`Service`] over a database handle of that context. All other requests share services without a
//! context. A service that commits is registered only as a [`ServiceSource`], so no handler can take it without the
//! context of its request.

use std::future::{Ready, ready};
use std::ops::Deref;
use std::sync::Arc;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage, HttpRequest, web};
use kontor_adapter_diesel::{Database, RequestContext};

use super::ApiError;

/// Source of a service: the shared one, and the ones of requests with a context.
pub struct ServiceSource<T> {
    database: Database,
    create: Box<dyn Fn(Database) -> T + Send + Sync>,
    shared: Arc<T>,
}

impl<T> ServiceSource<T> {
    /// Creates the shared service. `create` returns a service over a database handle.
    pub fn new(database: Database, create: impl Fn(Database) -> T + Send + Sync + 'static) -> Self {
        let shared = Arc::new(create(database.clone()));
        Self { database, create: Box::new(create), shared }
    }
}

/// Service of a request, as an argument of its handler.
pub struct Service<T>(Arc<T>);

impl<T: 'static> Service<T> {
    /// Returns the service of a request.
    pub fn of(request: &HttpRequest) -> Result<Self, ApiError> {
        let source = request.app_data::<web::Data<ServiceSource<T>>>();
        let source = source.ok_or_else(|| ApiError::internal(&"a service is missing"))?;
        Ok(Self(match request.extensions().get::<RequestContext>() {
            Some(context) => Arc::new((source.create)(source.database.for_request(context.clone()))),
            None => Arc::clone(&source.shared),
        }))
    }

    /// Returns the service for work that may outlive its handler.
    pub fn into_inner(self) -> Arc<T> {
        self.0
    }
}

impl<T> Clone for Service<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Service<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: 'static> FromRequest for Service<T> {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Self::of(request))
    }
}
