//! One running service: HTTP and worker over one database.

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, OnceLock};

use actix_web::dev::ServerHandle;
use chrono::TimeDelta;
use kontor_adapter_diesel::Database;
use kontor_adapter_limits::MemoryLimiter;
use kontor_auth::model::TokenLifetimes;
use kontor_kernel::{Clock, Random};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::task::JoinHandle;

use crate::adapters::{Argon2Passwords, ServiceKey, SystemRandom, messenger};
use crate::config::Config;
use crate::http::server::{ServeError, build};
use crate::wiring::{Services, Surroundings};

/// A running service. [`Instance::stop`] lets requests in flight finish.
pub struct Instance {
    address: SocketAddr,
    server: ServerHandle,
    serving: JoinHandle<std::io::Result<()>>,
}

/// The recorder is global to the process; several instances in one test process share it.
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

impl Instance {
    /// Starts serving on a bound socket.
    pub fn start(
        config: &Config,
        database: &Database,
        clock: Arc<dyn Clock>,
        listener: TcpListener,
    ) -> Result<Self, ServeError> {
        let random: Arc<dyn Random> = Arc::new(SystemRandom::new());
        let around = Surroundings {
            keeper: Arc::new(ServiceKey::new(&config.secret_key, random.clone())),
            limiter: Arc::new(MemoryLimiter::new(clock.clone())),
            hasher: Arc::new(Argon2Passwords::new(random.clone())?),
            codes: Arc::new(messenger(config)?),
            lifetimes: TokenLifetimes {
                staff: TimeDelta::hours(config.staff_token_hours.into()),
                customer: TimeDelta::hours(config.customer_token_hours.into()),
            },
            clock,
            random,
        };
        let services = Services::new(database, &around);
        let address = listener.local_addr()?;
        let server = build(config, services, prometheus(), listener)?;
        let handle = server.handle();
        Ok(Self { address, server: handle, serving: tokio::spawn(server) })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops accepting, waits for requests in flight, ends.
    pub async fn stop(self) {
        self.server.stop(true).await;
        if let Err(error) = self.serving.await {
            tracing::warn!(%error, "the server ended badly");
        }
    }
}
