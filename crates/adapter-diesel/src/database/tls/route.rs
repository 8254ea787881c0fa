//! Server, and how to open a connection to it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::TlsError;
use super::address::{KeepAlive, Server, TlsSettings};

/// `SSLRequest`: the length, then the code.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xD2, 0x16, 0x2F];

/// Reason for a failed connection.
#[derive(Debug)]
pub(super) struct Failure {
    /// SQLSTATE of PostgreSQL.
    pub state: &'static str,
    pub text: String,
}

impl Failure {
    /// Failure of a server that is not reachable now: libpq tries the next host.
    fn unreachable(text: String) -> Self {
        Self { state: "57P03", text }
    }

    /// Failure of a server that responds but must not be used.
    pub fn refused(text: String) -> Self {
        Self { state: "08001", text }
    }
}

pub(super) struct Route {
    server: Server,
    name: ServerName<'static>,
    connector: TlsConnector,
    patience: Duration,
    keep_alive: Option<KeepAlive>,
    user_timeout: Option<Duration>,
}

impl Route {
    pub fn new(server: Server, settings: &TlsSettings, client: Arc<ClientConfig>) -> Result<Self, TlsError> {
        let name = ServerName::try_from(server.host.clone())
            .map_err(|_| TlsError::new(format!("`{}` is not a valid server name for a certificate", server.host)))?;
        Ok(Self {
            server,
            name,
            connector: client.into(),
            patience: settings.patience,
            keep_alive: settings.keep_alive,
            user_timeout: settings.user_timeout,
        })
    }

    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Opens a connection on which the server has proved its identity.
    pub async fn open(&self) -> Result<TlsStream<TcpStream>, Failure> {
        let opened = timeout(self.patience, async { self.encrypt(self.connect().await?).await });
        opened.await.unwrap_or_else(|_| Err(Failure::unreachable(format!("{} does not respond", self.server))))
    }

    async fn connect(&self) -> Result<TcpStream, Failure> {
        let unreachable = |error: io::Error| Failure::unreachable(format!("{}: {error}", self.server));
        let place = self.server.address.as_deref().unwrap_or(&self.server.host);
        let stream = TcpStream::connect((place, self.server.port)).await.map_err(unreachable)?;
        self.tune(&stream).map_err(unreachable)?;
        Ok(stream)
    }

    /// Sets the options that libpq sets on its own connections.
    fn tune(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let socket = SockRef::from(stream);
        if let Some(KeepAlive { idle, interval, count }) = self.keep_alive {
            socket.set_keepalive(true)?;
            let wanted = TcpKeepalive::new();
            let wanted = idle.map_or(wanted.clone(), |idle| wanted.with_time(idle));
            let wanted = interval.map_or(wanted.clone(), |interval| wanted.with_interval(interval));
            let wanted = count.map_or(wanted.clone(), |count| wanted.with_retries(count));
            socket.set_tcp_keepalive(&wanted)?;
        }
        #[cfg(target_os = "linux")]
        socket.set_tcp_user_timeout(self.user_timeout)?;
        Ok(())
    }

    async fn encrypt(&self, mut stream: TcpStream) -> Result<TlsStream<TcpStream>, Failure> {
        let lost = |error: io::Error| Failure::unreachable(format!("{}: {error}", self.server));
        stream.write_all(&TLS_REQUEST).await.map_err(lost)?;
        match stream.read_u8().await.map_err(lost)? {
            b'S' => {}
            b'N' => return Err(Failure::refused(format!("{} does not speak TLS", self.server))),
            _ => return Err(Failure::refused(format!("{} is not a PostgreSQL server with TLS support", self.server))),
        }
        self.connector.connect(self.name.clone(), stream).await.map_err(|error| self.refusal(&error))
    }

    fn refusal(&self, error: &io::Error) -> Failure {
        let server = &self.server;
        let Some(error) = error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>()) else {
            return Failure::unreachable(format!("{server}: {error}"));
        };
        Failure::refused(match error {
            rustls::Error::InvalidCertificate(CertificateError::NotValidForNameContext { presented, .. }) => {
                let names: Vec<&str> = presented.iter().map(|name| bare(name)).collect();
                let names = if names.is_empty() { "no host".to_owned() } else { names.join(", ") };
                format!("the certificate of {server} is for {names}, not for {}", server.host)
            }
            rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
                format!("the certificate of {server} is not signed by a trusted authority (see `sslrootcert`)")
            }
            rustls::Error::InvalidCertificate(reason) => {
                format!("the certificate of {server} is not valid: {reason}")
            }
            other => format!("{server}: {other}"),
        })
    }
}

/// Returns the name without its type: `DnsName("db1")` becomes `db1`.
fn bare(name: &str) -> &str {
    name.split('"').nth(1).unwrap_or(name)
}
