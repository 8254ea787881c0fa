use chrono::{DateTime, Utc};
use kontor_kernel::{CounterpartyId, Phone, ProjectId, SecretCipher};

use super::NewCode;

/// The stored form of a code for a new phone. It is bound to the customer and to this purpose: such a code signs nobody
/// in, and a code for signing in changes no phone.
pub(crate) fn fingerprint(
    cipher: &dyn SecretCipher,
    project: ProjectId,
    customer: CounterpartyId,
    phone: &Phone,
    code: &str,
) -> String {
    cipher.keyed_fingerprint(&format!("phone-change:{project}:{customer}:{phone}"), code)
}

/// Whose a phone is, as a customer who wants it must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhoneStanding {
    /// Nobody's.
    Free,
    /// The first phone of his own record.
    Own,
    /// It signs another customer of the project in, or is the first phone of one.
    Taken,
}

/// A code that went out to the phone a customer wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPhoneCode {
    /// His project.
    pub project_id: ProjectId,
    /// Who wants it.
    pub customer: CounterpartyId,
    /// The phone.
    pub phone: Phone,
    /// The code.
    pub code: NewCode,
}

/// A try to prove that a phone is at hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhoneChangeTry {
    /// His project.
    pub project_id: ProjectId,
    /// Who tries.
    pub customer: CounterpartyId,
    /// The phone the code went to.
    pub phone: Phone,
    /// Keyed fingerprint of the code he gave.
    pub fingerprint: String,
    /// Now.
    pub at: DateTime<Utc>,
}

/// What became of the try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhoneChanged {
    /// The phone is his; it signs him in, and the one before does no more.
    Changed,
    /// The code was wrong; one try less is left.
    WrongCode,
    /// No code went to this phone for him, or it was used, expired or tried too often.
    NoLiveCode,
    /// Somebody else has got the phone meanwhile.
    Taken,
    /// He has left.
    Gone,
}
