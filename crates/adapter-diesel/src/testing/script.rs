//! Programs for the tests, under a shell that stops them when this process ends in any way.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Shell that has started its programs. It ends at the end of its input.
pub(super) struct Script {
    shell: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Script {
    /// Runs a script that prints `ready` once everything is started. PostgreSQL and its tools refuse to run as root, so
    /// root runs the script with the account that the server package created.
    pub fn start(script: &str) -> Result<Self, String> {
        let root = std::fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0);
        let mut command = if root { Command::new("runuser") } else { Command::new("sh") };
        if root {
            command.args(["-u", "postgres", "--", "sh"]);
        }
        let mut shell = command
            .args(["-c", script])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("a shell cannot be run: {error}"))?;
        let commands = shell.stdin.take();
        let answers = BufReader::new(shell.stdout.take().ok_or("a shell has no output")?);
        let mut script = Self { shell, commands, answers };
        script.ready()?;
        Ok(script)
    }

    /// Sends the script a line and waits until it is ready again.
    pub fn send_command(&mut self, line: &str) -> Result<(), String> {
        let commands = self.commands.as_mut().ok_or("a shell has no input")?;
        writeln!(commands, "{line}").map_err(|error| error.to_string())?;
        self.ready()
    }

    fn ready(&mut self) -> Result<(), String> {
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|error| error.to_string())?;
        if line.trim() == "ready" { Ok(()) } else { Err("what serves the tests could not be started".to_owned()) }
    }

    /// Leaves everything running until this process ends.
    pub fn leave(self) {
        std::mem::forget(self);
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.commands.take();
        let _ = self.shell.wait();
    }
}

/// Returns a free port.
pub(super) fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    Ok(listener.local_addr().map_err(|error| error.to_string())?.port())
}
