//! The same orders on this release and on another one: two processes, each on a database created by its own binary.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use diesel::connection::{Connection as _, SimpleConnection as _};
use diesel::sql_types::BigInt;
use diesel::{RunQueryDsl as _, SqliteConnection};
use kontor_catalog::spreadsheet::ports::SheetFormat;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Failure;
use crate::catalogue::{self, ROWS, WAREHOUSE};
use crate::crowd::CUSTOMERS;
use crate::load::{self, Request, RunLengths, Target, in_turns};
use crate::orders::order_in;
use crate::report::{Figure, Goal, Report};
use crate::shop::{customer_rows, owner_row};
use crate::start::{Running, own_binary};

/// Measures orders of this release beside those of the binary at this path.
pub fn measure(lengths: &RunLengths, other: &Path, report: &mut Report) -> Result<(), Failure> {
    let (ours, theirs) = (Release::start(&own_binary()?)?, Release::start(&other.canonicalize()?)?);
    let run = |release: &Release, time| load::run(&release.orders, CUSTOMERS, lengths.threads, time);
    run(&theirs, lengths.warm_up)?;
    run(&ours, lengths.warm_up)?;
    let pair = in_turns(lengths.rounds, || run(&ours, lengths.round), || run(&theirs, lengths.round))?;
    let name = format!("durable orders, {CUSTOMERS} customers, by those of the release beside");
    report.add(Figure::times(name, pair.ratio(), Goal::AtLeast(2.5)).beside(&pair));
    Ok(())
}

/// A service with items, run from the binary of a release.
struct Release {
    orders: Target,
    /// Ends before its folder is deleted.
    _running: Running,
    _folder: TempDir,
}

/// Identifiers of the created records, and the token of the application.
struct Created {
    project: i64,
    branch: i64,
    application: i64,
    app_token: String,
}

impl Created {
    fn read(printed: &[u8]) -> Result<Self, Failure> {
        let printed: Value = serde_json::from_slice(printed)?;
        let number =
            |key: &str| printed.get(key).and_then(Value::as_i64).ok_or_else(|| format!("no {key} in {printed}"));
        let app_token = printed.get("app_token").and_then(Value::as_str).ok_or("no token in it")?.to_owned();
        Ok(Self {
            project: number("project_id")?,
            branch: number("branch_id")?,
            application: number("application_id")?,
            app_token,
        })
    }
}

/// The setting that limits the writes of a customer.
const CUSTOMER_WRITES: &str = "customer_writes_per_minute";

impl Release {
    fn start(binary: &Path) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("kontor.db");
        let database = format!("sqlite:{}", file.display());
        // Older releases reject unknown settings.
        let settings = Command::new(binary).arg("config").env_clear().current_dir(folder.path()).output()?.stdout;
        let bounds_writes = String::from_utf8_lossy(&settings).contains(CUSTOMER_WRITES);
        let command = |arguments: &[&str]| {
            let mut command = Command::new(binary);
            command.args(arguments).args(["--database", &database]);
            // Every request comes from another address, as in all figures.
            command.env_clear().env("KONTOR_TRUSTED_PROXIES", "127.0.0.1").env("KONTOR_ANSWERS_MEMORY_MB", "0");
            if bounds_writes {
                command.env(format!("KONTOR_{}", CUSTOMER_WRITES.to_uppercase()), "1000000");
            }
            command.current_dir(folder.path()).stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::null());
            command
        };
        let done = |arguments: &[&str]| {
            let output = command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).output()?;
            if output.status.success() {
                Ok(output.stdout)
            } else {
                let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
                Err(Failure::from(format!("{} {}: {complaint}", binary.display(), arguments.join(" "))))
            }
        };
        done(&["migrate"])?;
        let owner = ["--name", "Bench", "--login", "owner", "--email", "owner@example.com", "--json"];
        let created = Created::read(&done(&[&["project", "create"][..], &owner[..]].concat())?)?;
        let mut rows = SqliteConnection::establish(&file.to_string_lossy())?;
        rows.batch_execute("PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON;")?;
        let (owner, row) = owner_row(created.project);
        rows.batch_execute(&row)?;

        let address = free_address()?;
        let mut running = Running::of(command(&["serve", "--bind", &address.to_string()]).spawn()?);
        running.answers(address, Instant::now())?;
        let warehouse = json!({ "name": WAREHOUSE, "branch_id": created.branch }).to_string();
        let warehouse = Request::new("POST", "/api/warehouses", &[("Authorization", &owner)], &warehouse);
        load::ask(address, &warehouse, 201)?;

        let project = created.project.to_string();
        let (cards, stock) = (folder.path().join("cards.csv"), folder.path().join("stock.csv"));
        catalogue::write_cards(SheetFormat::Csv, &cards)?;
        catalogue::write_stock(&stock)?;
        for (what, sheet) in [("nomenclatures", &cards), ("stock", &stock)] {
            done(&["import", what, &sheet.to_string_lossy(), "--project", &project])?;
        }
        let (bearers, customers) = customer_rows(created.project, created.application, CUSTOMERS)?;
        rows.immediate_transaction(|rows| rows.batch_execute(&customers.join(";\n")))?;
        let products = products(&mut rows, created.application)?;
        let many = products.len() - products.len() % CUSTOMERS;
        let wishes = bearers.iter().cycle().zip(products).take(many);
        let requests = wishes.map(|(bearer, product)| order_in(&created.app_token, bearer, product)).collect();
        // Imports leave background work for a short time.
        std::thread::sleep(Duration::from_millis(500));
        Ok(Self {
            orders: Target { address, expected: 201, requests, once: false },
            _running: running,
            _folder: folder,
        })
    }
}

fn free_address() -> Result<SocketAddr, Failure> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// Returns all products on sale.
fn products(rows: &mut SqliteConnection, application: i64) -> Result<Vec<i64>, Failure> {
    #[derive(diesel::QueryableByName)]
    struct Sold {
        #[diesel(sql_type = BigInt)]
        product: i64,
    }
    let ask = format!(
        "SELECT nomenclature_id AS product FROM storefront_offers WHERE application_id = {application} ORDER BY name_key"
    );
    let sold: Vec<Sold> = diesel::sql_query(ask).load(rows)?;
    if sold.len() == ROWS {
        Ok(sold.into_iter().map(|row| row.product).collect())
    } else {
        Err(format!("{} products are sold", sold.len()).into())
    }
}
