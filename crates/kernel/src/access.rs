//! Who acts, and what he may do.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{ApplicationId, CounterpartyId, ProjectId, TokenId, UserId, Word};

macro_rules! resources {
    ($($variant:ident => $name:literal,)+) => {
        /// What a permission is about, by the contract's plural names.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Resource {
            $(#[doc = concat!("`", $name, "`")] $variant,)+
        }

        impl Resource {
            /// Every resource.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The plural name used in permission names.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

resources! {
    Agents => "agents",
    Applications => "applications",
    Blocks => "blocks",
    Branches => "branches",
    Brands => "brands",
    Categories => "categories",
    Counterparties => "counterparties",
    Departments => "departments",
    Dictionaries => "dictionaries",
    Discounts => "discounts",
    Files => "files",
    Inventories => "inventories",
    Menus => "menus",
    Nomenclatures => "nomenclatures",
    Orders => "orders",
    Pages => "pages",
    Permissions => "permissions",
    Reservations => "reservations",
    Roles => "roles",
    Shops => "shops",
    Subscriptions => "subscriptions",
    Tasks => "tasks",
    Users => "users",
    Warehouses => "warehouses",
    Webhooks => "webhooks",
}

/// What may be done with a resource. There is no separate right to delete: `edit` covers create, update and delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Action {
    /// Lists and reads.
    View,
    /// Creates.
    Create,
    /// Creates, updates and deletes.
    Edit,
}

/// A permission, named `view-<resource>`, `create-<resource>` or `edit-<resource>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Permission {
    /// What may be done.
    pub action: Action,
    /// With what.
    pub resource: Resource,
}

impl Permission {
    /// `view-<resource>`
    pub const fn view(resource: Resource) -> Self {
        Self { action: Action::View, resource }
    }

    /// `create-<resource>`
    pub const fn create(resource: Resource) -> Self {
        Self { action: Action::Create, resource }
    }

    /// `edit-<resource>`
    pub const fn edit(resource: Resource) -> Self {
        Self { action: Action::Edit, resource }
    }

    /// Whether somebody with these permissions has this one; `edit` includes `create`.
    pub fn is_covered_by(self, granted: &BTreeSet<Self>) -> bool {
        granted.contains(&self) || self.action == Action::Create && granted.contains(&Self::edit(self.resource))
    }

    /// What both sets cover: the permissions of somebody who is held to the smaller of two grants.
    pub fn common(left: &BTreeSet<Self>, right: &BTreeSet<Self>) -> BTreeSet<Self> {
        left.union(right).copied().filter(|one| one.is_covered_by(left) && one.is_covered_by(right)).collect()
    }

    /// Every permission there is.
    pub fn all() -> impl Iterator<Item = Self> {
        Resource::ALL
            .iter()
            .flat_map(|resource| [Self::view(*resource), Self::create(*resource), Self::edit(*resource)])
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.action.word(), self.resource.name())
    }
}

/// A text that names no permission.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no permission `{0}`")]
pub struct UnknownPermission(String);

impl FromStr for Permission {
    type Err = UnknownPermission;

    fn from_str(name: &str) -> Result<Self, UnknownPermission> {
        Self::all().find(|permission| permission.to_string() == name).ok_or_else(|| UnknownPermission(name.to_owned()))
    }
}

/// Why an actor is refused although he is known. The platform surface answers `403`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccessDenied {
    /// The role lacks a permission.
    #[error("the permission `{0}` is missing")]
    MissingPermission(Permission),
    /// The record belongs to another project.
    #[error("the record belongs to another project")]
    ForeignProject,
}

/// A signed-in employee with the permissions of his role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staff {
    /// The project he works in.
    pub project_id: ProjectId,
    /// The employee.
    pub user_id: UserId,
    /// The token he came with.
    pub token_id: TokenId,
    /// What his role allows.
    pub permissions: BTreeSet<Permission>,
}

impl Staff {
    /// Refuses an actor without the permission; `edit` includes `create`.
    pub fn require(&self, permission: Permission) -> Result<(), AccessDenied> {
        if permission.is_covered_by(&self.permissions) {
            Ok(())
        } else {
            Err(AccessDenied::MissingPermission(permission))
        }
    }
}

/// What an App Token proves: which application is calling. It grants no staff rights and names no customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppScope {
    /// The project of the application.
    pub project_id: ProjectId,
    /// The calling application.
    pub application_id: ApplicationId,
    /// Whether the application sells wholesale.
    pub wholesale: bool,
}

/// A signed-in customer inside the application that is calling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CustomerScope {
    /// The calling application.
    pub app: AppScope,
    /// The customer, of the same project.
    pub counterparty_id: CounterpartyId,
    /// The token he came with.
    pub token_id: TokenId,
}

/// Whoever looks at a storefront: the calling application, and the customer when one is signed in there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visitor {
    /// The calling application.
    pub app: AppScope,
    /// The customer, of the same project.
    pub counterparty_id: Option<CounterpartyId>,
}

impl From<AppScope> for Visitor {
    fn from(app: AppScope) -> Self {
        Self { app, counterparty_id: None }
    }
}

impl From<CustomerScope> for Visitor {
    fn from(customer: CustomerScope) -> Self {
        Self { app: customer.app, counterparty_id: Some(customer.counterparty_id) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn staff(permissions: impl IntoIterator<Item = Permission>) -> Staff {
        Staff {
            project_id: ProjectId::new(1).unwrap(),
            user_id: UserId::new(1).unwrap(),
            token_id: TokenId::new(1).unwrap(),
            permissions: permissions.into_iter().collect(),
        }
    }

    #[test]
    fn edit_includes_create_and_nothing_else() {
        let editor = staff([Permission::edit(Resource::Brands)]);
        assert!(editor.require(Permission::create(Resource::Brands)).is_ok());
        assert!(editor.require(Permission::view(Resource::Brands)).is_err());
        let creator = staff([Permission::create(Resource::Brands)]);
        assert!(creator.require(Permission::edit(Resource::Brands)).is_err());
    }

    #[test]
    fn two_grants_share_what_both_cover() {
        let [create, edit, view] =
            [Permission::create, Permission::edit, Permission::view].map(|of| of(Resource::Brands));
        assert_eq!(Permission::common(&[edit].into(), &[create, view].into()), [create].into());
        assert_eq!(Permission::common(&[create].into(), &[edit].into()), [create].into());
        assert_eq!(Permission::common(&[edit, view].into(), &[edit].into()), [edit].into());
    }

    #[test]
    fn names_round_trip() {
        for permission in Permission::all() {
            assert_eq!(permission.to_string().parse(), Ok(permission));
        }
        assert!("delete-orders".parse::<Permission>().is_err());
    }

    #[test]
    fn a_visitor_is_known_only_when_signed_in() {
        let [project_id, other] = [1, 2].map(|number| ProjectId::new(number).unwrap());
        assert_ne!(project_id, other);
        let app = AppScope { project_id, application_id: ApplicationId::new(3).unwrap(), wholesale: true };
        let counterparty_id = CounterpartyId::new(4).unwrap();
        let customer = CustomerScope { app, counterparty_id, token_id: TokenId::new(5).unwrap() };
        assert_eq!(Visitor::from(app), Visitor { app, counterparty_id: None });
        assert_eq!(Visitor::from(customer), Visitor { app, counterparty_id: Some(counterparty_id) });
    }

    #[test]
    fn the_name_of_an_unknown_permission_is_told() {
        assert_eq!("view-moons".parse::<Permission>(), Err(UnknownPermission("view-moons".to_owned())));
        assert_eq!(Permission::all().count(), 3 * Resource::ALL.len());
        assert_eq!(Permission::edit(Resource::Orders).to_string(), "edit-orders");
    }
}
