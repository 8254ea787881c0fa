//! Simulated messenger: starts mini-apps and signs contacts.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_auth::miniapp::{ContactHash, InitData, SignedAt, SignedContact, SignedPhone, Verifier};
use kontor_auth::ports::Hmac;
use kontor_kernel::testing::PlainCipher;
use ring::hmac;

pub const TOKEN: &str = "12345:test-bot-token";
pub const USER: &str = r#"{"id":67890,"first_name":"Анна","photo_url":"https://x.ru/?a=b&c=d"}"#;

/// Creates a verifier with real cryptography.
pub fn verifier() -> Verifier {
    struct Ring;
    impl Hmac for Ring {
        fn hmac_sha256(&self, key: &[u8], message: &[u8]) -> [u8; 32] {
            mac(key, message).try_into().unwrap()
        }
    }
    Verifier::new(Arc::new(Ring), Arc::new(PlainCipher), TimeDelta::hours(1))
}

fn mac(key: &[u8], message: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Encodes `key=value` pairs as URL parameters.
pub fn encode(pairs: &[(&str, &str)]) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let value = |text: &str| {
        text.bytes().fold(String::new(), |text, byte| {
            if plain(byte) { text + &char::from(byte).to_string() } else { text + &format!("%{byte:02X}") }
        })
    };
    pairs.iter().map(|(key, text)| format!("{key}={}", value(text))).collect::<Vec<_>>().join("&")
}

/// Fields of a request.
#[derive(Clone)]
pub struct Contact {
    pub phone: String,
    pub auth_date: String,
    pub hash: String,
    pub init_data: String,
}

impl Contact {
    pub fn parsed(&self) -> SignedContact {
        self.try_parsed().unwrap()
    }

    pub fn try_parsed(&self) -> Option<SignedContact> {
        Some(SignedContact {
            phone: SignedPhone::parse(&self.phone).ok()?,
            signed_at: SignedAt::parse(&self.auth_date).ok()?,
            hash: ContactHash::parse(&self.hash).ok()?,
            init_data: InitData::parse(&self.init_data).ok()?,
        })
    }
}

/// Messenger at a fixed time, with one user of one bot.
#[derive(Clone)]
pub struct Messenger {
    pub token: &'static str,
    pub user: &'static str,
    pub user_id: &'static str,
    pub started_at: DateTime<Utc>,
    pub signed_at: DateTime<Utc>,
}

impl Messenger {
    pub fn at(now: DateTime<Utc>) -> Self {
        Self {
            token: TOKEN,
            user: USER,
            user_id: "67890",
            started_at: now - TimeDelta::seconds(40),
            signed_at: now - TimeDelta::seconds(5),
        }
    }

    /// Signs these pairs.
    pub fn sign(&self, pairs: &[(&str, &str)]) -> String {
        let mut sorted = pairs.to_vec();
        sorted.sort_unstable();
        let message = sorted.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join("\n");
        hex(&mac(&mac(b"WebAppData", self.token.as_bytes()), message.as_bytes()))
    }

    /// Returns signed launch data.
    pub fn start(&self, pairs: &[(&str, &str)]) -> String {
        let hash = self.sign(pairs);
        let all: Vec<_> = pairs.iter().copied().chain([("hash", hash.as_str())]).collect();
        encode(&all)
    }

    pub fn init_data(&self) -> String {
        let started_at = self.started_at.timestamp().to_string();
        self.start(&[("auth_date", &started_at), ("query_id", "q-1"), ("start_param", ""), ("user", self.user)])
    }

    /// Returns the signature of a contact.
    pub fn sign_contact(&self, phone: &str, auth_date: &str) -> String {
        let message = format!("authDate={auth_date}\nphone={phone}\nuserId={}", self.user_id);
        hex(&mac(self.token.as_bytes(), message.as_bytes()))
    }

    /// Returns a contact whose signature time has these digits.
    pub fn contact_at(&self, phone: &str, auth_date: String) -> Contact {
        let hash = self.sign_contact(phone, &auth_date);
        Contact { phone: phone.to_owned(), hash, auth_date, init_data: self.init_data() }
    }

    pub fn contact(&self, phone: &str) -> Contact {
        self.contact_at(phone, self.signed_at.timestamp().to_string())
    }
}
