use std::fmt;

use kontor_kernel::{Edit, Line, OfProject, Permission, ScreenId};

use super::GrantedPermission;

/// The name of a permission that a project defines: `view-`, `create-` or `edit-` and a plural of small letters and
/// underscores, at most 100 characters, and none of the service's own names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionName(String);

/// A text that names no permission a project may define.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PermissionNameError {
    /// Not built like a permission's name.
    #[error("must be view-, create- or edit- and a plural of small letters, such as view-reports")]
    Form,
    /// The service has a permission of this name.
    #[error("is a permission of the service")]
    Taken,
}

impl PermissionName {
    /// Checks.
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

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PermissionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What staff say about a new permission of their project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionDraft {
    /// Its name, unique in the project.
    pub name: PermissionName,
    /// The screen it is listed under.
    pub screen_id: ScreenId,
    /// What it allows, for people.
    pub description: Option<Line<500>>,
}

/// What staff change about a permission of their project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PermissionChange {
    /// Its name.
    pub name: Edit<PermissionName>,
    /// The screen it is listed under.
    pub screen_id: Edit<ScreenId>,
    /// What it allows.
    pub description: Edit<Option<Line<500>>>,
}

/// A permission as storage found it by its number alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundPermission {
    /// One of the service, for all projects.
    OfService(GrantedPermission),
    /// One that a project defined.
    OfProject(OfProject<GrantedPermission>),
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
