//! Commands for operating the service.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use kontor_adapter_diesel::{CACHE_TRUST_PERIOD, Database, PoolOptions};
use kontor_kernel::Clock as _;
use kontor_traces::SpanExporter;

use super::{Failure, process};
use crate::adapters::SystemClock;
use crate::config::Config;
use crate::service::health::log_newer_migrations;
use crate::service::instance::{Instance, Roles};

/// Opens the configured database.
pub fn open(config: &Config) -> Result<Database, Failure> {
    let options = PoolOptions {
        connections: config.database_connections,
        prepared_statements: config.database_prepared_statements,
        ..PoolOptions::default()
    };
    Ok(Database::open(config.database()?, options)?)
}

/// Opens the database and rejects one that lacks migrations.
pub fn open_migrated(config: &Config) -> Result<Database, Failure> {
    let database = open(config)?;
    let state = database.migration_state()?;
    log_newer_migrations(&state);
    match state.missing.as_slice() {
        [] => Ok(database),
        [missing] => Err(format!("the database lacks the migration {missing}; run `kontor migrate` first").into()),
        [first, .., last] => {
            let count = state.missing.len();
            Err(format!("the database lacks {count} migrations, {first} to {last}; run `kontor migrate` first").into())
        }
    }
}

/// Waits for the maximum time that services cache access. A revocation is in effect everywhere when the command ends.
pub fn wait_for_access_caches() {
    std::thread::sleep(CACHE_TRUST_PERIOD);
}

/// Warns that stored secrets are not protected, because the key is public.
fn warn_of_development_key(config: &Config) {
    if config.has_development_key() {
        tracing::warn!(
            "secrets are encrypted with the public development key; set KONTOR_SECRET_KEY, and KONTOR_ENV=production \
             if the database holds real data"
        );
    }
}

/// Runs `kontor serve`.
pub fn serve(config: &Config, with_worker: bool) -> Result<(), Failure> {
    let traces = process::log(config)?;
    warn_of_development_key(config);
    let database = open_migrated(config)?;
    if !database.searches_are_indexed()? {
        tracing::warn!("the database has no text index; searches read every record of a project");
    }
    let roles = if with_worker { Roles::Both } else { Roles::Api };
    process::runtime()?.block_on(async {
        let listener = TcpListener::bind(config.bind).map_err(|error| format!("{}: {error}", config.bind))?;
        check_generation(config, &database).await?;
        let instance = Instance::start(config, &database, Arc::new(SystemClock), Some(listener), roles)?;
        let monitoring = instance.monitoring_address().unwrap_or(config.bind);
        tracing::info!(address = %config.bind, %monitoring, database = %database.url(), "serving");
        run_until_ended(instance, traces).await
    })
}

/// Checks if the database was restored from a backup.
async fn check_generation(config: &Config, database: &Database) -> Result<(), Failure> {
    if database.check_generation(config.imports()?, SystemClock.now()).await? {
        tracing::error!(
            "the database was restored from a backup; subscription charges are held; run `kontor reconcile --since \
             MOMENT`"
        );
    }
    Ok(())
}

/// Runs `kontor worker`. Its health checks and metrics are served at the address, if there is one.
pub fn work(config: &Config, monitoring: Option<SocketAddr>) -> Result<(), Failure> {
    let traces = process::log(config)?;
    warn_of_development_key(config);
    let database = open_migrated(config)?;
    process::runtime()?.block_on(async {
        let bind = |address: SocketAddr| TcpListener::bind(address).map_err(|error| format!("{address}: {error}"));
        let listener = monitoring.map(bind).transpose()?;
        check_generation(config, &database).await?;
        let instance = Instance::start(config, &database, Arc::new(SystemClock), listener, Roles::Worker)?;
        tracing::info!(database = %database.url(), "working");
        run_until_ended(instance, traces).await
    })
}

/// Waits for a termination signal. A failed instance ends the process with an error, so that it can be restarted.
pub async fn wait_for_termination(instance: &Instance) -> Result<(), Failure> {
    tokio::select! {
        signaled = process::wait_for_termination() => signaled,
        () = instance.broke_down() => Err("the HTTP server or the worker failed; see the log".into()),
    }
}

async fn run_until_ended(instance: Instance, traces: Option<SpanExporter>) -> Result<(), Failure> {
    let exporting = traces.map(SpanExporter::start);
    let outcome = wait_for_termination(&instance).await;
    tracing::info!("stopping: finishing requests in flight, releasing leases");
    instance.stop().await;
    if let Some(exporting) = exporting {
        exporting.stop().await;
    }
    outcome
}

/// Runs `kontor migrate`.
pub fn migrate(config: &Config, revert: Option<usize>) -> Result<(), Failure> {
    let database = open(config)?;
    let (done, names) = match revert {
        Some(count) => ("reverted", database.revert(count)?),
        None => ("applied", database.migrate()?),
    };
    for name in &names {
        println!("{done} {name}");
    }
    if names.is_empty() {
        println!("nothing to do: {} is up to date", database.url());
    }
    Ok(())
}
