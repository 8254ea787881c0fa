//! Bank accounts of customers and businesses.

use chrono::{DateTime, Utc};

use crate::history::AuditedField;
use crate::{BankAccount, BankRequisiteId, Bik, Edit, Line, Name, Violations};

/// Bank account of a customer or of a business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankRequisite {
    /// Identifier, unique among those of customers or among those of businesses.
    pub id: BankRequisiteId,
    /// Editable fields.
    pub content: BankRequisiteDraft,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

/// Editable fields of a bank account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankRequisiteDraft {
    /// BIK of the bank.
    pub bik: Bik,
    /// Name of the bank.
    pub bank_name: Name,
    /// Account of the bank at the central bank; `None` for offices of the central bank.
    pub correspondent_account: Option<BankAccount>,
    /// Account number.
    pub account: BankAccount,
    /// Comment.
    pub comment: Option<Line<500>>,
}

/// Change of a bank account.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BankRequisiteChange {
    /// BIK of the bank.
    pub bik: Edit<Bik>,
    /// Name of the bank.
    pub bank_name: Edit<Name>,
    /// Account of the bank at the central bank.
    pub correspondent_account: Edit<Option<BankAccount>>,
    /// Account number.
    pub account: Edit<BankAccount>,
    /// Comment.
    pub comment: Edit<Option<Line<500>>>,
}

impl BankRequisiteDraft {
    /// Refuses account numbers whose check digits do not fit the bank.
    pub fn check(&self) -> Result<(), Violations> {
        let mut wrong = Violations::default();
        wrong.check("account", self.account.check(&self.bik));
        if let Some(account) = &self.correspondent_account {
            wrong.check("correspondent_account", account.check_correspondent(&self.bik));
        }
        wrong.into_result()
    }

    /// Returns the account after a change. The result is not checked.
    #[must_use]
    pub fn changed(&self, change: BankRequisiteChange) -> Self {
        let before = self.clone();
        Self {
            bik: change.bik.or(before.bik),
            bank_name: change.bank_name.or(before.bank_name),
            correspondent_account: change.correspondent_account.or(before.correspondent_account),
            account: change.account.or(before.account),
            comment: change.comment.or(before.comment),
        }
    }

    /// Returns all fields, always in the same order.
    pub fn fields(&self) -> Vec<AuditedField> {
        let Self { bik, bank_name, correspondent_account, account, comment } = self;
        vec![
            ("bik", Some(bik.to_string())),
            ("bank_name", Some(bank_name.to_string())),
            ("correspondent_account", correspondent_account.as_ref().map(ToString::to_string)),
            ("account", Some(account.to_string())),
            ("comment", comment.as_ref().map(ToString::to_string)),
        ]
    }
}

impl BankRequisite {
    /// Name in history entries.
    pub const NAME: &'static str = "bank_requisites";

    /// Maximum number per owner.
    pub const MAX_PER_OWNER: i64 = 100;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(bik: &str, account: &str, correspondent: Option<&str>) -> BankRequisiteDraft {
        BankRequisiteDraft {
            bik: Bik::parse(bik).unwrap(),
            bank_name: Name::parse("Bank").unwrap(),
            correspondent_account: correspondent.map(|text| BankAccount::parse(text).unwrap()),
            account: BankAccount::parse(account).unwrap(),
            comment: None,
        }
    }

    fn wrong(draft: &BankRequisiteDraft) -> Vec<String> {
        draft.check().err().unwrap_or_default().fields().keys().cloned().collect()
    }

    #[test]
    fn accounts_are_those_of_the_bank() {
        let right = draft("044525225", "40702810938000000001", Some("30101810400000000225"));
        assert!(wrong(&right).is_empty());
        let both = draft("044525225", "40702810938000000002", Some("30101810500000000225"));
        assert_eq!(wrong(&both), ["account", "correspondent_account"]);
        let bik = Edit::Set(Bik::parse("044525187").unwrap());
        let moved = right.changed(BankRequisiteChange { bik, ..BankRequisiteChange::default() });
        assert_eq!(wrong(&moved), ["account"]);
        assert_eq!(right.changed(BankRequisiteChange::default()), right);
    }

    #[test]
    fn a_history_tells_every_field_of_an_account() {
        let mut told = draft("044525225", "40702810938000000001", None);
        let value = |text: &str| Some(text.to_owned());
        let bank = [("bik", value("044525225")), ("bank_name", value("Bank"))];
        let account = ("account", value("40702810938000000001"));
        let bare = [&bank[..], &[("correspondent_account", None), account.clone(), ("comment", None)]].concat();
        assert_eq!(told.fields(), bare);
        told.correspondent_account = Some(BankAccount::parse("30101810400000000225").unwrap());
        told.comment = Some(Line::parse("for rent").unwrap());
        let whole = [("correspondent_account", value("30101810400000000225")), account, ("comment", value("for rent"))];
        assert_eq!(told.fields(), [&bank[..], &whole].concat());
    }
}
