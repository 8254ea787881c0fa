//! A primary and a standby that confirms every commit.

use super::cluster::find;
use super::own_server::POOL;
use super::script::{Script, free_port};
use super::{Keep, Kind, TestDatabase, must, unless_skipped};
use crate::{Database, DatabaseUrl};

/// Two PostgreSQL servers that serve one test. They need the server binaries, not `TEST_DATABASE_URL`.
pub struct Pair {
    script: Script,
    ports: [u16; 2],
}

impl Pair {
    /// The servers, or `None` when none can be had here (said on standard error).
    ///
    /// # Panics
    /// When PostgreSQL is required and no server can be started.
    #[must_use]
    pub fn start() -> Option<Self> {
        unless_skipped(Self::try_start)
    }

    fn try_start() -> Result<Self, String> {
        let binaries = find().ok_or("no PostgreSQL server binaries were found")?;
        let ports = [free_port()?, free_port()?];
        let [one, two] = ports;
        let script = format!(
            "set -e\nfolder=$(mktemp -d)\nbin={}\nexec 2>\"$folder/log\"\n\
             \"$bin/initdb\" -D \"$folder/one\" -U postgres -A trust -N >&2\n\
             start() {{ \"$bin/postgres\" -D \"$folder/$1\" -h 127.0.0.1 -p $2 -k \"$folder\" -F -c max_connections=100 >&2 &\n\
             server=$!\nfor _ in $(seq 100); do \"$bin/pg_isready\" -q -h 127.0.0.1 -p $2 && break; sleep 0.1; done; }}\n\
             start one {one}\nprimary=$server\n\
             \"$bin/pg_basebackup\" -h 127.0.0.1 -p {one} -U postgres -D \"$folder/two\" -R -X stream -c fast >&2\n\
             start two {two}\nstandby=$server\n\
             sql() {{ \"$bin/psql\" -h 127.0.0.1 -p {one} -U postgres -Atqc \"$1\"; }}\n\
             sql \"ALTER SYSTEM SET synchronous_standby_names = '*'\"\nsql 'SELECT pg_reload_conf()' >&2\n\
             for _ in $(seq 100); do [ \"$(sql 'SELECT count(*) FROM pg_stat_replication WHERE sync_state = $$sync$$')\" = 1 ] && break; sleep 0.1; done\n\
             echo ready\nread -r _ && {{ kill -9 $primary; wait $primary || true; \
             \"$bin/pg_ctl\" promote -w -D \"$folder/two\" >&2; echo ready; cat >&2; }}\n\
             kill -9 $primary || true\nkill -INT $standby\nwait $standby || true\nrm -rf \"$folder\"\n",
            binaries.display()
        );
        Ok(Self { script: Script::start(&script)?, ports })
    }

    /// Their migrated database, at an address that leads to whichever takes changes.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    pub fn database(&self) -> TestDatabase {
        let [one, two] = self.ports;
        let hosts = format!("127.0.0.1:{one},127.0.0.1:{two}");
        let url = format!("postgres://postgres@{hosts}/postgres?target_session_attrs=read-write");
        let database = must(Database::open(DatabaseUrl::Postgres(url), POOL));
        must(database.migrate());
        TestDatabase { database, kind: Kind::Postgres, _keep: Keep::Nothing }
    }

    /// Kills the primary, tells nobody, and makes the standby the primary. It can be done once.
    ///
    /// # Panics
    /// When the standby does not become the primary.
    pub fn fail_over(&mut self) {
        must(self.script.tell("fail over"));
    }
}
