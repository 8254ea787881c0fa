//! A PostgreSQL cluster of the tests' own, from the server binaries of the machine.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

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
            "tls='-c ssl=on -c ssl_ca_file=root.crt'\n".to_owned(),
        ]
        .concat()
    }
}

/// A running cluster. It ends with the value, or with this process.
pub(super) struct Cluster {
    shell: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    port: u16,
}

impl Cluster {
    /// Starts a cluster.
    pub fn start() -> Result<Self, String> {
        Self::start_with(None)
    }

    /// Starts a cluster that speaks TLS, when it is told how.
    pub fn start_with(tls: Option<&ServerTls>) -> Result<Self, String> {
        let binaries = find().ok_or("no PostgreSQL server binaries were found")?;
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .map_err(|error| error.to_string())?
            .port();
        // The shell stops the server at the end of its input, which is the end of this process, however it ends, and
        // restarts it for every line. PostgreSQL refuses to run as root, so root hands the work to the account the server
        // package made.
        let script = format!(
            "set -e\nfolder=$(mktemp -d)\nbin={}\n\"$bin/initdb\" -D \"$folder/data\" -U postgres -A trust -N >\"$folder/log\" 2>&1\ntls=\n{}\
             start() {{\n\"$bin/postgres\" -D \"$folder/data\" -h 127.0.0.1 -p {port} -k \"$folder\" -F -c max_connections=300 $tls >>\"$folder/log\" 2>&1 &\n\
             server=$!\nfor _ in $(seq 100); do \"$bin/pg_isready\" -q -h 127.0.0.1 -p {port} && break; sleep 0.1; done\n\
             echo ready; }}\nstart\n\
             while read -r signal; do kill -$signal $server; wait $server || true; start; done\n\
             kill -INT $server; wait $server || true; rm -rf \"$folder\"\n",
            binaries.display(),
            tls.map(ServerTls::script).unwrap_or_default()
        );
        let root = std::fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0);
        let mut command = if root { Command::new("runuser") } else { Command::new("sh") };
        if root {
            command.args(["-u", "postgres", "--", "sh"]);
        }
        let mut shell = command
            .args(["-c", &script])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("the server binaries in {} cannot be run: {error}", binaries.display()))?;
        let commands = shell.stdin.take();
        let answers = BufReader::new(shell.stdout.take().ok_or("the cluster has no output")?);
        let mut cluster = Self { shell, commands, answers, port };
        cluster.ready()?;
        Ok(cluster)
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
        let signal: &[u8] = match stop {
            Stop::Fast => b"INT\n",
            Stop::Immediate => b"QUIT\n",
        };
        let commands = self.commands.as_mut().ok_or("the cluster has no input")?;
        commands.write_all(signal).map_err(|error| error.to_string())?;
        self.ready()
    }

    fn ready(&mut self) -> Result<(), String> {
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|error| error.to_string())?;
        if line.trim() == "ready" { Ok(()) } else { Err("a cluster could not be started".to_owned()) }
    }

    /// Leaves the server running until this process ends.
    pub fn leave(self) {
        std::mem::forget(self);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The end of its input has the shell stop the server and clean up.
        self.commands.take();
        let _ = self.shell.wait();
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
