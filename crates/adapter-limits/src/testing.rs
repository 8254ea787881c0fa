//! Redis for tests.
//!
//! [`shared_redis`] is the server at `TEST_REDIS_URL`, else one that this process starts. [`OwnRedis`] is a temporary
//! server that a test may stop and start again. Without Redis a test fails; `.cargo/runner` leaves out the tests named
//! `::redis` where it is not installed.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use redis::Client;

const CONNECT_WITHIN: Duration = Duration::from_secs(2);

/// Returns the address of a Redis shared with other tests of this process.
///
/// # Panics
/// If there is no Redis.
#[must_use]
pub fn shared_redis() -> String {
    static SHARED: OnceLock<(String, Option<Child>)> = OnceLock::new();
    let (url, _) = SHARED.get_or_init(|| match environment("TEST_REDIS_URL") {
        Some(url) => (url, None),
        None => start_shared(),
    });
    url.clone()
}

/// Starts a server that ends with this process: a shell stops it at the end of its input.
fn start_shared() -> (String, Option<Child>) {
    let folder = must(tempfile::tempdir()).keep();
    let script = "redis-server --port 0 --save '' --appendonly no --unixsocket \"$0/redis.sock\" >\"$0/log\" &\n\
         cat\nkill $!\nrm -rf \"$0\"";
    let shell = Command::new("sh")
        .args(["-c", script])
        .arg(&folder)
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let url = format!("unix://{}", folder.join("redis.sock").display());
    assert!(answers_soon(&url), "redis-server cannot be started; set TEST_REDIS_URL or install it");
    (url, shell.ok())
}

#[expect(clippy::panic, reason = "tests fail by panicking")]
fn must<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("test Redis: {error}"))
}

/// Waits for a server that was just started. Returns `true` if it responds.
fn answers_soon(url: &str) -> bool {
    (0..500).any(|_| {
        let up = answers(url);
        if !up {
            std::thread::sleep(Duration::from_millis(10));
        }
        up
    })
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
    /// Starts a server.
    ///
    /// # Panics
    /// If it cannot be started.
    #[must_use]
    pub fn start() -> Self {
        let mut own = Self { folder: must(tempfile::tempdir()), server: None };
        assert!(own.start_again(), "redis-server cannot be started");
        own
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
        self.server.is_some() && answers_soon(&self.url())
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
