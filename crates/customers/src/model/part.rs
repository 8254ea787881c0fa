use chrono::{DateTime, Utc};
use kontor_kernel::history::{self, AuditedField, FieldChange};
use kontor_kernel::{
    BankRequisite, BankRequisiteChange, BankRequisiteDraft, BankRequisiteId, CounterpartyId, CustomerContactId, Email,
    Line, Name, Phone, Violations, Word, draft_and_change,
};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Record that belongs to a customer: a contact or a bank account.
pub trait CustomerRecordPart: Clone + Send + Sync + 'static {
    /// Identifier.
    type Id: Copy + Into<i64> + Send + Sync + 'static;
    /// Content of a new record.
    type Draft: Clone + Send + Sync + 'static;
    /// Changes of a record.
    type Change: Clone + Send + Sync + 'static;

    /// Name in history fields.
    const NAME: &'static str;

    /// Maximum records per customer.
    const MAX_PER_OWNER: i64 = 100;

    /// Returns the identifier.
    fn id(&self) -> Self::Id;

    /// Returns every field that an employee can change, always the same fields in the same order.
    fn fields(&self) -> Vec<AuditedField>;

    /// Returns the draft in the stored form, or all violations.
    fn checked(draft: Self::Draft) -> Result<Self::Draft, Violations>;

    /// Returns the content after a change, not yet checked.
    fn changed(&self, change: Self::Change) -> Self::Draft;
}

/// Record with its customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owned<P> {
    /// Customer.
    pub customer: CounterpartyId,
    /// Record.
    pub part: P,
}

/// Returns the changes for the customer's history when a record is added or changed, with fields such as
/// `contacts.7.value`.
pub fn part_changes<P: CustomerRecordPart>(before: Option<&P>, after: &P) -> Vec<FieldChange> {
    history::part_changes(P::NAME, after.id().into(), before.map(P::fields), after.fields())
}

impl CustomerRecordPart for BankRequisite {
    type Id = BankRequisiteId;
    type Draft = BankRequisiteDraft;
    type Change = BankRequisiteChange;

    const NAME: &'static str = Self::NAME;
    const MAX_PER_OWNER: i64 = Self::MAX_PER_OWNER;

    fn id(&self) -> BankRequisiteId {
        self.id
    }

    fn fields(&self) -> Vec<AuditedField> {
        self.content.fields()
    }

    fn checked(draft: BankRequisiteDraft) -> Result<BankRequisiteDraft, Violations> {
        draft.check().map(|()| draft)
    }

    fn changed(&self, change: BankRequisiteChange) -> BankRequisiteDraft {
        self.content.changed(change)
    }
}

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
    use chrono::DateTime;
    use kontor_kernel::{BankAccount, Bik, Name};

    use super::*;

    #[test]
    fn a_history_names_the_account() {
        let content = BankRequisiteDraft {
            bik: Bik::parse("044525225").unwrap(),
            bank_name: Name::parse("Bank").unwrap(),
            correspondent_account: None,
            account: BankAccount::parse("40702810938000000001").unwrap(),
            comment: None,
        };
        let at = DateTime::UNIX_EPOCH;
        let id = BankRequisiteId::new(3).unwrap();
        let new = BankRequisite { id, content, created_at: at, updated_at: at };
        let reported: Vec<String> = part_changes(None, &new).into_iter().map(|change| change.field).collect();
        assert_eq!(reported, ["bank_requisites.3.bik", "bank_requisites.3.bank_name", "bank_requisites.3.account"]);
        assert!(part_changes(Some(&new), &new).is_empty());
    }

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
