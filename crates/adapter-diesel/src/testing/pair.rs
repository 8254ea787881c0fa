//! PostgreSQL server with a standby.

use super::cluster::{binaries, prelude};
use super::script::{Script, free_port};
use super::{Kind, TestDatabase, must};
use crate::{Database, DatabaseUrl, PoolOptions};

/// Primary with a synchronous standby: a commit is confirmed after the standby has it. It needs the server binaries,
/// not `TEST_DATABASE_URL`, and ends when the value is dropped, or with this process.
pub struct Pair {
    script: Script,
    primary: u16,
    standby: u16,
}

/// Kills the primary with its child processes, which would otherwise finish their work. They are listed while the
/// stopped primary cannot start more. Its shared memory outlives every process, so it is removed here.
const KILL: &str = "kill -STOP $primary\n\
     kill -KILL $primary $(grep -ls \"^PPid:[[:space:]]*$primary\\$\" /proc/[0-9]*/status | cut -d/ -f3)\n\
     wait $primary || true\nprimary=\n\
     ipcrm -m $(awk 'NR == 7 { print $2 }' \"$folder/primary/postmaster.pid\") >>\"$folder/log\" 2>&1 || true\n";

/// Shared memory of queries is in files of the folder, which is removed.
const IN_FOLDER: &str = "-c dynamic_shared_memory_type=mmap";

impl Pair {
    /// Starts a pair.
    ///
    /// # Panics
    /// If no pair can be started.
    #[must_use]
    pub fn start() -> Self {
        must(Self::try_start())
    }

    fn try_start() -> Result<Self, String> {
        let binaries = binaries(&["initdb", "postgres", "pg_isready", "pg_basebackup", "pg_ctl"])?;
        let (primary, standby) = (free_port()?, free_port()?);
        let script = format!(
            "{}trap 'kill -QUIT $primary $standby || true; wait; rm -rf \"$folder\"' EXIT\n\
             \"$bin/initdb\" -D \"$folder/primary\" -U postgres -A trust -N >\"$folder/log\" 2>&1\n\
             serve primary {primary} {IN_FOLDER} -c 'synchronous_standby_names=*'\nprimary=$server\n\
             \"$bin/pg_basebackup\" -D \"$folder/standby\" -R -c fast -h 127.0.0.1 -p {primary} -U postgres \
             >>\"$folder/log\" 2>&1\nserve standby {standby} {IN_FOLDER}\nstandby=$server\necho ready\n\
             while read -r what; do\ncase $what in\nkill)\n{KILL};;\n\
             promote) \"$bin/pg_ctl\" promote -D \"$folder/standby\" >>\"$folder/log\" 2>&1 ;;\nesac\necho ready\ndone\n",
            prelude(&binaries),
        );
        Ok(Self { script: Script::start(&script)?, primary, standby })
    }

    /// Returns the port of the standby.
    #[must_use]
    pub fn standby(&self) -> u16 {
        self.standby
    }

    /// Opens and migrates their database, with the options of a service.
    ///
    /// # Panics
    /// If it cannot be created.
    #[must_use]
    pub fn database(&self) -> TestDatabase {
        let database = must(Database::open(address(self.primary, self.standby), PoolOptions::default()));
        must(database.migrate());
        TestDatabase::borrowed(database, Kind::Postgres)
    }

    /// Opens the database by an address that names the standby first.
    ///
    /// # Panics
    /// If no server is reachable.
    #[must_use]
    pub fn database_by_standby(&self) -> TestDatabase {
        let options = PoolOptions { connections: 1, ..PoolOptions::default() };
        let database = must(Database::open(address(self.standby, self.primary), options));
        TestDatabase::borrowed(database, Kind::Postgres)
    }

    /// Kills the primary with all of its processes, without notifying clients.
    ///
    /// # Panics
    /// If it cannot be killed.
    pub fn kill_primary(&mut self) {
        must(self.script.send_command("kill"));
    }

    /// Promotes the standby to a primary, and waits until it is one.
    ///
    /// # Panics
    /// If it does not become one.
    pub fn promote_standby(&mut self) {
        must(self.script.send_command("promote"));
    }
}

/// Returns one address for both, as a service is configured.
fn address(first: u16, second: u16) -> DatabaseUrl {
    DatabaseUrl::Postgres(format!(
        "postgres://postgres@127.0.0.1:{first},127.0.0.1:{second}/postgres?target_session_attrs=read-write"
    ))
}
