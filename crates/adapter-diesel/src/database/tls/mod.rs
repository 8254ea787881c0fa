//! TLS to PostgreSQL. The bundled libpq has none, so connections that require it pass through a forwarder in this
//! process.
//!
//! libpq connects to a socket in a private folder. For each connection the forwarder opens another to the server,
//! encrypted and verified as the address requires. Data passes unchanged in both directions, with one exception: the
//! server offers channel binding for passwords, which only the end of the TLS channel could perform (`forward`).

mod address;
mod route;

use std::io;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy, split};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

use address::{ConnectionUri, Place, TlsSettings};
use route::{Failure, Route};

/// Reason why an address cannot be reached by TLS as required.
#[derive(Debug, thiserror::Error)]
#[error("TLS to PostgreSQL: {0}")]
pub(super) struct TlsError(String);

impl TlsError {
    fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

/// Sockets that lead to servers by TLS. They are removed when the value is dropped.
pub(super) struct Forwarder {
    url: String,
    /// Dropping it ends the thread.
    _running: oneshot::Sender<()>,
    _folder: TempDir,
}

/// Time that closing connections may still take.
const ENDING: Duration = Duration::from_secs(1);

impl Forwarder {
    /// Starts a forwarder to the servers of this address, unless the address requires no TLS.
    pub fn start(url: &str) -> Result<Option<Self>, TlsError> {
        let Some(uri) = ConnectionUri::parse(url) else { return Ok(None) };
        let Some(settings) = TlsSettings::of(&uri)? else { return Ok(None) };
        let places = uri.places()?;
        if !places.iter().any(|place| matches!(place, Place::Network(_))) {
            return Err(TlsError::new("the address must name a host that is reached over TCP"));
        }
        let client = Arc::new(route::client(&settings)?);
        let folder = tempfile::Builder::new()
            .prefix("kontor-tls-")
            .tempdir()
            .map_err(|error| TlsError::new(format!("the socket folder cannot be created: {error}")))?;
        let mut sockets = Vec::new();
        for (place, number) in places.iter().zip(1_u16..) {
            let Place::Network(server) = place else { continue };
            let path = folder.path().join(format!(".s.PGSQL.{number}"));
            let bind = UnixListener::bind(&path).and_then(|socket| socket.set_nonblocking(true).map(|()| socket));
            let socket = bind.map_err(|error| TlsError::new(format!("{}: {error}", path.display())))?;
            sockets.push((socket, Arc::new(Route::new(server.clone(), &settings, Arc::clone(&client))?)));
        }
        let url = uri.with_sockets(&folder.path().to_string_lossy(), &places);
        let (running, ended) = oneshot::channel();
        start(sockets, ended).map_err(|error| TlsError::new(format!("the forwarder cannot be started: {error}")))?;
        Ok(Some(Self { url, _running: running, _folder: folder }))
    }

    /// Returns the address that leads libpq to the forwarder.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// Starts a thread of its own, because libpq blocks the threads that wait for the forwarded data.
fn start(sockets: Vec<(UnixListener, Arc<Route>)>, ended: oneshot::Receiver<()>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let work = async move {
        for (socket, route) in sockets {
            tokio::spawn(async move {
                if let Err(error) = accept(socket, route).await {
                    tracing::error!(%error, "the TLS forwarder to PostgreSQL accepts no more connections");
                }
            });
        }
        let _ = ended.await;
        tokio::time::sleep(ENDING).await;
    };
    std::thread::Builder::new().name("database-tls".to_owned()).spawn(move || runtime.block_on(work))?;
    Ok(())
}

async fn accept(socket: UnixListener, route: Arc<Route>) -> io::Result<()> {
    let socket = tokio::net::UnixListener::from_std(socket)?;
    loop {
        match socket.accept().await {
            Ok((local, _)) => {
                let route = Arc::clone(&route);
                tokio::spawn(async move {
                    if let Err(error) = serve(local, &route).await {
                        tracing::debug!(server = %route.server(), %error, "a connection to PostgreSQL ended");
                    }
                });
            }
            // Too many files are open; some will be closed.
            Err(error) => {
                tracing::warn!(%error, "a connection to PostgreSQL cannot be accepted; retrying");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Maximum length of the first message of a client, as PostgreSQL defines it.
const MAX_STARTUP_MESSAGE: usize = 10_000;

/// Maximum length of a list of authentication methods. Longer messages pass unchanged.
const MAX_LIST_BYTES: usize = 10_000;

const CANCEL_REQUEST: [u8; 4] = [0x04, 0xD2, 0x16, 0x2E];

/// Suffix of SASL mechanisms with channel binding.
const BINDING: &[u8] = b"-PLUS";

/// Forwards data in both directions until one side ends.
async fn serve(mut local: UnixStream, route: &Route) -> io::Result<()> {
    // The whole opening is read first, so that libpq has sent it when it receives a failure.
    let opening = opening(&mut local).await?;
    match route.open().await {
        Ok(remote) => forward(local, remote, &opening, route).await,
        Err(failure) => {
            tracing::debug!(server = %route.server(), reason = failure.text, "cannot connect to PostgreSQL");
            let is_cancel = opening.get(4..8) == Some(&CANCEL_REQUEST);
            if is_cancel { Ok(()) } else { local.write_all(&encode_failure(&failure)).await }
        }
    }
}

async fn opening(local: &mut UnixStream) -> io::Result<Vec<u8>> {
    let mut packet = vec![0; 4];
    local.read_exact(&mut packet).await?;
    let length = length(&packet).filter(|length| (8..=MAX_STARTUP_MESSAGE).contains(length));
    packet.resize(length.ok_or(io::ErrorKind::InvalidData)?, 0);
    local.read_exact(packet.get_mut(4..).unwrap_or_default()).await?;
    Ok(packet)
}

/// Returns the length at the start of the bytes, which includes itself.
fn length(bytes: &[u8]) -> Option<usize> {
    let (head, _) = bytes.split_first_chunk()?;
    usize::try_from(u32::from_be_bytes(*head)).ok()
}

async fn forward(local: UnixStream, remote: TlsStream<TcpStream>, opening: &[u8], route: &Route) -> io::Result<()> {
    let (mut from_local, mut to_local) = local.into_split();
    let (mut from_remote, mut to_remote) = split(remote);
    to_remote.write_all(opening).await?;
    to_remote.flush().await?;
    let there = async {
        let outcome = copy(&mut from_local, &mut to_remote).await;
        // The server may be gone; nothing waits for its reply.
        let _ = timeout(ENDING, to_remote.shutdown()).await;
        outcome.map(|_| ())
    };
    let back = async {
        if let Err(error) = relay_authentication(&mut from_remote, &mut to_local).await {
            // A server that rejects the client certificate reports it here.
            let failure = Failure::refused(format!("{} ended the connection: {error}", route.server()));
            to_local.write_all(&encode_failure(&failure)).await?;
            return Err(error);
        }
        copy(&mut from_remote, &mut to_local).await.map(|_| ())
    };
    tokio::select! {
        outcome = there => outcome,
        outcome = back => outcome,
    }
}

/// Forwards messages of the server up to the authentication request. Mechanisms with channel binding are removed: libpq
/// does not see the TLS channel and would treat the offer as an attack.
async fn relay_authentication(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    loop {
        let mut head = [0; 5];
        match from.read_exact(&mut head).await {
            Ok(_) => {}
            // End of a cancel request.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
        let [kind, length @ ..] = head;
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if !(4..=MAX_LIST_BYTES).contains(&length) {
            return to.write_all(&head).await;
        }
        let mut body = vec![0; length - 4];
        from.read_exact(&mut body).await?;
        let (is_sign_in, is_failure) = (kind == b'R', kind == b'E');
        if is_sign_in {
            body = without_binding(body);
        }
        to.write_all(&message(kind, &body)).await?;
        if is_sign_in || is_failure {
            return Ok(());
        }
    }
}

/// Returns the list of SASL mechanisms (request 10) without those with channel binding; other messages pass unchanged.
fn without_binding(body: Vec<u8>) -> Vec<u8> {
    let Some(list) = body.strip_prefix(&[0, 0, 0, 10]) else { return body };
    let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let mut kept = vec![0, 0, 0, 10];
    for name in names.filter(|name| !name.ends_with(BINDING)) {
        kept.extend_from_slice(name);
        kept.push(0);
    }
    kept.push(0);
    kept
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap_or(u32::MAX);
    let mut message = vec![kind];
    message.extend_from_slice(&length.to_be_bytes());
    message.extend_from_slice(body);
    message
}

/// Encodes a failure as a server would report it.
fn encode_failure(failure: &Failure) -> Vec<u8> {
    let fields = [('S', "FATAL"), ('V', "FATAL"), ('C', failure.state), ('M', failure.text.as_str())];
    let mut body = String::new();
    for (field, text) in fields {
        body.push(field);
        body.push_str(text);
        body.push('\0');
    }
    body.push('\0');
    message(b'E', body.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFERED: &[u8] = b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";

    #[tokio::test]
    async fn the_offer_to_bind_is_left_out_and_the_rest_passes() {
        let notice = message(b'N', b"SNOTICE\0\0");
        let mut sent = notice.clone();
        sent.extend(message(b'R', OFFERED));
        sent.extend(message(b'R', OFFERED));
        let mut from = sent.as_slice();
        let mut received = Vec::new();
        relay_authentication(&mut from, &mut received).await.unwrap();
        let mut expected = notice;
        expected.extend(message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0"));
        assert_eq!(received, expected);
        assert_eq!(from, message(b'R', OFFERED), "only the first offer is looked at");
    }

    #[tokio::test]
    async fn other_ways_to_sign_in_pass_unchanged() {
        for sent in [message(b'R', b"\0\0\0\0"), message(b'R', b"\0\0\0\x05salt"), message(b'E', b"SFATAL\0\0"), vec![]]
        {
            let mut received = Vec::new();
            relay_authentication(&mut sent.as_slice(), &mut received).await.unwrap();
            assert_eq!(received, sent);
        }
    }
}
