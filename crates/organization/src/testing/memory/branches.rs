use async_trait::async_trait;
use kontor_kernel::{
    BankRequisite, BankRequisiteChange, BankRequisiteDraft, BankRequisiteId, BranchId, DeletableRepository, Edit, Line,
    ListedRepository, Listing, Page, ProjectId, ProjectScoped, RecordError, RecordRepository, Stamp, StoreError,
};

use super::{Guard, InMemoryOrganization, State, of_project, scoped};
use crate::model::{Branch, BranchChange, BranchDraft, Department};
use crate::ports::BranchRequisiteRepository;
use crate::{BranchError, BranchRefusal, BranchRequisiteError, BranchRequisiteRefusal};

/// Stored form of a registration number.
fn stored<const MAX: usize>(number: Option<&str>) -> Result<Option<Line<MAX>>, StoreError> {
    number.map(Line::parse).transpose().map_err(StoreError::corrupt)
}

impl State {
    pub(super) fn insert_branch(&mut self, stamp: Stamp, draft: BranchDraft) -> Result<Branch, BranchError> {
        draft.check().map_err(BranchRefusal::Invalid)?;
        let branch = Branch {
            id: self.ids.id(),
            name: draft.name,
            inn: stored(draft.inn.as_deref())?,
            kpp: stored(draft.kpp.as_deref())?,
            address: draft.address,
            phone: draft.phone,
            email: draft.email,
            version: 1,
            created_at: stamp.at,
            updated_at: stamp.at,
        };
        self.branches.insert(branch.id, (stamp.project_id, branch.clone()));
        Ok(branch)
    }

    fn update_branch(&mut self, stamp: Stamp, id: BranchId, change: BranchChange) -> Result<Branch, BranchError> {
        if !self.has_branch(stamp, id) {
            return Err(RecordError::NotFound);
        }
        let (_, branch) = self.branches.get_mut(&id).ok_or(BranchError::NotFound)?;
        change.check(branch).map_err(BranchRefusal::Invalid)?;
        if let Edit::Set(inn) = change.inn {
            branch.inn = stored(inn.as_deref())?;
        }
        if let Edit::Set(kpp) = change.kpp {
            branch.kpp = stored(kpp.as_deref())?;
        }
        branch.name = change.name.or(branch.name.clone());
        branch.address = change.address.or(branch.address.take());
        branch.phone = change.phone.or(branch.phone.take());
        branch.email = change.email.or(branch.email.take());
        (branch.version, branch.updated_at) = (branch.version + 1, stamp.at);
        Ok(branch.clone())
    }

    fn delete_branch(&mut self, stamp: Stamp, id: BranchId) -> Result<(), BranchError> {
        if !self.has_branch(stamp, id) {
            return Err(RecordError::NotFound);
        }
        let of_department = |department: &Department| department.branch.as_ref().map(|(branch, _)| *branch);
        let is_used = self.applications.values().any(|(_, stored)| stored.application.details.branch_id == id)
            || self.departments.values().any(|(_, department)| of_department(department) == Some(id))
            || self.shops.values().any(|(_, shop)| shop.details.branch_id == id);
        if is_used && self.guards.has(Guard::InUse) {
            return Err(BranchRefusal::InUse.into());
        }
        self.accounts.retain(|_, (_, (branch, _))| *branch != id);
        let accounts = &self.accounts;
        self.links.retain(|(_, number, _), _| accounts.keys().any(|account| account.get() == *number));
        self.branches.remove(&id);
        Ok(())
    }

    fn insert_account(
        &mut self,
        stamp: Stamp,
        branch: BranchId,
        content: BankRequisiteDraft,
    ) -> Result<BankRequisite, BranchRequisiteError> {
        if !self.has_branch(stamp, branch) {
            return Err(RecordError::NotFound);
        }
        let known = self.accounts.values().filter(|(_, (owner, _))| *owner == branch).count();
        let is_full = i64::try_from(known).is_ok_and(|known| known >= BankRequisite::MAX_PER_OWNER);
        if is_full && self.guards.has(Guard::Maximum) {
            return Err(BranchRequisiteRefusal::TooMany.into());
        }
        let account = BankRequisite { id: self.ids.id(), content, created_at: stamp.at, updated_at: stamp.at };
        self.accounts.insert(account.id, (stamp.project_id, (branch, account.clone())));
        Ok(account)
    }

    fn update_account(
        &mut self,
        stamp: Stamp,
        branch: BranchId,
        id: BankRequisiteId,
        change: BankRequisiteChange,
    ) -> Result<BankRequisite, BranchRequisiteError> {
        if !self.has_branch(stamp, branch) {
            return Err(RecordError::NotFound);
        }
        let checked = self.guards.has(Guard::Account);
        let found = self.accounts.get_mut(&id).map(|(_, placed)| placed).filter(|(owner, _)| *owner == branch);
        let (_, account) = found.ok_or(BranchRequisiteError::NotFound)?;
        let content = account.content.changed(change);
        if checked {
            content.check().map_err(BranchRequisiteRefusal::Invalid)?;
        }
        (account.content, account.updated_at) = (content, stamp.at);
        Ok(account.clone())
    }
}

#[async_trait]
impl RecordRepository<Branch> for InMemoryOrganization {
    async fn list(&self, project: ProjectId) -> Result<Vec<Branch>, StoreError> {
        Ok(self.state.with(|state| of_project(state.branches.values(), project)))
    }

    async fn find(&self, id: BranchId) -> Result<Option<ProjectScoped<Branch>>, StoreError> {
        Ok(self.state.with(|state| scoped(state.branches.get(&id))))
    }

    async fn insert(&self, stamp: Stamp, draft: BranchDraft) -> Result<Branch, BranchError> {
        self.state.with(|state| state.insert_branch(stamp, draft))
    }

    async fn update(&self, stamp: Stamp, id: BranchId, change: BranchChange) -> Result<Branch, BranchError> {
        self.state.with(|state| state.update_branch(stamp, id, change))
    }
}

#[async_trait]
impl DeletableRepository<Branch> for InMemoryOrganization {
    async fn delete(&self, stamp: Stamp, id: BranchId) -> Result<(), BranchError> {
        self.state.with(|state| state.delete_branch(stamp, id))
    }
}

#[async_trait]
impl ListedRepository<Branch> for InMemoryOrganization {
    async fn page(&self, project: ProjectId, listing: Listing) -> Result<Page<Branch>, StoreError> {
        listing.page_of(self.state.with(|state| of_project(state.branches.values(), project)))
    }
}

#[async_trait]
impl BranchRequisiteRepository for InMemoryOrganization {
    async fn of_branch(&self, project: ProjectId, branch: BranchId) -> Result<Vec<BankRequisite>, StoreError> {
        let all = self.state.with(|state| of_project(state.accounts.values(), project));
        Ok(all.into_iter().filter(|(owner, _)| *owner == branch).map(|(_, account)| account).collect())
    }

    async fn find(&self, id: BankRequisiteId) -> Result<Option<ProjectScoped<(BranchId, BankRequisite)>>, StoreError> {
        Ok(self.state.with(|state| scoped(state.accounts.get(&id))))
    }

    async fn insert(
        &self,
        stamp: Stamp,
        branch: BranchId,
        draft: BankRequisiteDraft,
    ) -> Result<BankRequisite, BranchRequisiteError> {
        self.state.with(|state| state.insert_account(stamp, branch, draft))
    }

    async fn update(
        &self,
        stamp: Stamp,
        branch: BranchId,
        id: BankRequisiteId,
        change: BankRequisiteChange,
    ) -> Result<BankRequisite, BranchRequisiteError> {
        self.state.with(|state| state.update_account(stamp, branch, id, change))
    }
}
