//! Records that belong to a customer: contacts and bank accounts.

use kontor_kernel::history::{self, AuditedField, FieldChange};
use kontor_kernel::{CounterpartyId, Violations};

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
