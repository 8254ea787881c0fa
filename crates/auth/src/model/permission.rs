use kontor_kernel::{Line, Permission, ProjectScoped, ScreenId, draft_and_change, wraps_text};

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

#[cfg(test)]
mod tests {
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
}
