//! Callers, their permissions, and tenant isolation.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{ApplicationId, CounterpartyId, ProjectId, RecordError, Refusal, TokenId, UserId, Word};

macro_rules! resources {
    ($($variant:ident => $name:literal,)+) => {
        /// Subject of a permission, by the contract's plural names.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Resource {
            $(#[doc = concat!("`", $name, "`")] $variant,)+
        }

        impl Resource {
            /// Every resource.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the plural name used in permission names.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

resources! {
    AgentActions => "agent-actions",
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
    Settings => "settings",
    Shops => "shops",
    Slides => "slides",
    Statistics => "statistics",
    Subscriptions => "subscriptions",
    Tasks => "tasks",
    Users => "users",
    Warehouses => "warehouses",
    Webhooks => "webhooks",
}

/// Kind of access to a resource. There is no separate right to delete: `edit` covers create, update and delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Action {
    /// List and read.
    View,
    /// Create.
    Create,
    /// Create, update and delete.
    Edit,
    /// Decide about the calls of agents. Only `agent-actions` has it.
    Approve,
}

/// Permission, named `view-<resource>`, `create-<resource>` or `edit-<resource>`; and `approve-agent-actions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Permission {
    /// Kind of access.
    pub action: Action,
    /// Subject.
    pub resource: Resource,
}

impl Permission {
    /// Permission to approve or refuse the calls of agents.
    pub const APPROVE_AGENT_ACTIONS: Self = Self { action: Action::Approve, resource: Resource::AgentActions };

    /// Creates the permission `view-<resource>`.
    pub const fn view(resource: Resource) -> Self {
        Self { action: Action::View, resource }
    }

    /// Creates the permission `create-<resource>`.
    pub const fn create(resource: Resource) -> Self {
        Self { action: Action::Create, resource }
    }

    /// Creates the permission `edit-<resource>`.
    pub const fn edit(resource: Resource) -> Self {
        Self { action: Action::Edit, resource }
    }

    /// Returns `true` if the granted permissions include this one; `edit` includes `create`.
    pub fn is_covered_by(self, granted: &BTreeSet<Self>) -> bool {
        granted.contains(&self) || self.action == Action::Create && granted.contains(&Self::edit(self.resource))
    }

    /// Returns the permissions that both sets cover.
    pub fn common(left: &BTreeSet<Self>, right: &BTreeSet<Self>) -> BTreeSet<Self> {
        left.union(right).copied().filter(|one| one.is_covered_by(left) && one.is_covered_by(right)).collect()
    }

    /// Returns every permission of the service.
    pub fn all() -> impl Iterator<Item = Self> {
        Resource::ALL
            .iter()
            .flat_map(|resource| [Self::view(*resource), Self::create(*resource), Self::edit(*resource)])
            .chain([Self::APPROVE_AGENT_ACTIONS])
    }

    /// Returns `true` if an agent can have it. Agents never approve calls and never change the policy for agents.
    pub fn is_for_agents(self) -> bool {
        self.resource != Resource::AgentActions || self.action == Action::View
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.action.word(), self.resource.name())
    }
}

/// Error: the text does not name a permission.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no permission `{0}`")]
pub struct UnknownPermission(String);

impl FromStr for Permission {
    type Err = UnknownPermission;

    fn from_str(name: &str) -> Result<Self, UnknownPermission> {
        Self::all().find(|permission| permission.to_string() == name).ok_or_else(|| UnknownPermission(name.to_owned()))
    }
}

/// Reason why a known caller is refused. The platform surface answers `403`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccessDenied {
    /// The role lacks a permission.
    #[error("the permission `{0}` is missing")]
    MissingPermission(Permission),
    /// The record belongs to another project.
    #[error("the record belongs to another project")]
    ForeignProject,
}

/// Signed-in employee or agent with the permissions of their role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staff {
    /// Project of the employee.
    pub project_id: ProjectId,
    /// Employee.
    pub user_id: UserId,
    /// Token of the call.
    pub token_id: TokenId,
    /// `true` for an agent, `false` for an employee.
    pub is_agent: bool,
    /// Permissions of the role.
    pub permissions: BTreeSet<Permission>,
}

impl Staff {
    /// Returns an error if the permission is missing; `edit` includes `create`.
    pub fn require(&self, permission: Permission) -> Result<(), AccessDenied> {
        if permission.is_covered_by(&self.permissions) {
            Ok(())
        } else {
            Err(AccessDenied::MissingPermission(permission))
        }
    }
}

/// Scope of an App Token: the application that is calling. It grants no staff rights and identifies no customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppScope {
    /// Project of the application.
    pub project_id: ProjectId,
    /// Calling application.
    pub application_id: ApplicationId,
    /// `true` if the application sells wholesale.
    pub wholesale: bool,
}

/// Signed-in customer of the calling application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CustomerScope {
    /// Calling application.
    pub app: AppScope,
    /// Customer of the same project.
    pub counterparty_id: CounterpartyId,
    /// Token of the call.
    pub token_id: TokenId,
}

/// Visitor of a storefront: the calling application, and the customer if signed in there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visitor {
    /// Calling application.
    pub app: AppScope,
    /// Customer of the same project, if signed in.
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
///     is_agent: false,
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
    use std::convert::Infallible;

    use super::*;
    use crate::testing::staff_with;

    fn staff(permissions: impl IntoIterator<Item = Permission>) -> Staff {
        Staff {
            project_id: ProjectId::new(1).unwrap(),
            user_id: UserId::new(1).unwrap(),
            token_id: TokenId::new(1).unwrap(),
            is_agent: false,
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
        assert!("approve-orders".parse::<Permission>().is_err());
        assert_eq!("approve-agent-actions".parse(), Ok(Permission::APPROVE_AGENT_ACTIONS));
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
    fn the_error_names_the_unknown_permission() {
        assert_eq!("view-moons".parse::<Permission>(), Err(UnknownPermission("view-moons".to_owned())));
        assert_eq!(Permission::all().count(), 3 * Resource::ALL.len() + 1);
        assert_eq!(Permission::edit(Resource::Orders).to_string(), "edit-orders");
    }

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
