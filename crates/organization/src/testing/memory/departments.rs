use async_trait::async_trait;
use kontor_kernel::{
    BranchId, DeletableRepository, DepartmentId, Edit, Name, ProjectId, ProjectScoped, RecordRepository, Stamp,
    StoreError,
};

use super::{Guard, InMemoryOrganization, State};
use crate::model::{Department, DepartmentChange, DepartmentDraft};
use crate::{DepartmentError, DepartmentRefusal};

impl State {
    /// Returns a branch of the project with its name.
    fn named_branch(
        &self,
        stamp: Stamp,
        branch: Option<BranchId>,
    ) -> Result<Option<(BranchId, Name)>, DepartmentError> {
        let Some(id) = branch else { return Ok(None) };
        let name = self.branch_name(stamp, id).ok_or(DepartmentRefusal::UnknownBranch)?;
        Ok(Some((id, name)))
    }

    /// Returns a department with the current name of its branch.
    fn department(&self, stored: &Department) -> Department {
        let mut department = stored.clone();
        if let Some((id, name)) = &mut department.branch
            && let Some((_, branch)) = self.branches.get(id)
        {
            name.clone_from(&branch.name);
        }
        department
    }

    fn own_department(&self, stamp: Stamp, id: DepartmentId) -> Result<(ProjectId, Department), DepartmentError> {
        let found = self.departments.get(&id).filter(|(owner, _)| self.owns(*owner, stamp));
        let (owner, department) = found.ok_or(DepartmentError::NotFound)?;
        Ok((*owner, self.department(department)))
    }

    fn insert_department(&mut self, stamp: Stamp, draft: DepartmentDraft) -> Result<Department, DepartmentError> {
        let department = Department {
            branch: self.named_branch(stamp, draft.branch_id)?,
            id: self.ids.id(),
            name: draft.name,
            description: draft.description,
            created_at: stamp.at,
            updated_at: stamp.at,
        };
        self.departments.insert(department.id, (stamp.project_id, department.clone()));
        Ok(department)
    }

    fn update_department(
        &mut self,
        stamp: Stamp,
        id: DepartmentId,
        change: DepartmentChange,
    ) -> Result<Department, DepartmentError> {
        let (project, before) = self.own_department(stamp, id)?;
        let branch = match change.branch_id {
            Edit::Keep => before.branch,
            Edit::Set(branch) => self.named_branch(stamp, branch)?,
        };
        let department = Department {
            id,
            name: change.name.or(before.name),
            description: change.description.or(before.description),
            branch,
            created_at: before.created_at,
            updated_at: stamp.at,
        };
        self.departments.insert(id, (project, department.clone()));
        Ok(department)
    }

    fn delete_department(&mut self, stamp: Stamp, id: DepartmentId) -> Result<(), DepartmentError> {
        self.own_department(stamp, id)?;
        if self.guards.has(Guard::Employees) && self.assigned.values().any(|assigned| *assigned == id) {
            return Err(DepartmentRefusal::HasEmployees.into());
        }
        self.departments.remove(&id);
        Ok(())
    }
}

#[async_trait]
impl RecordRepository<Department> for InMemoryOrganization {
    async fn list(&self, project: ProjectId) -> Result<Vec<Department>, StoreError> {
        Ok(self.state.with(|state| {
            let own = state.departments.values().filter(|(owner, _)| *owner == project);
            own.map(|(_, stored)| state.department(stored)).collect()
        }))
    }

    async fn find(&self, id: DepartmentId) -> Result<Option<ProjectScoped<Department>>, StoreError> {
        Ok(self.state.with(|state| {
            let found = state.departments.get(&id);
            found.map(|(project, stored)| ProjectScoped::new(*project, state.department(stored)))
        }))
    }

    async fn insert(&self, stamp: Stamp, draft: DepartmentDraft) -> Result<Department, DepartmentError> {
        self.state.with(|state| state.insert_department(stamp, draft))
    }

    async fn update(
        &self,
        stamp: Stamp,
        id: DepartmentId,
        change: DepartmentChange,
    ) -> Result<Department, DepartmentError> {
        self.state.with(|state| state.update_department(stamp, id, change))
    }
}

#[async_trait]
impl DeletableRepository<Department> for InMemoryOrganization {
    async fn delete(&self, stamp: Stamp, id: DepartmentId) -> Result<(), DepartmentError> {
        self.state.with(|state| state.delete_department(stamp, id))
    }
}
