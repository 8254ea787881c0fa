use chrono::{DateTime, Utc};
use kontor_kernel::{CounterpartyId, Phone, ProjectId, SecretCipher};

use super::NewCode;

/// Returns the stored form of a code for a new phone. It is bound to the customer and to this purpose: such a code
/// cannot sign in, and a login code cannot change a phone.
pub(crate) fn fingerprint(
    cipher: &dyn SecretCipher,
    project: ProjectId,
    customer: CounterpartyId,
    phone: &Phone,
    code: &str,
) -> String {
    cipher.keyed_fingerprint(&format!("phone-change:{project}:{customer}:{phone}"), code)
}

/// Owner of a phone, from the view of a customer who wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhoneOwnership {
    /// No customer has it.
    Free,
    /// It is the customer's own first phone.
    Own,
    /// Another customer of the project signs in with it, or has it as first phone.
    Taken,
}

/// Code that was sent to the new phone of a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPhoneCode {
    /// Project of the customer.
    pub project_id: ProjectId,
    /// Customer.
    pub customer: CounterpartyId,
    /// New phone.
    pub phone: Phone,
    /// Code.
    pub code: NewCode,
}

/// Attempt to prove possession of a phone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhoneChangeAttempt {
    /// Project of the customer.
    pub project_id: ProjectId,
    /// Customer.
    pub customer: CounterpartyId,
    /// Phone to which the code was sent.
    pub phone: Phone,
    /// Keyed fingerprint of the entered code.
    pub fingerprint: String,
    /// Time of the attempt.
    pub at: DateTime<Utc>,
}

/// Outcome of the attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhoneChangeOutcome {
    /// The phone is changed: the customer signs in with it and no longer with the previous one.
    Changed,
    /// Wrong code; the number of remaining attempts is reduced.
    WrongCode,
    /// No valid code for this phone and customer: it was not requested, was used, has expired or has no attempts left.
    NoValidCode,
    /// Another customer took the phone in the meantime.
    Taken,
    /// The customer was deleted.
    CustomerDeleted,
}
