//! A PostgreSQL cluster of the tests' own, from the server binaries of the machine.

use std::path::{Path, PathBuf};

use super::script::{Script, free_port};

/// How a server is stopped before it is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// In order: transactions are rolled back, clients are told.
    Fast,
    /// As in a crash: nobody is told, and what was committed is recovered at the start.
    Immediate,
}

/// What a server shows of itself over TLS, as PEM. Over the network it then takes passwords by TLS alone, except of
/// `postgres`, and the account `clerk` by a certificate of the same authority.
#[derive(Debug, Clone)]
pub struct ServerTls {
    /// Its certificate.
    pub certificate: String,
    /// The key of that.
    pub key: String,
    /// Who signs certificates of clients.
    pub authority: String,
}

impl ServerTls {
    /// The lines of the script that lay the files down.
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

/// How a cluster is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Manner<'a> {
    /// As it comes.
    Plain,
    /// With messages in Russian and, where a database asks for it, in the other [`LANGUAGES`].
    Speaking,
    /// With TLS.
    Tls(&'a ServerTls),
}

/// A running cluster. It ends with the value, or with this process.
pub(super) struct Cluster {
    script: Script,
    port: u16,
}

/// The languages, beside English, of a server of the tests. PostgreSQL's packages have its messages in them.
pub(super) const LANGUAGES: [&str; 2] = ["de_DE.UTF-8", "ru_RU.UTF-8"];

/// Compiles the locales of the languages into the cluster's folder, beside those of the machine.
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

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of its administration database.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Stops the server, starts it again and waits until it takes connections.
    pub fn restart(&mut self, stop: Stop) -> Result<(), String> {
        self.script.tell(match stop {
            Stop::Fast => "INT",
            Stop::Immediate => "QUIT",
        })
    }

    /// Leaves the server running until this process ends.
    pub fn leave(self) {
        self.script.leave();
    }
}

/// How a script begins that runs servers: `serve FOLDER PORT OPTIONS` starts the one in a folder below `$folder`, as `$server`,
/// and waits until it takes connections. What tests store need not outlive the machine: it stands in memory where there is
/// room, and nothing waits for a disk.
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

/// The folder that has all of these programs.
pub(super) fn binaries(names: &[&str]) -> Result<PathBuf, String> {
    let on_path = super::environment("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&on_path).collect();
    for root in ["/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt"] {
        let versions = std::fs::read_dir(root).into_iter().flatten().flatten();
        folders.extend(versions.map(|version| version.path().join("bin")));
        folders.push(Path::new(root).join("bin"));
    }
    let mut found = folders.into_iter().filter(|folder| names.iter().all(|name| folder.join(name).exists()));
    found.next().ok_or_else(|| format!("no PostgreSQL server binaries were found ({})", names.join(", ")))
}
