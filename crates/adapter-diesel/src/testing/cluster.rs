//! PostgreSQL cluster for the tests, from the server binaries of the machine, and servers that a test may restart.

use std::path::{Path, PathBuf};

use super::script::{Script, free_port};
use super::{Keep, Kind, TestDatabase, must};
use crate::{Database, DatabaseUrl, PoolOptions};

/// Way to stop a server before it is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Regular stop: transactions are rolled back, clients are notified.
    Fast,
    /// Stop as in a crash: clients are not notified, and committed data is recovered at the start.
    Immediate,
}

/// TLS files of a server, as PEM. Over the network it then accepts passwords by TLS only, except for `postgres`, and
/// the account `clerk` by a certificate of the same authority.
#[derive(Debug, Clone)]
pub struct ServerTls {
    /// Certificate of the server.
    pub certificate: String,
    /// Private key of the certificate.
    pub key: String,
    /// Authority that signs client certificates.
    pub authority: String,
}

impl ServerTls {
    /// Returns the script lines that create the files.
    fn script(&self) -> String {
        let Self { certificate, key, authority } = self;
        let access = "hostssl all clerk 127.0.0.1/32 cert\nhostssl all all 127.0.0.1/32 scram-sha-256\n\
             hostnossl all postgres 127.0.0.1/32 trust\n";
        let file = |name: &str, text: &str| format!("cat >\"$folder/data/{name}\" <<'END'\n{text}\nEND\n");
        [
            file("server.crt", certificate),
            "umask 077\n".to_owned(),
            file("server.key", key),
            file("root.crt", authority),
            file("pg_hba.conf", access),
            "options='-c ssl=on -c ssl_ca_file=root.crt'\n".to_owned(),
        ]
        .concat()
    }
}

/// Variant of a cluster.
#[derive(Debug, Clone, Copy)]
pub(super) enum Manner<'a> {
    /// Default settings.
    Plain,
    /// Messages in Russian and, where a database selects it, in the other [`LANGUAGES`].
    Speaking,
    /// TLS.
    Tls(&'a ServerTls),
}

/// Running cluster. It ends when the value is dropped, or with this process.
pub(super) struct Cluster {
    script: Script,
    port: u16,
}

/// Languages of a test server besides English. The PostgreSQL packages contain messages in them.
const LANGUAGES: [&str; 2] = ["de_DE.UTF-8", "ru_RU.UTF-8"];

/// Compiles the locales of the languages into the folder of the cluster, beside those of the machine.
const COMPILE_LANGUAGES: &str = "mkdir \"$folder/locale\"\nfor name in de_DE ru_RU; do\n\
     localedef -i $name -f UTF-8 --no-archive \"$folder/locale/$name.UTF-8\" >>\"$folder/log\" 2>&1; done\n\
     export LOCPATH=\"$folder/locale:/usr/lib/locale\"\nunset LANGUAGE\noptions='-c lc_messages=ru_RU.UTF-8'\n";

impl Cluster {
    /// Starts a cluster.
    pub fn start(manner: Manner<'_>) -> Result<Self, String> {
        let binaries = binaries(&["initdb", "postgres", "pg_isready"])?;
        let port = free_port()?;
        let prepare = match manner {
            Manner::Plain => String::new(),
            Manner::Speaking => COMPILE_LANGUAGES.to_owned(),
            Manner::Tls(tls) => tls.script(),
        };
        // The shell stops the server at the end of its input and restarts it for every line.
        let script = format!(
            "{}\"$bin/initdb\" -D \"$folder/data\" -U postgres -A trust -N >\"$folder/log\" 2>&1\noptions=\n{prepare}\
             start() {{ serve data {port} $options; echo ready; }}\nstart\n\
             while read -r signal; do kill -$signal $server; wait $server || true; start; done\n\
             kill -INT $server; wait $server || true; rm -rf \"$folder\"\n",
            prelude(&binaries),
        );
        Ok(Self { script: Script::start(&script)?, port })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the address of the administration database.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Stops the server, starts it again and waits until it accepts connections.
    pub fn restart(&mut self, stop: Stop) -> Result<(), String> {
        self.script.send_command(match stop {
            Stop::Fast => "INT",
            Stop::Immediate => "QUIT",
        })
    }

    /// Leaves the server running until this process ends.
    pub fn leave(self) {
        self.script.leave();
    }
}

/// Returns the beginning of a script that runs servers. `serve FOLDER PORT OPTIONS` starts the server in a folder below
/// `$folder`, as `$server`, and waits until it accepts connections. Test data need not survive the machine: it is kept
/// in memory if there is room, so that nothing waits for a disk.
pub(super) fn prelude(binaries: &Path) -> String {
    format!(
        "set -e\nroom=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 {{ print $4 }}')\n\
         if [ \"${{room:-0}}\" -gt 2000000 ]; then folder=$(mktemp -d -p /dev/shm); else folder=$(mktemp -d); fi\nbin={}\n\
         serve() {{\ndata=$1\nport=$2\nshift 2\n\
         \"$bin/postgres\" -D \"$folder/$data\" -h 127.0.0.1 -p $port -k \"$folder\" -F -c max_connections=300 \
         -c full_page_writes=off -c max_wal_size=4GB \"$@\" >>\"$folder/log\" 2>&1 &\n\
         server=$!\nfor _ in $(seq 100); do \"$bin/pg_isready\" -q -h 127.0.0.1 -p $port && break; sleep 0.1; done\n}}\n",
        binaries.display(),
    )
}

/// Returns the folder that contains all of these programs.
pub(super) fn binaries(names: &[&str]) -> Result<PathBuf, String> {
    let on_path = super::environment("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&on_path).collect();
    for root in ["/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt"] {
        let versions = std::fs::read_dir(root).into_iter().flatten().flatten();
        folders.extend(versions.map(|version| version.path().join("bin")));
        folders.push(Path::new(root).join("bin"));
    }
    let mut found = folders.into_iter().filter(|folder| names.iter().all(|name| folder.join(name).exists()));
    found.next().ok_or_else(|| {
        format!(
            "no PostgreSQL server was found ({}): install it, or leave the tests out by --skip ::postgres",
            names.join(", ")
        )
    })
}

const POOL: PoolOptions =
    PoolOptions { connections: 4, wait: std::time::Duration::from_secs(30), prepared_statements: true };

/// PostgreSQL server for one test. It needs the server binaries, not `TEST_DATABASE_URL`.
pub struct OwnServer(Cluster);

impl OwnServer {
    /// Starts a server.
    ///
    /// # Panics
    /// If no server can be started.
    #[must_use]
    pub fn start() -> Self {
        Self(must(Cluster::start(Manner::Plain)))
    }

    /// Starts a server whose messages are in Russian, or in another of the returned languages where a database selects
    /// it. It needs `localedef` and its sources; in Debian these are in the package `locales`.
    ///
    /// # Panics
    /// If no such server can be started.
    #[must_use]
    pub fn speaking() -> (Self, [&'static str; 2]) {
        let cluster = Cluster::start(Manner::Speaking);
        let cluster = cluster.map_err(|reason| format!("{reason} (with messages in other languages)"));
        (Self(must(cluster)), LANGUAGES)
    }

    /// Starts a server with TLS.
    ///
    /// # Panics
    /// As [`OwnServer::start`].
    #[must_use]
    pub fn start_with_tls(tls: &ServerTls) -> Self {
        Self(must(Cluster::start(Manner::Tls(tls))))
    }

    /// Returns the port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.0.port()
    }

    /// Opens and migrates its database by an address that the test supplies.
    ///
    /// # Panics
    /// If it cannot be reached or created.
    #[must_use]
    pub fn database_at(&self, url: &str) -> TestDatabase {
        let database = must(Database::open(DatabaseUrl::Postgres(url.to_owned()), POOL));
        must(database.migrate());
        TestDatabase { database, kind: Kind::Postgres, keep: Keep::Nothing }
    }

    /// Opens and migrates its database.
    ///
    /// # Panics
    /// If it cannot be created.
    #[must_use]
    pub fn database(&self) -> TestDatabase {
        self.database_at(&self.0.url())
    }

    /// Stops the server, starts it again and waits until it accepts connections.
    ///
    /// # Panics
    /// If it does not start again.
    pub fn restart(&mut self, stop: Stop) {
        must(self.0.restart(stop));
    }
}
