use chrono::{DateTime, Utc};
use kontor_kernel::history::AuditedField;
use kontor_kernel::{CustomerContactId, Email, Line, Name, Phone, Violations, Word, draft_and_change};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::CustomerRecordPart;

/// Kind of contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ContactKind {
    /// Phone.
    Phone,
    /// E-mail.
    Email,
    /// `WhatsApp`: a phone.
    Whatsapp,
    /// Telegram: a phone or a name such as `@anna_kern`.
    Telegram,
    /// MAX: a phone.
    Max,
    /// Website: an http or https address.
    Website,
    /// Any other contact, as free text.
    Other,
}

impl ContactKind {
    /// Returns the value in the stored form, or the error.
    fn normalized(self, value: &Name) -> Result<Name, String> {
        let wrong = |error: kontor_kernel::ContactError| error.to_string();
        let text = match self {
            Self::Phone | Self::Whatsapp | Self::Max => Phone::parse(value).map_err(wrong)?.to_string(),
            Self::Email => Email::parse(value).map_err(wrong)?.to_string(),
            Self::Telegram => match Phone::parse(value) {
                Ok(phone) => phone.to_string(),
                Err(_) => telegram_name(value).ok_or("must be a phone or a name such as @anna_kern")?,
            },
            Self::Website if !is_web_address(value) => return Err("must be an http or https address".to_owned()),
            Self::Website | Self::Other => return Ok(value.clone()),
        };
        Name::parse(&text).map_err(|error| error.to_string())
    }
}

/// Normalizes a name: `@` and 5 to 32 letters, digits and underscores, a letter first.
fn telegram_name(text: &str) -> Option<String> {
    let name = text.strip_prefix('@').unwrap_or(text);
    let formed = (5..=32).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    formed.then(|| format!("@{name}"))
}

fn is_web_address(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| {
        host.starts_with(char::is_alphanumeric) && host.contains('.') && !host.contains(char::is_whitespace)
    })
}

/// Contact of a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerContact {
    /// Identifier.
    pub id: CustomerContactId,
    /// Content.
    pub content: ContactDraft,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

draft_and_change! {
    /// Content of a contact.
    ContactDraft,
    /// Changes of a contact.
    ContactChange {
        /// Kind.
        kind: ContactKind,
        /// Phone, address or name, by kind.
        value: Name,
        /// Name of the person to reach.
        name: Option<Name>,
        /// Comment.
        comment: Option<Line<500>>,
    }
}

impl CustomerRecordPart for CustomerContact {
    type Id = CustomerContactId;
    type Draft = ContactDraft;
    type Change = ContactChange;

    const NAME: &'static str = "contacts";

    fn id(&self) -> CustomerContactId {
        self.id
    }

    fn fields(&self) -> Vec<AuditedField> {
        let ContactDraft { kind, value, name, comment } = &self.content;
        vec![
            ("kind", Some(kind.word().to_owned())),
            ("value", Some(value.to_string())),
            ("name", name.as_ref().map(ToString::to_string)),
            ("comment", comment.as_ref().map(ToString::to_string)),
        ]
    }

    fn checked(draft: ContactDraft) -> Result<ContactDraft, Violations> {
        let value = draft.kind.normalized(&draft.value).map_err(|error| Violations::single("value", error))?;
        Ok(ContactDraft { value, ..draft })
    }

    fn changed(&self, change: ContactChange) -> ContactDraft {
        let before = self.content.clone();
        ContactDraft {
            kind: change.kind.or(before.kind),
            value: change.value.or(before.value),
            name: change.name.or(before.name),
            comment: change.comment.or(before.comment),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_of_its_kind() {
        let stored = |kind: ContactKind, value: &str| kind.normalized(&Name::parse(value).unwrap()).ok();
        for (kind, value, expected) in [
            (ContactKind::Phone, "8 (900) 123-45-67", Some("79001234567")),
            (ContactKind::Whatsapp, "anna", None),
            (ContactKind::Max, "+7 900 123-45-67", Some("79001234567")),
            (ContactKind::Email, "Anna@X.ru", Some("anna@x.ru")),
            (ContactKind::Email, "79001234567", None),
            (ContactKind::Telegram, "anna_kern", Some("@anna_kern")),
            (ContactKind::Telegram, "@Anna5", Some("@Anna5")),
            (ContactKind::Telegram, "89001234567", Some("79001234567")),
            (ContactKind::Telegram, "@ann", None),
            (ContactKind::Telegram, "5anna", None),
            (ContactKind::Website, "https://x.ru/a?b", Some("https://x.ru/a?b")),
            (ContactKind::Website, "javascript:alert(1)", None),
            (ContactKind::Website, "https://", None),
            (ContactKind::Other, "after six, at the gate", Some("after six, at the gate")),
        ] {
            assert_eq!(stored(kind, value).as_deref(), expected, "{kind:?} {value}");
        }
    }

    #[test]
    fn kinds_are_stored_words() {
        let words: Vec<_> = ContactKind::all().iter().map(|kind| kind.word()).collect();
        assert_eq!(words, ["phone", "email", "whatsapp", "telegram", "max", "website", "other"]);
    }
}
