//! `kontor introspection issue|rotate|disable`

use std::sync::Arc;

use clap::{Args, Subcommand};
use kontor_auth::model::Audience;
use kontor_auth::{IntrospectionRegistry, IssuedIntrospectionClient};
use kontor_kernel::{ApplicationId, ExposeSecret};
use serde_json::json;

use super::operate::{open_migrated, until_everybody_knows};
use super::output::Output;
use super::{Failure, process};
use crate::adapters::SystemClock;
use crate::config::{Config, ConfigError};
use crate::service::wiring::Surroundings;

/// What can be done with the backends that ask about tokens.
#[derive(Subcommand)]
pub enum IntrospectionCommand {
    /// Credentials of a backend, for one application and audience.
    Issue(ClientArguments),
    /// Another secret in the place of the old one, which is worth nothing at once; a disabled client is active again.
    Rotate(ClientArguments),
    /// Shuts a client out at once.
    Disable(ClientArguments),
}

/// Which client.
#[derive(Args)]
pub struct ClientArguments {
    /// The number of the application whose customers the backend asks about.
    #[arg(long, value_name = "ID")]
    application: i64,
    /// Whom it is for; the backend sends the same text with every question.
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
            until_everybody_knows();
            print(&issued, as_json);
        }
        IntrospectionCommand::Disable(_) => {
            let client_id = runtime.block_on(registry.disable(application, audience))?;
            until_everybody_knows();
            if as_json {
                println!("{}", json!({ "client_id": client_id, "is_active": false }));
            } else {
                println!("{client_id} is shut out.");
            }
        }
    }
    Ok(())
}

fn registry(config: &Config) -> Result<IntrospectionRegistry, Failure> {
    let clients = Arc::new(open_migrated(config)?);
    let Surroundings { clock, random, cipher, .. } = Surroundings::new(config, Arc::new(SystemClock))?;
    Ok(IntrospectionRegistry { clients, clock, random, cipher })
}

fn print(issued: &IssuedIntrospectionClient, as_json: bool) {
    let (client_id, secret) = (issued.client_id, issued.secret.expose_secret());
    if as_json {
        println!("{}", json!({ "client_id": client_id, "client_secret": secret }));
    } else {
        println!("client_id      {client_id}");
        println!("client_secret  {secret}");
        println!("The secret is shown this once.");
    }
}
