//! Phone numbers and e-mail addresses.

use std::fmt;
use std::ops::Deref;

/// Reason why a text is not a contact of the requested kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ContactError {
    /// The text does not have eleven digits starting with 7 after normalization.
    #[error("must be a phone such as 79001234567")]
    Phone,
    /// The text is not an address of the form `local@domain`.
    #[error("must be an e-mail address")]
    Email,
    /// The text is neither a phone nor an e-mail address.
    #[error("must be a phone such as 79001234567 or an e-mail address")]
    Neither,
}

/// Phone number, normalized to eleven digits `7XXXXXXXXXX`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Phone(String);

impl Phone {
    /// Accepts the usual spellings: `+7 (900) 123-45-67`, `8 900 123 45 67`, `79001234567`, `9001234567`. Spaces,
    /// dashes and invisible marks, as copied from a page or an address book, are ignored. Digits are ASCII.
    pub fn parse(text: &str) -> Result<Self, ContactError> {
        let text = text.trim_matches(|c: char| c.is_whitespace() || is_mark(c));
        let foreign = |c: char| !(c.is_ascii_digit() || is_separator(c) || is_mark(c) || c == '+');
        if text.chars().count() > 40 || text.contains(foreign) || text.chars().skip(1).any(|c| c == '+') {
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

    /// Returns the eleven digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Separators between the digits of a phone: spaces, brackets, dots, hyphens and dashes.
fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}')
        || matches!(c, '(' | ')' | '.' | '-' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// Marks of writing direction, which address books put around phones.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202c}' | '\u{2066}'..='\u{2069}')
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

/// E-mail address in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Email(String);

impl Email {
    /// Accepts `local@domain` of at most 254 bytes: letters and digits of any script; in the local part also the signs
    /// that need no quotes. White space and line breaks are refused. The check applies to the lower-case form, which
    /// may have other letters and more bytes than the input.
    pub fn parse(text: &str) -> Result<Self, ContactError> {
        let text = text.trim().to_lowercase();
        let (local, domain) = text.rsplit_once('@').ok_or(ContactError::Email)?;
        let words = local.split('.').all(|word| {
            !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c))
        });
        let labels = domain.split('.').all(|label| {
            (1..=63).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.chars().all(|c| c.is_alphanumeric() || c == '-')
        });
        let whole = text.len() <= 254 && local.len() <= 64 && domain.contains('.');
        if whole && words && labels { Ok(Self(text)) } else { Err(ContactError::Email) }
    }

    /// Returns the address.
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

/// Contact of a customer: the `phone` field of the login endpoints accepts either kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Contact {
    /// Phone.
    Phone(Phone),
    /// E-mail address.
    Email(Email),
}

impl Contact {
    /// Parses a text with `@` as an e-mail address, any other text as a phone.
    pub fn parse(text: &str) -> Result<Self, ContactError> {
        if text.contains('@') { Email::parse(text).map(Self::Email) } else { Phone::parse(text).map(Self::Phone) }
            .map_err(|_| ContactError::Neither)
    }

    /// Returns the normalized text. Kinds cannot clash, since only an address has an `@`.
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
        for text in [
            "79001234567",
            "+79001234567",
            "89001234567",
            "9001234567",
            "+7 (900) 123-45-67",
            "8 900 123-45-67",
            "8(900)1234567",
            "7-900-123-45-67",
            " 7.900.123.45.67 ",
            "(900) 123 45 67",
            "+7\u{a0}900\u{202f}123\u{2011}45\u{2013}67",
            "\u{202a}+7 900 123-45-67\u{202c}\n",
        ] {
            assert_eq!(Phone::parse(text).unwrap().as_str(), "79001234567", "{text}");
        }
        for text in [
            "abc",
            "",
            "+",
            "+8 900 123 45 67",
            "+9001234567",
            "7900123456",
            "790012345678",
            "7900+1234567",
            "++79001234567",
            "7900123\n4567",
            "7900123\t4567",
            "tel:79001234567",
            "79001234567 ext. 5",
            "٧٩٠٠١٢٣٤٥٦٧",
            "７９００１２３４５６７",
            "79001234567,79007654321",
            "4951234567",
        ] {
            assert_eq!(Phone::parse(text), Err(ContactError::Phone), "{text}");
        }
        assert!(Phone::parse(&format!("7{}9001234567", " ".repeat(30))).is_err());
    }

    #[test]
    fn addresses_are_checked_and_lowered() {
        assert_eq!(Email::parse(" Anna.K@Example.COM ").unwrap().as_str(), "anna.k@example.com");
        assert_eq!(Email::parse("ivan@пример.рф").unwrap().as_str(), "ivan@пример.рф");
        assert_eq!(Email::parse("ИВАН@Пример.РФ").unwrap().as_str(), "иван@пример.рф");
        assert!(Email::parse("o'neil+shop_{x}=1@x-1.ru").is_ok());
        let (long_local, long_label) = (format!("{}@x.ru", "a".repeat(65)), format!("a@{}.ru", "x".repeat(64)));
        for text in [
            "a@b",
            "@x.ru",
            "a b@x.ru",
            "a@x..ru",
            "a@-x.ru",
            "a@x.ru\nBcc: b@x.ru",
            "a\r\nBcc: b@x.ru",
            "a@x.ru>",
            "a@b@x.ru",
            "a..b@x.ru",
            ".a@x.ru",
            "a.@x.ru",
            "\"a b\"@x.ru",
            "a(b)@x.ru",
            // The lower-case form is a letter and a combining dot; the second example gets more bytes.
            "\u{130}@x.ru",
            &format!("{}@x.ru", "\u{23a}".repeat(32)),
            "a\u{200b}@x.ru",
            "a@[127.0.0.1]",
            "Anna <a@x.ru>",
            &long_local,
            &long_label,
        ] {
            assert_eq!(Email::parse(text), Err(ContactError::Email), "{text}");
        }
    }

    #[test]
    fn a_written_phone_has_at_most_forty_signs() {
        let spaced = |signs: usize| format!("7{}9001234567", " ".repeat(signs - 11));
        assert_eq!(Phone::parse(&spaced(40)).unwrap().as_str(), "79001234567");
        assert_eq!(Phone::parse(&spaced(41)), Err(ContactError::Phone));
    }

    #[test]
    fn an_address_may_be_as_long_as_mail_servers_take_it() {
        let address = |local: usize, label: usize, rest: usize| {
            format!("{}@{}.{}ru", "a".repeat(local), "x".repeat(label), "y.".repeat(rest))
        };
        assert!(Email::parse(&address(64, 63, 0)).is_ok());
        assert!(Email::parse(&address(65, 63, 0)).is_err(), "the local part is longer than 64 bytes");
        assert!(Email::parse(&address(64, 64, 0)).is_err(), "a label is longer than 63 bytes");
        assert_eq!(address(64, 63, 61).len(), 253);
        assert!(Email::parse(&address(64, 63, 61)).is_ok());
        assert_eq!(address(63, 63, 62).len(), 254);
        assert!(Email::parse(&address(63, 63, 62)).is_ok());
        assert_eq!(address(64, 63, 62).len(), 255);
        assert!(Email::parse(&address(64, 63, 62)).is_err(), "the whole is longer than 254 bytes");
    }

    #[test]
    fn a_label_neither_begins_nor_ends_with_a_hyphen() {
        for text in ["a@-x.ru", "a@x-.ru", "a@x.ru-", "a@x.-ru", "a@x_y.ru"] {
            assert_eq!(Email::parse(text), Err(ContactError::Email), "{text}");
        }
    }

    #[test]
    fn a_contact_is_an_address_when_it_has_an_at_sign() {
        let (phone, email) = (Phone::parse("79001234567").unwrap(), Email::parse("anna@x.ru").unwrap());
        assert_eq!(Contact::parse("+7 900 123-45-67"), Ok(Contact::Phone(phone.clone())));
        assert_eq!(Contact::parse("Anna@X.ru"), Ok(Contact::Email(email.clone())));
        for text in ["", "anna", "anna@", "7900@123"] {
            assert_eq!(Contact::parse(text), Err(ContactError::Neither), "{text}");
        }
        // All forms of a contact are equal to its normalized text.
        assert_eq!([&*phone, &phone.to_string(), Contact::Phone(phone.clone()).as_str()], ["79001234567"; 3]);
        assert_eq!([&*email, &email.to_string(), Contact::Email(email.clone()).as_str()], ["anna@x.ru"; 3]);
        assert_eq!(Contact::Phone(phone).to_string(), "79001234567");
    }
}
