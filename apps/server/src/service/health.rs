//! Liveness, readiness and metrics.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, ResponseError, get, web};
use chrono::TimeDelta;
use kontor_adapter_diesel::{Database, MigrationState, unreadable};
use kontor_kernel::Clock;
use metrics_exporter_prometheus::PrometheusHandle;
use serde_json::json;
use std::sync::{Arc, Once};

use super::supervision::Supervisor;
use super::wiring::Counters;
use kontor_web::BodyReader;
use kontor_web::response_cache::ResponseCache;
use kontor_web::upload::blocking;

/// `GET /healthz`: the process responds.
#[get("/healthz")]
pub async fn healthz() -> HttpResponse {
    HttpResponse::Ok().json(json!({ "status": "ok" }))
}

/// Background tasks of this process.
#[derive(Clone)]
pub struct BackgroundTasks {
    /// Reports the tasks that are down.
    pub supervisor: Supervisor,
    /// `true` if the process has its own worker.
    pub has_worker: bool,
}

/// `GET /readyz`: the database is reachable and migrated and, if the process has its own worker, a worker is alive.
/// `503` names what is missing. An API process can serve without a worker: there the worker's state is reported but
/// ignored, so that load balancers do not remove every API process when the workers are down.
///
/// `degraded` is `200`: the process serves, but a background task is down (`down` names it), or rate limits are counted
/// in memory instead of Redis.
#[get("/readyz")]
pub async fn readyz(
    database: web::Data<Database>,
    clock: web::Data<Arc<dyn Clock>>,
    counters: Option<web::Data<Counters>>,
    tasks: web::Data<BackgroundTasks>,
) -> HttpResponse {
    let handle = database.get_ref().clone();
    let state = web::block(move || handle.migration_state()).await;
    let (database_state, migrations) = match state {
        Ok(Ok(state)) => {
            log_newer_migrations(&state);
            ("ok", if state.missing.is_empty() { "ok" } else { "pending" })
        }
        _ => ("unreachable", "unknown"),
    };
    let worker = worker_state(&database, clock.get_ref().as_ref()).await;
    let served = (database_state, migrations) == ("ok", "ok");
    let ready = served && (worker == "ok" || !tasks.has_worker);
    let (down, rate_limits) = (tasks.supervisor.down(), place_of(counters.as_ref()));
    let (status, state) = match (ready, down.is_empty() && rate_limits != "fallback") {
        (false, _) => (StatusCode::SERVICE_UNAVAILABLE, "not ready"),
        (true, false) => (StatusCode::OK, "degraded"),
        (true, true) => (StatusCode::OK, "ready"),
    };
    HttpResponse::build(status).json(json!({
        "status": state,
        "checks": { "database": database_state, "migrations": migrations, "worker": worker },
        "down": down,
        "rate_limits": rate_limits,
    }))
}

/// Returns `ok` if a worker was seen within 30 seconds.
async fn worker_state(database: &Database, clock: &dyn Clock) -> &'static str {
    match database.worker_last_seen().await {
        Ok(Some(seen)) if clock.now() - seen < TimeDelta::seconds(30) => "ok",
        Ok(_) => "missing",
        Err(_) => "unknown",
    }
}

/// Returns the place of the rate limit counters. A worker without an API counts none.
fn place_of(counters: Option<&web::Data<Counters>>) -> &'static str {
    counters.map_or("memory", |counters| counters.place())
}

/// Logs, once in a process, that a newer binary has migrated the database.
pub fn log_newer_migrations(state: &MigrationState) {
    static WARNED_ONCE: Once = Once::new();
    if !state.unknown.is_empty() {
        WARNED_ONCE.call_once(|| {
            tracing::info!(
                migrations = state.unknown.join(", "),
                "the database has migrations that this binary does not know; the service continues"
            );
        });
    }
}

/// `GET /metrics`: metrics in the Prometheus text format. The text is created outside the threads that serve requests.
/// A worker without an API has no counters, response cache and request bodies.
#[get("/metrics")]
pub async fn metrics_text(
    database: web::Data<Database>,
    clock: web::Data<Arc<dyn Clock>>,
    counters: Option<web::Data<Counters>>,
    answers: Option<web::Data<ResponseCache>>,
    intake: Option<web::Data<BodyReader>>,
    prometheus: web::Data<PrometheusHandle>,
) -> HttpResponse {
    // Without a first value, an alert on growth would miss the first panic.
    metrics::counter!("kontor_panics_total").increment(0);
    kontor_traces::begin_counters();
    if let Some(intake) = intake {
        let bodies = u32::try_from(intake.bytes() / 1024).unwrap_or(u32::MAX);
        metrics::gauge!("kontor_request_bodies_bytes").set(f64::from(bodies) * 1024.0);
    }
    let pool = database.pool_state();
    metrics::gauge!("kontor_pool_connections", "state" => "open").set(f64::from(pool.open));
    metrics::gauge!("kontor_pool_connections", "state" => "idle").set(f64::from(pool.idle));
    let fallback = if place_of(counters.as_ref()) == "fallback" { 1.0 } else { 0.0 };
    metrics::gauge!("kontor_rate_limits_fallback").set(fallback);
    // Without the database the other figures are still reported.
    match worker_state(&database, clock.get_ref().as_ref()).await {
        "unknown" => tracing::warn!("the workers cannot be counted"),
        state => metrics::gauge!("kontor_worker_alive").set(if state == "ok" { 1.0 } else { 0.0 }),
    }
    match database.count_parked().await {
        Ok(parked) => {
            for (queue, rows) in parked {
                let rows = u32::try_from(rows).unwrap_or(u32::MAX);
                metrics::gauge!("kontor_queue_parked", "queue" => queue).set(f64::from(rows));
            }
        }
        Err(error) => tracing::warn!(%error, "parked rows cannot be counted"),
    }
    match database.count_receipts_to_review().await {
        Ok(receipts) => {
            let receipts = u32::try_from(receipts).unwrap_or(u32::MAX);
            metrics::gauge!("kontor_receipts_to_look_at").set(f64::from(receipts));
        }
        Err(error) => tracing::warn!(%error, "receipts that need review cannot be counted"),
    }
    match database.count_payments_to_review().await {
        Ok(payments) => {
            let payments = u32::try_from(payments).unwrap_or(u32::MAX);
            metrics::gauge!("kontor_payments_to_look_at").set(f64::from(payments));
        }
        Err(error) => tracing::warn!(%error, "payments that need review cannot be counted"),
    }
    match database.is_held().await {
        Ok(held) => metrics::gauge!("kontor_charges_held").set(if held { 1.0 } else { 0.0 }),
        Err(error) => tracing::warn!(%error, "the hold on charges cannot be read"),
    }
    for (table, rows) in unreadable::count() {
        metrics::counter!("kontor_unreadable_rows_total", "table" => table).absolute(rows);
    }
    if let Some(answers) = answers {
        let bytes = u32::try_from(answers.bytes() / 1024).unwrap_or(u32::MAX);
        metrics::gauge!("kontor_answers_remembered_bytes").set(f64::from(bytes) * 1024.0);
    }
    match blocking(move || prometheus.render()).await {
        Ok(text) => HttpResponse::Ok().content_type("text/plain; version=0.0.4").body(text),
        Err(refusal) => refusal.error_response(),
    }
}
