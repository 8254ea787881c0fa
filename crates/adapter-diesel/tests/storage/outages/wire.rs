//! A server between the pool and PostgreSQL that reads the protocol message by message, and breaks off at one of a
//! transaction that writes: from `BEGIN` to the answer of `COMMIT`.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kontor_adapter_diesel::DatabaseUrl;

use super::stand_before;

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

/// What becomes of a message and of its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// It does not arrive, and nothing after it in either direction.
    Before,
    /// It arrives, and nothing after it in either direction.
    After,
    /// It arrives, nothing after it of this side; the other side may still speak.
    Half,
    /// It arrives late.
    Late,
}

/// A message of the next transaction, counted from `BEGIN` or the answer to it.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    pub side: Side,
    pub number: usize,
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

/// Passes on what both sides say.
pub struct Wire {
    transaction: Arc<Mutex<Transaction>>,
    url: DatabaseUrl,
}

impl Wire {
    /// Stands before the server of this address.
    pub fn before(url: &DatabaseUrl) -> Self {
        let transaction = Arc::<Mutex<Transaction>>::default();
        let (shared, mut connection) = (Arc::clone(&transaction), 0);
        let url = stand_before(url, move |client, server| {
            for stream in [client, server] {
                stream.set_nodelay(true).unwrap();
            }
            for (side, from, to) in [(Side::Client, client, server), (Side::Server, server, client)] {
                let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                let transaction = Arc::clone(&shared);
                std::thread::spawn(move || pass(&Direction { transaction, side, connection }, from, to));
            }
            connection += 1;
        });
        Self { transaction, url }
    }

    /// The address to connect to.
    pub fn url(&self) -> DatabaseUrl {
        self.url.clone()
    }

    /// Breaks off at this message of the next transaction.
    pub fn arm(&self, fault: Fault) {
        *self.transaction.lock().unwrap() = Transaction { fault: Some(fault), ..Transaction::default() };
    }

    /// Whether the message came, and if so whether `COMMIT` had been sent by then. Nothing breaks from now on.
    pub fn disarm(&self) -> Option<bool> {
        std::mem::take(&mut *self.transaction.lock().unwrap()).met
    }
}

struct Direction {
    transaction: Arc<Mutex<Transaction>>,
    side: Side,
    connection: usize,
}

impl Direction {
    /// What is to become of this message.
    fn fate(&self, message: &[u8]) -> Option<Break> {
        let mut transaction = self.transaction.lock().unwrap();
        let fault = transaction.fault?;
        let says = |text: &[u8]| self.side == Side::Client && message.first() == Some(&b'Q') && &message[5..] == text;
        if transaction.runs.is_none() && transaction.met.is_none() && says(b"BEGIN\0") {
            transaction.runs = Some((self.connection, 0, 0));
        }
        let (connection, client, server) = transaction.runs?;
        if connection != self.connection {
            return None;
        }
        transaction.is_committing |= says(b"COMMIT\0");
        let said = if self.side == Side::Client { client } else { server };
        transaction.runs = Some(match self.side {
            Side::Client => (connection, client + 1, server),
            Side::Server => (connection, client, server + 1),
        });
        let is_met = fault.side == self.side && fault.number == said;
        let is_over = self.side == Side::Server && transaction.is_committing && message.first() == Some(&b'Z');
        if is_met {
            transaction.met = Some(transaction.is_committing);
        }
        if is_met || is_over {
            transaction.fault = None;
            transaction.runs = None;
        }
        is_met.then_some(fault.way)
    }
}

/// The next message with its head. A client begins with one that has no letter.
fn message(from: &mut TcpStream, has_letter: bool) -> std::io::Result<Vec<u8>> {
    let mut message = vec![0; if has_letter { 5 } else { 4 }];
    from.read_exact(&mut message)?;
    let length = u32::from_be_bytes(message[message.len() - 4..].try_into().unwrap());
    let (head, rest) = (message.len(), usize::try_from(length).unwrap() - 4);
    message.resize(head + rest, 0);
    from.read_exact(&mut message[head..])?;
    Ok(message)
}

fn pass(direction: &Direction, mut from: TcpStream, mut to: TcpStream) {
    let mut is_first = direction.side == Side::Client;
    while let Ok(said) = message(&mut from, !is_first) {
        let fate = if is_first { None } else { direction.fate(&said) };
        is_first = false;
        if fate == Some(Break::Late) {
            std::thread::sleep(Duration::from_millis(30));
        }
        if fate == Some(Break::Before) || to.write_all(&said).is_err() {
            break;
        }
        match fate {
            Some(Break::Half) => {
                let _ = to.shutdown(Shutdown::Write);
                // Whatever else this side says is lost.
                let _ = std::io::copy(&mut from, &mut std::io::sink());
                return;
            }
            Some(Break::After) => break,
            _ => {}
        }
    }
    for stream in [from, to] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}
