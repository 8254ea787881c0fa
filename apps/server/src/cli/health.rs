//! `kontor health`

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use clap::Args;

use super::Failure;
use crate::config::{Config, ConfigError};

/// Timeout of the connection, and of each read.
const PATIENCE: Duration = Duration::from_secs(5);
/// More than the response of a health check has.
const MAX_RESPONSE: u64 = 64 * 1024;

/// Settings of `kontor health`.
#[derive(Args)]
pub struct HealthArguments {
    /// Address of the process. Default: `bind` of the configuration.
    #[arg(long)]
    address: Option<SocketAddr>,
    /// Ask `/readyz` instead of `/healthz`: database, migrations and worker too.
    #[arg(long)]
    ready: bool,
}

/// Runs the command. It opens no database and needs no other program, so that a container without a shell can use it.
pub fn run(load: impl FnOnce() -> Result<Config, ConfigError>, arguments: &HealthArguments) -> Result<(), Failure> {
    let address = match arguments.address {
        Some(address) => address,
        None => load()?.bind,
    };
    let path = if arguments.ready { "/readyz" } else { "/healthz" };
    let response = get(local(address), path).map_err(|error| format!("{address}: {error}"))?;
    let body = response.split_once("\r\n\r\n").map_or("", |(_, body)| body).trim();
    let status = response.split(' ').nth(1).unwrap_or_default();
    if status != "200" {
        return Err(format!("{address}{path} answers {status} {body}").into());
    }
    println!("{body}");
    Ok(())
}

/// Replaces an address that means all interfaces: it can be listened on, but not called everywhere.
fn local(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn get(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // With HTTP/1.0 the response ends with the connection, and has no chunks.
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").as_bytes())?;
    let mut response = String::new();
    stream.take(MAX_RESPONSE).read_to_string(&mut response)?;
    Ok(response)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn ask(response: &'static str, ready: bool) -> (Result<(), String>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let config = Config { bind: listener.local_addr().unwrap(), ..Config::default() };
        let answering = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 256];
            let length = stream.read(&mut request).unwrap();
            stream.write_all(response.as_bytes()).unwrap();
            String::from_utf8_lossy(&request[..length]).into_owned()
        });
        let outcome = run(|| Ok(config), &HealthArguments { address: None, ready });
        (outcome.map_err(|error| error.to_string()), answering.join().unwrap())
    }

    #[test]
    fn only_200_is_healthy() {
        let (outcome, request) = ask("HTTP/1.0 200 OK\r\n\r\n{\"status\":\"ok\"}", false);
        assert!(outcome.is_ok() && request.starts_with("GET /healthz HTTP/1.0\r\n"), "{outcome:?} {request}");
        let (outcome, request) = ask("HTTP/1.0 503 Service Unavailable\r\n\r\n{\"status\":\"not ready\"}", true);
        assert!(outcome.unwrap_err().contains("503 {\"status\":\"not ready\"}"));
        assert!(request.starts_with("GET /readyz "), "{request}");
        assert!(ask("", false).0.is_err(), "a process that closes the connection is not healthy");
    }

    #[test]
    fn all_interfaces_are_asked_on_this_machine() {
        for (bind, asked) in [("0.0.0.0:80", "127.0.0.1:80"), ("[::]:80", "[::1]:80"), ("10.0.0.7:80", "10.0.0.7:80")] {
            assert_eq!(local(bind.parse().unwrap()), asked.parse().unwrap());
        }
    }
}
