use std::collections::BTreeSet;

use kontor_kernel::{Line, Permission, PermissionId, ProjectScoped, ScreenId, draft_and_change, wraps_text};

use super::GrantedPermission;

/// Name of a permission defined by a project: `view-`, `create-` or `edit-` and a plural of small letters and
/// underscores, at most 100 characters. Names of the service's own permissions are refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionName(String);

/// Reason why a project cannot define a permission with this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PermissionNameError {
    /// The text does not have the form of a permission name.
    #[error("must be view-, create- or edit- and a plural in lowercase letters, such as view-reports")]
    Form,
    /// The service has a permission of this name.
    #[error("is a built-in permission")]
    Taken,
}

impl PermissionName {
    /// Checks the text.
    pub fn parse(text: &str) -> Result<Self, PermissionNameError> {
        let text = text.trim();
        let resource = ["view-", "create-", "edit-"].iter().find_map(|action| text.strip_prefix(action));
        let plural = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        };
        if text.len() > 100 || !resource.is_some_and(plural) {
            return Err(PermissionNameError::Form);
        }
        if text.parse::<Permission>().is_ok() { Err(PermissionNameError::Taken) } else { Ok(Self(text.to_owned())) }
    }
}

wraps_text!(PermissionName);

draft_and_change! {
    /// Fields of a new permission of a project.
    PermissionDraft,
    /// Change of a permission of a project.
    PermissionChange {
        /// Name, unique in the project.
        name: PermissionName,
        /// Screen that lists the permission.
        screen_id: ScreenId,
        /// Description for people.
        description: Option<Line<500>>,
    }
}

/// Permission that storage found by its identifier alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundPermission {
    /// Permission of the service, for all projects.
    System(GrantedPermission),
    /// Permission defined by a project.
    Project(ProjectScoped<GrantedPermission>),
}

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
    use kontor_kernel::Resource;

    use super::*;

    #[test]
    fn a_projects_permission_is_named_like_the_services_own_but_otherwise() {
        for name in ["view-reports", " edit-sales_plans ", "create-x"] {
            assert_eq!(PermissionName::parse(name).unwrap().as_str(), name.trim());
        }
        let long = format!("view-{}", "x".repeat(96));
        for name in [
            "",
            "reports",
            "view-",
            "view-_x",
            "delete-reports",
            "view-Reports",
            "view-отчёты",
            "view-a b",
            "1/view-x",
            &long,
        ] {
            assert_eq!(PermissionName::parse(name), Err(PermissionNameError::Form), "{name}");
        }
        assert_eq!(PermissionName::parse("edit-orders"), Err(PermissionNameError::Taken));
    }

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
