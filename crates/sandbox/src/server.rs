//! Start and stop: sockets, tasks and routes. Also moving the time of the sandbox together with the service that shares
//! its clock.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::http::StatusCode;
use actix_web::web::{self, Data, PayloadConfig, ServiceConfig};
use actix_web::{App, HttpResponse, HttpServer};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use tokio::net::TcpSocket;
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::acquirer::{self, notifications};
use crate::state::{SandboxConfig, SandboxState, lock};
use crate::{control, index, smtp, storage, suggest, telephony, webhook_receiver};

const BACKLOG: u32 = 1_024;
const MAX_BODY_BYTES: usize = 2 * 1024 * 1024;
/// Longer than clients keep an idle connection (reqwest: 90 seconds). Closing a connection while a request is on its
/// way would be an unplanned fault.
const KEEP_ALIVE: Duration = Duration::from_mins(2);

/// Reason why a sandbox did not start.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// An address could not be bound.
    #[error("the sandbox cannot listen on {address}: {source}")]
    Listen {
        /// The requested address.
        address: SocketAddr,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The client that sends notifications could not be built.
    #[error("the sandbox cannot send notifications: {0}")]
    Client(#[from] reqwest::Error),
}

/// The emulator of outside services.
pub struct Sandbox;

impl Sandbox {
    /// Starts serving. Requires a tokio or actix runtime. It serves until the handle is stopped or dropped.
    pub async fn start(config: SandboxConfig) -> Result<SandboxHandle, SandboxError> {
        let failed = |address| move |source| SandboxError::Listen { address, source };
        let http = listen(config.bind).map_err(failed(config.bind))?;
        let addr = http.local_addr().map_err(failed(config.bind))?;
        let mailbox = tokio::net::TcpListener::bind(config.smtp_bind).await.map_err(failed(config.smtp_bind))?;
        let smtp_addr = mailbox.local_addr().map_err(failed(config.smtp_bind))?;
        let client = notification_client()?;

        let url = config
            .public_url
            .as_deref()
            .map_or_else(|| format!("http://{}", reachable(addr)), |url| url.trim_end_matches('/').to_owned());
        let stopping = CancellationToken::new();
        let (outbox, inbox) = unbounded_channel();
        let (pushed, to_push) = unbounded_channel();
        let sandbox_state = Arc::new(SandboxState::new(&config, url, (outbox, pushed), stopping));

        let data = Data::from(Arc::clone(&sandbox_state));
        let server = HttpServer::new(move || {
            App::new().app_data(data.clone()).app_data(PayloadConfig::new(MAX_BODY_BYTES)).configure(routes)
        })
        .workers(config.workers.max(1))
        .disable_signals()
        .shutdown_timeout(1)
        .keep_alive(KEEP_ALIVE)
        .listen(http)
        .map_err(failed(config.bind))?
        .run();
        let server_handle = server.handle();
        let tasks = vec![
            tokio::spawn(async move {
                if let Err(error) = server.await {
                    tracing::error!(%error, "the sandbox stopped serving");
                }
            }),
            tokio::spawn(smtp::serve(Arc::clone(&sandbox_state), mailbox)),
            tokio::spawn(notifications::courier(Arc::clone(&sandbox_state), client.clone(), inbox)),
            tokio::spawn(telephony::courier(Arc::clone(&sandbox_state), client, to_push)),
        ];
        Ok(SandboxHandle { sandbox_state, addr, smtp_addr, server: server_handle, tasks })
    }
}

/// A running sandbox. Dropping it stops it too, without waiting.
pub struct SandboxHandle {
    sandbox_state: Arc<SandboxState>,
    addr: SocketAddr,
    smtp_addr: SocketAddr,
    server: ServerHandle,
    tasks: Vec<JoinHandle<()>>,
}

impl SandboxHandle {
    /// Returns the URL of the sandbox, without a trailing slash. The acquirer's API is at `{url}/v3`.
    pub fn url(&self) -> &str {
        &self.sandbox_state.url
    }

    /// Returns the HTTP address.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the address of the mailbox.
    pub fn smtp_addr(&self) -> SocketAddr {
        self.smtp_addr
    }

    /// Replaces the URL of the acquirer's notifications.
    pub fn set_notification_url(&self, url: impl Into<String>) {
        self.sandbox_state.acquirer.notifier.set_urls(vec![url.into()]);
    }

    /// Sets the handler of `POST /control/clock`. Without one the clock jumps.
    pub fn set_time_travel(&self, travel: Arc<dyn TimeTravel>) {
        self.sandbox_state.clock_handler.set(travel);
    }

    /// Sets the URL of the telephony provider's messages about calls.
    pub fn set_call_callback_url(&self, url: impl Into<String>) {
        self.sandbox_state.pushes.set_url(Some(url.into()));
    }

    /// Stops serving and waits until every socket is closed.
    pub async fn stop(mut self) {
        self.sandbox_state.stopping.cancel();
        self.server.stop(false).await;
        for task in std::mem::take(&mut self.tasks) {
            let _ = task.await;
        }
    }
}

impl Drop for SandboxHandle {
    fn drop(&mut self) {
        self.sandbox_state.stopping.cancel();
        // `stop` sends the command immediately. Only waiting for its completion needs an await.
        drop(self.server.stop(false));
    }
}

fn routes(config: &mut ServiceConfig) {
    config
        .configure(acquirer::api::routes)
        .configure(acquirer::page::routes)
        .configure(telephony::routes)
        .configure(suggest::routes)
        .configure(webhook_receiver::routes)
        .configure(storage::routes)
        .configure(control::routes)
        .configure(index::routes)
        .default_service(web::to(not_found));
}

/// Returns the response of the sandbox's own services: `{"message": "..."}`.
pub(crate) fn message(status: StatusCode, text: &str) -> HttpResponse {
    HttpResponse::build(status).json(json!({ "message": text }))
}

/// 404.
pub(crate) async fn not_found() -> HttpResponse {
    message(StatusCode::NOT_FOUND, "not found; GET / lists what the sandbox offers")
}

/// 405.
pub(crate) async fn wrong_method() -> HttpResponse {
    message(StatusCode::METHOD_NOT_ALLOWED, "this path does not support this method")
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?.into_std()
}

/// Returns an address that a client on this machine can connect to: the unspecified address is none.
pub fn reachable(addr: SocketAddr) -> SocketAddr {
    let ip = match addr.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, addr.port())
}

/// Builds the client of notifications. It follows no redirects and accepts any certificate, as the provider does.
fn notification_client() -> Result<reqwest::Client, reqwest::Error> {
    // An error means that the process has installed its TLS provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .tls_danger_accept_invalid_certs(true)
        .no_proxy()
        .build()
}

/// Moves the time of everything that shares the clock of the sandbox.
#[async_trait]
pub trait TimeTravel: Send + Sync {
    /// Moves the clock to `to`, with everything that is due until then, and returns what happened. A dry run moves
    /// nothing and returns what would happen. An error is a message that explains why time cannot move.
    async fn travel(&self, to: DateTime<Utc>, dry_run: bool, outside: &dyn Outside) -> Result<Value, String>;
}

/// Events of the sandbox that depend on time.
#[async_trait]
pub trait Outside: Send + Sync {
    /// Returns the time of the next event: a payment ends, or a notification is sent again.
    fn next_moment(&self) -> Option<DateTime<Utc>>;

    /// Runs everything that is due now and waits until the shop is notified. Returns `true` if there was anything.
    async fn settle(&self) -> bool;
}

#[async_trait]
impl Outside for SandboxState {
    fn next_moment(&self) -> Option<DateTime<Utc>> {
        let deadline = self.with_ledger(|ledger, _| ledger.next_deadline());
        deadline.into_iter().chain(self.acquirer.notifier.next_redelivery()).min()
    }

    async fn settle(&self) -> bool {
        let now = self.with_ledger(|_, now| now);
        self.acquirer.notifier.settle(now).await
    }
}

/// Handler that moves time, with a lock for one journey at a time.
#[derive(Default)]
pub struct ClockHandler {
    travel: Mutex<Option<Arc<dyn TimeTravel>>>,
    turn: tokio::sync::Mutex<()>,
}

impl ClockHandler {
    pub fn set(&self, travel: Arc<dyn TimeTravel>) {
        *lock(&self.travel) = Some(travel);
    }

    pub fn get(&self) -> Option<Arc<dyn TimeTravel>> {
        lock(&self.travel).clone()
    }

    /// Waits until the journey before has ended.
    pub async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }
}
