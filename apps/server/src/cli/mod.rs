//! The command line.

mod application;
mod backup;
mod bulk;
mod customer;
pub mod demo;
mod doctor;
mod export;
mod import_preview;
mod import_reading;
pub mod introspection;
mod miniapp;
mod openapi;
mod operate;
mod output;
mod payment;
mod process;
pub mod project;
mod receipt;
mod reconcile;
mod sandbox;
mod tag;
mod user;
mod whole_file;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::{Config, Flags};

/// A failure told to the person at the terminal.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A failure with an exit code of its own.
#[derive(Debug, thiserror::Error)]
#[error("{1}")]
struct Exit(u8, String);

#[derive(Parser)]
#[command(name = "kontor", version, about = "One service that runs a merchant's whole trade.")]
struct Arguments {
    /// A configuration file instead of ./kontor.toml.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// A shop to try everything on: API, worker and an emulated outside world in one process.
    Demo(demo::DemoArguments),
    /// Serves the API and, unless told otherwise, works off events and payments.
    Serve {
        /// The address to listen on.
        #[arg(long)]
        bind: Option<SocketAddr>,
        /// The database.
        #[arg(long)]
        database: Option<String>,
        /// Leave events and payments to other processes.
        #[arg(long)]
        no_worker: bool,
    },
    /// Works off events and payments without serving the API.
    Worker {
        /// The database.
        #[arg(long)]
        database: Option<String>,
    },
    /// Brings the database to the state this binary needs.
    Migrate {
        /// The database.
        #[arg(long)]
        database: Option<String>,
        /// Take the newest N migrations back instead.
        #[arg(long, value_name = "N")]
        revert: Option<usize>,
    },
    /// Copies the embedded database to a file while the service goes on, and checks the copy.
    Backup(backup::BackupArguments),
    /// Compares a database that was restored from a backup with what the acquirer has taken and given back since. Then
    /// subscriptions are charged again.
    Reconcile(reconcile::ReconcileArguments),
    /// Derives stock, reservations, uses of discounts and offers anew and compares. Changes nothing; fails when
    /// something differs, a receipt is not registered, or a payment needs to be looked at.
    Doctor(doctor::DoctorArguments),
    /// Projects.
    Project {
        #[command(subcommand)]
        command: project::ProjectCommand,
    },
    /// Payments that people must look at.
    Payment {
        #[command(subcommand)]
        command: payment::PaymentCommand,
    },
    /// Fiscal receipts: which projects have them made, and those that people must look at.
    Receipt {
        #[command(subcommand)]
        command: receipt::ReceiptCommand,
    },
    /// Backends that ask what a customer's token is worth.
    Introspection {
        #[command(subcommand)]
        command: introspection::IntrospectionCommand,
    },
    /// The bots behind the mini-apps of an application.
    Miniapp {
        #[command(subcommand)]
        command: miniapp::MiniAppCommand,
    },
    /// Applications: their tokens, whether they are let in, how they are paid.
    Application {
        #[command(subcommand)]
        command: application::ApplicationCommand,
    },
    /// Customers.
    Customer {
        #[command(subcommand)]
        command: customer::CustomerCommand,
    },
    /// Employees.
    User {
        #[command(subcommand)]
        command: user::UserCommand,
    },
    /// Tags that items may carry.
    Tag {
        #[command(subcommand)]
        command: tag::TagCommand,
    },

    /// Brings a spreadsheet in.
    Import {
        #[command(subcommand)]
        command: bulk::ImportCommand,
    },
    /// Writes a spreadsheet.
    Export {
        #[command(subcommand)]
        command: export::ExportCommand,
    },
    /// Prints the API description.
    Openapi {
        /// Write it to a file instead.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Fail when docs/openapi.json (or FILE) differs.
        #[arg(long)]
        check: bool,
    },
    /// Emulates the outside world: acquirer, telephony, mailbox, webhook receiver.
    Sandbox {
        /// The address to listen on.
        #[arg(long)]
        bind: SocketAddr,
    },
    /// Prints the effective configuration, secrets masked.
    Config,
}

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    match execute(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("kontor: {failure}");
            failure.downcast_ref::<Exit>().map_or(ExitCode::FAILURE, |exit| ExitCode::from(exit.0))
        }
    }
}

fn execute(arguments: Arguments) -> Result<(), Failure> {
    // The process has one provider of TLS; a second installation would only tell that it is there.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let file = arguments.config;
    let load = |bind: Option<SocketAddr>, database_url: Option<String>| {
        Config::load(file.clone(), Flags { bind, database_url })
    };
    match arguments.command {
        Command::Demo(arguments) => demo::run(arguments, file),
        Command::Serve { bind, database, no_worker } => operate::serve(&load(bind, database)?, !no_worker),
        Command::Worker { database } => operate::work(&load(None, database)?),
        Command::Migrate { database, revert } => operate::migrate(&load(None, database)?, revert),
        Command::Backup(arguments) => backup::run(|database| load(None, database), &arguments),
        Command::Reconcile(arguments) => reconcile::run(|database| load(None, database), arguments),
        Command::Doctor(arguments) => doctor::run(|database| load(None, database), arguments),
        Command::Project { command } => project::run(|database| load(None, database), command),
        Command::Payment { command } => payment::run(|database| load(None, database), command),
        Command::Receipt { command } => receipt::run(|database| load(None, database), command),
        Command::Introspection { command } => introspection::run(|database| load(None, database), command),
        Command::Miniapp { command } => miniapp::run(|database| load(None, database), command),
        Command::Application { command } => application::run(|database| load(None, database), command),
        Command::Customer { command } => customer::run(|database| load(None, database), command),
        Command::User { command } => user::run(|database| load(None, database), command),
        Command::Tag { command } => tag::run(|database| load(None, database), command),
        Command::Import { command } => bulk::import(|database| load(None, database), command),
        Command::Export { command } => export::export(|database| load(None, database), command),
        Command::Openapi { out, check } => openapi::run(out, check),
        Command::Sandbox { bind } => sandbox::run(bind),
        Command::Config => {
            print!("{}", load(None, None)?.masked()?);
            Ok(())
        }
    }
}
