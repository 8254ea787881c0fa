//! A throw-away PostgreSQL cluster from the server binaries of the machine.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Starts a cluster that ends with this process. Returns the address of its administration database.
pub(super) fn start() -> Result<String, String> {
    let binaries = find().ok_or("no PostgreSQL server binaries were found")?;
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map_err(|error| error.to_string())?
        .port();
    // The shell waits for the end of its input, which is the end of this process, however it ends. PostgreSQL refuses
    // to run as root, so root hands the work to the account the server package made.
    let script = format!(
        "set -e\nfolder=$(mktemp -d)\nbin={}\n\"$bin/initdb\" -D \"$folder/data\" -U postgres -A trust -N >\"$folder/log\" 2>&1\n\
         \"$bin/postgres\" -D \"$folder/data\" -h 127.0.0.1 -p {port} -k \"$folder\" -F -c max_connections=300 >>\"$folder/log\" 2>&1 &\n\
         server=$!\nfor _ in $(seq 100); do \"$bin/pg_isready\" -q -h 127.0.0.1 -p {port} && break; sleep 0.1; done\n\
         echo ready\ncat >/dev/null || true\nkill -INT $server; wait $server || true; rm -rf \"$folder\"\n",
        binaries.display()
    );
    let root = std::fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0);
    let mut command = if root { Command::new("runuser") } else { Command::new("sh") };
    if root {
        command.args(["-u", "postgres", "--", "sh"]);
    }
    let mut child = command
        .args(["-c", &script])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("the server binaries in {} cannot be run: {error}", binaries.display()))?;
    let mut line = String::new();
    let stdout = child.stdout.take().ok_or("the cluster has no output")?;
    BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
    if line.trim() != "ready" {
        return Err(format!("a cluster could not be started with the binaries in {}", binaries.display()));
    }
    // Dropping the input would stop the cluster; it stays open until the process ends.
    std::mem::forget(child.stdin.take());
    Ok(format!("postgres://postgres@127.0.0.1:{port}/postgres"))
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
