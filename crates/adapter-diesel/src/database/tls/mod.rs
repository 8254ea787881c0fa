//! TLS to PostgreSQL. The bundled libpq has none, so connections that require it pass through a forwarder in this
//! process.
//!
//! libpq connects to a socket in a private folder. For each connection the forwarder opens another to the server,
//! encrypted and verified as the address requires. Data passes unchanged in both directions, with one exception: the
//! server offers channel binding for passwords, which only the end of the TLS channel could perform (`forward`).

mod address;
mod certificates;
mod relay;
mod route;

use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::oneshot;

use address::{ConnectionUri, Place, TlsSettings};
use route::Route;

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
        let client = Arc::new(certificates::client(&settings)?);
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
fn start(sockets: Vec<(UnixListener, Arc<Route>)>, ended: oneshot::Receiver<()>) -> std::io::Result<()> {
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

async fn accept(socket: UnixListener, route: Arc<Route>) -> std::io::Result<()> {
    let socket = tokio::net::UnixListener::from_std(socket)?;
    loop {
        match socket.accept().await {
            Ok((local, _)) => {
                let route = Arc::clone(&route);
                tokio::spawn(async move {
                    if let Err(error) = relay::serve(local, &route).await {
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
