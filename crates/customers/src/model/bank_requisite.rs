use chrono::{DateTime, Utc};
use kontor_kernel::history::AuditedField;
use kontor_kernel::{BankAccount, BankRequisiteId, Bik, Edit, Line, Name, Violations};

use super::CustomerPart;

/// An account of a customer in a bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankRequisite {
    /// Its number.
    pub id: BankRequisiteId,
    /// What is said about it.
    pub content: BankRequisiteDraft,
    /// When it was noted.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// What is said about an account in a bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankRequisiteDraft {
    /// The number of the bank.
    pub bik: Bik,
    /// The name of the bank.
    pub bank_name: Name,
    /// The account of the bank with the central bank; offices of that one have none.
    pub correspondent_account: Option<BankAccount>,
    /// The account of the customer.
    pub account: BankAccount,
    /// What else is to be known.
    pub comment: Option<Line<500>>,
}

/// What is changed about one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BankRequisiteChange {
    /// The number of the bank.
    pub bik: Edit<Bik>,
    /// The name of the bank.
    pub bank_name: Edit<Name>,
    /// The account of the bank with the central bank.
    pub correspondent_account: Edit<Option<BankAccount>>,
    /// The account of the customer.
    pub account: Edit<BankAccount>,
    /// What else is to be known.
    pub comment: Edit<Option<Line<500>>>,
}

impl CustomerPart for BankRequisite {
    type Id = BankRequisiteId;
    type Draft = BankRequisiteDraft;
    type Change = BankRequisiteChange;

    const NAME: &'static str = "bank_requisites";

    fn id(&self) -> BankRequisiteId {
        self.id
    }

    fn fields(&self) -> Vec<AuditedField> {
        let BankRequisiteDraft { bik, bank_name, correspondent_account, account, comment } = &self.content;
        vec![
            ("bik", Some(bik.to_string())),
            ("bank_name", Some(bank_name.to_string())),
            ("correspondent_account", correspondent_account.as_ref().map(ToString::to_string)),
            ("account", Some(account.to_string())),
            ("comment", comment.as_ref().map(ToString::to_string)),
        ]
    }

    fn checked(draft: BankRequisiteDraft) -> Result<BankRequisiteDraft, Violations> {
        let mut wrong = Violations::default();
        wrong.check("account", draft.account.check(&draft.bik));
        if let Some(account) = &draft.correspondent_account {
            wrong.check("correspondent_account", account.check_correspondent(&draft.bik));
        }
        wrong.into_result().map(|()| draft)
    }

    fn changed(&self, change: BankRequisiteChange) -> BankRequisiteDraft {
        let before = self.content.clone();
        BankRequisiteDraft {
            bik: change.bik.or(before.bik),
            bank_name: change.bank_name.or(before.bank_name),
            correspondent_account: change.correspondent_account.or(before.correspondent_account),
            account: change.account.or(before.account),
            comment: change.comment.or(before.comment),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::part_changes;

    fn draft(bik: &str, account: &str, correspondent: Option<&str>) -> BankRequisiteDraft {
        BankRequisiteDraft {
            bik: Bik::parse(bik).unwrap(),
            bank_name: Name::parse("Bank").unwrap(),
            correspondent_account: correspondent.map(|text| BankAccount::parse(text).unwrap()),
            account: BankAccount::parse(account).unwrap(),
            comment: None,
        }
    }

    #[test]
    fn accounts_are_those_of_the_bank() {
        let fields = |draft| {
            let wrong = BankRequisite::checked(draft).err().unwrap_or_default();
            wrong.fields().keys().cloned().collect::<Vec<_>>()
        };
        let right = draft("044525225", "40702810938000000001", Some("30101810400000000225"));
        assert!(fields(right).is_empty());
        let wrong = draft("044525225", "40702810938000000002", Some("30101810500000000225"));
        assert_eq!(fields(wrong), ["account", "correspondent_account"]);
    }

    #[test]
    fn a_history_tells_of_which_account() {
        let content = draft("044525225", "40702810938000000001", None);
        let at = DateTime::UNIX_EPOCH;
        let id = BankRequisiteId::new(3).unwrap();
        let new = BankRequisite { id, content, created_at: at, updated_at: at };
        let told: Vec<String> = part_changes(None, &new).into_iter().map(|change| change.field).collect();
        assert_eq!(told, ["bank_requisites.3.bik", "bank_requisites.3.bank_name", "bank_requisites.3.account"]);
        assert!(part_changes(Some(&new), &new).is_empty());
    }
}
