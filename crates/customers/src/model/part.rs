use kontor_kernel::history::{self, AuditedField, FieldChange};
use kontor_kernel::{
    BankRequisite, BankRequisiteChange, BankRequisiteDraft, BankRequisiteId, CounterpartyId, Violations,
};

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

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use kontor_kernel::{BankAccount, Bik, Name};

    use super::*;

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
