//! The binary itself: time to start, and memory when idle.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Failure;
use crate::load::RunLengths;
use crate::report::{Figure, Goal, Report, resident};
use crate::shop::Data;

const TIMEOUT: Duration = Duration::from_secs(20);

/// Measures `kontor serve` on the database with the catalog.
pub fn measure(data: &Data, lengths: &RunLengths, report: &mut Report) -> Result<(), Failure> {
    let binary = own_binary()?;
    let mut times = Vec::with_capacity(lengths.starts);
    let mut memory = 0.0;
    for start in 1..=lengths.starts {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        drop(listener);
        let mut command = Command::new(&binary);
        command.env_clear().current_dir(data.folder()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let database = format!("sqlite:{}", data.file().display());
        command.args(["serve", "--bind", &address.to_string(), "--database", &database]);
        let began = Instant::now();
        let mut child = Running(command.spawn()?);
        times.push(child.answers(address, began)?);
        if start == lengths.starts {
            std::thread::sleep(lengths.idle);
            memory = resident(&child.0.id().to_string())?;
        }
    }
    times.sort_unstable();
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    let name = format!("start of the binary until it answers, middle of {}", times.len());
    report.add(Figure::plain(name, middle.as_secs_f64() * 1000.0, "ms", Goal::AtMost(300.0)));
    report.add(Figure::plain("resident memory of the idle binary", memory, "MB", Goal::AtMost(60.0)));
    Ok(())
}

/// Returns the path of the service that was built with the bench.
pub fn own_binary() -> Result<PathBuf, Failure> {
    let binary = std::env::current_exe()?.with_file_name("kontor");
    if binary.exists() {
        Ok(binary)
    } else {
        Err(format!("{} is missing: build the package kontor first", binary.display()).into())
    }
}

/// A child process that is ended when the value is dropped.
pub struct Running(Child);

impl Running {
    pub fn of(child: Child) -> Self {
        Self(child)
    }

    /// Waits until the service answers. Returns the time since `began`.
    pub fn answers(&mut self, address: SocketAddr, began: Instant) -> Result<Duration, Failure> {
        while began.elapsed() < TIMEOUT {
            if healthy(address).unwrap_or(false) {
                return Ok(began.elapsed());
            }
            if let Some(status) = self.0.try_wait()? {
                return Err(format!("the binary ended by itself: {status}").into());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Err("the binary does not answer".into())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Err(error) = self.0.kill().and_then(|()| self.0.wait()) {
            eprintln!("the binary could not be ended: {error}");
        }
    }
}

fn healthy(address: SocketAddr) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(answer.starts_with(b"HTTP/1.1 200"))
}
