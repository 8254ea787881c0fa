//! Responses to refusals of `kontor-customers`.

use crate::{ApiError, NamedError, NextAction};
use actix_web::http::StatusCode;
use kontor_customers::{CustomerError, CustomerPartRefusal, CustomerReference, StaffCustomerRefusal};
use kontor_kernel::Violations;

impl From<CustomerError> for ApiError {
    fn from(error: CustomerError) -> Self {
        match error {
            CustomerError::NotFound => Self::not_found(),
            CustomerError::Invalid(violations) => violations.into(),
            CustomerError::EmailTaken => Self::invalid("email", error),
            CustomerError::UnknownAvatar => Self::invalid("avatar", error),
            CustomerError::PaymentOpen => {
                Self::Message(StatusCode::CONFLICT, "A payment is in progress. Try again when it is final.".to_owned())
            }
            CustomerError::Store(error) => error.into(),
        }
    }
}

impl From<StaffCustomerRefusal> for ApiError {
    fn from(refusal: StaffCustomerRefusal) -> Self {
        let references = match refusal {
            StaffCustomerRefusal::Invalid(violations) => return violations.into(),
            StaffCustomerRefusal::PaymentOpen => {
                let text = "A payment of the customer is in progress. Try again when it is final.";
                let code = "counterparty_payment_open";
                return Self::Named(NamedError::new(StatusCode::CONFLICT, code, NextAction::Wait, text));
            }
            StaffCustomerRefusal::Unavailable(references) => references,
        };
        let mut violations = Violations::default();
        for reference in references {
            match reference {
                CustomerReference::Manager => {
                    violations.add("manager_id", "must be the id of an employee of the project");
                }
                CustomerReference::Phone => violations.add("phone_1", "is already taken"),
                CustomerReference::Email => violations.add("email", "is already taken"),
            }
        }
        violations.into()
    }
}

impl From<CustomerPartRefusal> for ApiError {
    fn from(refusal: CustomerPartRefusal) -> Self {
        match refusal {
            CustomerPartRefusal::Invalid(violations) => violations.into(),
            CustomerPartRefusal::TooMany => Self::invalid("id", "has reached the maximum number of such records"),
        }
    }
}
