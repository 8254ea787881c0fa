use kontor_kernel::{ApplicationId, BranchId, Name, ProjectId};

use super::AppToken;

/// A new project, ready to sell: a branch, an application, delivery and payment types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPlan {
    /// The name of the project, its branch and its application.
    pub name: Name,
    /// The fingerprint of the application's token.
    pub token_fingerprint: String,
    /// The delivery types: id, name.
    pub delivery_types: Vec<(i64, &'static str)>,
    /// The delivery subtypes: id, the type they belong to, name.
    pub delivery_subtypes: Vec<(i64, i64, &'static str)>,
    /// The payment types.
    pub payment_types: Vec<PlannedPaymentType>,
}

/// A payment type of a new project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedPaymentType {
    /// Its name.
    pub name: &'static str,
    /// What customers should know.
    pub description: &'static str,
    /// See [`PaymentType::is_online`](super::PaymentType::is_online).
    pub is_online: bool,
}

impl ProjectPlan {
    /// What every project begins with. The ids of delivery types and subtypes carry the contract's meaning.
    pub fn ready_to_sell(name: Name, token_fingerprint: String) -> Self {
        Self {
            name,
            token_fingerprint,
            delivery_types: vec![(1, "Pickup"), (2, "Delivery")],
            delivery_subtypes: vec![(1, 2, "To a pickup point"), (2, 2, "By courier")],
            payment_types: vec![
                PlannedPaymentType {
                    name: "Online",
                    description: "By card or the fast payment system, on the acquirer's page",
                    is_online: true,
                },
                PlannedPaymentType {
                    name: "At hand-over",
                    description: "By card or cash when the order is handed over",
                    is_online: false,
                },
            ],
        }
    }
}

/// The records of a founded project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProjectRecords {
    /// The project.
    pub project_id: ProjectId,
    /// Its branch.
    pub branch_id: BranchId,
    /// Its application.
    pub application_id: ApplicationId,
}

/// A founded project with the token of its application, which cannot be shown again.
pub struct FoundedProject {
    /// The stored records.
    pub records: ProjectRecords,
    /// The App Token.
    pub token: AppToken,
}
