//! The service under test, run as `kontor serve` runs it, with a catalog in a separate SQLite file.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use diesel::connection::{Connection as _, SimpleConnection as _};
use diesel::sql_types::BigInt;
use diesel::{PgConnection, RunQueryDsl, SqliteConnection};
use kontor::adapters::{ServiceKey, SystemClock, SystemRandom};
use kontor::cli::project::{self, CreatedProject};
use kontor::config::{Config, Environment};
use kontor::instance::{Instance, Roles};
use kontor_adapter_diesel::{Abort, Database, DatabaseUrl, PoolOptions};
use kontor_adapter_spreadsheet::Spreadsheets;
use kontor_catalog::WarehouseService;
use kontor_catalog::model::WarehouseDraft;
use kontor_catalog::spreadsheet::ports::SheetFormat;
use kontor_catalog::spreadsheet::{ImportMode, SpreadsheetService};
use kontor_kernel::{BranchId, Name, Permission, ProjectId, Staff, StoreError, TokenId, UserId, hex};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::Failure;
use crate::catalogue::{self, ROWS, WAREHOUSE};

/// The database, with what is needed to use it without HTTP.
pub struct Data {
    /// For everything that is not an HTTP thread.
    pub runtime: Runtime,
    pub database: Database,
    config: Config,
    folder: TempDir,
    projects: AtomicU32,
}

pub struct Shop {
    data: Data,
    instance: Instance,
    pub address: SocketAddr,
    pub project: CreatedProject,
}

impl std::ops::Deref for Shop {
    type Target = Data;

    fn deref(&self) -> &Data {
        &self.data
    }
}

/// A service with the response cache.
pub struct CachingService {
    instance: Instance,
    pub address: SocketAddr,
}

impl CachingService {
    pub fn close(self, shop: &Shop) {
        shop.data.runtime.block_on(self.instance.stop());
    }
}

/// A product on sale in the application.
#[derive(diesel::QueryableByName)]
pub struct Offer {
    #[diesel(sql_type = BigInt)]
    pub product: i64,
    #[diesel(sql_type = BigInt)]
    pub category: i64,
}

/// Creates the spreadsheet use cases on a database.
pub fn importer(database: &Database) -> SpreadsheetService {
    let (files, store) = (Arc::new(Spreadsheets::default()), Arc::new(database.clone()));
    SpreadsheetService {
        reader: files.clone(),
        writers: files,
        cards: store.clone(),
        stock: store,
        clock: Arc::new(SystemClock),
    }
}

impl Data {
    /// Creates a separate SQLite file, or uses the given database, with the tables of the service.
    pub fn create(url: Option<String>) -> Result<Self, Failure> {
        Self::configured(url, |_| {})
    }

    /// Like `create`, with other settings.
    pub fn configured(url: Option<String>, configure: impl FnOnce(&mut Config)) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let mut config = Config {
            env: Environment::Production,
            secret_key: "a-key-of-the-benchmark-that-opens-nothing-else".into(),
            database_url: url.unwrap_or_else(|| format!("sqlite:{}", folder.path().join("kontor.db").display())).into(),
            trusted_proxies: vec!["127.0.0.1".into()],
            // A few customers and one acquirer do the work of thousands.
            customer_writes_per_minute: 1_000_000,
            acquirer_addresses: vec!["127.0.0.1".into()],
            // The response cache is measured separately.
            answers_memory_mb: 0,
            // Several services run in this process.
            monitoring_bind: "main".to_owned(),
            ..Config::default()
        };
        configure(&mut config);
        config.check()?;
        // The same log lines that production writes, to a file. Services of later parts write to the first one's
        // file.
        let log = std::fs::File::create(folder.path().join("kontor.log"))?;
        let filter: Targets = config.log.parse()?;
        let lines = tracing_subscriber::fmt::layer().with_writer(Arc::new(log)).json();
        let _ = tracing_subscriber::registry().with(filter).with(lines).try_init();

        let options = PoolOptions { connections: config.database_connections, ..PoolOptions::default() };
        let database = Database::open(config.database()?, options)?;
        database.migrate()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        Ok(Self { runtime, database, config, folder, projects: AtomicU32::new(1) })
    }

    /// Creates a separate empty database.
    pub fn empty() -> Result<Self, Failure> {
        Self::create(None)
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self) -> PathBuf {
        self.folder().join("kontor.db")
    }

    /// Merges the log into the file, as SQLite does once there are no more commits. A long log is searched for every
    /// page that is read.
    pub fn fold_log(&self) -> Result<(), Failure> {
        let mut file = SqliteConnection::establish(&self.file().to_string_lossy())?;
        Ok(file.batch_execute("PRAGMA busy_timeout = 5000; PRAGMA wal_checkpoint(TRUNCATE)")?)
    }

    /// Updates the statistics of PostgreSQL. Plans that it made for empty tables read whole projects for each foreign key.
    pub fn analyze(&self) -> Result<(), Failure> {
        match self.config.database()? {
            DatabaseUrl::Postgres(url) => Ok(PgConnection::establish(&url)?.batch_execute("ANALYZE")?),
            DatabaseUrl::Sqlite(_) => Ok(()),
        }
    }

    /// Creates a project.
    pub fn project(&self) -> Result<CreatedProject, Failure> {
        let login = format!("owner-{}", self.projects.fetch_add(1, Ordering::Relaxed));
        let email = format!("{login}@example.com");
        self.runtime.block_on(project::create(&self.config, &self.database, "Bench", &login, &email))
    }

    /// Returns the numbers that a query calls `number`.
    pub fn numbers(&self, query: String) -> Result<Vec<i64>, Failure> {
        #[derive(diesel::QueryableByName)]
        struct Row {
            #[diesel(sql_type = BigInt)]
            number: i64,
        }
        let rows = self
            .database
            .read(move |connection| Ok::<_, Abort<StoreError>>(diesel::sql_query(&query).load::<Row>(connection)?));
        Ok(self.runtime.block_on(rows)?.into_iter().map(|row| row.number).collect())
    }

    /// Returns the cipher that the service uses for secrets.
    pub fn cipher(&self) -> ServiceKey {
        ServiceKey::new(&self.config.secret_key, Arc::new(SystemRandom::new()))
    }

    /// Returns an employee of the project with all permissions.
    pub fn staff(project: &CreatedProject) -> Result<Staff, Failure> {
        Ok(Staff {
            project_id: ProjectId::new(project.project_id)?,
            user_id: UserId::new(1)?,
            token_id: TokenId::new(1)?,
            is_agent: false,
            permissions: Permission::all().collect(),
        })
    }

    /// Fills a project with the catalog and its stock.
    fn fill_catalog(&self, project: &CreatedProject) -> Result<(), Failure> {
        let staff = Self::staff(project)?;
        let store = Arc::new(self.database.clone());
        let clock = Arc::new(SystemClock);
        let warehouses = WarehouseService { warehouses: store.clone(), histories: store, clock };
        let draft = WarehouseDraft {
            name: Name::parse(WAREHOUSE)?,
            address: None,
            branch_id: BranchId::new(project.branch_id)?,
            application_ids: None,
        };
        self.runtime.block_on(warehouses.create(&staff, draft))?;
        let service = importer(&self.database);
        let (cards, stock) = (self.folder().join("first.xlsx"), self.folder().join("stock.csv"));
        catalogue::write_cards(SheetFormat::Xlsx, &cards)?;
        catalogue::write_stock(&stock)?;
        let cards = service.read_cards(&cards)?;
        self.runtime.block_on(service.import_cards(&staff, cards, ImportMode::AllOrNothing))?;
        let stock = service.read_stock(&stock)?;
        self.runtime.block_on(service.upload_stock(&staff, stock, ImportMode::AllOrNothing))?;
        Ok(())
    }
}

impl Shop {
    /// Creates the database, fills it and starts the service on it.
    pub fn open() -> Result<Self, Failure> {
        Self::start(None, true, |_| {})
    }

    /// Like `open`, on the given database.
    pub fn furnished(url: String) -> Result<Self, Failure> {
        Self::start(Some(url), true, |_| {})
    }

    /// Like `open`, without items, on a separate SQLite file or on the given database.
    pub fn empty(url: Option<String>) -> Result<Self, Failure> {
        Self::start(url, false, |_| {})
    }

    /// Like `open`, on a separate SQLite file or on the given database, with other settings.
    pub fn configured(url: Option<String>, configure: impl FnOnce(&mut Config)) -> Result<Self, Failure> {
        Self::start(url, true, configure)
    }

    fn start(url: Option<String>, furnished: bool, configure: impl FnOnce(&mut Config)) -> Result<Self, Failure> {
        let data = Data::configured(url, configure)?;
        let project = data.project()?;
        if furnished {
            data.fill_catalog(&project)?;
        }
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let inside = data.runtime.enter();
        let instance =
            Instance::start(&data.config, &data.database, Arc::new(SystemClock), Some(listener), Roles::Both)?;
        drop(inside);
        Ok(Self { data, instance, address, project })
    }

    /// Starts a second service on the same data with the response cache, which is on by default.
    pub fn remembering(&self) -> Result<CachingService, Failure> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let answers_memory_mb = Config::default().answers_memory_mb;
        let config = Config { answers_memory_mb, ..self.data.config.clone() };
        let _inside = self.data.runtime.enter();
        let clock = Arc::new(SystemClock);
        let instance = Instance::start(&config, &self.data.database, clock, Some(listener), Roles::Api)?;
        Ok(CachingService { instance, address })
    }

    /// Stops the service and keeps its data.
    pub fn close(self) -> Data {
        self.data.runtime.block_on(self.instance.stop());
        self.data
    }

    /// Returns all products on sale, shuffled.
    pub fn offers(&self) -> Result<Vec<Offer>, Failure> {
        let statement = format!(
            "SELECT nomenclature_id AS product, category_id AS category FROM storefront_offers \
             WHERE application_id = {} ORDER BY name_key",
            self.project.application_id
        );
        let offers: Vec<Offer> = self.runtime.block_on(
            self.database
                .read(move |connection| Ok::<_, Abort<StoreError>>(diesel::sql_query(&statement).load(connection)?)),
        )?;
        if offers.len() == ROWS { Ok(offers) } else { Err(format!("{} products are sold", offers.len()).into()) }
    }

    /// Logs the owner of the project in. Returns the value of the header `Authorization`.
    pub fn owner(&self) -> Result<String, Failure> {
        let (bearer, row) = owner_row(self.project.project_id);
        in_one_commit(self, vec![row])?;
        Ok(bearer)
    }

    /// Logs this many customers in. Returns the values of their headers `Authorization`.
    pub fn customers(&self, count: usize) -> Result<Vec<String>, Failure> {
        let (bearers, rows) = customer_rows(self.project.project_id, self.project.application_id, count)?;
        in_one_commit(self, rows)?;
        Ok(bearers)
    }
}

/// Returns the header `Authorization` of the owner of a project, and the statement that logs them in.
pub fn owner_row(project: i64) -> (String, String) {
    let fingerprint = sha256("secret-of-the-owner");
    let statement = format!(
        "INSERT INTO access_tokens (id, guard, subject_id, project_id, fingerprint, created_at, expires_at) \
         SELECT 1000000, 'user', id, {project}, '{fingerprint}', '{AT}', '9999-01-01 00:00:00' FROM users \
         WHERE project_id = {project} ORDER BY id LIMIT 1"
    );
    ("Bearer 1000000|secret-of-the-owner".to_owned(), statement)
}

/// Returns the headers `Authorization` of this many customers of an application, and the statements that create them
/// and log them in.
pub fn customer_rows(project: i64, application: i64, count: usize) -> Result<(Vec<String>, Vec<String>), Failure> {
    let numbers = 1..=u32::try_from(count)?;
    let secret = |number: u32| format!("secret-of-customer-{number}");
    let statements = numbers.clone().flat_map(|number| {
        let fingerprint = sha256(&secret(number));
        [
            format!(
                "INSERT INTO counterparties (id, project_id, is_company, phone_1, created_at, updated_at) \
                 VALUES ({number}, {project}, false, '7900{number:07}', '{AT}', '{AT}')"
            ),
            format!(
                "INSERT INTO access_tokens (id, guard, subject_id, project_id, application_id, fingerprint, \
                 created_at, expires_at) VALUES ({number}, 'counterparty', {number}, {project}, {application}, \
                 '{fingerprint}', '{AT}', '9999-01-01 00:00:00')"
            ),
        ]
    });
    let statements = statements.collect();
    Ok((numbers.map(|number| format!("Bearer {number}|{}", secret(number))).collect(), statements))
}

/// Runs statements in one transaction.
pub fn in_one_commit(data: &Data, statements: Vec<String>) -> Result<(), Failure> {
    let written = data.database.write(move |connection| {
        for statement in &statements {
            diesel::sql_query(statement).execute(connection)?;
        }
        Ok::<_, Abort<StoreError>>(())
    });
    Ok(data.runtime.block_on(written)?)
}

/// A time, as the databases read it.
pub const AT: &str = "2026-01-01 00:00:00";

/// Returns the digest in lower-case hex.
pub fn sha256(text: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    hex(digest.as_ref())
}

/// A separate database on a server, dropped with the value.
pub struct OnServer {
    server: String,
    name: String,
    pub url: String,
}

impl OnServer {
    /// Creates a database with this word in its name.
    pub fn create(server: &str, word: &str) -> Result<Self, Failure> {
        let (base, _) = server.rsplit_once('/').ok_or("the server URL has no database name")?;
        let name = format!("kontor_bench_{word}_{}", std::process::id());
        let url = format!("{base}/{name}");
        PgConnection::establish(server)?.batch_execute(&format!("CREATE DATABASE {name}"))?;
        Ok(Self { server: server.to_owned(), name, url })
    }

    /// Does what a server otherwise does some time after many rows were added: it updates the visibility map, so that
    /// index-only scans work, and the statistics of tables.
    pub fn vacuum(&self) -> Result<(), Failure> {
        Ok(PgConnection::establish(&self.url)?.batch_execute("VACUUM (ANALYZE)")?)
    }

    fn drop_database(&self) -> Result<(), Failure> {
        let statement = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        Ok(PgConnection::establish(&self.server)?.batch_execute(&statement)?)
    }
}

impl Drop for OnServer {
    fn drop(&mut self) {
        if let Err(error) = self.drop_database() {
            eprintln!("the database {} could not be dropped: {error}", self.name);
        }
    }
}
