//! Branches, applications and staff menus in memory, for examples and for tests of use cases.

mod applications;
mod branches;
mod menus;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use kontor_kernel::testing::memory::{Guards, Sequence, Shared};
use kontor_kernel::{
    ApplicationId, BankRequisite, BankRequisiteId, BranchId, ProjectId, ProjectScoped, StaffMenuId, Stamp, UserId,
};

use crate::model::{Branch, StaffMenu};
use crate::ports::MenuOwner;
use applications::StoredApplication;

/// Storage of any number of projects, in memory.
///
/// It implements the ports of branches, [`BranchRequisiteRepository`](crate::ports::BranchRequisiteRepository),
/// [`ApplicationRepository`](crate::ports::ApplicationRepository) and [`StaffMenuStore`](crate::ports::StaffMenuStore),
/// and fulfills their [contract](crate::testing::contract). Clones share their data.
///
/// Limits: it keeps no histories. Lists are ordered by identifier and have no filters. Only applications keep a branch
/// from being deleted.
#[derive(Clone, Default)]
pub struct InMemoryOrganization {
    state: Shared<State>,
}

/// Guard of the storage. A test removes one, to prove that the contract notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// A token of an inactive application is invalid.
    Active,
    /// Records belong to one project.
    Project,
    /// A branch with applications is not deleted.
    InUse,
    /// A branch has a maximum number of bank accounts.
    Maximum,
    /// A bank account fits its bank.
    Account,
    /// The name of a menu is unique in its project.
    Name,
    /// A menu is used in its project.
    Menu,
}

#[derive(Default)]
struct State {
    ids: Sequence,
    branches: BTreeMap<BranchId, (ProjectId, Branch)>,
    accounts: BTreeMap<BankRequisiteId, (ProjectId, (BranchId, BankRequisite))>,
    applications: BTreeMap<ApplicationId, (ProjectId, StoredApplication)>,
    employees: BTreeMap<UserId, ProjectId>,
    menus: BTreeMap<StaffMenuId, (ProjectId, StaffMenu)>,
    uses: Vec<((ProjectId, MenuOwner), StaffMenuId)>,
    guards: Guards<Guard>,
}

impl InMemoryOrganization {
    /// Adds an employee with every permission to a project. A project needs no other record.
    pub fn add_employee(&self, project: ProjectId) -> UserId {
        self.state.with(|state| {
            let id = state.ids.id();
            state.employees.insert(id, project);
            id
        })
    }

    /// Returns an empty storage without one guard.
    #[cfg(test)]
    fn without(guard: Guard) -> Self {
        let store = Self::default();
        store.state.with(|state| state.guards = Guards::without(guard));
        store
    }
}

impl State {
    /// Returns `true` if a record of this project may be used by the project of the stamp.
    fn owns(&self, owner: ProjectId, stamp: Stamp) -> bool {
        owner == stamp.project_id || !self.guards.has(Guard::Project)
    }

    fn has_branch(&self, stamp: Stamp, id: BranchId) -> bool {
        self.branches.get(&id).is_some_and(|(owner, _)| self.owns(*owner, stamp))
    }
}

fn scoped<T: Clone>(found: Option<&(ProjectId, T)>) -> Option<ProjectScoped<T>> {
    found.map(|(project, record)| ProjectScoped::new(*project, record.clone()))
}

/// Returns the records of a project.
fn of_project<'a, T: Clone + 'a>(all: impl Iterator<Item = &'a (ProjectId, T)>, project: ProjectId) -> Vec<T> {
    all.filter(|(owner, _)| *owner == project).map(|(_, record)| record.clone()).collect()
}
