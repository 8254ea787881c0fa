//! The binary itself: time to start, and memory when idle; and the same orders on this release and on another one: two
//! processes, each on a database created by its own binary.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
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
use crate::report::{Figure, Goal, Report, resident};
use crate::shop::{Data, customer_rows, owner_row};

const TIMEOUT: Duration = Duration::from_secs(20);

/// Measures `kontor serve` on the database with the catalog.
pub fn measure(data: &Data, lengths: &RunLengths, report: &mut Report) -> Result<(), Failure> {
    let binary = own_binary()?;
    let mut times = Vec::with_capacity(lengths.starts);
    let mut memory = 0.0;
    for start in 1..=lengths.starts {
        let address = free_address()?;
        let mut command = Command::new(&binary);
        command.env_clear().current_dir(data.folder()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let database = format!("sqlite:{}", data.file().display());
        command.args(["serve", "--bind", &address.to_string(), "--database", &database]);
        let began = Instant::now();
        let mut child = Running(command.spawn()?);
        times.push(child.answers(address, began)?);
        if start == lengths.starts {
            std::thread::sleep(lengths.idle);
            memory = resident(&child.0.id().to_string())?;
        }
    }
    times.sort_unstable();
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    let name = format!("start of the binary until it answers, middle of {}", times.len());
    report.add(Figure::plain(name, middle.as_secs_f64() * 1000.0, "ms", Goal::AtMost(300.0)));
    report.add(Figure::plain("resident memory of the idle binary", memory, "MB", Goal::AtMost(60.0)));
    Ok(())
}

/// Returns the path of the service that was built with the bench.
pub fn own_binary() -> Result<PathBuf, Failure> {
    let binary = std::env::current_exe()?.with_file_name("kontor");
    if binary.exists() {
        Ok(binary)
    } else {
        Err(format!("{} is missing: build the package kontor first", binary.display()).into())
    }
}

/// A child process that is ended when the value is dropped.
struct Running(Child);

impl Running {
    /// Waits until the service answers. Returns the time since `began`.
    fn answers(&mut self, address: SocketAddr, began: Instant) -> Result<Duration, Failure> {
        while began.elapsed() < TIMEOUT {
            if healthy(address).unwrap_or(false) {
                return Ok(began.elapsed());
            }
            if let Some(status) = self.0.try_wait()? {
                return Err(format!("the binary ended by itself: {status}").into());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Err("the binary does not answer".into())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Err(error) = self.0.kill().and_then(|()| self.0.wait()) {
            eprintln!("the binary could not be ended: {error}");
        }
    }
}

fn healthy(address: SocketAddr) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(answer.starts_with(b"HTTP/1.1 200"))
}

/// Measures orders of this release beside those of the binary at this path.
pub fn measure_release(lengths: &RunLengths, other: &Path, report: &mut Report) -> Result<(), Failure> {
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
        let mut running = Running(command(&["serve", "--bind", &address.to_string()]).spawn()?);
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
