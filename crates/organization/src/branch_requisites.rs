use std::sync::Arc;

use kontor_kernel::{
    BankRequisite, BankRequisiteChange, BankRequisiteDraft, BankRequisiteId, BranchId, Clock, Permission, RecordError,
    RecordRepository, Resource, Staff, Stamp,
};

use crate::model::Branch;
use crate::ports::BranchRequisiteRepository;
use crate::{BranchRequisiteError, BranchRequisiteRefusal};

/// Use cases of bank accounts of branches, for staff.
pub struct BranchRequisiteService {
    /// Storage of branches.
    pub branches: Arc<dyn RecordRepository<Branch>>,
    /// Storage of bank accounts.
    pub requisites: Arc<dyn BranchRequisiteRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl BranchRequisiteService {
    /// Returns the bank accounts of a branch of the employee's project, oldest first.
    pub async fn list(&self, staff: &Staff, branch: BranchId) -> Result<Vec<BankRequisite>, BranchRequisiteError> {
        self.admit(staff, Permission::view(Resource::Branches), branch).await?;
        Ok(self.requisites.of_branch(staff.project_id, branch).await?)
    }

    /// Returns a bank account of a branch of the employee's project. An account of another branch is not found.
    pub async fn read(
        &self,
        staff: &Staff,
        branch: BranchId,
        id: BankRequisiteId,
    ) -> Result<BankRequisite, BranchRequisiteError> {
        self.admit(staff, Permission::view(Resource::Branches), branch).await?;
        self.find(staff, branch, id).await
    }

    /// Adds a bank account to a branch of the employee's project.
    pub async fn create(
        &self,
        staff: &Staff,
        branch: BranchId,
        draft: BankRequisiteDraft,
    ) -> Result<BankRequisite, BranchRequisiteError> {
        self.admit(staff, Permission::edit(Resource::Branches), branch).await?;
        draft.check().map_err(BranchRequisiteRefusal::Invalid)?;
        self.requisites.insert(Stamp::of(staff, self.clock.now()), branch, draft).await
    }

    /// Changes a bank account of a branch of the employee's project. An account of another branch is not found.
    pub async fn update(
        &self,
        staff: &Staff,
        branch: BranchId,
        id: BankRequisiteId,
        change: BankRequisiteChange,
    ) -> Result<BankRequisite, BranchRequisiteError> {
        self.admit(staff, Permission::edit(Resource::Branches), branch).await?;
        self.find(staff, branch, id).await?;
        self.requisites.update(Stamp::of(staff, self.clock.now()), branch, id, change).await
    }

    async fn find(
        &self,
        staff: &Staff,
        branch: BranchId,
        id: BankRequisiteId,
    ) -> Result<BankRequisite, BranchRequisiteError> {
        let (owner, requisite) = staff.require_own(self.requisites.find(id).await?)?;
        if owner == branch { Ok(requisite) } else { Err(RecordError::NotFound) }
    }

    async fn admit(&self, staff: &Staff, permission: Permission, branch: BranchId) -> Result<(), BranchRequisiteError> {
        staff.require(permission)?;
        staff.require_own(self.branches.find(branch).await?).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockBranchRequisiteRepository;
    use chrono::DateTime;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{
        AccessDenied, BankAccount, Bik, FixedClock, MockRecordRepository, Name, ProjectId, ProjectScoped,
    };

    fn branch(id: i64) -> BranchId {
        BranchId::new(id).unwrap()
    }

    fn draft(account: &str) -> BankRequisiteDraft {
        BankRequisiteDraft {
            bik: Bik::parse("044525225").unwrap(),
            bank_name: Name::parse("Bank").unwrap(),
            correspondent_account: None,
            account: BankAccount::parse(account).unwrap(),
            comment: None,
        }
    }

    fn requisite() -> BankRequisite {
        let at = DateTime::UNIX_EPOCH;
        let content = draft("40702810938000000001");
        BankRequisite { id: BankRequisiteId::new(7).unwrap(), content, created_at: at, updated_at: at }
    }

    fn service(project: ProjectId, requisites: MockBranchRequisiteRepository) -> BranchRequisiteService {
        let mut branches = MockRecordRepository::<Branch>::new();
        branches.expect_find().returning(move |id| {
            let at = DateTime::UNIX_EPOCH;
            let name = Name::parse("Nord").unwrap();
            let (inn, kpp, address, phone, email) = (None, None, None, None, None);
            let found =
                Branch { id, name, inn, kpp, address, phone, email, version: 1, created_at: at, updated_at: at };
            Ok(Some(ProjectScoped::new(project, found)))
        });
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        BranchRequisiteService { branches: Arc::new(branches), requisites: Arc::new(requisites), clock }
    }

    #[tokio::test]
    async fn a_wrong_account_never_reaches_the_storage() {
        let staff = staff_with(Permission::all());
        let mut requisites = MockBranchRequisiteRepository::new();
        requisites.expect_insert().once().returning(|_, _, _| Ok(requisite()));
        let service = service(staff.project_id, requisites);
        service.create(&staff, branch(1), draft("40702810938000000001")).await.unwrap();
        let refused = service.create(&staff, branch(1), draft("40702810938000000002")).await;
        assert!(matches!(refused, Err(RecordError::Refused(BranchRequisiteRefusal::Invalid(_)))));
        let viewer = staff_with([Permission::view(Resource::Branches)]);
        let refused = service.create(&viewer, branch(1), draft("40702810938000000001")).await;
        assert!(matches!(refused, Err(RecordError::Denied(AccessDenied::MissingPermission(_)))));
    }

    #[tokio::test]
    async fn parts_of_another_branch_are_not_found_and_of_another_project_forbidden() {
        let staff = staff_with(Permission::all());
        let other = ProjectId::new(staff.project_id.get() + 1).unwrap();
        let found = |project: ProjectId| {
            let mut requisites = MockBranchRequisiteRepository::new();
            requisites
                .expect_find()
                .returning(move |_| Ok(Some(ProjectScoped::new(project, (branch(2), requisite())))));
            requisites
        };
        let update = async |service: BranchRequisiteService| {
            let (id, change) = (requisite().id, BankRequisiteChange::default());
            let read = service.read(&staff, branch(1), id).await.unwrap_err();
            let error = service.update(&staff, branch(1), id, change).await.unwrap_err();
            assert_eq!(read.to_string(), error.to_string());
            error
        };
        let foreign = |error| matches!(error, RecordError::Denied(AccessDenied::ForeignProject));
        let missing = update(service(staff.project_id, found(staff.project_id))).await;
        assert!(matches!(missing, RecordError::NotFound));
        assert!(foreign(update(service(staff.project_id, found(other))).await));
        assert!(foreign(update(service(other, MockBranchRequisiteRepository::new())).await));
    }
}
