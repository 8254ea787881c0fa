//! Planned faults: one list, consumed by every emulated service. A middleware applies them to the HTTP services.

use std::sync::Mutex;
use std::time::Duration;

use actix_web::body::{BodyStream, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::middleware::Next;
use actix_web::web::{Bytes, Data};
use actix_web::{Error, HttpMessage as _, HttpResponse};
use futures_util::stream;

use crate::state::{SandboxState, lock};
use crate::{acquirer, storage as bucket, suggest, telephony, webhook_receiver};

/// Longest time a response is held: longer than any client should wait.
const MAX_HOLD: Duration = Duration::from_secs(40);
const DEFAULT_DELAY: Duration = Duration::from_secs(1);
const MAX_PLANS: usize = 1_000;

named! {
    /// A service whose calls can be made to fail.
    Service {
        Acquirer = "acquirer",
        Telephony = "telephony",
        Suggest = "suggest",
        Mail = "mail",
        Webhook = "webhook",
        Storage = "storage",
    }
}

named! {
    /// Kind of fault.
    FaultKind {
        /// The work is done and committed. The response is held longer than any client waits.
        Timeout = "timeout",
        /// An internal error before anything is done.
        Http500 = "http_500",
        /// The work is done and committed. The response is an internal error.
        Http500AfterCommit = "http_500_after_commit",
        /// The connection is closed without a response, before anything is done.
        Drop = "drop",
        /// The work is done and committed. The connection is closed without a response.
        DropAfterCommit = "drop_after_commit",
        /// The provider refuses the call.
        Refuse = "refuse",
        /// A notification is sent twice.
        Duplicate = "duplicate",
        /// A notification is followed by one with an earlier snapshot.
        Reorder = "reorder",
        /// The call waits, then goes on as usual.
        Delay = "delay",
    }
}

impl FaultKind {
    /// Returns `true` if the fault concerns notifications instead of calls.
    pub fn concerns_notifications(self) -> bool {
        matches!(self, Self::Duplicate | Self::Reorder)
    }

    /// Returns `true` if the fault comes before anything is done.
    pub fn prevents_work(self) -> bool {
        matches!(self, Self::Http500 | Self::Drop | Self::Refuse)
    }

    fn makes_sense_only_for_a_commit(self) -> bool {
        matches!(self, Self::Http500AfterCommit | Self::DropAfterCommit)
    }
}

/// A fault planned for the next calls of a service.
#[derive(Clone, Debug)]
pub struct Plan {
    pub service: Service,
    pub kind: FaultKind,
    /// Number of calls it still hits.
    pub times: u32,
    pub delay: Option<Duration>,
}

/// The fault that hits one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// Time a `timeout` holds the response or a `delay` waits.
    pub pause: Duration,
}

impl Fault {
    /// Creates a fault with this pause, or with the default pause of its kind.
    pub fn new(kind: FaultKind, pause: Option<Duration>) -> Self {
        let usual = if kind == FaultKind::Timeout { MAX_HOLD } else { DEFAULT_DELAY };
        Self { kind, pause: pause.unwrap_or(usual).min(MAX_HOLD) }
    }
}

/// All planned faults, oldest first.
#[derive(Default)]
pub struct Faults {
    plans: Mutex<Vec<Plan>>,
}

impl Faults {
    /// Plans a fault. Returns `false` when too many are planned already.
    pub fn plan(&self, plan: Plan) -> bool {
        let mut plans = lock(&self.plans);
        let fits = plans.len() < MAX_PLANS;
        if fits && plan.times > 0 {
            plans.push(plan);
        }
        fits
    }

    /// Returns the remaining planned faults.
    pub fn planned(&self) -> Vec<Plan> {
        lock(&self.plans).clone()
    }

    /// Removes all planned faults.
    pub fn clear(&self) {
        lock(&self.plans).clear();
    }

    /// Consumes and returns the fault of this call. A call that only reads skips the faults that need a commit.
    pub fn take_for_call(&self, service: Service, commits: bool) -> Option<Fault> {
        self.take(|plan| {
            plan.service == service
                && !plan.kind.concerns_notifications()
                && (commits || !plan.kind.makes_sense_only_for_a_commit())
        })
    }

    /// Consumes and returns the fault of this notification.
    pub fn take_for_notification(&self, service: Service) -> Option<Fault> {
        self.take(|plan| plan.service == service && plan.kind.concerns_notifications())
    }

    fn take(&self, hits: impl Fn(&Plan) -> bool) -> Option<Fault> {
        let mut plans = lock(&self.plans);
        let position = plans.iter().position(hits)?;
        let plan = plans.get_mut(position)?;
        let fault = Fault::new(plan.kind, plan.delay);
        plan.times -= 1;
        if plan.times == 0 {
            plans.remove(position);
        }
        Some(fault)
    }
}

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
    let drawn = call.app_data::<Data<SandboxState>>().and_then(|sandbox_state| {
        let fault = sandbox_state.faults.take_for_call(service, commits)?;
        Some((sandbox_state.clone(), fault))
    });
    let Some((sandbox_state, fault)) = drawn else {
        return next.call(call).await.map(ServiceResponse::map_into_boxed_body);
    };
    call.extensions_mut().insert::<Fault>(fault);
    if fault.kind.prevents_work()
        && let Some(answer) = instead(service, fault, &sandbox_state).await
    {
        if service == Service::Acquirer {
            acquirer::note_unserved(&mut call, fault.kind, &sandbox_state).await;
        }
        return Ok(call.into_response(answer));
    }
    if fault.kind == FaultKind::Delay {
        sandbox_state.pause(fault.pause).await;
    }
    let usual = next.call(call).await?;
    Ok(match instead(service, fault, &sandbox_state).await {
        Some(answer) => usual.into_response(answer),
        None => usual.map_into_boxed_body(),
    })
}

/// Returns the response that a fault causes, after the time it holds one back. `None` for the usual response.
pub async fn instead(service: Service, fault: Fault, sandbox_state: &SandboxState) -> Option<HttpResponse> {
    match fault.kind {
        FaultKind::Http500 | FaultKind::Http500AfterCommit => Some(internal_error(service, sandbox_state)),
        FaultKind::Drop | FaultKind::DropAfterCommit => Some(dropped_connection()),
        FaultKind::Refuse => Some(refusal(service, sandbox_state)),
        FaultKind::Timeout => {
            sandbox_state.pause(fault.pause).await;
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

fn internal_error(service: Service, sandbox_state: &SandboxState) -> HttpResponse {
    match service {
        Service::Acquirer => acquirer::internal_error(sandbox_state),
        Service::Telephony => telephony::internal_error(),
        Service::Suggest => suggest::internal_error(),
        Service::Storage => bucket::internal_error(),
        Service::Mail | Service::Webhook => HttpResponse::InternalServerError().finish(),
    }
}

fn refusal(service: Service, sandbox_state: &SandboxState) -> HttpResponse {
    match service {
        Service::Acquirer => acquirer::forbidden(sandbox_state),
        Service::Telephony => telephony::unavailable(),
        Service::Webhook => webhook_receiver::refusal(),
        Service::Suggest => suggest::limit_spent(),
        Service::Storage => bucket::denied(),
        Service::Mail => HttpResponse::Forbidden().finish(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(service: Service, kind: FaultKind, times: u32) -> Plan {
        Plan { service, kind, times, delay: None }
    }

    #[test]
    fn a_fault_is_consumed_as_many_times_as_planned() {
        let faults = Faults::default();
        faults.plan(plan(Service::Acquirer, FaultKind::Http500, 2));
        faults.plan(plan(Service::Acquirer, FaultKind::Drop, 1));
        let kinds: Vec<_> =
            std::iter::from_fn(|| faults.take_for_call(Service::Acquirer, true)).map(|fault| fault.kind).collect();
        assert_eq!(kinds, [FaultKind::Http500, FaultKind::Http500, FaultKind::Drop]);
    }

    #[test]
    fn services_reads_and_notifications_have_separate_faults() {
        let faults = Faults::default();
        faults.plan(plan(Service::Acquirer, FaultKind::Duplicate, 1));
        faults.plan(plan(Service::Acquirer, FaultKind::Http500AfterCommit, 1));
        assert_eq!(faults.take_for_call(Service::Mail, true), None);
        assert_eq!(faults.take_for_call(Service::Acquirer, false), None);
        assert!(faults.take_for_call(Service::Acquirer, true).is_some());
        assert!(faults.take_for_notification(Service::Acquirer).is_some());
        assert!(faults.planned().is_empty());
    }

    #[test]
    fn nothing_is_held_longer_than_the_cap() {
        let faults = Faults::default();
        faults.plan(Plan { delay: Some(Duration::from_hours(1)), ..plan(Service::Mail, FaultKind::Timeout, 1) });
        assert_eq!(faults.take_for_call(Service::Mail, true).map(|fault| fault.pause), Some(MAX_HOLD));
    }
}
