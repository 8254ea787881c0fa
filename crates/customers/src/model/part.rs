//! What is noted beside the record of a customer, and belongs to it.

use kontor_kernel::history::{self, AuditedField, FieldChange};
use kontor_kernel::{CounterpartyId, Violations};

/// A record that belongs to a customer: a way to reach them, or an account in a bank.
pub trait CustomerPart: Clone + Send + Sync + 'static {
    /// Its number.
    type Id: Copy + Into<i64> + Send + Sync + 'static;
    /// Everything that is said about one.
    type Draft: Clone + Send + Sync + 'static;
    /// What is changed.
    type Change: Clone + Send + Sync + 'static;

    /// What histories call them.
    const NAME: &'static str;

    /// How many a customer may have.
    const MOST: i64 = 100;

    /// Its number.
    fn id(&self) -> Self::Id;

    /// Every field that an employee can change, always the same ones in the same order.
    fn fields(&self) -> Vec<AuditedField>;

    /// The draft in the form that is stored, or everything against it.
    fn checked(draft: Self::Draft) -> Result<Self::Draft, Violations>;

    /// What a change makes of it; not yet checked.
    fn changed(&self, change: Self::Change) -> Self::Draft;
}

/// A part and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owned<P> {
    /// The customer.
    pub customer: CounterpartyId,
    /// What belongs to them.
    pub part: P,
}

/// What the history of the customer tells of a part that came or changed: `contacts.7.value`.
pub fn part_changes<P: CustomerPart>(before: Option<&P>, after: &P) -> Vec<FieldChange> {
    history::part_changes(P::NAME, after.id().into(), before.map(P::fields), after.fields())
}
