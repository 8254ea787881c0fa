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
    /// Starts a cluster with messages in English, or in Russian and, where it is asked to, in the other [`LANGUAGES`].
    pub fn start(in_languages: bool) -> Result<Self, String> {
        let binaries = find().ok_or("no PostgreSQL server binaries were found")?;
        let port = free_port()?;
        // The shell stops the server at the end of its input and restarts it for every line.
        let script = format!(
            "set -e\nfolder=$(mktemp -d)\nbin={}\n\"$bin/initdb\" -D \"$folder/data\" -U postgres -A trust -N >\"$folder/log\" 2>&1\noptions=\n{}\
             start() {{\n\"$bin/postgres\" -D \"$folder/data\" -h 127.0.0.1 -p {port} -k \"$folder\" -F -c max_connections=300 $options >>\"$folder/log\" 2>&1 &\n\
             server=$!\nfor _ in $(seq 100); do \"$bin/pg_isready\" -q -h 127.0.0.1 -p {port} && break; sleep 0.1; done\n\
             echo ready; }}\nstart\n\
             while read -r signal; do kill -$signal $server; wait $server || true; start; done\n\
             kill -INT $server; wait $server || true; rm -rf \"$folder\"\n",
            binaries.display(),
            if in_languages { COMPILE_LANGUAGES } else { "" }
        );
        Ok(Self { script: Script::start(&script)?, port })
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

fn find() -> Option<PathBuf> {
    let on_path = super::environment("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&on_path).collect();
    for root in ["/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt"] {
        let versions = std::fs::read_dir(root).into_iter().flatten().flatten();
        folders.extend(versions.map(|version| version.path().join("bin")));
        folders.push(Path::new(root).join("bin"));
    }
    folders
        .into_iter()
        .find(|folder| ["initdb", "postgres", "pg_isready"].iter().all(|name| folder.join(name).exists()))
}
