//! Trusted roots and the client certificate of a connection.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::TlsError;
use super::address::{Mode, Roots, TlsSettings};

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
                let told = format!("the system has no trusted certificates (`ca-certificates`) {}", reasons.join(", "));
                return Err(TlsError::new(told));
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
