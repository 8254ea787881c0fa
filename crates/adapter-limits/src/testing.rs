//! Redis for tests.
//!
//! [`shared_redis`] is the server at `TEST_REDIS_URL`, else at `redis://127.0.0.1:6379`. Without a server, the test
//! prints that it was skipped; with `REQUIRE_REDIS=1` it fails. [`OwnRedis`] is a temporary server that a test may stop
//! and start again.

use std::io::{Write as _, stderr};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use redis::Client;

const DEFAULT: &str = "redis://127.0.0.1:6379";
const CONNECT_WITHIN: Duration = Duration::from_secs(2);

/// Returns the address of a Redis shared with other tests, or `None` when there is none.
///
/// # Panics
/// A required Redis is missing.
pub fn shared_redis() -> Option<String> {
    static FOUND: OnceLock<Option<String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let url = environment("TEST_REDIS_URL").unwrap_or_else(|| DEFAULT.to_owned());
        answers(&url).then_some(url)
    });
    found.clone().or_else(|| missing("there is no Redis: set TEST_REDIS_URL, or start one on port 6379"))
}

/// Prints that a test is skipped, or fails it.
fn missing<T>(reason: &str) -> Option<T> {
    let required = environment("REQUIRE_REDIS").is_some_and(|value| value != "0");
    assert!(!required, "REQUIRE_REDIS is set, but {reason}");
    // Not `eprintln!`: the test harness would swallow it.
    let _ = writeln!(stderr(), "SKIPPED: {reason}");
    None
}

fn answers(url: &str) -> bool {
    crate::redis::provide_tls();
    let connected = Client::open(url).and_then(|client| client.get_connection_with_timeout(CONNECT_WITHIN));
    connected.is_ok_and(|mut connection| redis::cmd("PING").exec(&mut connection).is_ok())
}

#[expect(clippy::disallowed_methods, reason = "tests are configured by their environment alone")]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Redis on a socket of its own, killed when it is dropped. Stopping it loses all counters.
pub struct OwnRedis {
    folder: tempfile::TempDir,
    server: Option<Child>,
}

impl OwnRedis {
    /// Starts a server, or returns `None` when it is not installed.
    ///
    /// # Panics
    /// A required Redis is missing.
    pub fn start() -> Option<Self> {
        let folder = tempfile::tempdir().ok()?;
        let mut own = Self { folder, server: None };
        if own.start_again() { Some(own) } else { missing("redis-server cannot be started") }
    }

    /// Returns the address.
    pub fn url(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("redis.sock")
    }

    /// Starts the server after a stop. Returns `true` if it responds.
    pub fn start_again(&mut self) -> bool {
        self.stop();
        let server = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"])
            .arg(self.socket())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.server = server.ok();
        let url = self.url();
        self.server.is_some()
            && (0..500).any(|_| {
                let up = answers(&url);
                if !up {
                    std::thread::sleep(Duration::from_millis(10));
                }
                up
            })
    }

    /// Kills the server.
    pub fn stop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }

    /// Sends the server a signal by name: `STOP` suspends it, `CONT` resumes it.
    pub fn signal(&self, name: &str) -> bool {
        let Some(server) = &self.server else { return false };
        let sent = Command::new("kill").args([format!("-{name}"), server.id().to_string()]).status();
        sent.is_ok_and(|status| status.success())
    }
}

impl Drop for OwnRedis {
    fn drop(&mut self) {
        self.stop();
    }
}
