//! A server between the pool and PostgreSQL that loses connections at a chosen moment.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use kontor_adapter_diesel::DatabaseUrl;

use super::stand_before;

/// When a connection is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The statement never reaches the server.
    Before,
    /// The server did what it was told; its answer is lost.
    After,
}

struct Fault {
    statement: &'static str,
    loss: Loss,
    times: usize,
}

#[derive(Default)]
struct State {
    fault: Mutex<Option<Fault>>,
    open: Mutex<Vec<TcpStream>>,
    met: AtomicUsize,
}

/// Passes on what both sides say, until told otherwise.
pub struct Proxy {
    state: Arc<State>,
    url: DatabaseUrl,
}

impl Proxy {
    /// Stands before the server of this address.
    pub fn before(url: &DatabaseUrl) -> Self {
        let state = Arc::<State>::default();
        let shared = Arc::clone(&state);
        Self { state, url: stand_before(url, move |client, server| connect(&shared, client, server)) }
    }

    /// The address to connect to.
    pub fn url(&self) -> DatabaseUrl {
        self.url.clone()
    }

    /// Loses the next connections over which this text is sent.
    pub fn lose(&self, statement: &'static str, loss: Loss, times: usize) {
        self.state.met.store(0, Ordering::SeqCst);
        *self.state.fault.lock().unwrap() = Some(Fault { statement, loss, times });
    }

    /// How many connections were lost that way since.
    pub fn lost(&self) -> usize {
        self.state.met.load(Ordering::SeqCst)
    }

    /// Loses every connection that is open, as a restart does. New ones are taken.
    pub fn lose_all(&self) {
        for stream in self.state.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn connect(state: &Arc<State>, client: &TcpStream, server: &TcpStream) {
    let both = |stream: &TcpStream| (stream.try_clone().unwrap(), stream.try_clone().unwrap());
    let ((client, to_client), (server, to_server)) = (both(client), both(server));
    state.open.lock().unwrap().extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
    let cut = Arc::new(AtomicUsize::new(0));
    let (state, is_cut) = (Arc::clone(state), Arc::clone(&cut));
    std::thread::spawn(move || {
        pass(client, to_server, |bytes| {
            let loss = state.loss(bytes);
            if loss == Some(Loss::After) {
                is_cut.store(1, Ordering::SeqCst);
            }
            loss != Some(Loss::Before)
        });
    });
    std::thread::spawn(move || pass(server, to_client, |_| cut.load(Ordering::SeqCst) == 0));
}

impl State {
    fn loss(&self, bytes: &[u8]) -> Option<Loss> {
        let mut fault = self.fault.lock().unwrap();
        let due = fault.as_mut().filter(|fault| fault.times > 0)?;
        let said = bytes.windows(due.statement.len()).any(|part| part == due.statement.as_bytes());
        said.then(|| {
            due.times -= 1;
            self.met.fetch_add(1, Ordering::SeqCst);
            due.loss
        })
    }
}

/// Passes on until one side ends or something may not pass; then both ends are closed.
fn pass(mut from: TcpStream, mut to: TcpStream, may: impl Fn(&[u8]) -> bool) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if !may(&buffer[..read]) || to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    for stream in [from, to] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}
