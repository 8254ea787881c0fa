use std::sync::Arc;

use kontor_kernel::{ApplicationId, Clock, Line, Page, PageRequest, Permission, PlanAssignmentId, Resource, Staff};

use crate::PlanError;
use crate::model::{AssignOutcome, CatalogPlan, PlanAssignment, PlanChange, PlanDraft};
use crate::ports::{ApplicationDirectory, PlanRepository};

/// Use cases of the subscription plans of an application.
pub struct PlanService {
    /// Storage.
    pub plans: Arc<dyn PlanRepository>,
    /// Looks up the projects of applications.
    pub applications: Arc<dyn ApplicationDirectory>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl PlanService {
    /// Returns one page of the plans of the employee's project, each with its assignment to the application. The text
    /// is searched in names and articles.
    pub async fn catalog(
        &self,
        staff: &Staff,
        application: ApplicationId,
        text: Option<Line<255>>,
        page: PageRequest,
    ) -> Result<Page<CatalogPlan>, PlanError> {
        staff.require(Permission::view(Resource::Applications))?;
        self.require_own(staff, application).await?;
        Ok(self.plans.catalog(staff.project_id, application, text, page).await?)
    }

    /// Assigns a plan of the employee's project to one of its applications. Idempotent.
    pub async fn assign(
        &self,
        staff: &Staff,
        application: ApplicationId,
        draft: PlanDraft,
    ) -> Result<AssignOutcome, PlanError> {
        self.require_editor(staff, application).await?;
        self.plans.assign(staff.project_id, application, draft, self.clock.now()).await
    }

    /// Returns the assignment of a plan to an application of the employee's project.
    pub async fn read(
        &self,
        staff: &Staff,
        application: ApplicationId,
        id: PlanAssignmentId,
    ) -> Result<PlanAssignment, PlanError> {
        staff.require(Permission::view(Resource::Applications))?;
        self.require_own(staff, application).await?;
        self.plans.find(application, id).await?.ok_or(PlanError::NotFound)
    }

    /// Changes the assignment of a plan to an application of the employee's project.
    pub async fn update(
        &self,
        staff: &Staff,
        application: ApplicationId,
        id: PlanAssignmentId,
        change: PlanChange,
    ) -> Result<PlanAssignment, PlanError> {
        self.require_editor(staff, application).await?;
        self.plans.update(staff.project_id, application, id, change, self.clock.now()).await
    }

    /// Removes the assignment of a plan.
    pub async fn withdraw(
        &self,
        staff: &Staff,
        application: ApplicationId,
        id: PlanAssignmentId,
    ) -> Result<(), PlanError> {
        self.require_editor(staff, application).await?;
        self.plans.withdraw(staff.project_id, application, id).await
    }

    async fn require_editor(&self, staff: &Staff, application: ApplicationId) -> Result<(), PlanError> {
        staff.require(Permission::edit(Resource::Applications))?;
        self.require_own(staff, application).await
    }

    async fn require_own(&self, staff: &Staff, application: ApplicationId) -> Result<(), PlanError> {
        staff.require_own(self.applications.owner(application).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::{MockApplicationDirectory, MockPlanRepository};
    use chrono::DateTime;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{AccessDenied, FixedClock, NomenclatureId, ProjectId, ProjectScoped};

    use crate::PlanRefusal;

    fn service(plans: MockPlanRepository, owner: Option<i64>) -> PlanService {
        let mut applications = MockApplicationDirectory::new();
        applications
            .expect_owner()
            .returning(move |_| Ok(owner.map(|id| ProjectScoped::new(ProjectId::new(id).unwrap(), ()))));
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        PlanService { plans: Arc::new(plans), applications: Arc::new(applications), clock }
    }

    fn draft() -> PlanDraft {
        PlanDraft { nomenclature_id: NomenclatureId::new(7).unwrap(), slug: None, position: None, is_active: true }
    }

    fn application() -> ApplicationId {
        ApplicationId::new(1).unwrap()
    }

    async fn refusals(service: PlanService, staff: &Staff) -> [PlanError; 5] {
        let (page, id) = (PageRequest::new(1, 15, 100).unwrap(), PlanAssignmentId::new(1).unwrap());
        [
            service.catalog(staff, application(), None, page).await.unwrap_err(),
            service.read(staff, application(), id).await.unwrap_err(),
            service.assign(staff, application(), draft()).await.unwrap_err(),
            service.update(staff, application(), id, PlanChange::default()).await.unwrap_err(),
            service.withdraw(staff, application(), id).await.unwrap_err(),
        ]
    }

    #[tokio::test]
    async fn only_an_application_of_the_project_offers_its_plans() {
        let staff = staff_with([Permission::view(Resource::Applications), Permission::edit(Resource::Applications)]);
        for refusal in refusals(service(MockPlanRepository::new(), None), &staff).await {
            assert!(matches!(refusal, PlanError::NotFound), "{refusal}");
        }
        for refusal in refusals(service(MockPlanRepository::new(), Some(2)), &staff).await {
            assert!(matches!(refusal, PlanError::Denied(AccessDenied::ForeignProject)), "{refusal}");
        }
    }

    #[tokio::test]
    async fn storage_is_not_read_without_the_permission() {
        let staff = staff_with([Permission::view(Resource::Nomenclatures)]);
        for refusal in refusals(service(MockPlanRepository::new(), Some(1)), &staff).await {
            assert!(matches!(refusal, PlanError::Denied(AccessDenied::MissingPermission(_))), "{refusal}");
        }
    }

    #[tokio::test]
    async fn a_plan_is_assigned_in_the_project_of_the_employee() {
        let staff = staff_with([Permission::edit(Resource::Applications)]);
        let mut plans = MockPlanRepository::new();
        plans
            .expect_assign()
            .withf(|project, to, wish, at| {
                (project.get(), *to, *at) == (1, application(), DateTime::UNIX_EPOCH) && *wish == draft()
            })
            .returning(|_, _, _, _| Err(PlanRefusal::SlugTaken.into()));
        let refused = service(plans, Some(1)).assign(&staff, application(), draft()).await;
        assert!(matches!(refused, Err(PlanError::Refused(PlanRefusal::SlugTaken))));
        assert_eq!(draft().slug().as_str(), "plan-7");
    }
}
