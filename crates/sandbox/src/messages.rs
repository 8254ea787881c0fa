//! Messages sent to customers and employees: calls, SMS and e-mails, as the recipients receive them.

use std::collections::VecDeque;
use std::sync::Mutex;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::bounded::keep_newest;
use crate::state::{lock, moment};

/// Channel of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    Call,
    Sms,
    Email,
}

impl Channel {
    fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Sms => "sms",
            Self::Email => "email",
        }
    }
}

/// A delivered message.
#[derive(Clone, Debug)]
pub struct Message {
    pub channel: Channel,
    /// A normalised phone or e-mail address.
    pub to: String,
    pub code: Option<String>,
    pub subject: Option<String>,
    pub text: String,
    pub created_at: DateTime<Utc>,
}

impl Message {
    fn view(&self) -> Value {
        json!({
            "channel": self.channel.name(),
            "to": self.to,
            "code": self.code,
            "subject": self.subject,
            "text": self.text,
            "created_at": moment(self.created_at),
        })
    }
}

/// The latest messages.
pub struct Messages {
    capacity: usize,
    kept: Mutex<VecDeque<Message>>,
}

impl Messages {
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), kept: Mutex::new(VecDeque::new()) }
    }

    pub fn keep(&self, message: Message) {
        keep_newest(&mut lock(&self.kept), self.capacity, message);
    }

    /// Returns the latest `most` messages, of one recipient or of all, newest first.
    pub fn newest(&self, to: Option<&str>, most: usize) -> Vec<Value> {
        let to = to.map(recipient);
        let kept = lock(&self.kept);
        let wanted = kept.iter().rev().filter(|message| to.as_ref().is_none_or(|to| message.to == *to));
        wanted.take(most).map(Message::view).collect()
    }
}

/// Normalises a recipient: an e-mail address in lower case, a phone as digits with a leading 8 replaced by 7.
pub fn recipient(text: &str) -> String {
    if text.contains('@') {
        return text.trim().to_lowercase();
    }
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    match digits.strip_prefix('8') {
        Some(rest) if digits.len() == 11 => format!("7{rest}"),
        _ => digits,
    }
}

/// Finds the code in a text: its first separate group of 4 to 8 digits. URLs are ignored.
pub fn find_code(text: &str) -> Option<String> {
    text.split_whitespace().filter(|word| !word.contains("://")).find_map(|word| {
        word.split(|c: char| !c.is_alphanumeric() && c != '_')
            .find(|group| (4..=8).contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_digit()))
            .map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_the_first_digit_group_that_stands_alone() {
        let cases = [
            ("Ваш код: 0451. Никому не говорите", Some("0451")),
            ("Order A1234 of 123: use 567890!", Some("567890")),
            ("http://127.0.0.1:54321/x?c=9999 then 4321", Some("4321")),
            ("call 79991234567", None),
            ("no code", None),
        ];
        for (text, code) in cases {
            assert_eq!(find_code(text).as_deref(), code, "{text}");
        }
    }

    #[test]
    fn recipients_are_compared_in_one_spelling() {
        for phone in ["+7 (999) 123-45-67", "89991234567", "79991234567"] {
            assert_eq!(recipient(phone), "79991234567");
        }
        assert_eq!(recipient(" Ann@Example.COM "), "ann@example.com");
    }
}
