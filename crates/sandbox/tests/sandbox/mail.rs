//! The mailbox, over raw SMTP.

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::support::{Outside, outside};

struct Client(BufReader<TcpStream>);

impl Client {
    async fn greeted(outside: &Outside) -> Self {
        let mut client = Self(BufReader::new(TcpStream::connect(outside.handle.smtp_addr()).await.unwrap()));
        assert_eq!(client.reply().await, "220");
        assert_eq!(client.say("EHLO test").await, "250");
        client
    }

    /// Returns the code of the next reply, or an empty string when the server has disconnected.
    async fn reply(&mut self) -> String {
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).await.unwrap();
            if line.is_empty() || line.as_bytes()[3] == b' ' {
                return line.chars().take(3).collect();
            }
        }
    }

    async fn say(&mut self, line: &str) -> String {
        self.0.write_all(format!("{line}\r\n").as_bytes()).await.unwrap();
        self.reply().await
    }

    async fn send(&mut self, to: &str, message: &str) -> String {
        assert_eq!(self.say("MAIL FROM:<shop@example.com>").await, "250");
        assert_eq!(self.say(&format!("RCPT TO:<{to}>")).await, "250");
        assert_eq!(self.say("DATA").await, "354");
        self.say(&format!("{message}\r\n.")).await
    }
}

const LETTER: &str = "Subject: =?utf-8?B?0JrQvtC0?=\r\nContent-Type: text/plain; charset=utf-8\r\n\
                      Content-Transfer-Encoding: base64\r\n\r\n0JLQsNGIINC60L7QtDogNTY3ODkw";

#[tokio::test]
async fn a_letter_is_read_like_a_person_reads_it() {
    let outside = outside().await;
    let mut client = Client::greeted(&outside).await;
    assert_eq!(client.say("AUTH PLAIN AGEAYg==").await, "235");
    assert_eq!(client.send("Ann@Example.com", LETTER).await, "250");
    let letters = outside.messages("ann@example.com").await;
    assert_eq!((&letters[0]["channel"], &letters[0]["code"]), (&json!("email"), &json!("567890")));
    assert_eq!((&letters[0]["subject"], &letters[0]["text"]), (&json!("Код"), &json!("Ваш код: 567890")));
}

#[tokio::test]
async fn several_letters_go_over_one_connection_and_dots_survive() {
    let outside = outside().await;
    let mut client = Client::greeted(&outside).await;
    assert_eq!(client.send("a@example.com", "Subject: one\r\n\r\n..dots\r\n.. 1234").await, "250");
    assert_eq!(client.say("RSET").await, "250");
    assert_eq!(client.say("NOOP").await, "250");
    assert_eq!(client.send("a@example.com", "Subject: two\r\n\r\nplain").await, "250");
    assert_eq!(client.say("QUIT").await, "221");
    let letters = outside.messages("A@example.com").await;
    assert_eq!((&letters[0]["subject"], &letters[1]["subject"]), (&json!("two"), &json!("one")));
    assert_eq!(letters[1]["text"], ".dots\n. 1234");
    assert_eq!((&letters[0]["code"], &letters[1]["code"]), (&json!(null), &json!("1234")));
}

#[tokio::test]
async fn a_letter_that_is_too_large_is_refused() {
    let outside = outside().await;
    let mut client = Client::greeted(&outside).await;
    assert_eq!(client.say("MAIL FROM:<a@b> SIZE=99999999").await, "552");
    let line = format!("{}\r\n", "x".repeat(1_000)).repeat(11_000);
    assert_eq!(client.send("a@example.com", &line).await, "552");
    assert_eq!(client.send("a@example.com", "Subject: small\r\n\r\n").await, "250");
    assert_eq!(outside.messages("a@example.com").await.len(), 1);
}

#[tokio::test]
async fn the_mailbox_fails_as_planned() {
    let outside = outside().await;
    for (fault, answer, kept) in [
        ("http_500", "451", 0),
        ("http_500_after_commit", "451", 1),
        ("drop", "", 1),
        ("drop_after_commit", "", 2),
        ("delay", "250", 3),
    ] {
        outside.fault("mail", fault, 1, 10).await;
        let mut client = Client::greeted(&outside).await;
        assert_eq!(client.send("a@example.com", "Subject: x\r\n\r\nx").await, answer, "{fault}");
        assert_eq!(outside.messages("a@example.com").await.len(), kept, "{fault}");
    }
    outside.fault("mail", "refuse", 1, 0).await;
    let mut client = Client::greeted(&outside).await;
    assert_eq!(client.say("MAIL FROM:<a@b>").await, "250");
    assert_eq!(client.say("RCPT TO:<a@example.com>").await, "550");
    assert_eq!(client.say("RSET").await, "250");

    outside.fault("mail", "timeout", 1, 20_000).await;
    let held = tokio::time::timeout(std::time::Duration::from_millis(200), client.send("a@example.com", "x"));
    assert!(held.await.is_err());
    assert_eq!(outside.messages("a@example.com").await.len(), 4);
}
