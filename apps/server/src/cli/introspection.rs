//! `kontor introspection issue|rotate|disable`

use std::sync::Arc;

use clap::{Args, Subcommand};
use kontor_auth::model::Audience;
use kontor_auth::{IntrospectionRegistry, IssuedIntrospectionClient};
use kontor_kernel::{ApplicationId, ExposeSecret};
use serde_json::json;

use super::operate::{open_migrated, wait_for_access_caches};
use super::process::Output;
use super::{Failure, process};
use crate::adapters::SystemClock;
use crate::config::{Config, ConfigError};
use crate::service::wiring::Adapters;

/// Subcommands of `kontor introspection`.
#[derive(Subcommand)]
pub enum IntrospectionCommand {
    /// Issue credentials of a backend for one application and audience.
    Issue(ClientArguments),
    /// Replace the secret. The old one stops working at once; a disabled client becomes active again.
    Rotate(ClientArguments),
    /// Disable a client at once.
    Disable(ClientArguments),
}

/// Selected client.
#[derive(Args)]
pub struct ClientArguments {
    /// Id of the application whose customer tokens the backend checks.
    #[arg(long, value_name = "ID")]
    application: i64,
    /// Intended audience; the backend sends the same text with every request.
    #[arg(long)]
    audience: String,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
pub fn run(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    command: IntrospectionCommand,
) -> Result<(), Failure> {
    let (IntrospectionCommand::Issue(client)
    | IntrospectionCommand::Rotate(client)
    | IntrospectionCommand::Disable(client)) = &command;
    let application = ApplicationId::new(client.application).map_err(|error| format!("--application: {error}"))?;
    let audience = Audience::parse(&client.audience).map_err(|error| format!("--audience {error}"))?;
    let as_json = client.output.json;
    let registry = registry(&load(client.output.database.clone())?)?;
    let runtime = process::runtime()?;
    match command {
        IntrospectionCommand::Issue(_) => print(&runtime.block_on(registry.issue(application, audience))?, as_json),
        IntrospectionCommand::Rotate(_) => {
            let issued = runtime.block_on(registry.rotate(application, audience))?;
            wait_for_access_caches();
            print(&issued, as_json);
        }
        IntrospectionCommand::Disable(_) => {
            let client_id = runtime.block_on(registry.disable(application, audience))?;
            wait_for_access_caches();
            if as_json {
                println!("{}", json!({ "client_id": client_id, "is_active": false }));
            } else {
                println!("{client_id} is disabled.");
            }
        }
    }
    Ok(())
}

fn registry(config: &Config) -> Result<IntrospectionRegistry, Failure> {
    let clients = Arc::new(open_migrated(config)?);
    let Adapters { clock, random, cipher, .. } = Adapters::new(config, Arc::new(SystemClock))?;
    Ok(IntrospectionRegistry { clients, clock, random, cipher })
}

fn print(issued: &IssuedIntrospectionClient, as_json: bool) {
    let (client_id, secret) = (issued.client_id, issued.secret.expose_secret());
    if as_json {
        println!("{}", json!({ "client_id": client_id, "client_secret": secret }));
    } else {
        println!("client_id      {client_id}");
        println!("client_secret  {secret}");
        println!("The secret is shown only once.");
    }
}
