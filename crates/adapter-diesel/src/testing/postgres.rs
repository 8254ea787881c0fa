//! Fresh databases on a PostgreSQL server, copied from a migrated template.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use diesel::connection::{Connection, SimpleConnection};
use diesel::{PgConnection, RunQueryDsl};

use super::cluster::Cluster;
use crate::{Database, DatabaseUrl, PoolOptions};

/// A database of its own, dropped with the value.
pub(super) struct FreshDatabase {
    server: &'static Server,
    name: String,
}

/// A server and the template made on it by this process.
struct Server {
    /// Connection string up to the database name, ending in `/`.
    base: String,
    /// The database named in `TEST_DATABASE_URL`, used for administration.
    admin: String,
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
        // What a test commits need not outlive the server.
        server.administer(&format!("ALTER DATABASE {} SET synchronous_commit = off", fresh.name))?;
        Ok(fresh)
    }

    pub fn url(&self) -> DatabaseUrl {
        DatabaseUrl::Postgres(format!("{}{}", self.server.base, self.name))
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
        // Copying fails while somebody else still looks at the template; that passes by itself.
        let mut outcome = connection.batch_execute(statement);
        for _ in 0..20 {
            match &outcome {
                Err(error) if error.to_string().contains("being accessed") => {
                    std::thread::sleep(std::time::Duration::from_millis(50));
                    outcome = connection.batch_execute(statement);
                }
                _ => break,
            }
        }
        outcome.map_err(|error| error.to_string())
    }
}

fn server() -> Result<&'static Server, String> {
    static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
    SERVER.get_or_init(start).as_ref().map_err(Clone::clone)
}

fn start() -> Result<Server, String> {
    let url = if let Some(url) = super::environment("TEST_DATABASE_URL") {
        url
    } else {
        let cluster = Cluster::start()?;
        let url = cluster.url();
        cluster.leave();
        url
    };
    let (base, admin) = url.rsplit_once('/').ok_or("TEST_DATABASE_URL has no database name")?;
    let (base, admin) = (format!("{base}/"), admin.to_owned());
    // The backend's own process id tells the templates of test processes that run side by side apart.
    let mut connection = Server::connect(&base, &admin)?;
    let id: Id =
        diesel::sql_query("SELECT pg_backend_pid() AS id").get_result(&mut connection).map_err(|e| e.to_string())?;
    let template = format!("kontor_test_{}_{}", std::process::id(), id.id);
    let server = Server { base, admin, template };
    drop_leftovers(&server, &mut connection);
    server.administer(&format!("CREATE DATABASE {}", server.template))?;
    let database = DatabaseUrl::Postgres(format!("{}{}", server.base, server.template));
    let one = PoolOptions { connections: 1, ..PoolOptions::default() };
    Database::open(database, one).and_then(|database| database.migrate()).map_err(|error| error.to_string())?;
    Ok(server)
}

#[derive(diesel::QueryableByName)]
struct Name {
    #[diesel(sql_type = diesel::sql_types::Text)]
    name: String,
}

/// Databases of test processes that are gone: a template outlives its process, since tests have no last step.
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
