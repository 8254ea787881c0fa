//! Middleware that applies the planned faults to every emulated HTTP service.

use actix_web::body::{BodyStream, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::middleware::Next;
use actix_web::web::{Bytes, Data};
use actix_web::{Error, HttpMessage as _, HttpResponse};
use futures_util::stream;

use crate::faults::{Fault, FaultKind, Service};
use crate::state::World;
use crate::{acquirer, storage as bucket, suggest, telephony, webhook_receiver};

/// Applies faults to calls of the acquirer.
pub async fn acquirer<B: MessageBody + 'static>(
    call: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let commits = call.method() != Method::GET;
    // A worker reads this list periodically. It must not use up faults that are planned for later calls.
    if !commits && call.path() == "/v3/refunds" && !call.query_string().contains("payment_id") {
        return next.call(call).await.map(ServiceResponse::map_into_boxed_body);
    }
    pass(Service::Acquirer, commits, call, next).await
}

/// Applies faults to calls of the telephony provider, which does its work for GET too.
pub async fn telephony<B: MessageBody + 'static>(
    call: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    pass(Service::Telephony, true, call, next).await
}

/// Applies faults to calls of the webhook receiver.
pub async fn webhook<B: MessageBody + 'static>(
    call: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    pass(Service::Webhook, true, call, next).await
}

/// Applies faults to calls of the suggestions, which only read.
pub async fn suggest<B: MessageBody + 'static>(
    call: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    pass(Service::Suggest, false, call, next).await
}

/// Applies faults to calls of the bucket.
pub async fn storage<B: MessageBody + 'static>(
    call: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let commits = call.method() != Method::GET && call.method() != Method::HEAD;
    pass(Service::Storage, commits, call, next).await
}

async fn pass<B: MessageBody + 'static>(
    service: Service,
    commits: bool,
    mut call: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let drawn = call.app_data::<Data<World>>().and_then(|world| {
        let fault = world.faults.take_for_call(service, commits)?;
        Some((world.clone(), fault))
    });
    let Some((world, fault)) = drawn else {
        return next.call(call).await.map(ServiceResponse::map_into_boxed_body);
    };
    call.extensions_mut().insert::<Fault>(fault);
    if fault.kind.prevents_work()
        && let Some(answer) = instead(service, fault, &world).await
    {
        if service == Service::Acquirer {
            acquirer::note_unserved(&mut call, fault.kind, &world).await;
        }
        return Ok(call.into_response(answer));
    }
    if fault.kind == FaultKind::Delay {
        world.pause(fault.pause).await;
    }
    let usual = next.call(call).await?;
    Ok(match instead(service, fault, &world).await {
        Some(answer) => usual.into_response(answer),
        None => usual.map_into_boxed_body(),
    })
}

/// Returns the response that a fault causes, after the time it holds one back. `None` for the usual response.
pub async fn instead(service: Service, fault: Fault, world: &World) -> Option<HttpResponse> {
    match fault.kind {
        FaultKind::Http500 | FaultKind::Http500AfterCommit => Some(internal_error(service, world)),
        FaultKind::Drop | FaultKind::DropAfterCommit => Some(dropped_connection()),
        FaultKind::Refuse => Some(refusal(service, world)),
        FaultKind::Timeout => {
            world.pause(fault.pause).await;
            None
        }
        FaultKind::Delay | FaultKind::Duplicate | FaultKind::Reorder => None,
    }
}

/// A response whose body fails at once: the connection is closed before a byte has left.
fn dropped_connection() -> HttpResponse {
    let broken = stream::once(async { Err::<Bytes, _>(std::io::Error::from(std::io::ErrorKind::ConnectionAborted)) });
    HttpResponse::Ok()
        .message_body(BodyStream::new(broken))
        .map_or_else(|_| HttpResponse::InternalServerError().finish(), HttpResponse::map_into_boxed_body)
}

fn internal_error(service: Service, world: &World) -> HttpResponse {
    match service {
        Service::Acquirer => acquirer::internal_error(world),
        Service::Telephony => telephony::internal_error(),
        Service::Suggest => suggest::internal_error(),
        Service::Storage => bucket::internal_error(),
        Service::Mail | Service::Webhook => HttpResponse::InternalServerError().finish(),
    }
}

fn refusal(service: Service, world: &World) -> HttpResponse {
    match service {
        Service::Acquirer => acquirer::forbidden(world),
        Service::Telephony => telephony::unavailable(),
        Service::Webhook => webhook_receiver::refusal(),
        Service::Suggest => suggest::limit_spent(),
        Service::Storage => bucket::denied(),
        Service::Mail => HttpResponse::Forbidden().finish(),
    }
}
