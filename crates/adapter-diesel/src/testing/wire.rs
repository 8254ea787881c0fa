//! Proxy between a pool and PostgreSQL that reads the protocol message by message, and breaks connections at chosen
//! messages.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::must;
use crate::DatabaseUrl;

/// Sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The pool.
    Client,
    /// PostgreSQL.
    Server,
}

/// Effect on a message and its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// The message is lost, and so is everything after it in both directions.
    Before,
    /// The message arrives; everything after it is lost in both directions. The server has carried out the message by
    /// the time the client notices the loss.
    After,
    /// The message arrives; everything after it from this side is lost. The other side may still send.
    Half,
    /// The message arrives late.
    Late,
}

/// Message of the next transaction in which the client sends a text. Messages are counted from there, those of the
/// server from its reply.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// Text that starts the count.
    pub from: &'static str,
    /// Sender of the message.
    pub side: Side,
    /// Number of the message.
    pub number: usize,
    /// Effect on the message.
    pub way: Break,
}

#[derive(Default)]
struct Transaction {
    fault: Option<Fault>,
    /// Connection on which it runs, and the number of messages of each side in it.
    runs: Option<(usize, usize, usize)>,
    is_committing: bool,
    /// `Some` if the message was reached: `true` if `COMMIT` had been sent by then.
    met: Option<bool>,
}

/// Statements with a text in them that are lost with their connections.
struct Loss {
    text: &'static str,
    way: Break,
    times: usize,
}

#[derive(Default)]
struct State {
    transaction: Transaction,
    loss: Option<Loss>,
    lost: usize,
    open: HashMap<usize, [TcpStream; 2]>,
}

/// Proxy that forwards both sides until a fault is set.
pub struct Wire {
    state: Arc<Mutex<State>>,
    url: DatabaseUrl,
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wire {
    /// Starts a proxy for the server of this address.
    ///
    /// # Panics
    /// If the address is not one of a server with an account and a port, or no port is free.
    #[must_use]
    pub fn before(url: &DatabaseUrl) -> Self {
        let (account, server, name) = must(parts(url).ok_or("there is no connection to lose"));
        let listener = must(TcpListener::bind("127.0.0.1:0"));
        let url = DatabaseUrl::Postgres(format!("{account}@{}/{name}", must(listener.local_addr())));
        let (state, server) = (Arc::<Mutex<State>>::default(), server.to_owned());
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for (number, client) in listener.incoming().map_while(Result::ok).enumerate() {
                // A connection that cannot be forwarded is closed.
                let _ = lead(&shared, number, client, &server);
            }
        });
        Self { state, url }
    }

    /// Returns the address to connect to.
    #[must_use]
    pub fn url(&self) -> DatabaseUrl {
        self.url.clone()
    }

    /// Sets a fault.
    pub fn arm(&self, fault: Fault) {
        locked(&self.state).transaction = Transaction { fault: Some(fault), ..Transaction::default() };
    }

    /// Clears the fault. Returns `Some` if the message was reached: `true` if `COMMIT` had been sent by then.
    #[must_use]
    pub fn disarm(&self) -> Option<bool> {
        std::mem::take(&mut locked(&self.state).transaction).met
    }

    /// Breaks the next connections on which a client sends this text.
    pub fn lose(&self, text: &'static str, way: Break, times: usize) {
        let mut state = locked(&self.state);
        state.lost = 0;
        state.loss = Some(Loss { text, way, times });
    }

    /// Returns how many connections were broken that way since.
    #[must_use]
    pub fn lost(&self) -> usize {
        locked(&self.state).lost
    }

    /// Breaks every open connection, as a restart does. New ones are accepted.
    pub fn lose_all(&self) {
        let open = std::mem::take(&mut locked(&self.state).open);
        open.values().for_each(hang_up);
    }
}

/// Splits an address into account, server and database name.
fn parts(url: &DatabaseUrl) -> Option<(&str, &str, &str)> {
    let DatabaseUrl::Postgres(url) = url else { return None };
    let (account, rest) = url.rsplit_once('@')?;
    let (server, name) = rest.split_once('/')?;
    Some((account, server, name))
}

fn hang_up(streams: &[TcpStream; 2]) {
    for stream in streams {
        // The other side may have closed already.
        let _ = stream.shutdown(Shutdown::Both);
    }
}

fn lead(state: &Arc<Mutex<State>>, number: usize, client: TcpStream, server: &str) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let back = (server.try_clone()?, client.try_clone()?);
    locked(state).open.insert(number, [client.try_clone()?, server.try_clone()?]);
    let link = Arc::new(Link { state: Arc::clone(state), number, is_mute: AtomicBool::new(false) });
    let other = Arc::clone(&link);
    std::thread::spawn(move || other.pass(Side::Server, back.0, back.1));
    std::thread::spawn(move || link.pass(Side::Client, client, server));
    Ok(())
}

/// Forwarded connection of a client.
struct Link {
    state: Arc<Mutex<State>>,
    number: usize,
    /// `true` if messages of the server are lost.
    is_mute: AtomicBool,
}

impl Link {
    /// Forwards the messages of one side until it ends or a fault stops it; then both ends are closed.
    fn pass(&self, side: Side, mut from: TcpStream, mut to: TcpStream) {
        let mut statements = Statements::default();
        let mut is_first = side == Side::Client;
        while let Ok(received) = message(&mut from, !is_first) {
            let fate = if is_first { None } else { self.fate(side, &received, &mut statements) };
            is_first = false;
            if side == Side::Server && self.is_mute.load(Ordering::SeqCst) {
                continue;
            }
            let ends = fate == Some(Break::Half) || side == Side::Client && fate == Some(Break::After);
            match fate {
                Some(Break::Before) => break,
                Some(Break::After) => self.is_mute.store(true, Ordering::SeqCst),
                Some(Break::Late) => std::thread::sleep(Duration::from_millis(30)),
                Some(Break::Half) | None => {}
            }
            if to.write_all(&received).is_err() || fate == Some(Break::After) && side == Side::Server {
                break;
            }
            if ends {
                let _ = to.shutdown(Shutdown::Write);
                // Further messages of this side are lost.
                let _ = io::copy(&mut from, &mut io::sink());
                return;
            }
        }
        hang_up(&[from, to]);
        locked(&self.state).open.remove(&self.number);
    }

    /// Returns the effect on a message.
    fn fate(&self, side: Side, message: &[u8], statements: &mut Statements) -> Option<Break> {
        let text = if side == Side::Client { statements.text_of(message) } else { Vec::new() };
        let mut state = locked(&self.state);
        if let Some(loss) = state.loss.as_mut().filter(|loss| loss.times > 0 && contains(&text, loss.text)) {
            loss.times -= 1;
            let way = loss.way;
            state.lost += 1;
            return Some(way);
        }
        let is_ready = side == Side::Server && message.first() == Some(&b'Z');
        state.transaction.fate(side, self.number, &text, is_ready)
    }
}

impl Transaction {
    fn fate(&mut self, side: Side, connection: usize, text: &[u8], is_ready: bool) -> Option<Break> {
        let fault = self.fault?;
        if self.runs.is_none() && self.met.is_none() && contains(text, fault.from) {
            self.runs = Some((connection, 0, 0));
        }
        let (of, client, server) = self.runs?;
        if of != connection {
            return None;
        }
        self.is_committing |= contains(text, "COMMIT\0");
        let received = if side == Side::Client { client } else { server };
        self.runs = Some(match side {
            Side::Client => (of, client + 1, server),
            Side::Server => (of, client, server + 1),
        });
        let is_met = fault.side == side && fault.number == received;
        if is_met {
            self.met = Some(self.is_committing);
        }
        if is_met || self.is_committing && is_ready {
            self.fault = None;
            self.runs = None;
        }
        is_met.then_some(fault.way)
    }
}

fn contains(text: &[u8], part: &str) -> bool {
    text.windows(part.len()).any(|bytes| bytes == part.as_bytes())
}

/// Texts of the statements that a client has prepared, by name.
#[derive(Default)]
struct Statements(HashMap<Vec<u8>, Vec<u8>>);

impl Statements {
    /// Returns the statement that a message sends, prepares or runs.
    fn text_of(&mut self, message: &[u8]) -> Vec<u8> {
        let [letter, _, _, _, _, body @ ..] = message else { return Vec::new() };
        let mut fields = body.split(|byte| *byte == 0).map(<[u8]>::to_vec);
        match letter {
            b'Q' => body.to_vec(),
            b'P' => {
                let (name, text) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
                self.0.insert(name, text.clone());
                text
            }
            b'B' => fields.nth(1).and_then(|name| self.0.get(&name).cloned()).unwrap_or_default(),
            _ => Vec::new(),
        }
    }
}

/// Reads the next message with its head. The first message of a client has no type letter.
fn message(from: &mut TcpStream, has_letter: bool) -> io::Result<Vec<u8>> {
    let mut message = vec![0; if has_letter { 5 } else { 4 }];
    from.read_exact(&mut message)?;
    let length = message.last_chunk().map_or(0, |length| u32::from_be_bytes(*length));
    let rest = u64::from(length).checked_sub(4).ok_or(io::ErrorKind::InvalidData)?;
    if from.take(rest).read_to_end(&mut message)? < usize::try_from(rest).unwrap_or(usize::MAX) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(message)
}
