use kontor_kernel::history::AuditedField;
use kontor_kernel::{BankRequisite, BankRequisiteChange, BankRequisiteDraft, BankRequisiteId, Violations};

use super::CustomerRecordPart;

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

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use kontor_kernel::{BankAccount, Bik, Name};

    use super::*;
    use crate::model::part_changes;

    #[test]
    fn a_history_tells_of_which_account() {
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
        let told: Vec<String> = part_changes(None, &new).into_iter().map(|change| change.field).collect();
        assert_eq!(told, ["bank_requisites.3.bik", "bank_requisites.3.bank_name", "bank_requisites.3.account"]);
        assert!(part_changes(Some(&new), &new).is_empty());
    }
}
