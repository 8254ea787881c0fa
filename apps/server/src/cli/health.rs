//! `kontor health`

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use clap::Args;
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};

use super::{Failure, process};
use crate::config::{Config, ConfigError};

/// Timeout of the request.
const PATIENCE: Duration = Duration::from_secs(5);

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
    let answer = process::runtime()?.block_on(get(local(address), path));
    let (status, body) = answer.map_err(|error| format!("{address}: {}", cause(&error)))?;
    let body = body.trim();
    if status != StatusCode::OK {
        return Err(format!("{address}{path} answers {} {body}", status.as_u16()).into());
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

/// Asks the process itself: no proxy, no redirects, and no certificates, which a machine may lack.
async fn get(address: SocketAddr, path: &str) -> reqwest::Result<(StatusCode, String)> {
    let http = Client::builder().no_proxy().redirect(Policy::none()).tls_certs_only([]).timeout(PATIENCE).build()?;
    let response = http.get(format!("http://{address}{path}")).send().await?;
    Ok((response.status(), response.text().await?))
}

/// Returns the first cause of an error, such as a refused connection. The error itself names only the URL.
fn cause(error: &dyn Error) -> &dyn Error {
    match error.source() {
        Some(source) => cause(source),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    fn ask(response: &'static str, ready: bool) -> (Result<(), String>, String) {
        let _ = rustls::crypto::ring::default_provider().install_default();
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
        assert!(outcome.is_ok() && request.starts_with("GET /healthz "), "{outcome:?} {request}");
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
