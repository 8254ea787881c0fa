//! Services of a request: what they write belongs to the request.
//!
//! A write with an idempotency key or about a versioned record carries a [`RequestContext`] in its extensions. Its
//! handler gets services over a database handle of that context. All other requests share services without a context.

use std::rc::Rc;

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{Extensions, ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, web};
use kontor_adapter_diesel::{Database, RequestContext};

use super::ApiError;

/// Creates services over a database handle, as data that extractors find by type.
type Create = dyn Fn(Database) -> Extensions + Send + Sync;

/// Factory of the services of a request.
pub struct ServiceFactory {
    database: Database,
    create: Box<Create>,
}

impl ServiceFactory {
    /// Creates a factory for requests to a database.
    pub fn new(database: Database, create: impl Fn(Database) -> Extensions + Send + Sync + 'static) -> Self {
        Self { database, create: Box::new(create) }
    }
}

/// Innermost middleware: gives the handler the services of its request.
pub async fn bind_services<B: MessageBody + 'static>(
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let context = request.extensions().get::<RequestContext>().cloned();
    if let Some(context) = context {
        let factory = request.app_data::<web::Data<ServiceFactory>>().cloned();
        let Some(factory) = factory else {
            let missing = ApiError::internal(&"the factory of services is missing");
            return Ok(request.error_response(missing).map_into_right_body());
        };
        let services = (factory.create)(factory.database.for_request(context));
        request.add_data_container(Rc::new(services));
    }
    Ok(next.call(request).await?.map_into_left_body())
}
