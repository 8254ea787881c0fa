//! HTTP server: middleware, routes, connection limits.

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actix_cors::Cors;
use actix_web::dev::Server;
use actix_web::http::header::HeaderValue;
use actix_web::middleware::from_fn;
use actix_web::web::{Data, FormConfig, PathConfig, PayloadConfig, ServiceConfig};
use actix_web::{App, HttpResponse, HttpServer, web};
use kontor_adapter_diesel::Database;
use kontor_kernel::Clock;
use kontor_mcp::{Mcp, ToolMismatch};
use metrics_exporter_prometheus::PrometheusHandle;
use utoipa_actix_web::AppExt;
use utoipa_swagger_ui::SwaggerUi;

use super::health::{BackgroundTasks, healthz, metrics_text, readyz};
use super::landing::{LandingMarkup, Pages, landing};
use super::observe::observe;
use super::openapi::{KnownPaths, as_json, declared, openapi_json, routes, unrouted};
use super::policies::{self, Policies, PoliciesIncomplete, enforce};
use super::wiring::Services;
use crate::callbacks::AcquirerAddresses;
use crate::config::{Config, ConfigError};
use kontor_web::client_ip::TrustedProxies;
use kontor_web::in_process::{InProcessQueue, InProcessThread};
use kontor_web::password_queue::{PasswordQueue, QueueBounds};
use kontor_web::path::is_below;
use kontor_web::preconditions::check_preconditions;
use kontor_web::request_id::RequestIds;
use kontor_web::review_page::review_page;
use kontor_web::{ApiError, BodyReader, InProcess, ResizeQueue, file_contents};

/// Reason why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An endpoint has no policy, or a policy no endpoint.
    #[error(transparent)]
    Policies(#[from] PoliciesIncomplete),
    /// A tool for agents does not fit the API.
    #[error(transparent)]
    Tools(#[from] ToolMismatch),
    /// The description of the API cannot be written as JSON.
    #[error("the description of the API: {0}")]
    Description(#[from] serde_json::Error),
    /// The address of `/metrics` is in use or does not belong to this machine.
    #[error("monitoring_bind: {0}: {1}; every process on a machine needs its own address")]
    Monitoring(SocketAddr, std::io::Error),
    /// The socket cannot be used.
    #[error("cannot listen on the address: {0}")]
    Listen(#[from] std::io::Error),
}

/// Allows browsers to call the client surface from the configured origins. It uses no cookies, so `*` is safe.
fn cors(origins: &[String]) -> Cors {
    let any = origins.iter().any(|origin| origin == "*");
    let origins: Vec<String> = origins.to_vec();
    Cors::default()
        .allowed_origin_fn(move |origin: &HeaderValue, request| {
            let known = any || origins.iter().any(|known| origin.as_bytes() == known.as_bytes());
            known && is_below(request.uri.path(), "/api/counterparty")
        })
        .allowed_methods(["GET", "POST", "PUT", "PATCH", "DELETE"])
        .allowed_headers([
            "Token",
            "Authorization",
            "Content-Type",
            "Accept",
            "Idempotency-Key",
            "If-Match",
            "If-None-Match",
        ])
        .expose_headers([
            "ETag",
            "X-Request-ID",
            "Retry-After",
            "Idempotent-Replayed",
            "Idempotency-Key-Expires",
            "X-RateLimit-Limit",
            "X-RateLimit-Remaining",
            "X-RateLimit-Reset",
        ])
        .block_on_origin_mismatch(false)
        .max_age(3600)
}

/// Sockets of a process.
pub struct Sockets {
    /// Socket of the surfaces.
    pub main: TcpListener,
    /// Socket of `/metrics` and `/docs/`, if it is separate.
    pub monitoring: Option<TcpListener>,
}

/// Registers the endpoints for operators.
fn monitoring(config: &mut ServiceConfig) {
    config
        .service(metrics_text)
        .service(web::redirect("/docs", "/docs/"))
        .service(SwaggerUi::new("/docs/{_:.*}").config(utoipa_swagger_ui::Config::from("/openapi.json")));
}

/// Policies, known paths of all routes, and tools for agents.
type Tables = (Data<Policies>, Data<KnownPaths>, Data<Mcp>);

/// Returns what is read from the description once per process.
fn route_tables() -> Result<Tables, ServeError> {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    if let Some(known) = TABLES.get() {
        return Ok(known.clone());
    }
    let api = declared();
    let policies = Data::new(Policies::of(&api)?);
    let mcp = Data::new(Mcp::new(&as_json(&api)?, policies::all())?);
    let tables = (policies, Data::new(KnownPaths::of(&api)), mcp);
    Ok(TABLES.get_or_init(|| tables).clone())
}

/// Builds the server of a worker without an API: health checks and metrics.
pub fn build_for_worker(
    database: &Database,
    clock: Arc<dyn Clock>,
    prometheus: PrometheusHandle,
    tasks: BackgroundTasks,
    socket: TcpListener,
) -> Result<Server, ServeError> {
    let (database, clock) = (Data::new(database.clone()), Data::new(clock));
    let (prometheus, tasks) = (Data::new(prometheus), Data::new(tasks));
    let server = HttpServer::new(move || {
        App::new()
            .app_data(database.clone())
            .app_data(clock.clone())
            .app_data(prometheus.clone())
            .app_data(tasks.clone())
            .service(healthz)
            .service(readyz)
            .service(metrics_text)
            .default_service(web::to(|| async { Err::<HttpResponse, _>(ApiError::not_found()) }))
    });
    Ok(server.workers(1).disable_signals().listen(socket)?.run())
}

/// Servers of a process, and the thread for requests that the process makes itself.
pub struct Api {
    /// The caller awaits them and stops them by their handles.
    pub servers: Vec<Server>,
    /// Outlives the servers: their requests may wait for it.
    pub in_process: InProcessThread,
}

/// Builds a server on each of the bound sockets. Without sockets, only requests of the process itself are served.
pub fn build(
    config: &Config,
    services: Services,
    prometheus: PrometheusHandle,
    sockets: Option<Sockets>,
    tasks: BackgroundTasks,
    welcome: LandingMarkup,
    (in_process, queue): (InProcess, InProcessQueue),
) -> Result<Api, ServeError> {
    let (policies, known, mcp) = route_tables()?;
    let in_process = Data::new(in_process);
    let proxies = Data::new(TrustedProxies(config.proxies()?));
    let acquirer = Data::new(AcquirerAddresses(config.acquirer_ranges()?));
    let prometheus = Data::new(prometheus);
    let origins = config.cors_origins.clone();
    let body_limit = config.body_limit;
    let sampling = config.sampling();
    let settings = config.settings();
    let intake = Data::new(BodyReader::new(&settings));
    let workers = config.http_workers;
    let limits = Data::new(settings);
    let tasks = Data::new(tasks);
    let welcome = Data::new(welcome);
    let answers = Data::new(services.answers(config.answers_memory_mb));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let password_queue = Data::new(PasswordQueue::new(QueueBounds::of_cores(cores)));
    let resize_queue = Data::new(ResizeQueue::default());

    let is_whole = sockets.as_ref().is_some_and(|sockets| sockets.monitoring.is_none());
    let pages = Pages { viewer: is_whole, console: config.console };
    let shared = move |config: &mut ServiceConfig| {
        services.register(config);
        config
            .app_data(RequestIds::new(services.random()))
            .app_data(sampling)
            .app_data(prometheus.clone())
            .app_data(intake.clone())
            .app_data(tasks.clone())
            .app_data(answers.clone())
            .service(healthz)
            .service(readyz)
            .service(openapi_json);
    };
    let (main, monitoring_socket) = sockets.map(|sockets| (sockets.main, sockets.monitoring)).unzip();
    let apart = monitoring_socket.flatten().map(|listener| {
        let shared = shared.clone();
        let server = HttpServer::new(move || {
            let absent = web::to(|| async { Err::<HttpResponse, _>(ApiError::not_found()) });
            App::new().configure(&shared).configure(monitoring).default_service(absent).wrap(from_fn(observe))
        });
        server.workers(1).disable_signals().listen(listener)
    });

    let application = move || {
        let (app, _) = App::new().into_utoipa_app().configure(routes).split_for_parts();
        let app = app.configure(&shared);
        let app = if is_whole { app.configure(monitoring) } else { app };
        let app = if pages.console { app.configure(kontor_console::routes) } else { app };
        app.app_data(policies.clone())
            .app_data(known.clone())
            .app_data(proxies.clone())
            .app_data(acquirer.clone())
            .app_data(limits.clone())
            .app_data(welcome.clone())
            .app_data(Data::new(pages))
            .app_data(password_queue.clone())
            .app_data(resize_queue.clone())
            .app_data(in_process.clone())
            .app_data(mcp.clone())
            .app_data(PayloadConfig::new(body_limit))
            .app_data(FormConfig::default().limit(body_limit))
            .app_data(PathConfig::default().error_handler(|_, _| ApiError::not_found().into()))
            .service(landing)
            .service(review_page)
            .configure(file_contents::routes)
            .configure(kontor_mcp::routes)
            .default_service(web::to(unrouted))
            .wrap(from_fn(check_preconditions))
            .wrap(from_fn(enforce))
            .wrap(cors(&origins))
            .wrap(from_fn(observe))
    };
    let in_process = queue.serve(application.clone())?;
    let Some(main) = main else { return Ok(Api { servers: Vec::new(), in_process }) };
    let mut server = HttpServer::new(application)
        .shutdown_timeout(30)
        .client_request_timeout(Duration::from_secs(15))
        .keep_alive(Duration::from_secs(75))
        .disable_signals();
    if workers > 0 {
        server = server.workers(workers);
    }
    let main = server.listen(main)?.run();
    let servers = match apart {
        Some(apart) => vec![main, apart?.run()],
        None => vec![main],
    };
    Ok(Api { servers, in_process })
}
