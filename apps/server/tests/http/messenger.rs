//! A messenger whose mini-app shares a user's contact.

use ring::hmac;
use serde_json::{Value, json};

/// The token of the bot that most tests use.
pub const BOT: &str = "12345:test-bot-token";
const USER: &str = r#"{"id":67890,"first_name":"Max"}"#;

fn mac(key: &[u8], message: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message.as_bytes()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Returns the body of a login with a contact signed at the time `auth_date`, in a mini-app started at the Unix time
/// `started_at`.
pub fn contact(started_at: i64, phone: &str, auth_date: &str) -> Value {
    let launch = hex(&mac(&mac(b"WebAppData", BOT), &format!("auth_date={started_at}\nuser={USER}")));
    let user: String = form_urlencoded::byte_serialize(USER.as_bytes()).collect();
    let hash = hex(&mac(BOT.as_bytes(), &format!("authDate={auth_date}\nphone={phone}\nuserId=67890")));
    let auth_date: Value = serde_json::from_str(auth_date).unwrap();
    let init_data = format!("auth_date={started_at}&user={user}&hash={launch}");
    json!({ "phone": phone, "auth_date": auth_date, "hash": hash, "init_data": init_data })
}
