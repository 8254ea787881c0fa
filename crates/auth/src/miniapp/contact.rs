use chrono::{DateTime, Utc};
use kontor_kernel::{ContactError, Phone};

/// Reason why a field of a signed contact is refused before verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidField {
    /// The text does not have 1 to this many characters, or has control characters.
    #[error("must have 1 to {0} characters")]
    Length(usize),
    /// The number is not a Unix time in seconds, milliseconds or microseconds.
    #[error("must be a Unix time in seconds, milliseconds or microseconds")]
    Time,
    /// The text does not have 64 hexadecimal digits.
    #[error("must be 64 hexadecimal digits")]
    Hash,
}

/// Data sent by a mini-app: the shared contact and the launch data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedContact {
    /// Phone as the messenger sent it.
    pub phone: SignedPhone,
    /// Time of the signature.
    pub signed_at: SignedAt,
    /// Signature of the contact.
    pub hash: ContactHash,
    /// Launch data of the mini-app; it identifies the user.
    pub init_data: InitData,
}

/// Phone in the signed spelling. It is parsed only after verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedPhone(String);

impl SignedPhone {
    /// Maximum length, in characters.
    pub const MAX: usize = 32;

    /// Checks the length and keeps the text unchanged.
    pub fn parse(text: &str) -> Result<Self, InvalidField> {
        bounded(text, Self::MAX).map(Self)
    }

    /// Returns the original spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses the phone.
    pub fn normalized(&self) -> Result<Phone, ContactError> {
        Phone::parse(&self.0)
    }
}

/// Unix time with its original digits, since those were signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedAt {
    digits: String,
    moment: DateTime<Utc>,
}

impl SignedAt {
    /// Parses decimal digits. Below 10^11 they are seconds, below 10^14 milliseconds, otherwise microseconds: each unit
    /// covers the years 1973 to 5138.
    pub fn parse(digits: &str) -> Result<Self, InvalidField> {
        let canonical = digits == "0" || !digits.starts_with('0');
        let number = digits.parse::<i64>().ok();
        let number = number.filter(|_| canonical && digits.bytes().all(|byte| byte.is_ascii_digit()));
        let moment = number.and_then(|number| match number {
            0..100_000_000_000 => DateTime::from_timestamp(number, 0),
            100_000_000_000..100_000_000_000_000 => DateTime::from_timestamp_millis(number),
            _ => DateTime::from_timestamp_micros(number),
        });
        moment.map(|moment| Self { digits: digits.to_owned(), moment }).ok_or(InvalidField::Time)
    }

    /// Returns the original digits.
    pub fn digits(&self) -> &str {
        &self.digits
    }

    /// Returns the time.
    pub fn moment(&self) -> DateTime<Utc> {
        self.moment
    }
}

/// HMAC-SHA256 in hexadecimal digits, stored in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContactHash(String);

impl ContactHash {
    /// Checks the text; capitals are accepted.
    pub fn parse(text: &str) -> Result<Self, InvalidField> {
        let sound = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if sound { Ok(Self(text.to_ascii_lowercase())) } else { Err(InvalidField::Hash) }
    }

    /// Returns the 64 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Launch data of a mini-app: URL-encoded pairs, signed by the messenger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitData(String);

impl InitData {
    /// Maximum length, in characters.
    pub const MAX: usize = 8_192;

    /// Checks the length and keeps the text unchanged.
    pub fn parse(text: &str) -> Result<Self, InvalidField> {
        bounded(text, Self::MAX).map(Self)
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn bounded(text: &str, most: usize) -> Result<String, InvalidField> {
    let sound = !text.is_empty() && text.chars().count() <= most && !text.contains(char::is_control);
    if sound { Ok(text.to_owned()) } else { Err(InvalidField::Length(most)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_the_same_in_all_units() {
        let moment = DateTime::from_timestamp(1_771_409_719, 0).unwrap();
        for digits in ["1771409719", "1771409719000", "1771409719000000"] {
            let at = SignedAt::parse(digits).unwrap();
            assert_eq!((at.moment(), at.digits()), (moment, digits));
        }
        for digits in ["", "-1", "+1771409719", "01771409719", "1771409719.0", "1e9", " 1", "٧", "9223372036854775808"]
        {
            assert_eq!(SignedAt::parse(digits), Err(InvalidField::Time), "{digits}");
        }
        assert_eq!(SignedAt::parse("9223372036854775807"), Err(InvalidField::Time));
        assert_eq!(SignedAt::parse("0").unwrap().moment(), DateTime::UNIX_EPOCH);
    }

    #[test]
    fn bounds_count_characters() {
        assert!(SignedPhone::parse(&"7".repeat(32)).is_ok() && SignedPhone::parse(&"ё".repeat(32)).is_ok());
        for text in ["", &"7".repeat(33), "7900\nuserId=1"] {
            assert_eq!(SignedPhone::parse(text), Err(InvalidField::Length(32)), "{text}");
        }
        assert!(InitData::parse(&"x".repeat(8_192)).is_ok() && InitData::parse(&"x".repeat(8_193)).is_err());
    }

    #[test]
    fn a_hash_has_64_digits_in_any_case() {
        assert_eq!(ContactHash::parse(&"AB".repeat(32)).unwrap().as_str(), "ab".repeat(32));
        for text in ["a".repeat(63), "a".repeat(65), "g".repeat(64), "ё".repeat(32), String::new()] {
            assert_eq!(ContactHash::parse(&text), Err(InvalidField::Hash), "{text}");
        }
    }

    #[test]
    fn only_russian_phones_are_read() {
        let phone = |text: &str| SignedPhone::parse(text).unwrap().normalized().map(|phone| phone.to_string());
        assert_eq!(phone("+7 (900) 123-45-67").as_deref(), Ok("79001234567"));
        assert_eq!(phone("+49 40 123456"), Err(ContactError::Phone));
    }
}
