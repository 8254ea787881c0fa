//! The mailbox: a small SMTP server that accepts every message for every recipient.

mod session;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mail_parser::MessageParser;
use session::{MAX_MESSAGE_BYTES, Session, Step};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::faults::{Fault, FaultKind, Service};
use crate::messages::{Channel, Message, find_code, recipient};
use crate::state::World;

const IDLE: Duration = Duration::from_mins(5);
const MAX_LINE_BYTES: u64 = 8_192;

/// Accepts connections until the sandbox stops.
pub async fn serve(world: Arc<World>, listener: TcpListener) {
    loop {
        let accepted = tokio::select! {
            () = world.stopping.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let world = Arc::clone(&world);
                tokio::spawn(async move {
                    tokio::select! {
                        () = world.stopping.cancelled() => {}
                        ended = Connection::new(&world, stream).talk() => {
                            if let Err(error) = ended {
                                tracing::debug!(%error, "an SMTP connection failed");
                            }
                        }
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "the mailbox could not accept a connection");
                world.pause(Duration::from_millis(50)).await;
            }
        }
    }
}

struct Connection<'a> {
    world: &'a World,
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    /// Fault of the current message.
    fault: Option<Fault>,
}

/// Continuation of the session.
enum Flow {
    On,
    Over,
}

impl<'a> Connection<'a> {
    fn new(world: &'a World, stream: TcpStream) -> Self {
        let _ = stream.set_nodelay(true);
        let (reader, writer) = stream.into_split();
        Self { world, reader: BufReader::new(reader), writer, fault: None }
    }

    async fn talk(mut self) -> io::Result<()> {
        let mut session = Session::default();
        self.say("220 sandbox ESMTP").await?;
        while let Some(line) = self.read_line().await? {
            match session.line(&String::from_utf8_lossy(&line)) {
                Step::Reply(text) => self.say(&text).await?,
                Step::Begin => {
                    self.fault = self.world.faults.take_for_call(Service::Mail, true);
                    session.refusing = self.fault.is_some_and(|fault| fault.kind == FaultKind::Refuse);
                    self.say("250 2.1.0 Ok").await?;
                }
                Step::ReadMessage => {
                    self.say("354 End data with <CR><LF>.<CR><LF>").await?;
                    let Some(message) = self.read_message().await? else { return Ok(()) };
                    if let Flow::Over = self.take(&session.finish(), message).await? {
                        return Ok(());
                    }
                }
                Step::Close => return self.say("221 2.0.0 Bye").await,
            }
        }
        Ok(())
    }

    async fn say(&mut self, text: &str) -> io::Result<()> {
        self.writer.write_all(format!("{text}\r\n").as_bytes()).await
    }

    /// Reads the next line without its line end; `None` when the client has disconnected.
    async fn read_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let mut limited = (&mut self.reader).take(MAX_LINE_BYTES);
        timeout(IDLE, limited.read_until(b'\n', &mut line)).await??;
        if !line.ends_with(b"\n") {
            return if line.is_empty() { Ok(None) } else { Err(io::ErrorKind::InvalidData.into()) };
        }
        line.pop();
        if line.ends_with(b"\r") {
            line.pop();
        }
        Ok(Some(line))
    }

    /// Reads the message up to the final dot and undoes doubled dots. `Some(None)` when it is too large.
    async fn read_message(&mut self) -> io::Result<Option<Option<Vec<u8>>>> {
        let mut message = Some(Vec::new());
        loop {
            let Some(line) = self.read_line().await? else { return Ok(None) };
            if line == b"." {
                return Ok(Some(message));
            }
            let text = line.strip_prefix(b".").unwrap_or(&line);
            if let Some(kept) = &mut message {
                kept.extend_from_slice(text);
                kept.extend_from_slice(b"\r\n");
            }
            if message.as_ref().is_some_and(|kept| kept.len() > MAX_MESSAGE_BYTES) {
                message = None;
            }
        }
    }

    /// Stores a message in the mailbox, unless the fault of this message prevents it.
    async fn take(&mut self, recipients: &[String], message: Option<Vec<u8>>) -> io::Result<Flow> {
        let Some(message) = message else {
            self.say("552 5.3.4 Message size exceeds fixed limit").await?;
            return Ok(Flow::On);
        };
        let fault = self.fault.take();
        let pause = fault.map(|fault| fault.pause).unwrap_or_default();
        match fault.map(|fault| fault.kind) {
            Some(FaultKind::Http500) => self.say("451 4.3.0 Requested action aborted: local error").await?,
            Some(FaultKind::Drop) => return Ok(Flow::Over),
            Some(FaultKind::DropAfterCommit) => {
                keep(self.world, recipients, &message);
                return Ok(Flow::Over);
            }
            Some(FaultKind::Http500AfterCommit) => {
                keep(self.world, recipients, &message);
                self.say("451 4.3.0 Requested action aborted: local error").await?;
            }
            Some(FaultKind::Timeout) => {
                keep(self.world, recipients, &message);
                self.world.pause(pause).await;
                self.say("250 2.0.0 Ok").await?;
            }
            Some(FaultKind::Delay) => {
                self.world.pause(pause).await;
                keep(self.world, recipients, &message);
                self.say("250 2.0.0 Ok").await?;
            }
            None | Some(FaultKind::Refuse | FaultKind::Duplicate | FaultKind::Reorder) => {
                keep(self.world, recipients, &message);
                self.say("250 2.0.0 Ok").await?;
            }
        }
        Ok(Flow::On)
    }
}

fn keep(world: &World, recipients: &[String], raw: &[u8]) {
    let parsed = MessageParser::default().parse(raw);
    let subject = parsed.as_ref().and_then(|message| message.subject()).map(str::to_owned);
    let text = parsed.as_ref().and_then(|message| message.body_text(0)).unwrap_or_default();
    let text = text.replace("\r\n", "\n").trim_end().to_owned();
    for to in recipients {
        world.messages.keep(Message {
            channel: Channel::Email,
            to: recipient(to),
            code: find_code(&text),
            subject: subject.clone(),
            text: text.clone(),
            created_at: world.now(),
        });
    }
}
