//! The real binary as a child process, with the sandbox for outside services.

use std::fs::{File, OpenOptions};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use diesel::RunQueryDsl;
use kontor::adapters::SystemClock;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{Abort, Database, DatabaseUrl, PoolOptions, retry_until};
use kontor_kernel::StoreError;
use kontor_sandbox::{Sandbox, SandboxConfig, SandboxHandle};
use reqwest::Client;
use serde_json::{Value, json};

use crate::customer_client::ApplicationClient;
use crate::support::{TestServer, send};

/// Timeout of every wait in these tests.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Secrets of the configuration, each easy to find in a text.
pub const SERVICE_KEY: &str = "service-key-of-the-process-tests-0123456789";
pub const ACQUIRER_SECRET: &str = "test_secret_of_the_shop_at_the_acquirer";
pub const TELEPHONY_KEY: &str = "key-of-the-telephony-account";
pub const SMTP_PASSWORD: &str = "password-of-the-mail-account";
pub const DATABASE_PASSWORD: &str = "password-of-the-database";
pub const REDIS_PASSWORD: &str = "password-of-the-counting-redis";
pub const SHOP_ID: &str = "100500";

/// Environment of a process: a database, an address and a log that outlive it, and the sandbox.
pub struct ProcessEnvironment {
    pub sandbox: SandboxHandle,
    pub http: Client,
    address: SocketAddr,
    database: DatabaseUrl,
    folder: tempfile::TempDir,
    _server: TestDatabase,
}

/// A running `kontor`, killed when it is dropped.
pub struct Process {
    child: Child,
    log: PathBuf,
}

#[derive(diesel::QueryableByName)]
struct Number {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    id: i64,
}

/// Returns an address that no other program takes while it is unused: below the range of ephemeral ports.
pub fn lasting_address() -> SocketAddr {
    static TRIED: AtomicU32 = AtomicU32::new(0);
    let mut candidates = std::iter::repeat_with(|| {
        let number = std::process::id().wrapping_mul(97).wrapping_add(TRIED.fetch_add(1, Ordering::Relaxed));
        SocketAddr::from(([127, 0, 0, 1], u16::try_from(20_000 + number % 10_000).unwrap()))
    });
    candidates.find(|address| TcpListener::bind(address).is_ok()).unwrap()
}

/// The test server accepts any password; the process gets one nevertheless.
fn with_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap();
    let (account, place) = rest.split_once('@').unwrap();
    let user = account.split(':').next().unwrap();
    format!("{scheme}://{user}:{DATABASE_PASSWORD}@{place}")
}

impl ProcessEnvironment {
    /// Creates an empty, migrated database and a sandbox. `redelivery_scale` shortens the acquirer's pauses.
    pub async fn open(db: TestDatabase, redelivery_scale: f64) -> Self {
        TestServer::prepare();
        let sandbox = SandboxConfig {
            shop_id: SHOP_ID.to_owned(),
            secret_key: ACQUIRER_SECRET.to_owned(),
            telephony_api_id: TELEPHONY_KEY.to_owned(),
            redelivery_scale,
            entropy: Arc::new(telling_bytes),
            ..SandboxConfig::new(Arc::new(SystemClock))
        };
        let sandbox = Sandbox::start(sandbox).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let database = match db.url() {
            DatabaseUrl::Postgres(url) => DatabaseUrl::Postgres(with_password(&url)),
            // A file that no other connection has open: after a kill the next process has to recover it.
            DatabaseUrl::Sqlite(_) => DatabaseUrl::Sqlite(folder.path().join("kontor.db")),
        };
        let http = Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        let address = lasting_address();
        let environment = Self { sandbox, http, address, database, folder, _server: db };
        environment.sandbox.set_notification_url(format!("{}/callbacks/acquirer", environment.url()));
        environment.run(&["migrate"]);
        environment
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns everything the processes have printed so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap()
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Returns the address of the database as the configuration writes it.
    pub fn database(&self) -> String {
        match &self.database {
            DatabaseUrl::Postgres(url) => url.clone(),
            file @ DatabaseUrl::Sqlite(_) => file.to_string(),
        }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Prepares the command with the settings of this place and nothing else in its environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command_of(Path::new(env!("CARGO_BIN_EXE_kontor")), arguments);
        // Tests write faster than customers, and the sandbox is the acquirer.
        command.env("KONTOR_CUSTOMER_WRITES_PER_MINUTE", "100000").env("KONTOR_ACQUIRER_ADDRESSES", "127.0.0.1");
        command
    }

    /// Prepares the same command of another binary.
    pub fn command_of(&self, binary: &Path, arguments: &[&str]) -> Command {
        let database = self.database();
        let mail = self.sandbox.smtp_addr();
        let mut command = Command::new(binary);
        command.args(arguments).env_clear().current_dir(self.folder.path()).envs([
            ("KONTOR_DATABASE_URL", database),
            ("KONTOR_DATABASE_CONNECTIONS", "4".to_owned()),
            ("KONTOR_BIND", self.address.to_string()),
            ("KONTOR_HTTP_WORKERS", "2".to_owned()),
            ("KONTOR_SECRET_KEY", SERVICE_KEY.to_owned()),
            ("KONTOR_LOG", "trace".to_owned()),
            // No server listens there: limits are counted in memory, and the log says so.
            ("KONTOR_REDIS_URL", format!("redis://kontor:{REDIS_PASSWORD}@127.0.0.1:1/0")),
            ("KONTOR_ACQUIRER_URL", format!("{}/v3", self.sandbox.url())),
            ("KONTOR_ACQUIRER_SHOP_ID", SHOP_ID.to_owned()),
            ("KONTOR_ACQUIRER_SECRET_KEY", ACQUIRER_SECRET.to_owned()),
            ("KONTOR_TELEPHONY_URL", self.sandbox.url().to_owned()),
            ("KONTOR_TELEPHONY_API_ID", TELEPHONY_KEY.to_owned()),
            ("KONTOR_SMTP_HOST", mail.ip().to_string()),
            ("KONTOR_SMTP_PORT", mail.port().to_string()),
            ("KONTOR_SMTP_USER", "kontor".to_owned()),
            ("KONTOR_SMTP_PASSWORD", SMTP_PASSWORD.to_owned()),
            ("KONTOR_WEBHOOK_ALLOW_INTERNAL", "true".to_owned()),
        ]);
        command
    }

    /// Runs a command to its successful end. Its standard error goes to the log.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).stderr(self.log_end()).output().unwrap();
        assert!(output.status.success(), "kontor {arguments:?}: {}\n{}", output.status, self.log());
        output
    }

    /// Creates a project and returns the output of `kontor project create`.
    pub fn create_project(&self, login: &str) -> Value {
        let email = format!("{login}@example.com");
        let arguments = ["project", "create", "--name", "Trial", "--login", login, "--email", &email, "--json"];
        serde_json::from_slice(&self.run(&arguments).stdout).unwrap()
    }

    /// Returns the application with this token as customers reach it.
    pub fn front(&self, app_token: &Value) -> ApplicationClient {
        ApplicationClient {
            http: self.http.clone(),
            url: self.url(),
            sandbox: self.sandbox.url().to_owned(),
            app_token: app_token.as_str().unwrap().to_owned(),
        }
    }

    /// Starts a long-running command.
    pub fn spawn(&self, arguments: &[&str]) -> Process {
        self.spawn_with(arguments, &[])
    }

    /// Starts a long-running command with more settings.
    pub fn spawn_with(&self, arguments: &[&str], settings: &[(&str, String)]) -> Process {
        let mut command = self.command(arguments);
        command.envs(settings.iter().map(|(key, value)| (*key, value)));
        self.start(command)
    }

    /// Prepares a command with more settings. Its files cannot grow beyond this size, as if the disk were full.
    pub fn command_with_small_files(&self, arguments: &[&str], kibibytes: u32, settings: &[(&str, String)]) -> Command {
        let whole = self.command(arguments);
        let mut command = Command::new("/bin/sh");
        let limited = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", kibibytes * 2);
        command.args(["-c", &limited]).arg(whole.get_program()).args(whole.get_args());
        command.env_clear().current_dir(self.folder.path());
        command.envs(whole.get_envs().filter_map(|(key, value)| Some((key, value?))));
        command.envs(settings.iter().map(|(key, value)| (*key, value)));
        command
    }

    /// Starts a prepared command.
    pub fn start(&self, mut command: Command) -> Process {
        command.stdin(Stdio::null()).stdout(self.log_end()).stderr(self.log_end());
        Process { child: command.spawn().unwrap(), log: self.log_file() }
    }

    /// Starts `kontor serve` and waits until it is ready.
    pub async fn serve(&self) -> Process {
        let mut process = self.spawn(&["serve"]);
        self.ready(&mut process).await;
        process
    }

    /// Waits until the service reports that it is ready and that a worker is alive.
    pub async fn ready(&self, process: &mut Process) {
        self.ready_at(self.address, process).await;
    }

    /// Does the same for a process at another address.
    pub async fn ready_at(&self, address: SocketAddr, process: &mut Process) {
        let until = Instant::now() + PATIENCE;
        let lives = |(status, answer): (u16, Value)| status == 200 && answer["checks"]["worker"] == "ok";
        while !self.readiness_at(address).await.is_some_and(lives) {
            process.must_run();
            retry_until!(until, "never ready:\n{}", self.log());
        }
    }

    /// Returns the response of `/readyz`; `None` while no process listens.
    pub async fn readiness(&self) -> Option<(u16, Value)> {
        self.readiness_at(self.address).await
    }

    /// Does the same for a process at another address.
    pub async fn readiness_at(&self, address: SocketAddr) -> Option<(u16, Value)> {
        let answer = self.http.get(format!("http://{address}/readyz")).send().await.ok()?;
        Some((answer.status().as_u16(), answer.json().await.ok()?))
    }

    /// Calls the control interface of the sandbox.
    pub async fn control(&self, path: &str) -> Value {
        send(self.http.get(format!("{}/control{path}", self.sandbox.url()))).await.expect(200)
    }

    /// Plans faults for the next `times` calls of an outside service.
    pub async fn fault(&self, service: &str, fault: &str, times: u32, delay: Duration) {
        let delay = u64::try_from(delay.as_millis()).unwrap();
        let plan = json!({ "service": service, "fault": fault, "times": times, "delay_ms": delay });
        send(self.http.post(format!("{}/control/faults", self.sandbox.url())).json(&plan)).await.expect(200);
    }

    /// Waits until every planned fault has hit a call.
    pub async fn faults_are_met(&self) {
        let until = Instant::now() + PATIENCE;
        while self.control("/faults").await["faults"] != json!([]) {
            retry_until!(until, "a planned fault met nobody");
        }
    }

    /// Removes the remaining planned faults.
    pub async fn forgive(&self) {
        send(self.http.delete(format!("{}/control/faults", self.sandbox.url()))).await.expect(200);
    }

    /// Returns the `BIGINT` named `id` that a statement selects.
    pub async fn number(&self, statement: &str) -> i64 {
        number(&self.connect(), statement).await
    }

    /// Runs statements in one transaction.
    pub async fn execute(&self, statements: &[impl AsRef<str>]) {
        let statements: Vec<String> = statements.iter().map(|statement| statement.as_ref().to_owned()).collect();
        let database = self.connect();
        let done = database.write_and_invalidate_all(move |connection| {
            for statement in &statements {
                diesel::sql_query(statement).execute(connection)?;
            }
            Ok::<_, Abort<StoreError>>(())
        });
        done.await.unwrap();
    }

    /// Opens the database for one use. No connection is kept, so the next process finds what a dead one left.
    pub fn connect(&self) -> Database {
        Database::open(self.database.clone(), PoolOptions { connections: 1, wait: PATIENCE, ..PoolOptions::default() })
            .unwrap()
    }

    fn log_end(&self) -> File {
        OpenOptions::new().create(true).append(true).open(self.log_file()).unwrap()
    }
}

/// Returns the `BIGINT` named `id` that a statement selects on a database.
pub async fn number(database: &Database, statement: &str) -> i64 {
    let statement = statement.to_owned();
    let row = database.read(move |connection| {
        let row: Number = diesel::sql_query(&statement).get_result(connection)?;
        Ok::<_, Abort<StoreError>>(row.id)
    });
    row.await.unwrap()
}

/// Generates the sandbox's codes and identifiers. A code of four digits is always 0739, which no other number in a
/// log resembles.
fn telling_bytes(buffer: &mut [u8]) {
    for (byte, value) in buffer.iter_mut().zip([10, 17, 23, 39, 45, 51, 68, 74].into_iter().cycle()) {
        *byte = value;
    }
}

impl Process {
    /// Kills the process.
    pub fn kill(mut self) {
        self.end();
    }

    /// Sends SIGTERM to the process.
    pub fn terminate(&self) {
        self.signal("TERM");
    }

    /// Interrupts the process, as Ctrl-C does.
    pub fn interrupt(&self) {
        self.signal("INT");
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let kill = format!("kill -{name} \"$0\"");
        assert!(Command::new("sh").args(["-c", &kill, &id]).status().unwrap().success());
    }

    /// Waits until the process has ended.
    pub async fn ended(mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            retry_until!(until, "the process does not end:\n{}", self.tail());
        }
    }

    /// Returns a memory value of the process status in KiB, such as `VmRSS` or `VmHWM`.
    pub fn memory(&self, line: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let found = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':'));
        found.unwrap().trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Fails the test when the process has ended.
    pub fn must_run(&mut self) {
        let status = self.child.try_wait().unwrap();
        assert!(status.is_none(), "kontor ended with {status:?}:\n{}", self.tail());
    }

    fn tail(&self) -> String {
        let log = std::fs::read_to_string(&self.log).unwrap();
        let lines: Vec<&str> = log.lines().rev().take(20).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    fn end(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}
