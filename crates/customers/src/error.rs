use kontor_kernel::{RecordError, Refusal, StoreError, Violations};

/// Why a use case of customers is refused.
#[derive(Debug, thiserror::Error)]
pub enum CustomerError {
    /// There is no such customer.
    #[error("there is no such customer")]
    NotFound,
    /// These fields cannot be changed so.
    #[error("the record cannot be changed as asked")]
    Invalid(Violations),
    /// The e-mail address signs another customer of the project in.
    #[error("belongs to another customer")]
    EmailTaken,
    /// The named file is no avatar of his project.
    #[error("there is no such avatar")]
    UnknownAvatar,
    /// A payment of his may still take place.
    #[error("a payment is still running; try again when it has ended")]
    ChargeRunning,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Violations> for CustomerError {
    fn from(violations: Violations) -> Self {
        Self::Invalid(violations)
    }
}

/// Why a use case of customers is refused to staff.
pub type StaffCustomerError = RecordError<StaffCustomerRefusal>;

/// What only customers refuse to staff.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StaffCustomerRefusal {
    /// These fields do not go together, or cannot have these values.
    #[error("the record cannot be as asked")]
    Invalid(Violations),
    /// What the record refers to is not there, or is somebody else's; every one that was found so.
    #[error("the customer cannot have these: {0:?}")]
    Unavailable(Vec<CustomerReference>),
    /// A payment of the customer may still take place.
    #[error("a payment is still running")]
    PaymentOpen,
}

impl Refusal for StaffCustomerRefusal {}

/// What a customer refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CustomerReference {
    /// The employee who looks after them.
    Manager,
    /// The phone that is to sign them in.
    Phone,
    /// The e-mail address that is to sign them in.
    Email,
}

/// Why a use case of what belongs to a customer is refused.
pub type CustomerPartError = RecordError<CustomerPartRefusal>;

/// What only contacts and bank accounts of customers refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CustomerPartRefusal {
    /// These fields do not go together, or cannot have these values.
    #[error("the record cannot be as asked")]
    Invalid(Violations),
    /// The customer has as many as a customer may have.
    #[error("the customer has as many as they may have")]
    TooMany,
}

impl Refusal for CustomerPartRefusal {}
