//! Kontor against bare peers: ratios measured in one run, on one machine.
//!
//! Absolute figures of one machine do not carry over to another. A ratio to the same work without the service does.
//! `docs/performance.md` explains the figures.

mod catalogue;
mod crowd;
mod driver;
mod flash;
mod import;
mod introspection;
mod load;
mod login;
mod mcp;
mod mixed;
mod open;
mod open_loop;
mod orders;
mod pgbench;
mod report;
mod scale;
mod shop;
mod site;
mod start;
mod storefront;
mod till;
mod writes;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use crate::load::RunLengths;
use crate::report::Report;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A failure shown to the person at the terminal.
type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Parser)]
#[command(name = "kontor-bench", about = "Ratios of the service against bare peers, measured in one run.")]
struct Arguments {
    /// Short rounds: check that everything runs; the figures mean little.
    #[arg(long)]
    quick: bool,
    /// Exit with an error when a target is missed.
    #[arg(long)]
    check: bool,
    /// Measure only growth: a hundred times the items, customers, orders and pages, two thousand projects and a
    /// million subscriptions.
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "sqlite", conflicts_with = "only")]
    scale: Option<Engine>,
    /// Kind of data that grows; all kinds by default.
    #[arg(long, value_enum, requires = "scale")]
    of: Option<Grown>,
    /// Measure only these parts.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// Minutes of each level of the part `open`, whose orders arrive at constant intervals; 20 s by default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "scale")]
    minutes: Option<u64>,
    /// Binary of another release; its order throughput is measured beside this one's.
    #[arg(long, value_name = "PATH")]
    beside: Option<PathBuf>,
    /// PostgreSQL server to measure on as well, `postgres://USER:PASSWORD@HOST/NAME`; a database is created there and
    /// dropped.
    #[arg(long, env = "TEST_DATABASE_URL", hide_env_values = true)]
    postgres: Option<String>,
}

/// Database of the growth measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    Sqlite,
    /// The server given by `--postgres`.
    Postgres,
}

/// Kind of data that grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Grown {
    /// Items, in customers' searches and lists.
    Goods,
    /// Orders and customers, in staff lists.
    Orders,
    /// Subscriptions, in the worker's queries for due ones.
    Subscriptions,
    /// Content pages, for readers and editors.
    Pages,
}

/// Parts that can be measured separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Storefront,
    Site,
    Orders,
    Mixed,
    Introspection,
    Login,
    Mcp,
    Import,
    Start,
    Bulk,
    Writes,
    /// 64 customers; with `--postgres` also orders beside the same rows written by `pgbench`, if it is installed.
    Crowd,
    Flash,
    Open,
    /// Reads of an order through diesel and tokio-postgres; needs `--postgres` and runs only if named.
    Driver,
}

impl Arguments {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match measure(&arguments) {
        Ok(report) => {
            println!("{report}");
            if arguments.check && report.misses() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
        Err(failure) => {
            eprintln!("kontor-bench: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &Arguments) -> Result<Report, Failure> {
    let lengths = if arguments.quick { RunLengths::QUICK } else { RunLengths::FULL };
    // A process has one TLS provider. An error only means that one is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut report = Report::default();
    if let Some(engine) = arguments.scale {
        let server = match engine {
            Engine::Sqlite => None,
            Engine::Postgres => Some(arguments.postgres.as_deref().ok_or("set --postgres")?),
        };
        let grows = |grown: Grown| arguments.of.is_none_or(|of| of == grown);
        if grows(Grown::Goods) {
            scale::measure(&lengths, server, &mut report)?;
        }
        if grows(Grown::Orders) {
            scale::staff_lists::measure(&lengths, server, &mut report)?;
        }
        if grows(Grown::Subscriptions) {
            scale::renewals::measure(&lengths, server, &mut report)?;
            scale::wave::measure(&lengths, server, &mut report)?;
        }
        if grows(Grown::Pages) {
            scale::site::measure(&lengths, server, &mut report)?;
        }
        report.resident = report::resident("self")?;
        return Ok(report);
    }
    if arguments.wants(Part::Introspection) {
        introspection::measure(&lengths, arguments.postgres.as_deref(), &mut report)?;
    }
    if arguments.wants(Part::Site) {
        let shop = shop::Shop::empty(None)?;
        site::measure(&shop, &lengths, &mut report)?;
        shop.close();
    }
    if arguments.wants(Part::Writes) {
        writes::measure(&lengths, &mut report)?;
    }
    if arguments.wants(Part::Crowd) {
        crowd::measure(&lengths, arguments.postgres.as_deref(), &mut report)?;
        match &arguments.beside {
            Some(other) => start::measure_release(&lengths, other, &mut report)?,
            None => eprintln!("SKIPPED comparison with another release: set --beside to its binary"),
        }
    }
    if arguments.wants(Part::Flash) {
        flash::measure(&lengths, arguments.postgres.as_deref(), &mut report)?;
    }
    if arguments.wants(Part::Open) {
        open::measure(&lengths, arguments.minutes, arguments.postgres.as_deref(), &mut report)?;
    }
    if arguments.wants(Part::Login) {
        report.add(login::measure(&lengths)?);
    }
    if arguments.wants(Part::Mcp) {
        mcp::measure(&lengths, &mut report)?;
    }
    if arguments.wants(Part::Mixed) {
        mixed::measure(&lengths, arguments.postgres.as_deref(), &mut report)?;
    }
    if [Part::Storefront, Part::Orders, Part::Import, Part::Start].iter().any(|part| arguments.wants(*part)) {
        with_catalogue(arguments, &lengths, &mut report)?;
    }
    // A million rows take minutes, so this part runs only on request.
    if arguments.only.contains(&Part::Bulk) {
        import::measure_many(&lengths, &mut report)?;
    }
    // Compares two libraries, not the service.
    if arguments.only.contains(&Part::Driver) {
        driver::measure(&lengths, arguments.postgres.as_deref().ok_or("set --postgres")?, &mut report)?;
    }
    report.resident = report::resident("self")?;
    Ok(report)
}

/// Measures the parts that need a catalog.
fn with_catalogue(arguments: &Arguments, lengths: &RunLengths, report: &mut Report) -> Result<(), Failure> {
    let shop = shop::Shop::open()?;
    if arguments.wants(Part::Storefront) {
        storefront::measure(&shop, lengths, report)?;
    }
    if arguments.wants(Part::Orders) {
        orders::measure(&shop, lengths)?.into_iter().for_each(|figure| report.add(figure));
    }
    let database = shop.close();
    if arguments.wants(Part::Import) {
        import::measure(&database, lengths, report)?;
    }
    if arguments.wants(Part::Start) {
        start::measure(&database, lengths, report)?;
    }
    Ok(())
}
