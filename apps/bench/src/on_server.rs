//! Databases on a PostgreSQL server.

use diesel::PgConnection;
use diesel::connection::{Connection as _, SimpleConnection as _};

use crate::Failure;

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
