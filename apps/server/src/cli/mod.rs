//! Command line.

mod application;
mod backup;
mod bulk;
mod customer;
pub mod demo;
mod doctor;
mod export;
pub mod introspection;
mod operate;
mod payment;
mod process;
pub mod project;
pub mod reference;
mod tag;
mod user;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::{Config, Flags};

/// Failure shown at the terminal.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Failure with its own exit code.
#[derive(Debug, thiserror::Error)]
#[error("{1}")]
struct Exit(u8, String);

#[derive(Parser)]
#[command(
    name = "kontor",
    version,
    about = "Commerce backend with an HTTP API for catalog, stock, orders, payments, subscriptions and content."
)]
struct Arguments {
    /// Configuration file instead of ./kontor.toml.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a demo shop: API, worker and emulated outside services in one process.
    Demo(demo::DemoArguments),
    /// Serve the API and, by default, process events and payments.
    Serve {
        /// Address to listen on.
        #[arg(long)]
        bind: Option<SocketAddr>,
        /// Database.
        #[arg(long)]
        database: Option<String>,
        /// Leave events and payments to other processes.
        #[arg(long)]
        no_worker: bool,
        /// Do not serve the staff console.
        #[arg(long)]
        no_console: bool,
    },
    /// Process events and payments without serving the API.
    Worker {
        /// Database.
        #[arg(long)]
        database: Option<String>,
        /// Address of `/healthz`, `/readyz` and `/metrics` of this worker. Without it, it serves none.
        #[arg(long, value_name = "ADDRESS")]
        monitoring: Option<SocketAddr>,
    },
    /// Ask a running process if it is healthy. Exits with 1 if it is not.
    Health(operate::HealthArguments),
    /// Migrate the database to the version that this binary needs.
    Migrate {
        /// Database.
        #[arg(long)]
        database: Option<String>,
        /// Revert the newest N migrations instead.
        #[arg(long, value_name = "N")]
        revert: Option<usize>,
    },
    /// Copy the embedded database to a file or to the bucket while the service runs, and check the copy.
    Backup(backup::BackupArguments),
    /// Compare a database restored from a backup with the payments and refunds of the acquirer since then. Afterwards
    /// subscriptions are charged again.
    Reconcile(payment::ReconcileArguments),
    /// Recalculate stock, reservations, uses of discounts and offers, and compare. Changes nothing; fails if something
    /// differs, a receipt is not registered, or a payment needs attention.
    Doctor(doctor::DoctorArguments),
    /// Manage projects.
    Project {
        #[command(subcommand)]
        command: project::ProjectCommand,
    },
    /// Manage payments that need an operator.
    Payment {
        #[command(subcommand)]
        command: payment::PaymentCommand,
    },
    /// Manage fiscal receipts: which projects use them, and those that need an operator.
    Receipt {
        #[command(subcommand)]
        command: payment::ReceiptCommand,
    },
    /// Manage backends that check tokens of customers.
    Introspection {
        #[command(subcommand)]
        command: introspection::IntrospectionCommand,
    },
    /// Manage the bots behind the mini-apps of an application.
    Miniapp {
        #[command(subcommand)]
        command: application::MiniAppCommand,
    },
    /// Manage applications: their tokens, access and payment types.
    Application {
        #[command(subcommand)]
        command: application::ApplicationCommand,
    },
    /// Manage customers.
    Customer {
        #[command(subcommand)]
        command: customer::CustomerCommand,
    },
    /// Manage employees.
    User {
        #[command(subcommand)]
        command: user::UserCommand,
    },
    /// Manage tags of items.
    Tag {
        #[command(subcommand)]
        command: tag::TagCommand,
    },
    /// Import a spreadsheet.
    Import {
        #[command(subcommand)]
        command: bulk::ImportCommand,
    },
    /// Export a spreadsheet.
    Export {
        #[command(subcommand)]
        command: export::ExportCommand,
    },
    /// Print the API description.
    Openapi {
        /// Write it to a file instead.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Fail if docs/openapi.json (or FILE) differs.
        #[arg(long)]
        check: bool,
    },
    /// Print the pages of the documentation that are made from the code.
    Reference {
        /// Write them to a folder instead.
        #[arg(long, value_name = "FOLDER")]
        out: Option<PathBuf>,
        /// Fail if a page in docs/reference (or FOLDER) differs.
        #[arg(long)]
        check: bool,
    },
    /// Emulate the outside services: acquirer, telephony, mailbox, webhook receiver.
    Sandbox {
        /// Address to listen on.
        #[arg(long)]
        bind: SocketAddr,
    },
    /// Print the effective configuration with masked secrets, check it, or print its schema.
    Config {
        #[command(subcommand)]
        command: Option<operate::ConfigCommand>,
    },
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
    // The process has one TLS provider. A second installation fails only because it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let file = arguments.config;
    let load = |bind: Option<SocketAddr>, database_url: Option<String>| {
        Config::load(file.clone(), Flags { bind, database_url })
    };
    match arguments.command {
        Command::Demo(arguments) => demo::run(arguments, file),
        Command::Serve { bind, database, no_worker, no_console } => {
            let config = load(bind, database)?;
            operate::serve(&Config { console: config.console && !no_console, ..config }, !no_worker)
        }
        Command::Worker { database, monitoring } => operate::work(&load(None, database)?, monitoring),
        Command::Health(arguments) => operate::check_health(|| load(None, None), &arguments),
        Command::Migrate { database, revert } => operate::migrate(&load(None, database)?, revert),
        Command::Backup(arguments) => backup::run(|database| load(None, database), arguments),
        Command::Reconcile(arguments) => payment::run_reconcile(|database| load(None, database), arguments),
        Command::Doctor(arguments) => doctor::run(|database| load(None, database), arguments),
        Command::Project { command } => project::run(|database| load(None, database), command),
        Command::Payment { command } => payment::run(|database| load(None, database), command),
        Command::Receipt { command } => payment::run_receipt(|database| load(None, database), command),
        Command::Introspection { command } => introspection::run(|database| load(None, database), command),
        Command::Miniapp { command } => application::run_miniapp(|database| load(None, database), command),
        Command::Application { command } => application::run(|database| load(None, database), command),
        Command::Customer { command } => customer::run(|database| load(None, database), command),
        Command::User { command } => user::run(|database| load(None, database), command),
        Command::Tag { command } => tag::run(|database| load(None, database), command),
        Command::Import { command } => bulk::import(|database| load(None, database), command),
        Command::Export { command } => export::export(|database| load(None, database), command),
        Command::Openapi { out, check } => reference::write_description(out, check),
        Command::Reference { out, check } => reference::run(out, check),
        Command::Sandbox { bind } => operate::run_sandbox(bind),
        Command::Config { command } => operate::run_config(|| load(None, None), command),
    }
}
