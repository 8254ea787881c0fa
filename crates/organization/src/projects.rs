use std::sync::Arc;

use kontor_kernel::{
    ApplicationId, BranchId, Clock, Language, Name, ProjectId, Random, SecretCipher, StoreError, Zone,
};

use crate::model::AppToken;
use crate::ports::ProjectRepository;

/// Records of a new project, ready to sell: branch, application, delivery and payment types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPlan {
    /// Name of the project, its branch and its application.
    pub name: Name,
    /// Fingerprint of the application's token.
    pub token_fingerprint: String,
    /// Delivery types: id, name.
    pub delivery_types: Vec<(i64, &'static str)>,
    /// Delivery subtypes: id, id of their type, name.
    pub delivery_subtypes: Vec<(i64, i64, &'static str)>,
    /// Payment types.
    pub payment_types: Vec<PlannedPaymentType>,
}

/// Payment type of a new project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedPaymentType {
    /// Name.
    pub name: &'static str,
    /// Description for customers.
    pub description: &'static str,
    /// See [`PaymentType::is_online`](crate::model::PaymentType::is_online).
    pub is_online: bool,
}

impl ProjectPlan {
    /// Returns the initial records of every project. The contract fixes the meaning of the delivery type and
    /// subtype ids.
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

/// Records of a created project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProjectRecords {
    /// Project.
    pub project_id: ProjectId,
    /// Branch.
    pub branch_id: BranchId,
    /// Application.
    pub application_id: ApplicationId,
}

/// Created project with the token of its application, which cannot be shown again.
pub struct NewProject {
    /// The stored records.
    pub records: ProjectRecords,
    /// App Token.
    pub token: AppToken,
}

/// Creation of projects, by the operator and not by employees.
pub struct ProjectCreation {
    /// Storage of projects.
    pub projects: Arc<dyn ProjectRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random numbers.
    pub random: Arc<dyn Random>,
    /// Seals secrets and computes fingerprints.
    pub cipher: Arc<dyn SecretCipher>,
}

impl ProjectCreation {
    /// Creates a project ready to sell.
    pub async fn create_project(&self, name: Name) -> Result<NewProject, StoreError> {
        let token = AppToken::generate(&*self.random);
        let plan = ProjectPlan::ready_to_sell(name, token.fingerprint(&*self.cipher));
        let records = self.projects.create_project(plan, self.clock.now()).await?;
        Ok(NewProject { records, token })
    }

    /// Sets the time zone of a project. `false` if there is no such project.
    pub async fn set_time_zone(&self, project: ProjectId, zone: Zone) -> Result<bool, StoreError> {
        self.projects.set_time_zone(project, zone).await
    }

    /// Sets the language of a project for future messages to customers. `false` if there is no such project.
    pub async fn set_language(&self, project: ProjectId, language: Language) -> Result<bool, StoreError> {
        self.projects.set_language(project, language).await
    }

    /// Sets if changes of the project's records require an `If-Match` version. `false` if there is no such
    /// project.
    pub async fn require_if_match(&self, project: ProjectId, required: bool) -> Result<bool, StoreError> {
        self.projects.require_if_match(project, required).await
    }

    /// Deletes a project that was just created, if its owner could not be created.
    pub async fn abandon(&self, project: ProjectId) -> Result<(), StoreError> {
        self.projects.abandon(project).await
    }
}
