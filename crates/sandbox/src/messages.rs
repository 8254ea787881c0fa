//! Messages sent to customers and employees: calls, SMS and e-mails, as the recipients receive them. Also the messenger
//! MAX: it starts mini-apps and signs the contacts that their users share.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Mutex;

use chrono::{DateTime, Utc};
use kontor_kernel::hex;
use ring::hmac;
use serde_json::{Value, json};

use crate::state::{keep_newest, lock, moment};

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

/// Returns the data a mini-app of this bot receives when its user shares this phone.
pub fn share_contact(token: &str, user_id: u64, phone: &str, at: DateTime<Utc>) -> Value {
    let at = at.timestamp();
    let user = json!({ "id": user_id, "first_name": "Max", "last_name": "User", "language_code": "ru" }).to_string();
    let launch_key = mac(b"WebAppData", token);
    let launch = hex(&mac(&launch_key, &format!("auth_date={at}\nuser={user}")));
    // Phones are shown with a plus and signed without.
    let signed_phone = phone.strip_prefix('+').unwrap_or(phone);
    let hash = hex(&mac(token.as_bytes(), &format!("authDate={at}\nphone={signed_phone}\nuserId={user_id}")));
    let init_data = format!("auth_date={at}&user={}&hash={launch}", encode(&user));
    json!({ "phone": phone, "auth_date": at, "hash": hash, "init_data": init_data })
}

fn mac(key: &[u8], message: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message.as_bytes()).as_ref().to_vec()
}

fn encode(text: &str) -> String {
    text.bytes().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = match byte {
            plain if plain.is_ascii_alphanumeric() => write!(text, "{}", char::from(plain)),
            byte => write!(text, "%{byte:02X}"),
        };
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_the_first_separate_digit_group() {
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

    #[test]
    fn a_contact_is_signed_as_the_messenger_signs_it() {
        let at = DateTime::from_timestamp(1_771_409_719, 0).unwrap();
        for phone in ["79001234567", "+79001234567"] {
            let contact = share_contact("12345:test-bot-token", 67_890, phone, at);
            assert_eq!(contact["hash"], "71f79c052f64723ab3a97db0dba007372584d8756242c5d6d2855e96d13d3db7");
            assert_eq!((&contact["phone"], &contact["auth_date"]), (&json!(phone), &json!(1_771_409_719)));
        }
    }
}
