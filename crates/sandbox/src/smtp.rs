//! The mailbox: a small SMTP server that accepts every message for every recipient.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mail_parser::MessageParser;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::faults::{Fault, FaultKind, Service};
use crate::messages::{Channel, Message, find_code, recipient};
use crate::state::SandboxState;

const IDLE: Duration = Duration::from_mins(5);
const MAX_LINE_BYTES: u64 = 8_192;

/// Accepts connections until the sandbox stops.
pub async fn serve(sandbox_state: Arc<SandboxState>, listener: TcpListener) {
    loop {
        let accepted = tokio::select! {
            () = sandbox_state.stopping.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let sandbox_state = Arc::clone(&sandbox_state);
                tokio::spawn(async move {
                    tokio::select! {
                        () = sandbox_state.stopping.cancelled() => {}
                        ended = Connection::new(&sandbox_state, stream).talk() => {
                            if let Err(error) = ended {
                                tracing::debug!(%error, "an SMTP connection failed");
                            }
                        }
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "the mailbox could not accept a connection");
                sandbox_state.pause(Duration::from_millis(50)).await;
            }
        }
    }
}

struct Connection<'a> {
    sandbox_state: &'a SandboxState,
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
    fn new(sandbox_state: &'a SandboxState, stream: TcpStream) -> Self {
        let _ = stream.set_nodelay(true);
        let (reader, writer) = stream.into_split();
        Self { sandbox_state, reader: BufReader::new(reader), writer, fault: None }
    }

    async fn talk(mut self) -> io::Result<()> {
        let mut session = Session::default();
        self.say("220 sandbox ESMTP").await?;
        while let Some(line) = self.read_line().await? {
            match session.line(&String::from_utf8_lossy(&line)) {
                Step::Reply(text) => self.say(&text).await?,
                Step::Begin => {
                    self.fault = self.sandbox_state.faults.take_for_call(Service::Mail, true);
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
                keep(self.sandbox_state, recipients, &message);
                return Ok(Flow::Over);
            }
            Some(FaultKind::Http500AfterCommit) => {
                keep(self.sandbox_state, recipients, &message);
                self.say("451 4.3.0 Requested action aborted: local error").await?;
            }
            Some(FaultKind::Timeout) => {
                keep(self.sandbox_state, recipients, &message);
                self.sandbox_state.pause(pause).await;
                self.say("250 2.0.0 Ok").await?;
            }
            Some(FaultKind::Delay) => {
                self.sandbox_state.pause(pause).await;
                keep(self.sandbox_state, recipients, &message);
                self.say("250 2.0.0 Ok").await?;
            }
            None | Some(FaultKind::Refuse | FaultKind::Duplicate | FaultKind::Reorder) => {
                keep(self.sandbox_state, recipients, &message);
                self.say("250 2.0.0 Ok").await?;
            }
        }
        Ok(Flow::On)
    }
}

fn keep(sandbox_state: &SandboxState, recipients: &[String], raw: &[u8]) {
    let parsed = MessageParser::default().parse(raw);
    let subject = parsed.as_ref().and_then(|message| message.subject()).map(str::to_owned);
    let text = parsed.as_ref().and_then(|message| message.body_text(0)).unwrap_or_default();
    let text = text.replace("\r\n", "\n").trim_end().to_owned();
    for to in recipients {
        sandbox_state.messages.keep(Message {
            channel: Channel::Email,
            to: recipient(to),
            code: find_code(&text),
            subject: subject.clone(),
            text: text.clone(),
            created_at: sandbox_state.now(),
        });
    }
}

/// Maximum size of a message, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 10 * 1024 * 1024;
const MAX_RECIPIENTS: usize = 100;

/// Next step after a command.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Answer and read the next command.
    Reply(String),
    /// Answer that a transaction has begun. The fault of this message is drawn at this step.
    Begin,
    /// Answer 354 and read the message.
    ReadMessage,
    /// Answer and close the connection.
    Close,
}

/// Kind of the next line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Expected {
    #[default]
    Command,
    /// The answer to a challenge of `AUTH`, with this many more to come.
    Credentials { more: u8 },
}

/// State of a session.
#[derive(Default)]
pub struct Session {
    greeted: bool,
    expected: Expected,
    in_transaction: bool,
    recipients: Vec<String>,
    /// `true` if recipients are refused until the transaction ends.
    pub refusing: bool,
}

impl Session {
    /// Ends the transaction and returns the recipients of the message just read.
    pub fn finish(&mut self) -> Vec<String> {
        let recipients = std::mem::take(&mut self.recipients);
        self.reset();
        recipients
    }

    fn reset(&mut self) {
        self.in_transaction = false;
        self.refusing = false;
        self.recipients.clear();
    }

    /// Handles one line, without its line end.
    pub fn line(&mut self, line: &str) -> Step {
        if let Expected::Credentials { more } = self.expected {
            return self.credentials(line, more);
        }
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb.to_ascii_uppercase().as_str() {
            "EHLO" => {
                self.greet();
                let size = MAX_MESSAGE_BYTES;
                reply(format!(
                    "250-sandbox\r\n250-PIPELINING\r\n250-SIZE {size}\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n\
                     250 AUTH PLAIN LOGIN"
                ))
            }
            "HELO" => {
                self.greet();
                reply("250 sandbox")
            }
            "AUTH" if self.greeted => self.auth(rest),
            "MAIL" if self.greeted => self.mail(rest),
            "RCPT" if self.in_transaction => self.rcpt(rest),
            "DATA" if !self.recipients.is_empty() => Step::ReadMessage,
            "DATA" if self.in_transaction => reply("554 5.5.1 No valid recipients"),
            "AUTH" | "MAIL" | "RCPT" | "DATA" => reply("503 5.5.1 Bad sequence of commands"),
            "RSET" => {
                self.reset();
                reply("250 2.0.0 Ok")
            }
            "NOOP" => reply("250 2.0.0 Ok"),
            "VRFY" => reply("252 2.1.5 Send the message and see"),
            "QUIT" => Step::Close,
            _ => reply("500 5.5.2 Command not recognized"),
        }
    }

    fn greet(&mut self) {
        self.greeted = true;
        self.reset();
    }

    fn auth(&mut self, rest: &str) -> Step {
        let mut words = rest.split_whitespace();
        let mechanism = words.next().unwrap_or_default().to_ascii_uppercase();
        match (mechanism.as_str(), words.next()) {
            ("PLAIN", Some(_)) => accepted(),
            ("PLAIN", None) => self.ask("334 ", 0),
            ("LOGIN", Some(_)) => self.ask("334 UGFzc3dvcmQ6", 0),
            ("LOGIN", None) => self.ask("334 VXNlcm5hbWU6", 1),
            _ => reply("504 5.5.4 Mechanism not supported"),
        }
    }

    fn ask(&mut self, challenge: &str, more: u8) -> Step {
        self.expected = Expected::Credentials { more };
        reply(challenge)
    }

    fn credentials(&mut self, line: &str, more: u8) -> Step {
        self.expected = Expected::Command;
        match (line, more) {
            ("*", _) => reply("501 5.7.0 Authentication cancelled"),
            (_, 0) => accepted(),
            _ => self.ask("334 UGFzc3dvcmQ6", 0),
        }
    }

    fn mail(&mut self, rest: &str) -> Step {
        if self.in_transaction {
            return reply("503 5.5.1 Nested MAIL command");
        }
        let Some((_, parameters)) = address(rest, "FROM:") else {
            return reply("501 5.5.4 Syntax: MAIL FROM:<address>");
        };
        let declared = parameters
            .split_whitespace()
            .find_map(|parameter| parameter.to_ascii_uppercase().strip_prefix("SIZE=")?.parse::<usize>().ok());
        if declared.is_some_and(|size| size > MAX_MESSAGE_BYTES) {
            return reply("552 5.3.4 Message size exceeds fixed limit");
        }
        self.in_transaction = true;
        Step::Begin
    }

    fn rcpt(&mut self, rest: &str) -> Step {
        match address(rest, "TO:") {
            Some((to, _)) if !to.is_empty() => {
                if self.refusing {
                    return reply("550 5.1.1 Mailbox unavailable");
                }
                if self.recipients.len() == MAX_RECIPIENTS {
                    return reply("452 4.5.3 Too many recipients");
                }
                self.recipients.push(to.to_owned());
                reply("250 2.1.5 Ok")
            }
            _ => reply("501 5.5.4 Syntax: RCPT TO:<address>"),
        }
    }
}

fn reply(text: impl Into<String>) -> Step {
    Step::Reply(text.into())
}

fn accepted() -> Step {
    reply("235 2.7.0 Authentication successful")
}

/// Splits the text after `FROM:` or `TO:` into address and parameters.
fn address<'a>(text: &'a str, keyword: &str) -> Option<(&'a str, &'a str)> {
    let (start, rest) = text.trim_start().split_at_checked(keyword.len())?;
    if !start.eq_ignore_ascii_case(keyword) {
        return None;
    }
    rest.trim_start().strip_prefix('<')?.split_once('>')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(session: &mut Session, line: &str) -> String {
        match session.line(line) {
            Step::Reply(text) => text.chars().take(3).collect(),
            Step::Begin => "begin".to_owned(),
            Step::ReadMessage => "354".to_owned(),
            Step::Close => "221".to_owned(),
        }
    }

    #[test]
    fn commands_come_in_order() {
        let mut session = Session::default();
        let lines = [
            ("MAIL FROM:<a@b>", "503"),
            ("ehlo client", "250"),
            ("RCPT TO:<c@d>", "503"),
            ("MAIL FROM: <> SIZE=100", "begin"),
            ("MAIL FROM:<a@b>", "503"),
            ("DATA", "554"),
            ("RCPT TO:<>", "501"),
            ("RCPT TO:<c@d>", "250"),
            ("rcpt to:<e@f> NOTIFY=NEVER", "250"),
            ("DATA", "354"),
            ("WHAT", "500"),
        ];
        for (line, answer) in lines {
            assert_eq!(code(&mut session, line), answer, "{line}");
        }
        assert_eq!(session.finish(), ["c@d", "e@f"]);
        assert_eq!(code(&mut session, "DATA"), "503");
        assert_eq!(code(&mut session, "MAIL FROM:<a@b> SIZE=99999999999"), "552");
        assert_eq!(code(&mut session, "QUIT"), "221");
    }

    #[test]
    fn any_credentials_are_accepted() {
        let mut session = Session::default();
        code(&mut session, "EHLO x");
        let lines = [
            ("AUTH PLAIN AGEAYg==", "235"),
            ("AUTH PLAIN", "334"),
            ("AGEAYg==", "235"),
            ("AUTH LOGIN", "334"),
            ("YQ==", "334"),
            ("Yg==", "235"),
            ("AUTH LOGIN YQ==", "334"),
            ("*", "501"),
            ("AUTH CRAM-MD5", "504"),
            ("NOOP", "250"),
        ];
        for (line, answer) in lines {
            assert_eq!(code(&mut session, line), answer, "{line}");
        }
    }

    #[test]
    fn a_refusing_transaction_ends_with_the_reset() {
        let mut session = Session::default();
        for line in ["HELO x", "MAIL FROM:<a@b>"] {
            code(&mut session, line);
        }
        session.refusing = true;
        assert_eq!(code(&mut session, "RCPT TO:<c@d>"), "550");
        code(&mut session, "RSET");
        code(&mut session, "MAIL FROM:<a@b>");
        assert_eq!(code(&mut session, "RCPT TO:<c@d>"), "250");
    }
}
