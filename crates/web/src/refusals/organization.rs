//! Responses to refusals of `kontor-organization`.

use crate::ApiError;
use kontor_kernel::Violations;
use kontor_organization::model::TimesRefused;
use kontor_organization::{
    ApplicationRefusal, BranchRefusal, BranchRequisiteRefusal, DeliveryPriceRefusal, DepartmentRefusal,
    IntegrationRefusal, ShopRefusal, StaffMenuRefusal, TaskReference, TaskRefusal, UnknownDelivery,
};

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
