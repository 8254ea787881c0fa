use kontor_kernel::{RecordError, Refusal, StoreError, Violations};

/// Errors of the use cases of customers.
#[derive(Debug, thiserror::Error)]
pub enum CustomerError {
    /// There is no such customer.
    #[error("there is no such customer")]
    NotFound,
    /// These fields cannot have these values.
    #[error("the change has invalid fields")]
    Invalid(Violations),
    /// Another customer of the project logs in with the e-mail address.
    #[error("belongs to another customer")]
    EmailTaken,
    /// The file is no avatar of the customer's project.
    #[error("there is no such avatar")]
    UnknownAvatar,
    /// A payment of the customer may still take place.
    #[error("a payment is still running; try again when it has ended")]
    PaymentOpen,
    /// Storage error.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Violations> for CustomerError {
    fn from(violations: Violations) -> Self {
        Self::Invalid(violations)
    }
}

/// Error of a use case of customers for staff.
pub type StaffCustomerError = RecordError<StaffCustomerRefusal>;

/// Refusals of customers, for staff.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StaffCustomerRefusal {
    /// These fields contradict each other, or cannot have these values.
    #[error("the record has invalid fields")]
    Invalid(Violations),
    /// Records that the customer refers to are missing or belong to another customer. Contains all of them.
    #[error("the customer refers to unavailable records: {0:?}")]
    Unavailable(Vec<CustomerReference>),
    /// A payment of the customer may still take place.
    #[error("a payment is still running")]
    PaymentOpen,
}

impl Refusal for StaffCustomerRefusal {}

/// Reference of a customer to another record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CustomerReference {
    /// Employee in charge.
    Manager,
    /// Phone for the login.
    Phone,
    /// E-mail address for the login.
    Email,
}

/// Error of a use case of contacts and bank accounts of customers.
pub type CustomerPartError = RecordError<CustomerPartRefusal>;

/// Refusals of contacts and bank accounts of customers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CustomerPartRefusal {
    /// These fields contradict each other, or cannot have these values.
    #[error("the record has invalid fields")]
    Invalid(Violations),
    /// The customer has the maximum number of them.
    #[error("the customer has the maximum number of them")]
    TooMany,
}

impl Refusal for CustomerPartRefusal {}
