//! A server between a pool and PostgreSQL that reads the protocol message by message, and loses connections at chosen ones.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::must;
use crate::DatabaseUrl;

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The pool.
    Client,
    /// PostgreSQL.
    Server,
}

/// What becomes of a message and of its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// It does not arrive, and nothing after it in either direction.
    Before,
    /// It arrives, and nothing after it in either direction. A server has done what it was told by the time the client
    /// learns of the loss.
    After,
    /// It arrives, nothing after it of this side; the other side may still speak.
    Half,
    /// It arrives late.
    Late,
}

/// A message of the next transaction in which the client says something with a text in it. Messages are counted from there,
/// those of the server from the answer to it.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// The text.
    pub from: &'static str,
    /// Who says the message.
    pub side: Side,
    /// Which it is.
    pub number: usize,
    /// What becomes of it.
    pub way: Break,
}

#[derive(Default)]
struct Transaction {
    fault: Option<Fault>,
    /// The connection on which it runs, and how many messages each side has said in it.
    runs: Option<(usize, usize, usize)>,
    is_committing: bool,
    /// Whether the message was met, and whether `COMMIT` was on its way by then.
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

/// Passes on what both sides say, until told otherwise.
pub struct Wire {
    state: Arc<Mutex<State>>,
    url: DatabaseUrl,
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wire {
    /// Stands before the server of this address.
    ///
    /// # Panics
    /// When the address is not one of a server with an account and a port, or no port is free.
    #[must_use]
    pub fn before(url: &DatabaseUrl) -> Self {
        let (account, server, name) = must(parts(url).ok_or("there is no connection to lose"));
        let listener = must(TcpListener::bind("127.0.0.1:0"));
        let url = DatabaseUrl::Postgres(format!("{account}@{}/{name}", must(listener.local_addr())));
        let (state, server) = (Arc::<Mutex<State>>::default(), server.to_owned());
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for (number, client) in listener.incoming().map_while(Result::ok).enumerate() {
                // Whoever cannot be led on finds nobody.
                let _ = lead(&shared, number, client, &server);
            }
        });
        Self { state, url }
    }

    /// The address to connect to.
    #[must_use]
    pub fn url(&self) -> DatabaseUrl {
        self.url.clone()
    }

    /// Breaks off at this message.
    pub fn arm(&self, fault: Fault) {
        locked(&self.state).transaction = Transaction { fault: Some(fault), ..Transaction::default() };
    }

    /// Whether the message came, and if so whether `COMMIT` had been sent by then. Nothing breaks from now on.
    #[must_use]
    pub fn disarm(&self) -> Option<bool> {
        std::mem::take(&mut locked(&self.state).transaction).met
    }

    /// Loses the next connections over which a client says this text.
    pub fn lose(&self, text: &'static str, way: Break, times: usize) {
        let mut state = locked(&self.state);
        state.lost = 0;
        state.loss = Some(Loss { text, way, times });
    }

    /// How many connections were lost that way since.
    #[must_use]
    pub fn lost(&self) -> usize {
        locked(&self.state).lost
    }

    /// Loses every connection that is open, as a restart does. New ones are taken.
    pub fn lose_all(&self) {
        let open = std::mem::take(&mut locked(&self.state).open);
        open.values().for_each(hang_up);
    }
}

/// Up to the account, the server and the rest.
fn parts(url: &DatabaseUrl) -> Option<(&str, &str, &str)> {
    let DatabaseUrl::Postgres(url) = url else { return None };
    let (account, rest) = url.rsplit_once('@')?;
    let (server, name) = rest.split_once('/')?;
    Some((account, server, name))
}

fn hang_up(streams: &[TcpStream; 2]) {
    for stream in streams {
        // The other side may have gone by itself.
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

/// A connection of a client, led on.
struct Link {
    state: Arc<Mutex<State>>,
    number: usize,
    /// Whether what the server says is lost.
    is_mute: AtomicBool,
}

impl Link {
    /// Passes on what one side says until it ends or may not go on; then both ends are closed.
    fn pass(&self, side: Side, mut from: TcpStream, mut to: TcpStream) {
        let mut statements = Statements::default();
        let mut is_first = side == Side::Client;
        while let Ok(said) = message(&mut from, !is_first) {
            let fate = if is_first { None } else { self.fate(side, &said, &mut statements) };
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
            if to.write_all(&said).is_err() || fate == Some(Break::After) && side == Side::Server {
                break;
            }
            if ends {
                let _ = to.shutdown(Shutdown::Write);
                // Whatever else this side says is lost.
                let _ = io::copy(&mut from, &mut io::sink());
                return;
            }
        }
        hang_up(&[from, to]);
        locked(&self.state).open.remove(&self.number);
    }

    /// What is to become of a message.
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
        let said = if side == Side::Client { client } else { server };
        self.runs = Some(match side {
            Side::Client => (of, client + 1, server),
            Side::Server => (of, client, server + 1),
        });
        let is_met = fault.side == side && fault.number == said;
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

/// The texts of the statements that a client has prepared, by their names.
#[derive(Default)]
struct Statements(HashMap<Vec<u8>, Vec<u8>>);

impl Statements {
    /// The statement that a message sends, prepares or runs.
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

/// The next message with its head. A client begins with one that has no letter.
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
