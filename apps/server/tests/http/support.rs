//! A running service with projects, staff and customers.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::Duration;

use diesel::RunQueryDsl;
use kontor::adapters::{Argon2Passwords, SystemClock, SystemRandom};
use kontor::config::Config;
use kontor::instance::{Instance, Roles};
use kontor_adapter_diesel::Abort;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_auth::StaffRegistry;
use kontor_auth::model::{Login, NewPassword};
use kontor_kernel::{AdjustableClock, BranchId, Email, ProjectId, StoreError};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::Value;
use tokio::runtime::Handle;

/// A service on a separate database. Its clock can be moved.
pub struct TestServer {
    /// First, so that it ends before its database is dropped.
    running: Running,
    pub db: TestDatabase,
    pub clock: Arc<AdjustableClock>,
    pub url: String,
    pub http: reqwest::Client,
    _files: tempfile::TempDir,
    _imports: tempfile::TempDir,
}

/// An instance that is stopped when dropped.
struct Running(Option<Instance>);

impl Running {
    async fn stop(&mut self) {
        if let Some(instance) = self.0.take() {
            instance.stop().await;
        }
    }
}

impl Drop for Running {
    /// A worker that outlived its database would wait half a minute for a connection to it, and delay the test.
    #[expect(clippy::disallowed_methods, reason = "tests run under tokio with several threads, not under actix")]
    fn drop(&mut self) {
        tokio::task::block_in_place(|| Handle::current().block_on(self.stop()));
    }
}

/// A project with a branch and an application.
#[derive(Clone)]
pub struct Project {
    pub id: i64,
    pub branch_id: i64,
    pub application_id: i64,
    pub app_token: String,
}

/// A response, read completely.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Answer {
    /// Returns the body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// Checks the status and returns the body.
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        if self.text.is_empty() { Value::Null } else { self.json() }
    }

    /// Checks that exactly these fields are refused.
    pub fn expect_invalid(&self, fields: &[&str]) {
        let body = self.expect(422);
        let mut expected = fields.to_vec();
        expected.sort_unstable();
        assert_eq!(self::fields(&body), expected, "{body}");
    }
}

/// Returns the names of the fields of an object, sorted.
pub fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Returns the refused fields of a response, sorted.
pub fn fields(refused: &Value) -> Vec<&str> {
    keys(&refused["errors"])
}

#[derive(diesel::QueryableByName)]
struct Inserted {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    id: i64,
}

const AT: &str = "2026-01-01 00:00:00";

/// Returns the digest in lower-case hex.
pub fn sha256(text: &str) -> String {
    kontor_kernel::hex(ring::digest::digest(&ring::digest::SHA256, text.as_bytes()).as_ref())
}

impl TestServer {
    /// Installs the TLS provider, once for the process.
    pub fn prepare() {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
    }

    /// Returns the lowest number of statements in five runs. In the background the service stores buffered data, and
    /// repeats queries for the cache when it could not watch for changes in time.
    pub async fn fewest_statements<T>(&self, mut once: impl AsyncFnMut() -> T) -> u64 {
        let mut fewest = u64::MAX;
        for _ in 0..5 {
            let before = self.db.database.statements();
            once().await;
            fewest = fewest.min(self.db.database.statements() - before);
        }
        fewest
    }

    /// Starts with the default configuration of a test.
    pub async fn start(db: TestDatabase) -> Self {
        Self::start_with(db, |_| {}).await
    }

    /// Starts with a changed configuration.
    pub async fn start_with(db: TestDatabase, change: impl FnOnce(&mut Config)) -> Self {
        Self::start_as(db, Roles::Api, change).await
    }

    /// Starts with a changed configuration, perhaps with a worker.
    #[expect(clippy::unused_async, reason = "the instance needs the runtime of its caller")]
    pub async fn start_as(db: TestDatabase, roles: Roles, change: impl FnOnce(&mut Config)) -> Self {
        Self::prepare();
        let mut config = Config { http_workers: 2, webhook_allow_internal: true, ..Config::default() };
        // No outside service is called unless a test configures it.
        config.acquirer_url = "http://127.0.0.1:9/v3".into();
        config.acquirer_addresses = vec!["127.0.0.1".into()];
        // Tests write faster than customers.
        config.customer_writes_per_minute = 100_000;
        let files = tempfile::tempdir().unwrap();
        config.files_folder = files.path().join("files").display().to_string();
        let imports = tempfile::tempdir().unwrap();
        config.import_folder = imports.path().display().to_string();
        change(&mut config);
        let clock = Arc::new(AdjustableClock::new(Arc::new(SystemClock)));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let instance = Instance::start(&config, &db.database, clock.clone(), Some(listener), roles).unwrap();
        let url = format!("http://{}", instance.address().unwrap());
        let http = reqwest::Client::builder().timeout(Duration::from_mins(1)).build().unwrap();
        Self { running: Running(Some(instance)), db, clock, url, http, _files: files, _imports: imports }
    }

    /// Returns the address of `/metrics` and `/docs/`, if it is not the main address.
    pub fn monitoring_url(&self) -> Option<String> {
        let address = self.running.0.as_ref()?.monitoring_address()?;
        Some(format!("http://{address}"))
    }

    /// Stops gracefully: background writes of requests are in the database afterwards.
    pub async fn stop(mut self) -> TestDatabase {
        self.running.stop().await;
        self.db
    }

    /// Runs an `INSERT ... RETURNING id`.
    pub async fn insert(&self, statement: String) -> i64 {
        let row = self.db.database.write_and_invalidate_all(move |connection| {
            let row: Inserted = diesel::sql_query(&statement).get_result(connection)?;
            Ok::<_, Abort<StoreError>>(row.id)
        });
        row.await.unwrap()
    }

    /// Runs a statement.
    pub async fn execute(&self, statement: &str) {
        let statement = statement.to_owned();
        let done = self.db.database.write_and_invalidate_all(move |connection| {
            diesel::sql_query(&statement).execute(connection)?;
            Ok::<_, Abort<StoreError>>(())
        });
        done.await.unwrap();
    }

    /// Creates a project with a branch and an application.
    pub async fn project(&self) -> Project {
        let id = self
            .insert(format!(
                "INSERT INTO projects (name, currency, created_at) VALUES ('Trial', 'RUB', '{AT}') RETURNING id"
            ))
            .await;
        let branch_id = self
            .insert(format!(
                "INSERT INTO branches (project_id, name, created_at, updated_at) \
                 VALUES ({id}, 'Branch', '{AT}', '{AT}') RETURNING id"
            ))
            .await;
        let app_token = format!("app-token-of-project-{id}");
        let application_id = self
            .insert(format!(
                "INSERT INTO applications (project_id, branch_id, name, token_fingerprint, is_active, wholesale, \
                 created_at, updated_at) VALUES ({id}, {branch_id}, 'Shop', '{}', true, false, '{AT}', '{AT}') \
                 RETURNING id",
                sha256(&app_token)
            ))
            .await;
        Project { id, branch_id, application_id, app_token }
    }

    /// Returns the bearer of an employee with exactly these permissions.
    pub async fn staff_with(&self, project: &Project, permissions: &[&str]) -> String {
        let id = project.id;
        let role = self
            .insert(format!(
                "INSERT INTO roles (project_id, name, is_owner, created_at, updated_at) \
                 VALUES ({id}, 'Role', false, '{AT}', '{AT}') RETURNING id"
            ))
            .await;
        let names = permissions.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
        if !names.is_empty() {
            self.execute(&format!(
                "INSERT INTO role_permissions (project_id, role_id, permission_id) \
                 SELECT {id}, {role}, id FROM permissions WHERE name IN ({names})"
            ))
            .await;
        }
        self.staff_of_role(project, role).await
    }

    /// Creates the owner `Boss` with the mailbox `admin@example.com` and this password.
    pub async fn admin(&self, project: &Project, password: &str) {
        let hasher = Arc::new(Argon2Passwords::new(Arc::new(SystemRandom::new())).unwrap());
        let (staff, clock) = (Arc::new(self.db.database.clone()), self.clock.clone());
        StaffRegistry { staff, hasher, clock }
            .create_owner(
                ProjectId::new(project.id).unwrap(),
                Login::parse("Boss").unwrap(),
                Email::parse("boss@example.com").unwrap(),
                &NewPassword::parse(password).unwrap(),
                Some(BranchId::new(project.branch_id).unwrap()),
            )
            .await
            .unwrap();
    }

    /// Returns the bearer of an employee with every permission.
    pub async fn owner(&self, project: &Project) -> String {
        let id = project.id;
        let role = self
            .insert(format!(
                "INSERT INTO roles (project_id, name, is_owner, created_at, updated_at) \
                 VALUES ({id}, 'Owner', true, '{AT}', '{AT}') RETURNING id"
            ))
            .await;
        self.execute(&format!(
            "INSERT INTO role_permissions (project_id, role_id, permission_id) SELECT {id}, {role}, id FROM permissions"
        ))
        .await;
        self.staff_of_role(project, role).await
    }

    async fn staff_of_role(&self, project: &Project, role: i64) -> String {
        let id = project.id;
        let user = self
            .insert(format!(
                "INSERT INTO users (project_id, role_id, login, email, password_hash, first_name, last_name, is_banned, \
                 is_sick, active_seconds, created_at, updated_at) VALUES ({id}, {role}, 'user-of-role-{role}', \
                 'u{role}@example.com', 'none', 'Anna', 'Kern', false, false, 0, '{AT}', '{AT}') RETURNING id"
            ))
            .await;
        self.token(project, "user", user, None).await
    }

    /// Returns the id and the bearer of a new customer, logged in to the application of the project.
    pub async fn customer(&self, project: &Project) -> (i64, String) {
        let id = project.id;
        let customer = self
            .insert(format!(
                "INSERT INTO counterparties (project_id, is_company, first_name, phone_1, created_at, updated_at) \
                 VALUES ({id}, false, 'Ivan', '79001234567', '{AT}', '{AT}') RETURNING id"
            ))
            .await;
        let token = self.token(project, "counterparty", customer, Some(project.application_id)).await;
        (customer, token)
    }

    /// Returns the bearer of a new token.
    pub async fn token(&self, project: &Project, guard: &str, subject: i64, application: Option<i64>) -> String {
        let secret = format!("secret-of-{guard}-{subject}");
        let application = application.map_or_else(|| "NULL".to_owned(), |id| id.to_string());
        let token = self
            .insert(format!(
                "INSERT INTO access_tokens (guard, subject_id, project_id, application_id, fingerprint, created_at, \
                 expires_at) VALUES ('{guard}', {subject}, {}, {application}, '{}', '{AT}', '2100-01-01 00:00:00') \
                 RETURNING id",
                project.id,
                sha256(&secret)
            ))
            .await;
        format!("{token}|{secret}")
    }

    /// Prepares a request without credentials.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url)).header("Accept", "application/json")
    }

    /// Prepares a request of staff.
    pub fn as_staff(&self, bearer: &str, method: Method, path: &str) -> RequestBuilder {
        self.request(method, path).bearer_auth(bearer)
    }

    /// Prepares a request of an application.
    pub fn as_app(&self, project: &Project, method: Method, path: &str) -> RequestBuilder {
        self.request(method, path).header("Token", &project.app_token)
    }

    /// Prepares a request of a customer in the application of the project.
    pub fn as_customer(&self, project: &Project, bearer: &str, method: Method, path: &str) -> RequestBuilder {
        self.as_app(project, method, path).bearer_auth(bearer)
    }
}

/// Sends a request and reads the response.
pub async fn send(request: RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    Answer { status, headers, text: response.text().await.unwrap() }
}

/// Returns the Rust sources below a folder.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = entries.flat_map(|path| match path.extension() {
        _ if path.is_dir() => sources(&path),
        Some(extension) if extension == "rs" => vec![path],
        _ => Vec::new(),
    });
    found.collect()
}
