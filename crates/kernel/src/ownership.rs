//! Tenant isolation.

use crate::{AccessDenied, ProjectId, RecordError, Refusal, Staff};

/// Record that storage found by its identifier alone. It belongs to some project and stays closed until a caller of
/// that project opens it.
///
/// The record cannot be reached in any other way, so a use case that omits the check does not compile:
///
/// ```compile_fail
/// # use kontor_kernel::{Name, ProjectScoped, ProjectId};
/// let found = ProjectScoped::new(ProjectId::new(1).unwrap(), Name::parse("Blue").unwrap());
/// let name: Name = found.record;
/// ```
///
/// ```
/// # use kontor_kernel::{AccessDenied, Name, ProjectScoped, Permission, ProjectId, Staff, TokenId, UserId};
/// let found = ProjectScoped::new(ProjectId::new(1).unwrap(), Name::parse("Blue").unwrap());
/// let stranger = Staff {
///     project_id: ProjectId::new(2).unwrap(),
///     user_id: UserId::new(1).unwrap(),
///     token_id: TokenId::new(1).unwrap(),
///     permissions: Permission::all().collect(),
/// };
/// assert_eq!(found.open(&stranger), Err(AccessDenied::ForeignProject));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct ProjectScoped<T> {
    project_id: ProjectId,
    record: T,
}

impl<T> ProjectScoped<T> {
    /// Wraps a record with the project it belongs to.
    pub const fn new(project_id: ProjectId, record: T) -> Self {
        Self { project_id, record }
    }

    /// Returns the record if the employee belongs to its project.
    pub fn open(self, staff: &Staff) -> Result<T, AccessDenied> {
        self.within(staff.project_id).ok_or(AccessDenied::ForeignProject)
    }

    /// Returns the record if it belongs to this project.
    pub fn within(self, project: ProjectId) -> Option<T> {
        (self.project_id == project).then_some(self.record)
    }
}

impl Staff {
    /// Returns the record that storage found, if it belongs to the employee's project.
    pub fn require_own<T, R: Refusal>(&self, found: Option<ProjectScoped<T>>) -> Result<T, RecordError<R>> {
        Ok(found.ok_or(RecordError::NotFound)?.open(self)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::staff_with;
    use std::convert::Infallible;

    #[test]
    fn a_record_opens_for_its_project_alone() {
        let staff = staff_with([]);
        let (own, other) = (staff.project_id, ProjectId::new(staff.project_id.get() + 1).unwrap());
        assert_eq!((ProjectScoped::new(own, 7).within(own), ProjectScoped::new(own, 7).within(other)), (Some(7), None));
        assert_eq!(ProjectScoped::new(own, 7).open(&staff), Ok(7));
        assert_eq!(ProjectScoped::new(other, 7).open(&staff), Err(AccessDenied::ForeignProject));
        let found = |found| staff.require_own::<_, Infallible>(found);
        assert_eq!(found(Some(ProjectScoped::new(own, 7))).unwrap(), 7);
        assert!(matches!(found(None), Err(RecordError::NotFound)));
        assert!(matches!(
            found(Some(ProjectScoped::new(other, 7))),
            Err(RecordError::Denied(AccessDenied::ForeignProject))
        ));
    }
}
