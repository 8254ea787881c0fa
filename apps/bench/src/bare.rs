//! The peer of the HTTP figures: the same HTTP library without any work behind it.

use std::net::{SocketAddr, TcpListener};

use actix_web::dev::ServerHandle;
use actix_web::web::{self, Bytes};
use actix_web::{App, HttpResponse, HttpServer};
use tokio::runtime::Runtime;

use crate::Failure;

/// A server that answers every request with the same body.
pub struct Bare {
    pub address: SocketAddr,
    handle: ServerHandle,
}

impl Bare {
    /// Starts a server with a body of this size and as many threads as the service has by default.
    pub fn start(runtime: &Runtime, size: usize) -> Result<Self, Failure> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let body = Bytes::from(vec![b' '; size]);
        let _inside = runtime.enter();
        let server = HttpServer::new(move || {
            let body = body.clone();
            App::new().default_service(web::to(move |_sent: Bytes| {
                let body = body.clone();
                async move { HttpResponse::Ok().content_type("application/json").body(body) }
            }))
        });
        let server = server.disable_signals().listen(listener)?.run();
        let handle = server.handle();
        runtime.spawn(server);
        Ok(Self { address, handle })
    }

    pub fn stop(self, runtime: &Runtime) {
        runtime.block_on(self.handle.stop(false));
    }
}
