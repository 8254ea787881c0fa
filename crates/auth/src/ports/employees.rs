//! Port of employees, managed by staff.

use async_trait::async_trait;
use kontor_kernel::{ProjectScoped, StoreError, UserId};

use crate::EmployeeError;
use crate::model::{Employee, EmployeeEditor, EmployeeUpdate, NewEmployee};

/// Storage of employees, without agents. Each change is one commit together with its history entry, and applies the
/// rules of [`EmployeeEditor`] to the locked record.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait EmployeeRepository: Send + Sync {
    /// Returns an employee of any project.
    async fn find(&self, id: UserId) -> Result<Option<ProjectScoped<Employee>>, StoreError>;

    /// Stores an employee and queues the mail with a temporary password. Refuses a login in use, references to records
    /// of other projects, and a role with permissions that the caller lacks.
    async fn insert(&self, editor: EmployeeEditor, new: NewEmployee) -> Result<Employee, EmployeeError>;

    /// Changes an employee of the project. Refuses the same references and roles as [`EmployeeRepository::insert`], and
    /// another role for the last owner, also under concurrent calls.
    async fn update(
        &self,
        editor: EmployeeEditor,
        id: UserId,
        change: EmployeeUpdate,
    ) -> Result<Employee, EmployeeError>;

    /// Bans an employee of the project and revokes their tokens and temporary password, or lifts the ban. Refuses to
    /// ban the last owner, also under concurrent calls.
    async fn set_banned(&self, editor: EmployeeEditor, id: UserId, banned: bool) -> Result<Employee, EmployeeError>;
}
