//! The organization in memory, for examples and for tests of use cases.

mod applications;
mod branches;
mod checkout;
mod departments;
mod dictionaries;
mod integrations;
mod menus;
mod projects;
mod shops;
mod task_mails;
mod tasks;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use kontor_kernel::testing::memory::{Guards, Sequence, Shared};
use kontor_kernel::{
    ApplicationId, BankRequisite, BankRequisiteId, BranchId, DeliverySubtypeId, DeliveryTypeId, DepartmentId,
    IntegrationId, Name, PaymentTypeId, ProjectId, ProjectScoped, ShopId, StaffMenuId, Stamp, TaskId, UserId,
};

use crate::model::{
    Branch, DeliverySubtype, DeliveryType, Department, PaymentType, ProjectSettings, StaffMenu, StaffShop, Task,
};
use crate::ports::MenuOwner;
use applications::StoredApplication;
use integrations::Link;
use task_mails::{Mail, Notification};

/// Storage of any number of projects, in memory.
///
/// It implements the repositories of branches, departments, payment types, shops and tasks,
/// [`BranchRequisiteRepository`](crate::ports::BranchRequisiteRepository),
/// [`ApplicationRepository`](crate::ports::ApplicationRepository),
/// [`CheckoutOptionRepository`](crate::ports::CheckoutOptionRepository),
/// [`DictionaryRepository`](crate::ports::DictionaryRepository),
/// [`IntegrationRepository`](crate::ports::IntegrationRepository) of bank accounts,
/// [`ProjectRepository`](crate::ports::ProjectRepository),
/// [`ProjectSettingsStore`](crate::ports::ProjectSettingsStore), [`ShopRepository`](crate::ports::ShopRepository),
/// [`OpeningTimesStore`](crate::ports::OpeningTimesStore), [`StaffMenuStore`](crate::ports::StaffMenuStore) and
/// [`TaskMailQueue`](crate::ports::TaskMailQueue), and fulfills their [contract](crate::testing::contract). Clones
/// share their data.
///
/// Limits: it keeps no histories. Lists are ordered by identifier and have no filters. Dictionaries have the entries
/// with a fixed meaning, three units and two countries. Delivery subtypes have no parameters. Tasks refer to no orders
/// and customers. Names and addresses of employees are made up. Applications, departments and shops keep a branch from
/// being deleted; other records do not.
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
    /// A branch with other records is not deleted.
    InUse,
    /// A branch has a maximum number of bank accounts.
    Maximum,
    /// A bank account fits its bank.
    Account,
    /// The name of a menu is unique in its project.
    Name,
    /// A menu is used in its project.
    Menu,
    /// A department with employees is not deleted.
    Employees,
    /// An entry belongs to one dictionary.
    Dictionary,
    /// A refused change changes nothing.
    Whole,
    /// A project with employees is kept.
    Staffed,
    /// An application accepts payment types of its project.
    Payment,
    /// Customers see active shops.
    ActiveShop,
    /// Opening times are checked.
    Times,
    /// A parameter of an integration is set once.
    Key,
    /// A mail has one lease at a time.
    Lease,
    /// Notifications that a mail does not settle stay.
    Newer,
    /// Only the owner of a lease releases it.
    LeaseOwner,
}

#[derive(Clone, Default)]
struct State {
    ids: Sequence,
    branches: BTreeMap<BranchId, (ProjectId, Branch)>,
    accounts: BTreeMap<BankRequisiteId, (ProjectId, (BranchId, BankRequisite))>,
    applications: BTreeMap<ApplicationId, (ProjectId, StoredApplication)>,
    employees: BTreeMap<UserId, ProjectId>,
    menus: BTreeMap<StaffMenuId, (ProjectId, StaffMenu)>,
    uses: Vec<((ProjectId, MenuOwner), StaffMenuId)>,
    departments: BTreeMap<DepartmentId, (ProjectId, Department)>,
    assigned: BTreeMap<UserId, DepartmentId>,
    projects: BTreeMap<ProjectId, ProjectSettings>,
    delivery_types: BTreeMap<(ProjectId, DeliveryTypeId), DeliveryType>,
    delivery_subtypes: BTreeMap<(ProjectId, DeliverySubtypeId), (DeliveryTypeId, DeliverySubtype)>,
    payment_types: BTreeMap<PaymentTypeId, (ProjectId, PaymentType)>,
    accepted: BTreeMap<ApplicationId, BTreeSet<PaymentTypeId>>,
    shops: BTreeMap<ShopId, (ProjectId, StaffShop)>,
    /// By kind and number of the record.
    links: BTreeMap<(&'static str, i64, IntegrationId), Link>,
    tasks: BTreeMap<TaskId, (ProjectId, Task)>,
    notifications: Vec<Notification>,
    mails: BTreeMap<UserId, Mail>,
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

    /// Assigns an employee to a department, or to none.
    pub fn assign_department(&self, user: UserId, department: Option<DepartmentId>) {
        self.state.with(|state| {
            state.assigned.remove(&user);
            state.assigned.extend(department.map(|id| (user, id)));
        });
    }

    /// Changes the data, or nothing if the result is an error.
    fn commit<T, E>(&self, change: impl FnOnce(&mut State) -> Result<T, E>) -> Result<T, E> {
        if self.state.with(|state| state.guards.has(Guard::Whole)) {
            self.state.commit(change)
        } else {
            self.state.with(change)
        }
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
        self.branch_name(stamp, id).is_some()
    }

    /// Returns the name of a branch of the project.
    fn branch_name(&self, stamp: Stamp, id: BranchId) -> Option<Name> {
        let found = self.branches.get(&id).filter(|(owner, _)| self.owns(*owner, stamp));
        found.map(|(_, branch)| branch.name.clone())
    }
}

fn scoped<T: Clone>(found: Option<&(ProjectId, T)>) -> Option<ProjectScoped<T>> {
    found.map(|(project, record)| ProjectScoped::new(*project, record.clone()))
}

/// Returns the records of a project.
fn of_project<'a, T: Clone + 'a>(all: impl Iterator<Item = &'a (ProjectId, T)>, project: ProjectId) -> Vec<T> {
    all.filter(|(owner, _)| *owner == project).map(|(_, record)| record.clone()).collect()
}
