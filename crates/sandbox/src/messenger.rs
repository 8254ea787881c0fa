//! The messenger MAX: it starts mini-apps and signs the contacts that their users share.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use kontor_kernel::hex;
use ring::hmac;
use serde_json::{Value, json};

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
    fn a_contact_is_signed_as_the_messenger_signs_it() {
        let at = DateTime::from_timestamp(1_771_409_719, 0).unwrap();
        for phone in ["79001234567", "+79001234567"] {
            let contact = share_contact("12345:test-bot-token", 67_890, phone, at);
            assert_eq!(contact["hash"], "71f79c052f64723ab3a97db0dba007372584d8756242c5d6d2855e96d13d3db7");
            assert_eq!((&contact["phone"], &contact["auth_date"]), (&json!(phone), &json!(1_771_409_719)));
        }
    }
}
