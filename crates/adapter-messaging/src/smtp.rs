//! SMTP connection with a limit on the server's responses. They are read line by line, and a line may have no end.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use kontor_kernel::SendError;
use lettre::Message;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

const CONNECT: Duration = Duration::from_secs(5);
/// Timeout for the end of the connection after the server has accepted the message.
const QUIT: Duration = Duration::from_secs(1);
/// Maximum bytes from the server per connection. Its certificates are the largest part.
const MAX_RESPONSE_BYTES: usize = 256 * 1024;

/// Protection of the connection.
pub(crate) enum Protection {
    /// No protection.
    None,
    /// `STARTTLS`.
    StartTls(TlsParameters),
    /// TLS from the first byte.
    Tls(Box<TlsFromTheStart>),
}

/// Settings for TLS from the first byte.
pub(crate) struct TlsFromTheStart {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl TlsFromTheStart {
    /// Creates the settings with the certificates that the machine trusts.
    pub fn new(host: &str) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let client = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let client = client.map_err(|error| error.to_string())?.with_root_certificates(roots).with_no_client_auth();
        let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
        Ok(Self { connector: TlsConnector::from(Arc::new(client)), name })
    }
}

/// Mail server and credentials.
pub(crate) struct MailServer {
    pub host: String,
    pub port: u16,
    pub protection: Protection,
    pub credentials: Option<Credentials>,
}

fn unavailable(error: impl std::fmt::Display) -> SendError {
    SendError::Unavailable(error.to_string())
}

fn refusal(error: lettre::transport::smtp::Error) -> SendError {
    if error.is_permanent() { SendError::Refused(error.to_string()) } else { unavailable(error) }
}

impl MailServer {
    /// Delivers a message within this time. `Ok` means that the server has accepted it.
    pub async fn deliver(&self, message: &Message, whole: Duration) -> Result<(), SendError> {
        let taken = timeout(whole, self.hand_over(message)).await;
        let mut connection = taken.map_err(|_| unavailable("the mail server did not respond in time"))??;
        // The message is accepted, even if `QUIT` fails.
        let _ = timeout(QUIT, connection.quit()).await;
        Ok(())
    }

    async fn hand_over(&self, message: &Message) -> Result<AsyncSmtpConnection, SendError> {
        let mut connection = self.connect().await?;
        if let Some(credentials) = &self.credentials {
            connection.auth(DEFAULT_MECHANISMS, credentials).await.map_err(refusal)?;
        }
        connection.send(message.envelope(), &message.formatted()).await.map_err(refusal)?;
        Ok(connection)
    }

    async fn connect(&self) -> Result<AsyncSmtpConnection, SendError> {
        let connecting = timeout(CONNECT, TcpStream::connect((self.host.as_str(), self.port))).await;
        let tcp = connecting.map_err(|_| unavailable("the connection to the mail server timed out"))?;
        let tcp = tcp.map_err(unavailable)?;
        let (peer, own_name) = (tcp.peer_addr().map_err(unavailable)?, ClientId::default());
        let stream: Box<dyn AsyncTokioStream> = match &self.protection {
            Protection::None | Protection::StartTls(_) => Box::new(Bounded::new(tcp, peer)),
            Protection::Tls(tls) => {
                let encrypted = tls.connector.connect(tls.name.clone(), tcp).await.map_err(unavailable)?;
                Box::new(Bounded::new(encrypted, peer))
            }
        };
        let connecting = AsyncSmtpConnection::connect_with_transport(stream, &own_name).await;
        let mut connection = connecting.map_err(refusal)?;
        if let Protection::StartTls(parameters) = &self.protection {
            connection.starttls(parameters.clone(), &own_name).await.map_err(refusal)?;
        }
        Ok(connection)
    }
}

/// Stream that fails after the maximum number of bytes.
#[derive(Debug)]
struct Bounded<S> {
    stream: S,
    peer: SocketAddr,
    left: usize,
}

impl<S> Bounded<S> {
    fn new(stream: S, peer: SocketAddr) -> Self {
        Self { stream, peer, left: MAX_RESPONSE_BYTES }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Bounded<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, into);
        if let Poll::Ready(Ok(())) = read {
            let came = into.filled().len() - before;
            let too_much = || io::Error::other("the response of the mail server is too long");
            self.left = self.left.checked_sub(came).ok_or_else(too_much)?;
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Bounded<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + AsyncWrite + Send + Sync + Unpin + std::fmt::Debug> AsyncTokioStream for Bounded<S> {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.peer)
    }
}
