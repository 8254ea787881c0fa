use std::collections::BTreeSet;

use kontor_kernel::{Permission, PermissionId};

use super::GrantedPermission;

/// Permissions that somebody wanted to hand on without having them, by name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("nobody grants what he does not have: {}", .0.join(", "))]
pub struct BeyondHoldings(pub Vec<String>);

/// What the caller has and may hand on: permissions of the service, where `edit` includes `create`, and
/// permissions that his project defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holdings {
    permissions: BTreeSet<Permission>,
    of_project: BTreeSet<PermissionId>,
}

impl Holdings {
    /// From what a call may do.
    pub fn new(permissions: BTreeSet<Permission>, of_project: BTreeSet<PermissionId>) -> Self {
        Self { permissions, of_project }
    }

    /// Refuses unless all that is wanted is his. The same rule keeps him from changing what has more than he.
    pub fn check<'a>(&self, wanted: impl IntoIterator<Item = &'a GrantedPermission>) -> Result<(), BeyondHoldings> {
        let beyond = wanted.into_iter().filter(|one| !self.covers(one)).map(|one| one.name.clone());
        let beyond: Vec<String> = beyond.collect();
        if beyond.is_empty() { Ok(()) } else { Err(BeyondHoldings(beyond)) }
    }

    fn covers(&self, wanted: &GrantedPermission) -> bool {
        if wanted.project_id.is_some() {
            return self.of_project.contains(&wanted.id);
        }
        wanted.name.parse::<Permission>().is_ok_and(|permission| permission.is_covered_by(&self.permissions))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Reference;
    use kontor_kernel::{Name, ProjectId, Resource, ScreenId};

    fn permission(id: i64, project: Option<i64>, name: &str) -> GrantedPermission {
        let screen = Reference { id: ScreenId::new(1).unwrap(), name: Name::parse("orders").unwrap() };
        GrantedPermission {
            id: PermissionId::new(id).unwrap(),
            screen,
            project_id: project.map(|id| ProjectId::new(id).unwrap()),
            name: name.to_owned(),
            description: String::new(),
        }
    }

    #[test]
    fn what_one_has_may_be_handed_on_and_nothing_else() {
        let holdings = Holdings::new(
            [Permission::edit(Resource::Orders), Permission::view(Resource::Pages)].into(),
            [PermissionId::new(1001).unwrap()].into(),
        );
        let own = [
            permission(44, None, "create-orders"),
            permission(45, None, "edit-orders"),
            permission(1001, Some(1), "view-reports"),
        ];
        assert_eq!(holdings.check(&own), Ok(()));
        let beyond = [
            permission(43, None, "view-orders"),
            permission(46, None, "view-pages"),
            permission(1002, Some(1), "view-pages"),
            permission(99, None, "view-the-future"),
        ];
        let refused = BeyondHoldings(["view-orders", "view-pages", "view-the-future"].map(str::to_owned).into());
        assert_eq!(holdings.check(&beyond), Err(refused));
    }
}
