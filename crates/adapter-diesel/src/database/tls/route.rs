//! Server, its trusted roots and the client certificate, and how to open a connection to it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::TlsError;
use super::address::{KeepAlive, Mode, Roots, Server, TlsSettings};

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
        let Some(error) = error.get_ref().and_then(|error| error.downcast_ref::<Error>()) else {
            return Failure::unreachable(format!("{server}: {error}"));
        };
        Failure::refused(match error {
            Error::InvalidCertificate(CertificateError::NotValidForNameContext { presented, .. }) => {
                let names: Vec<&str> = presented.iter().map(|name| bare(name)).collect();
                let names = if names.is_empty() { "no host".to_owned() } else { names.join(", ") };
                format!("the certificate of {server} is for {names}, not for {}", server.host)
            }
            Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
                format!("the certificate of {server} is not signed by a trusted authority (see `sslrootcert`)")
            }
            Error::InvalidCertificate(reason) => {
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

/// Builds the TLS client; reads the certificates once.
pub(super) fn client(settings: &TlsSettings) -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = if settings.newest_only { &[&rustls::version::TLS13][..] } else { rustls::ALL_VERSIONS };
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .map_err(|error| TlsError::new(error.to_string()))?;
    let roots = store(&settings.roots)?;
    let builder = match (settings.mode, roots) {
        (Mode::VerifyFull, Some(roots)) => builder.with_root_certificates(roots),
        (_, roots) => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(IssuerVerifier::new(&provider, roots)?))
        }
    };
    let client = match &settings.shown {
        None => Ok(builder.with_no_client_auth()),
        Some((certificate, key)) => builder.with_client_auth_cert(
            certificates(certificate)?,
            PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, &error.to_string()))?,
        ),
    };
    let mut client = client.map_err(|error| TlsError::new(format!("`sslcert` and `sslkey`: {error}")))?;
    client.enable_sni = settings.names_host;
    Ok(client)
}

fn unreadable(path: &str, reason: &str) -> TlsError {
    TlsError::new(format!("{path}: {reason}"))
}

fn certificates(path: &str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found = read.map_err(|error| unreadable(path, &error.to_string()))?;
    if found.is_empty() { Err(unreadable(path, "it contains no certificate")) } else { Ok(found) }
}

fn store(roots: &Roots) -> Result<Option<RootCertStore>, TlsError> {
    let mut store = RootCertStore::empty();
    match roots {
        Roots::Any => return Ok(None),
        Roots::File(path) => {
            for certificate in certificates(path)? {
                store.add(certificate).map_err(|error| unreadable(path, &error.to_string()))?;
            }
        }
        Roots::System => {
            let found = rustls_native_certs::load_native_certs();
            let (known, _) = store.add_parsable_certificates(found.certs);
            if known == 0 {
                let reasons: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
                let message =
                    format!("the system has no trusted certificates (`ca-certificates`) {}", reasons.join(", "));
                return Err(TlsError::new(message));
            }
        }
    }
    Ok(Some(store))
}

/// Verifier that checks the issuer, if roots are known, but not the host name.
#[derive(Debug)]
struct IssuerVerifier {
    signed: Option<Arc<WebPkiServerVerifier>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl IssuerVerifier {
    fn new(provider: &Arc<CryptoProvider>, roots: Option<RootCertStore>) -> Result<Self, TlsError> {
        let verifier =
            |roots| WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
        let signed = roots.map(verifier).transpose().map_err(|error| TlsError::new(error.to_string()))?;
        Ok(Self { signed, algorithms: provider.signature_verification_algorithms })
    }
}

impl ServerCertVerifier for IssuerVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(signed) = &self.signed else { return Ok(ServerCertVerified::assertion()) };
        match signed.verify_server_cert(certificate, intermediates, name, response, now) {
            // The name is checked last, so everything else is already verified.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
