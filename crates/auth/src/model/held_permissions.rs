use std::collections::BTreeSet;

use kontor_kernel::{Permission, PermissionId};

use super::GrantedPermission;

/// Error: a caller tries to grant permissions they do not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("you cannot grant permissions that you do not have: {}", .missing.join(", "))]
pub struct PermissionsNotHeld {
    /// Names of the missing permissions.
    pub missing: Vec<String>,
}

fn require_none_missing(missing: Vec<String>) -> Result<(), PermissionsNotHeld> {
    if missing.is_empty() { Ok(()) } else { Err(PermissionsNotHeld { missing }) }
}

/// Refuses unless `own` covers all `wanted` permissions; `edit` includes `create`. The rule applies to permissions
/// granted to an agent or a token. It also prevents changes of an agent that holds more permissions than the caller.
pub fn check_held(own: &BTreeSet<Permission>, wanted: &BTreeSet<Permission>) -> Result<(), PermissionsNotHeld> {
    let missing = wanted.iter().filter(|one| !one.is_covered_by(own));
    require_none_missing(missing.map(ToString::to_string).collect())
}

/// Permissions that the caller holds and may grant: those of the service, where `edit` includes `create`, and those
/// defined by the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldPermissions {
    permissions: BTreeSet<Permission>,
    of_project: BTreeSet<PermissionId>,
}

impl HeldPermissions {
    /// Creates the holdings from the permissions of a call.
    pub fn new(permissions: BTreeSet<Permission>, of_project: BTreeSet<PermissionId>) -> Self {
        Self { permissions, of_project }
    }

    /// Refuses unless the caller holds all wanted permissions. The rule also prevents changes of a role that holds more
    /// than the caller.
    pub fn check<'a>(&self, wanted: impl IntoIterator<Item = &'a GrantedPermission>) -> Result<(), PermissionsNotHeld> {
        let missing = wanted.into_iter().filter(|one| !self.covers(one));
        require_none_missing(missing.map(|one| one.name.clone()).collect())
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
    use kontor_kernel::Resource;

    #[test]
    fn callers_grant_only_permissions_that_they_hold() {
        let [view, create, edit] =
            [Permission::view, Permission::create, Permission::edit].map(|of| of(Resource::Brands));
        assert_eq!(check_held(&[view, edit].into(), &[view, create, edit].into()), Ok(()));
        assert_eq!(check_held(&BTreeSet::new(), &BTreeSet::new()), Ok(()));
        let denied = check_held(&[create].into(), &[edit, view, create].into()).unwrap_err();
        assert_eq!(denied.missing, ["view-brands", "edit-brands"]);
        assert_eq!(denied.to_string(), "you cannot grant permissions that you do not have: view-brands, edit-brands");
    }

    #[test]
    fn held_permissions_and_no_others_can_be_granted() {
        let holdings = HeldPermissions::new(
            [Permission::edit(Resource::Orders), Permission::view(Resource::Pages)].into(),
            [PermissionId::new(1001).unwrap()].into(),
        );
        let own = [
            GrantedPermission::sample(44, None, "create-orders"),
            GrantedPermission::sample(45, None, "edit-orders"),
            GrantedPermission::sample(1001, Some(1), "view-reports"),
        ];
        assert_eq!(holdings.check(&own), Ok(()));
        let beyond = [
            GrantedPermission::sample(43, None, "view-orders"),
            GrantedPermission::sample(46, None, "view-pages"),
            GrantedPermission::sample(1002, Some(1), "view-pages"),
            GrantedPermission::sample(99, None, "view-the-future"),
        ];
        let refused = holdings.check(&beyond).unwrap_err();
        assert_eq!(refused.missing, ["view-orders", "view-pages", "view-the-future"]);
    }
}
