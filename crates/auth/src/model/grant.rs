use std::collections::BTreeSet;

use kontor_kernel::Permission;

/// Somebody wants to give away what he does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("nobody grants what he does not have: {}", names(.missing))]
pub struct GrantDenied {
    /// What he lacks.
    pub missing: BTreeSet<Permission>,
}

fn names(permissions: &BTreeSet<Permission>) -> String {
    permissions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Giving permissions to somebody else: a role, an agent, a token.
#[derive(Debug, Clone, Copy)]
pub struct Grant;

impl Grant {
    /// Refuses unless `own` covers all that is `wanted`; `edit` includes `create`. The same rule keeps somebody from
    /// changing whoever has more than himself.
    pub fn check(own: &BTreeSet<Permission>, wanted: &BTreeSet<Permission>) -> Result<(), GrantDenied> {
        let missing: BTreeSet<Permission> = wanted.iter().copied().filter(|one| !one.is_covered_by(own)).collect();
        if missing.is_empty() { Ok(()) } else { Err(GrantDenied { missing }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::Resource;

    #[test]
    fn nobody_grants_what_he_does_not_have() {
        let [view, create, edit] =
            [Permission::view, Permission::create, Permission::edit].map(|of| of(Resource::Brands));
        assert_eq!(Grant::check(&[view, edit].into(), &[view, create, edit].into()), Ok(()));
        assert_eq!(Grant::check(&BTreeSet::new(), &BTreeSet::new()), Ok(()));
        let denied = Grant::check(&[create].into(), &[edit, view, create].into()).unwrap_err();
        assert_eq!(denied.missing, [view, edit].into());
        assert_eq!(denied.to_string(), "nobody grants what he does not have: view-brands, edit-brands");
    }
}
