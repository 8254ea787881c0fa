//! A receiver for webhooks: stores every delivery and answers with the configured status.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;

use actix_web::http::StatusCode;
use actix_web::middleware::from_fn;
use actix_web::web::{self, Bytes, Data, Path, ServiceConfig};
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::faults::{self, Fault, FaultKind};
use crate::server;
use crate::state::{Bounded, SandboxState, keep_newest, lock, moment};

const MAX_HOOKS: usize = 1_000;

/// One call to a hook.
struct Delivery {
    headers: BTreeMap<String, String>,
    body: String,
    received_at: DateTime<Utc>,
    /// The status of the response; `None` when the response was held back.
    answered: Option<u16>,
}

/// A URL that receives deliveries.
struct Hook {
    status: StatusCode,
    /// Number of calls that still get `status`; `None` for all.
    times: Option<u32>,
    deliveries: VecDeque<Delivery>,
}

pub struct Hooks {
    deliveries_kept: usize,
    hooks: Mutex<Bounded<Hook>>,
}

impl Hooks {
    pub fn new(deliveries_kept: usize) -> Self {
        Self { deliveries_kept: deliveries_kept.max(1), hooks: Mutex::new(Bounded::new(MAX_HOOKS)) }
    }

    /// Opens a hook that answers `status` to its first `times` calls (to all without `times`), then 200.
    pub fn open(&self, id: &str, status: StatusCode, times: Option<u32>) {
        lock(&self.hooks).put(id, Hook { status, times, deliveries: VecDeque::new() });
    }

    /// Returns the deliveries to a hook, oldest first.
    pub fn deliveries(&self, id: &str) -> Option<Vec<Value>> {
        let hooks = lock(&self.hooks);
        let view = |delivery: &Delivery| {
            json!({
                "headers": delivery.headers,
                "body": delivery.body,
                "received_at": moment(delivery.received_at),
                "answered": delivery.answered,
            })
        };
        Some(hooks.get(id)?.deliveries.iter().map(view).collect())
    }

    /// Stores a delivery and returns the status of the response.
    fn take(&self, id: &str, mut delivery: Delivery, fault: Option<FaultKind>) -> Option<StatusCode> {
        let mut hooks = lock(&self.hooks);
        let hook = hooks.get_mut(id)?;
        let status = match &mut hook.times {
            None => hook.status,
            Some(0) => StatusCode::OK,
            Some(times) => {
                *times -= 1;
                hook.status
            }
        };
        delivery.answered = match fault {
            Some(FaultKind::Timeout | FaultKind::DropAfterCommit) => None,
            Some(FaultKind::Http500AfterCommit) => Some(500),
            _ => Some(status.as_u16()),
        };
        keep_newest(&mut hook.deliveries, self.deliveries_kept, delivery);
        Some(status)
    }
}

/// `/hooks/{id}`
pub fn routes(config: &mut ServiceConfig) {
    config.service(
        web::resource("/hooks/{id}")
            .wrap(from_fn(faults::webhook))
            .route(web::post().to(receive))
            .default_service(web::to(server::wrong_method)),
    );
}

/// Returns the response to a call hit by a `refuse` fault.
pub fn refusal() -> HttpResponse {
    server::message(StatusCode::FORBIDDEN, "refused as planned")
}

async fn receive(call: HttpRequest, sandbox_state: Data<SandboxState>, id: Path<String>, body: Bytes) -> HttpResponse {
    let mut headers = BTreeMap::<String, String>::new();
    for (name, value) in call.headers() {
        let value = String::from_utf8_lossy(value.as_bytes());
        headers
            .entry(name.as_str().to_owned())
            .and_modify(|known| {
                known.push_str(", ");
                known.push_str(&value);
            })
            .or_insert_with(|| value.clone().into_owned());
    }
    let delivery = Delivery {
        headers,
        body: String::from_utf8_lossy(&body).into_owned(),
        received_at: sandbox_state.now(),
        answered: None,
    };
    let fault = call.extensions().get::<Fault>().map(|fault| fault.kind);
    match sandbox_state.hooks.take(&id, delivery, fault) {
        Some(status) => HttpResponse::build(status).finish(),
        None => server::not_found().await,
    }
}
