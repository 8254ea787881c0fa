//! Phones and e-mail addresses.

use std::fmt;
use std::ops::Deref;

/// A text that is not a contact of the asked kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ContactError {
    /// Not eleven digits starting with 7 after normalization.
    #[error("must be a phone such as 79001234567")]
    Phone,
    /// Not an address of the form `local@domain`.
    #[error("must be an e-mail address")]
    Email,
    /// Neither a phone nor an e-mail address.
    #[error("must be a phone such as 79001234567 or an e-mail address")]
    Neither,
}

/// A phone normalized to eleven digits `7XXXXXXXXXX`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Phone(String);

impl Phone {
    /// Accepts the usual spellings: `+7 (900) 123-45-67`, `8 900 123 45 67`, `79001234567`, `9001234567`.
    pub fn parse(text: &str) -> Result<Self, ContactError> {
        let text = text.trim();
        let foreign = |c: char| !c.is_ascii_digit() && !matches!(c, ' ' | '\u{a0}' | '-' | '(' | ')' | '.' | '+');
        if text.len() > 40 || text.contains(foreign) || text.chars().skip(1).any(|c| c == '+') {
            return Err(ContactError::Phone);
        }
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        let subscriber = match (digits.len(), digits.get(..1)) {
            (11, Some("7")) => digits.get(1..),
            (11, Some("8")) if !text.starts_with('+') => digits.get(1..),
            (10, Some("9")) if !text.starts_with('+') => Some(digits.as_str()),
            _ => None,
        };
        subscriber.map(|rest| Self(format!("7{rest}"))).ok_or(ContactError::Phone)
    }

    /// Eleven digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Phone {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Phone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An e-mail address in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Email(String);

impl Email {
    /// Accepts `local@domain` of at most 254 characters without white space or control characters.
    pub fn parse(text: &str) -> Result<Self, ContactError> {
        let text = text.trim();
        let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | ',' | ';' | '\\');
        let (local, domain) = text.rsplit_once('@').ok_or(ContactError::Email)?;
        let labels = domain.split('.').all(|label| {
            !label.is_empty()
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.chars().all(|c| c.is_alphanumeric() || c == '-')
        });
        let whole = text.len() <= 254 && (1..=64).contains(&local.len()) && !text.contains(odd) && !local.contains('@');
        if whole && labels && domain.contains('.') { Ok(Self(text.to_lowercase())) } else { Err(ContactError::Email) }
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Email {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a customer can be reached: the `phone` field of the login endpoints takes either kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Contact {
    /// A phone.
    Phone(Phone),
    /// An e-mail address.
    Email(Email),
}

impl Contact {
    /// A text with `@` is an e-mail address, anything else a phone.
    pub fn parse(text: &str) -> Result<Self, ContactError> {
        if text.contains('@') { Email::parse(text).map(Self::Email) } else { Phone::parse(text).map(Self::Phone) }
            .map_err(|_| ContactError::Neither)
    }

    /// The normalized text; kinds cannot clash, since only an address has an `@`.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Phone(phone) => phone.as_str(),
            Self::Email(email) => email.as_str(),
        }
    }
}

impl fmt::Display for Contact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_phone_are_one_phone() {
        for text in ["+7 (900) 123-45-67", "8 900 123-45-67", "79001234567", "9001234567", " 7.900.123.45.67 "] {
            assert_eq!(Phone::parse(text).unwrap().as_str(), "79001234567", "{text}");
        }
        for text in ["abc", "", "+8 900 123 45 67", "7900123456", "790012345678", "7900+1234567", "٧٩٠٠١٢٣٤٥٦٧"]
        {
            assert_eq!(Phone::parse(text), Err(ContactError::Phone), "{text}");
        }
    }

    #[test]
    fn addresses_are_checked_and_lowered() {
        assert_eq!(Email::parse(" Anna.K@Example.COM ").unwrap().as_str(), "anna.k@example.com");
        assert_eq!(Email::parse("ivan@пример.рф").unwrap().as_str(), "ivan@пример.рф");
        for text in ["a@b", "@x.ru", "a b@x.ru", "a@x..ru", "a@-x.ru", "a@x.ru\nBcc: b@x.ru", "a@b@x.ru"] {
            assert_eq!(Email::parse(text), Err(ContactError::Email), "{text}");
        }
    }
}
