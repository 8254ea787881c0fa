//! Fresh databases on a PostgreSQL server, copied from a migrated template. Profiles run the same tests in other
//! set-ups; `TEST_POSTGRES_PROFILE` selects one.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use diesel::connection::{Connection, SimpleConnection};
use diesel::{PgConnection, RunQueryDsl};

use super::cluster::{Cluster, Manner};
use super::script::{Script, free_port};
use crate::{Database, DatabaseUrl, PoolOptions};

/// Separate database, dropped with the value.
pub(super) struct FreshDatabase {
    server: &'static Server,
    name: String,
}

/// Server and the template that this process created on it.
struct Server {
    /// Connection string up to the database name, ending in `/`.
    base: String,
    /// Database named in `TEST_DATABASE_URL`, used for administration.
    admin: String,
    /// Connection string for tests, which may use another account or the pooler.
    used_by_tests: String,
    template: String,
}

#[derive(diesel::QueryableByName)]
struct Id {
    #[diesel(sql_type = diesel::sql_types::Integer)]
    id: i32,
}

impl FreshDatabase {
    pub fn create() -> Result<Self, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let server = server()?;
        let name = format!("{}_{}", server.template, NUMBER.fetch_add(1, Ordering::Relaxed));
        server.administer(&format!("CREATE DATABASE {name} TEMPLATE {}", server.template))?;
        let fresh = Self { server, name };
        // Commits of a test need not survive the server.
        for setting in ["synchronous_commit = off"].iter().chain(Profile::chosen().settings()) {
            server.administer(&format!("ALTER DATABASE {} SET {setting}", fresh.name))?;
        }
        Ok(fresh)
    }

    /// Opens a connection of the account that created the database.
    pub fn administrator(&self) -> Result<PgConnection, String> {
        Server::connect(&self.server.base, &self.name)
    }

    pub fn url(&self) -> DatabaseUrl {
        DatabaseUrl::Postgres(format!("{}{}", self.server.used_by_tests, self.name))
    }
}

impl Drop for FreshDatabase {
    fn drop(&mut self) {
        if let Err(error) = self.server.administer(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)) {
            eprintln!("a test database stays behind: {error}");
        }
    }
}

impl Server {
    fn connect(base: &str, name: &str) -> Result<PgConnection, String> {
        PgConnection::establish(&format!("{base}{name}")).map_err(|error| error.to_string())
    }

    fn administer(&self, statement: &str) -> Result<(), String> {
        let mut connection = Self::connect(&self.base, &self.admin)?;
        connection.batch_execute("SET client_min_messages = error").map_err(|error| error.to_string())?;
        // Copying fails while another session still uses the template; that is temporary.
        let mut outcome = connection.batch_execute(statement);
        for _ in 0..20 {
            if outcome.is_ok() {
                break;
            }
            connection.batch_execute("SELECT pg_sleep(0.05)").map_err(|error| error.to_string())?;
            outcome = connection.batch_execute(statement);
        }
        outcome.map_err(|error| error.to_string())
    }
}

fn server() -> Result<&'static Server, String> {
    static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
    SERVER.get_or_init(start).as_ref().map_err(Clone::clone)
}

fn start() -> Result<Server, String> {
    let profile = Profile::chosen();
    // A given server may have any message language, so this profile starts its own.
    let given = super::environment("TEST_DATABASE_URL").filter(|_| profile != Profile::Messages);
    let url = if let Some(url) = given {
        url
    } else {
        let manner = if profile == Profile::Messages { Manner::Speaking } else { Manner::Plain };
        let cluster = Cluster::start(manner)?;
        let url = cluster.url();
        cluster.leave();
        url
    };
    let (base, admin) = url.rsplit_once('/').ok_or("TEST_DATABASE_URL has no database name")?;
    let (base, admin) = (format!("{base}/"), admin.to_owned());
    // The process id of the backend distinguishes the templates of test processes that run in parallel.
    let mut connection = Server::connect(&base, &admin)?;
    let id: Id =
        diesel::sql_query("SELECT pg_backend_pid() AS id").get_result(&mut connection).map_err(|e| e.to_string())?;
    if profile == Profile::Postgres18 {
        must_be_18(&mut connection)?;
    }
    let template = format!("kontor_test_{}_{}", std::process::id(), id.id);
    let used_by_tests = used_by_tests(profile, &base)?;
    let server = Server { base, admin, used_by_tests, template };
    drop_leftovers(&server, &mut connection);
    server.administer(&format!("CREATE DATABASE {}", server.template))?;
    if profile == Profile::PlainSearch {
        let mut connection = Server::connect(&server.base, &server.template)?;
        connection.batch_execute(UNPRIVILEGED).map_err(|error| error.to_string())?;
    }
    // A pooler is for requests; migrations go to the server itself.
    let to_server = if profile == Profile::Pgbouncer { &server.base } else { &server.used_by_tests };
    let database = DatabaseUrl::Postgres(format!("{to_server}{}", server.template));
    let one = PoolOptions { connections: 1, ..PoolOptions::default() };
    Database::open(database, one).and_then(|database| database.migrate()).map_err(|error| error.to_string())?;
    Ok(server)
}

/// Rejects a server of another version: another one may be first in `PATH`.
fn must_be_18(connection: &mut PgConnection) -> Result<(), String> {
    let version = "SELECT current_setting('server_version_num')::integer / 10000 AS id";
    let version: Id = diesel::sql_query(version).get_result(connection).map_err(|error| error.to_string())?;
    match version.id {
        18 => Ok(()),
        other => Err(format!("the server has version {other}; put the folder that .ci/postgres18 prints into PATH")),
    }
}

/// Creates an account that may create tables but no extensions.
const UNPRIVILEGED: &str = "DO $$ BEGIN CREATE ROLE kontor_test_plain LOGIN; EXCEPTION WHEN OTHERS THEN NULL; END $$; \
     GRANT ALL ON SCHEMA public TO kontor_test_plain";

fn used_by_tests(profile: Profile, base: &str) -> Result<String, String> {
    let (account, place) = base.rsplit_once('@').ok_or("TEST_DATABASE_URL has no account")?;
    let place = place.trim_end_matches('/');
    Ok(match profile {
        Profile::PlainSearch => format!("postgres://kontor_test_plain@{place}/"),
        Profile::Pgbouncer => format!("{account}@{}/", start_pooler(place)?),
        _ => base.to_owned(),
    })
}

#[derive(diesel::QueryableByName)]
struct Name {
    #[diesel(sql_type = diesel::sql_types::Text)]
    name: String,
}

/// Drops databases of test processes that have ended: a template outlives its process, because tests have no final
/// step.
fn drop_leftovers(server: &Server, connection: &mut PgConnection) {
    let leftovers =
        diesel::sql_query("SELECT datname::text AS name FROM pg_database WHERE datname LIKE 'kontor\\_test\\_%'")
            .load::<Name>(connection)
            .unwrap_or_default();
    for Name { name } in leftovers {
        let process = name.split('_').nth(2).unwrap_or_default();
        if !process.is_empty() && !std::path::Path::new("/proc").join(process).exists() {
            // Another process may drop the same leftover; either may win.
            let _ = server.administer(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
        }
    }
}

const POOLER: &str = "pool_mode = transaction\nlisten_addr = 127.0.0.1\nauth_type = trust\nmax_client_conn = 1000\n\
     default_pool_size = 6\nserver_idle_timeout = 2\nignore_startup_parameters = extra_float_digits\n";

/// Starts `pgbouncer` in transaction mode for this server, which ends with this process. Returns its address as
/// `HOST:PORT`.
fn start_pooler(server: &str) -> Result<String, String> {
    let (host, port) = server.split_once(':').unwrap_or((server, "5432"));
    let own = free_port()?;
    let script = format!(
        "set -e\nPATH=\"$PATH:/usr/sbin\"\ncommand -v pgbouncer >&2\nfolder=$(mktemp -d)\n\
         echo '\"postgres\" \"\"' >\"$folder/users\"\n\
         printf '[databases]\\n* = host={host} port={port}\\n[pgbouncer]\\n{POOLER}listen_port = {own}\\nauth_file = %s\\nunix_socket_dir = %s\\n' \
         \"$folder/users\" \"$folder\" >\"$folder/pgbouncer.ini\"\n\
         pgbouncer -q \"$folder/pgbouncer.ini\" >\"$folder/log\" 2>&1 &\npooler=$!\n\
         for _ in $(seq 100); do [ -S \"$folder/.s.PGSQL.{own}\" ] && break; sleep 0.1; done\n\
         [ -S \"$folder/.s.PGSQL.{own}\" ] || exit 1\necho ready\ncat >/dev/null || true\nkill $pooler; rm -rf \"$folder\"\n"
    );
    // It keeps running: the end of its input, which is the end of this process, stops it.
    Script::start(&script).map_err(|reason| format!("pgbouncer: {reason}"))?.leave();
    Ok(format!("127.0.0.1:{own}"))
}

/// Set-up of the PostgreSQL of the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Profile {
    /// Default settings.
    Usual,
    /// Transactions are serializable by default, and five commits of a hundred fail.
    Serializable,
    /// Without the extensions that searches are indexed with.
    PlainSearch,
    /// Behind a pooler in transaction mode.
    Pgbouncer,
    /// With messages in Russian.
    Messages,
    /// PostgreSQL 18, which must be the first server of `PATH` or the given one.
    Postgres18,
}

impl Profile {
    /// Returns the profile that the environment selects.
    pub fn chosen() -> Self {
        let name = super::environment("TEST_POSTGRES_PROFILE");
        let known = match name.as_deref() {
            None => Ok(Self::Usual),
            Some("serializable") => Ok(Self::Serializable),
            Some("plain-search") => Ok(Self::PlainSearch),
            Some("pgbouncer") => Ok(Self::Pgbouncer),
            Some("messages") => Ok(Self::Messages),
            Some("postgres-18") => Ok(Self::Postgres18),
            Some(other) => Err(format!(
                "TEST_POSTGRES_PROFILE is `{other}` and not serializable, plain-search, pgbouncer, messages or \
                 postgres-18"
            )),
        };
        super::must(known)
    }

    /// Returns the settings of each fresh database.
    pub fn settings(self) -> &'static [&'static str] {
        match self {
            Self::Usual | Self::PlainSearch | Self::Messages | Self::Postgres18 => &[],
            Self::Serializable => &["default_transaction_isolation = 'serializable'"],
            // Settings that a session behind a pooler cannot keep.
            Self::Pgbouncer => &["statement_timeout = '30s'", "jit = off", "work_mem = '16MB'"],
        }
    }

    /// Returns how many commits of a hundred fail.
    pub fn refused_commits(self) -> u64 {
        if self == Self::Serializable { 5 } else { 0 }
    }
}
