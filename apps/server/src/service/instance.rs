//! Running service: HTTP and worker over one database.

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, OnceLock};

use actix_web::dev::{Server, ServerHandle};
use chrono::TimeDelta;
use kontor_adapter_diesel::{CounterWatch, Database};
use kontor_kernel::{Clock, StoreError};
use kontor_web::InProcess;
use kontor_web::in_process::InProcessThread;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::background_writes::{BackgroundWriter, release_startup_memory};
use super::health::BackgroundTasks;
use super::landing::LandingMarkup;
use super::server::{Api, ServeError, Sockets, build, build_for_worker};
use super::supervision::Supervisor;
use super::wiring::{Adapters, AdaptersError, MessagingError, Services, delivery_worker};
use super::worker::{RunningWorker, TimeLock, Worker};
use crate::config::Config;

/// Running service. [`Instance::stop`] lets requests in flight finish.
pub struct Instance {
    address: Option<SocketAddr>,
    servers: Vec<RunningServer>,
    monitoring: Option<SocketAddr>,
    worker: Option<RunningWorker>,
    in_process: InProcessThread,
    beside: BackgroundWriter,
    _watch: Option<CounterWatch>,
    /// Cancelled when the HTTP server or the worker ends.
    ended: CancellationToken,
}

type RunningServer = (ServerHandle, JoinHandle<std::io::Result<()>>);

/// Returns the metrics recorder. It is global to the process; several instances in one test process share it.
fn prometheus() -> PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE
        .get_or_init(|| {
            let builder = PrometheusBuilder::new()
                .set_buckets(&[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0])
                .unwrap_or_else(|_| PrometheusBuilder::new());
            let recorder = builder.build_recorder();
            let handle = recorder.handle();
            if metrics::set_global_recorder(recorder).is_err() {
                tracing::warn!("another metrics recorder is installed; /metrics stays empty");
            }
            handle
        })
        .clone()
}

/// Parts of the service that a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Roles {
    /// HTTP only.
    Api,
    /// Worker only.
    Worker,
    /// Both in one process.
    Both,
}

/// Parts that only a demo has.
pub struct DemoParts {
    /// Lock that stops the worker while time is moved.
    pub turns: TimeLock,
    /// Text for visitors of the first page.
    pub welcome: LandingMarkup,
}

/// Reason why an instance cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The HTTP server cannot be started.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The adapters of outside services cannot be created with this configuration.
    #[error(transparent)]
    Adapters(#[from] AdaptersError),
    /// Messages cannot be sent.
    #[error(transparent)]
    Messaging(#[from] MessagingError),
    /// Changes of other processes cannot be watched.
    #[error(transparent)]
    CounterWatch(#[from] StoreError),
}

impl Instance {
    /// Starts the parts. The API listens on the bound socket; of a worker alone, health checks and metrics do.
    pub fn start(
        config: &Config,
        database: &Database,
        clock: Arc<dyn Clock>,
        listener: Option<TcpListener>,
        roles: Roles,
    ) -> Result<Self, StartError> {
        Self::start_with(config, database, clock, listener, roles, None)
    }

    /// Starts all parts of a demo, beside a component that moves the time.
    pub fn start_demo(
        config: &Config,
        database: &Database,
        clock: Arc<dyn Clock>,
        listener: TcpListener,
        demo: DemoParts,
    ) -> Result<Self, StartError> {
        Self::start_with(config, database, clock, Some(listener), Roles::Both, Some(demo))
    }

    fn start_with(
        config: &Config,
        database: &Database,
        clock: Arc<dyn Clock>,
        listener: Option<TcpListener>,
        roles: Roles,
        demo: Option<DemoParts>,
    ) -> Result<Self, StartError> {
        let (turns, welcome) = demo.map(|demo| (demo.turns, demo.welcome)).unzip();
        let around = Adapters::new(config, clock)?;
        let (ended, supervisor) = (CancellationToken::new(), Supervisor::default());
        // Before the worker counts anything.
        let metrics = prometheus();
        let channel = InProcess::channel();
        let worker = match roles {
            Roles::Api => None,
            Roles::Worker | Roles::Both => {
                let worker = Worker {
                    turns,
                    supervisor: supervisor.clone(),
                    ..worker(config, database, &around, channel.0.clone())?
                };
                Some(worker.start(ended.clone().drop_guard()))
            }
        };
        let tasks = BackgroundTasks { supervisor: supervisor.clone(), has_worker: worker.is_some() };
        let address = listener.as_ref().map(TcpListener::local_addr).transpose().map_err(ServeError::from)?;
        let (sockets, own) = match listener {
            Some(listener) if roles == Roles::Worker => (None, Some(listener)),
            Some(main) => (Some(Sockets { main, monitoring: monitoring_socket(config)? }), None),
            None => (None, None),
        };
        let monitoring = sockets.as_ref().and_then(|sockets| sockets.monitoring.as_ref());
        let monitoring = monitoring.map(TcpListener::local_addr).transpose().map_err(ServeError::from)?;
        // The worker continues calls of agents, so it needs the application, too.
        around.counters.start();
        let services = Services::new(database, &around);
        let left = services.buffered_writes();
        let welcome = welcome.unwrap_or_default();
        let built = build(config, services, metrics.clone(), sockets, tasks.clone(), welcome, channel)?;
        let Api { mut servers, in_process } = built;
        if let Some(listener) = own {
            servers.push(build_for_worker(database, around.clock.clone(), metrics.clone(), tasks, listener)?);
        }
        let beside = BackgroundWriter::start(left, metrics, &supervisor);
        // A worker alone uses no caches.
        let watch = (roles != Roles::Worker).then(|| database.watch()).transpose()?;
        tokio::spawn(release_startup_memory());
        let serve = |server: Server| {
            let (handle, ended) = (server.handle(), ended.clone().drop_guard());
            let serving = tokio::spawn(async move {
                let _ended = ended;
                server.await
            });
            (handle, serving)
        };
        let servers = servers.into_iter().map(serve).collect();
        let (api_address, monitoring) = match roles {
            Roles::Worker => (None, address),
            Roles::Api | Roles::Both => (address, monitoring),
        };
        Ok(Self { address: api_address, servers, monitoring, worker, in_process, beside, _watch: watch, ended })
    }

    /// Returns the address that the API listens on.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Returns the address of `/metrics`, if it is a separate one.
    pub fn monitoring_address(&self) -> Option<SocketAddr> {
        self.monitoring
    }

    /// Waits until the HTTP server or the worker ends. Before [`Instance::stop`] this happens only on a failure.
    pub async fn broke_down(&self) {
        self.ended.cancelled().await;
    }

    /// Stops accepting requests, waits for those in flight, releases leases, and ends.
    pub async fn stop(self) {
        for (handle, serving) in self.servers {
            handle.stop(true).await;
            if let Err(error) = serving.await {
                tracing::warn!(%error, "the server ended with an error");
            }
        }
        if let Some(worker) = self.worker {
            worker.stop().await;
        }
        self.in_process.stop().await;
        self.beside.stop().await;
    }
}

/// Binds the socket of `/metrics` and `/docs/`, if it is a separate one.
fn monitoring_socket(config: &Config) -> Result<Option<TcpListener>, ServeError> {
    let bind = |address| TcpListener::bind(address).map_err(|error| ServeError::Monitoring(address, error));
    config.monitoring()?.map(bind).transpose()
}

fn worker(
    config: &Config,
    database: &Database,
    around: &Adapters,
    in_process: InProcess,
) -> Result<Worker, MessagingError> {
    Ok(Worker {
        name: around.random.uuid().to_string(),
        database: database.clone(),
        clock: around.clock.clone(),
        deliveries: delivery_worker(config, database, around)?,
        charges: Arc::new(around.charges(database)),
        retention: TimeDelta::days(config.retention_days.into()),
        passwords: Arc::new(around.temporary_passwords(database)),
        task_mails: around.task_mails(database),
        approval_mails: around.approval_mails(database),
        refunds: around.refunds(database),
        subscriptions: around.subscription_scheduler(database),
        receipts: around.receipts(database),
        files: around.file_sweeper(database),
        jobs: around.job_runner(database),
        exports: around.export_runner(database),
        agent_calls: around.agent_actions(database),
        in_process,
        turns: None,
        supervisor: Supervisor::default(),
    })
}
