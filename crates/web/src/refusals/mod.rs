//! Responses to refusals of the domain crates: status, code and next action. Those of content, customers,
//! organization and webhooks are here.

mod auth;
mod catalog;
mod orders;

use actix_web::http::StatusCode;
use kontor_content::model::TreeRefusal;
use kontor_content::{FileRefusal, PageRefusal, PartRefusal};
use kontor_customers::{CustomerError, CustomerPartRefusal, CustomerReference, StaffCustomerRefusal};
use kontor_kernel::Violations;
use kontor_organization::model::TimesRefused;
use kontor_organization::{
    ApplicationRefusal, BranchRefusal, BranchRequisiteRefusal, DeliveryPriceRefusal, DepartmentRefusal,
    IntegrationRefusal, ShopRefusal, StaffMenuRefusal, TaskReference, TaskRefusal, UnknownDelivery,
};
use kontor_webhooks::{DeliveryRefusal, WebhookRefusal};

use crate::{ApiError, NamedError, NextAction};
pub use auth::{POLL_SECONDS, agent_refused};
pub use orders::SubscriptionFields;

/// Errors shared by blocks, menu items and slides. Only the slug has different field names: it is the `identifier` of a block,
/// so each module maps it itself.
impl From<PartRefusal> for ApiError {
    fn from(refusal: PartRefusal) -> Self {
        match refusal {
            PartRefusal::Tree(TreeRefusal::UnknownParent) => {
                Self::invalid("parent_id", "must be the id of a record of the same application")
            }
            PartRefusal::Tree(TreeRefusal::Full) => Self::invalid("id", "has reached the maximum per application"),
            PartRefusal::Tree(refused) => Self::invalid("parent_id", refused),
            PartRefusal::CodeTaken => Self::invalid("code", "is already taken"),
            PartRefusal::SlugTaken => Self::invalid("slug", "is already taken"),
            PartRefusal::UnknownType => Self::invalid("block_type_id", "must be the id of a block type"),
            PartRefusal::HasChildren => Self::invalid("id", "has children"),
            PartRefusal::Period(refused) => Self::invalid("ends_at", refused),
        }
    }
}

impl From<FileRefusal> for ApiError {
    fn from(refusal: FileRefusal) -> Self {
        match refusal {
            FileRefusal::Content(refused) => Self::invalid("file", refused),
            FileRefusal::NotAPicture => Self::invalid("w", "must not be sent: the file is not a picture"),
            FileRefusal::Undecodable => Self::invalid("w", "must not be sent: the picture cannot be decoded"),
            FileRefusal::TooSlow => {
                Self::Message(StatusCode::SERVICE_UNAVAILABLE, "The file was not stored.".to_owned())
            }
            FileRefusal::Storage(failed) => {
                tracing::warn!(%failed, "the file storage failed");
                let message = "The file storage is unavailable. Try again later.".to_owned();
                Self::Message(StatusCode::SERVICE_UNAVAILABLE, message)
            }
        }
    }
}

impl From<PageRefusal> for ApiError {
    fn from(refusal: PageRefusal) -> Self {
        match refusal {
            PageRefusal::SlugTaken => Self::invalid("slug", "is already the slug of another page"),
            PageRefusal::UnknownType => Self::invalid("page_type_id", "must be the id of a page type"),
        }
    }
}

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

impl From<DeliveryRefusal> for ApiError {
    fn from(refusal: DeliveryRefusal) -> Self {
        let message = match refusal {
            DeliveryRefusal::AlreadyPending => "The delivery is already waiting to be sent.",
            DeliveryRefusal::WebhookInactive => "The webhook is not active.",
        };
        Self::Message(StatusCode::CONFLICT, message.to_owned())
    }
}

impl From<WebhookRefusal> for ApiError {
    fn from(refusal: WebhookRefusal) -> Self {
        match refusal {
            WebhookRefusal::Url(refusal) => Self::invalid("url", refusal),
            WebhookRefusal::TooMany => Self::invalid("application", "has reached the maximum number of webhooks"),
        }
    }
}

impl From<ApplicationRefusal> for ApiError {
    fn from(refusal: ApplicationRefusal) -> Self {
        match refusal {
            ApplicationRefusal::UnknownBranch => {
                Self::invalid("branch_id", "must be the id of a branch of the project")
            }
            ApplicationRefusal::UnknownPaymentType => Self::invalid("payment_type_ids", refusal),
        }
    }
}

impl From<BranchRequisiteRefusal> for ApiError {
    fn from(refusal: BranchRequisiteRefusal) -> Self {
        match refusal {
            BranchRequisiteRefusal::Invalid(violations) => violations.into(),
            BranchRequisiteRefusal::TooMany => Self::invalid("id", "has reached the maximum number of bank accounts"),
        }
    }
}

impl From<BranchRefusal> for ApiError {
    fn from(refusal: BranchRefusal) -> Self {
        match refusal {
            BranchRefusal::Invalid(violations) => violations.into(),
            BranchRefusal::InUse => Self::invalid("id", "is in use by other records"),
        }
    }
}

impl From<DeliveryPriceRefusal> for ApiError {
    fn from(DeliveryPriceRefusal::Unknown(unknown): DeliveryPriceRefusal) -> Self {
        let mut violations = Violations::default();
        for unknown in unknown {
            let (place, field, wrong) = match unknown {
                UnknownDelivery::Type(place) => {
                    (place, "delivery_type_id", "must be the id of a delivery type of the project")
                }
                UnknownDelivery::Subtype(place) => {
                    (place, "delivery_subtype_id", "must be the id of a subtype of the delivery type")
                }
            };
            violations.add(format!("delivery_prices.{place}.{field}"), wrong);
        }
        violations.into()
    }
}

impl From<DepartmentRefusal> for ApiError {
    fn from(refusal: DepartmentRefusal) -> Self {
        match refusal {
            DepartmentRefusal::UnknownBranch => Self::invalid("branch_id", "must be the id of a branch of the project"),
            DepartmentRefusal::HasEmployees => Self::invalid("id", "still has employees"),
        }
    }
}

impl From<IntegrationRefusal> for ApiError {
    fn from(refusal: IntegrationRefusal) -> Self {
        match refusal {
            IntegrationRefusal::KeyTaken => Self::invalid("key", refusal),
            IntegrationRefusal::TooMany => {
                Self::invalid("integration_id", "has reached the maximum number of parameters")
            }
        }
    }
}

impl From<ShopRefusal> for ApiError {
    fn from(refusal: ShopRefusal) -> Self {
        match refusal {
            ShopRefusal::UnknownBranch => Self::invalid("branch_id", "must be the id of a branch of the project"),
            ShopRefusal::Times(TimesRefused::DayOutOfRange | TimesRefused::DayTaken) => Self::invalid("date", refusal),
            ShopRefusal::Times(TimesRefused::Overlap(_)) => Self::invalid("opens_at", refusal),
            ShopRefusal::Times(TimesRefused::Unknown) => Self::not_found(),
            ShopRefusal::Times(TimesRefused::Full) => Self::invalid("id", "has reached the maximum per shop"),
        }
    }
}

impl From<StaffMenuRefusal> for ApiError {
    fn from(refusal: StaffMenuRefusal) -> Self {
        match refusal {
            StaffMenuRefusal::NameTaken => Self::invalid("name", "is already the name of another menu"),
            StaffMenuRefusal::UnknownScreen(place) => {
                Self::invalid(&format!("items.{place}.screen_id"), "must be the id of a screen")
            }
            StaffMenuRefusal::UnknownMenu => Self::invalid("menu_id", "must be the id of a menu of the project"),
            StaffMenuRefusal::NoVisibleItems => Self::invalid("items", "is required: the employee has no menu to copy"),
            StaffMenuRefusal::Full => Self::invalid("name", "cannot be added: the maximum number of menus is reached"),
        }
    }
}

impl From<TaskRefusal> for ApiError {
    fn from(refusal: TaskRefusal) -> Self {
        let unknown = match refusal {
            TaskRefusal::Deadline => return Self::invalid("deadline", refusal),
            TaskRefusal::UnknownReferences(unknown) => unknown,
        };
        let mut violations = Violations::default();
        for reference in unknown {
            let (field, wrong) = match reference {
                TaskReference::Responsible => ("responsible_id", "must be the id of an active employee of the project"),
                TaskReference::Order => ("order_id", "must be the id of an order of the project"),
                TaskReference::Customer => ("counterparty_id", "must be the id of a customer of the project"),
            };
            violations.add(field, wrong);
        }
        violations.into()
    }
}
