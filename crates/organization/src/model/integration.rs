use chrono::{DateTime, Utc};
use kontor_kernel::{
    BankRequisite, BankRequisiteId, BranchId, IntegrationId, IntegrationParameterId, Line, Name, Permission, Resource,
    SecretString, WarehouseId,
};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// A record that uses integrations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegrationOwner {
    /// A warehouse.
    Warehouse(WarehouseId),
    /// A bank account of a branch.
    BankRequisite(BranchId, BankRequisiteId),
}

impl IntegrationOwner {
    /// What kind of record it is.
    pub fn kind(self) -> IntegrationKind {
        match self {
            Self::Warehouse(_) => IntegrationKind::Warehouse,
            Self::BankRequisite(..) => IntegrationKind::BankRequisite,
        }
    }

    /// The number of the record.
    pub fn number(self) -> i64 {
        match self {
            Self::Warehouse(id) => id.get(),
            Self::BankRequisite(_, id) => id.get(),
        }
    }

    /// The number of the record in whose history it is told what is used, and what stands before it there.
    pub fn told_of(self) -> (i64, String) {
        match self {
            Self::Warehouse(id) => (id.get(), String::new()),
            Self::BankRequisite(branch, id) => (branch.get(), format!("{}.{id}.", BankRequisite::NAME)),
        }
    }
}

/// The kinds of records that integrations are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum IntegrationKind {
    /// Warehouses.
    Warehouse,
    /// Bank requisites of branches.
    BankRequisite,
}

impl IntegrationKind {
    /// What one must be allowed to see such records.
    pub fn view(self) -> Permission {
        Permission::view(self.resource())
    }

    /// What one must be allowed to change such records.
    pub fn edit(self) -> Permission {
        Permission::edit(self.resource())
    }

    /// What permissions and histories of such records are about.
    pub fn resource(self) -> Resource {
        match self {
            Self::Warehouse => Resource::Warehouses,
            Self::BankRequisite => Resource::Branches,
        }
    }
}

/// A program of others that records can work with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Integration {
    /// Its number.
    pub id: IntegrationId,
    /// Its name.
    pub name: Name,
    /// Number and name of its type.
    pub kind: (i64, Name),
    /// Which records it is for.
    pub owner: IntegrationKind,
}

/// An integration as a record uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedIntegration {
    /// The integration.
    pub integration: Integration,
    /// Whether the record uses it.
    pub is_active: bool,
    /// When that was last changed; `None` if never.
    pub updated_at: Option<DateTime<Utc>>,
}

/// The name of a parameter: one line of at most 100 characters.
pub type ParameterKey = Line<100>;

/// The value of a parameter: one line of at most 2,000 characters.
pub type ParameterText = Line<2000>;

/// A parameter of an integration. What a secret one says is never shown again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntegrationParameter {
    /// Its number.
    pub id: IntegrationParameterId,
    /// What it is called.
    pub key: ParameterKey,
    /// What it says; `None` for a secret.
    pub value: Option<ParameterText>,
    /// When it was set.
    pub created_at: DateTime<Utc>,
}

impl IntegrationParameter {
    /// What is shown in the place of a secret.
    pub const MASK: &'static str = "********";

    /// What it says, or that it says something secret.
    pub fn shown(&self) -> &str {
        self.value.as_deref().unwrap_or(Self::MASK)
    }
}

/// What staff say about a parameter. It may be secret, so it is never printed.
#[derive(Clone)]
pub struct ParameterDraft {
    /// What it is called.
    pub key: ParameterKey,
    /// What it says.
    pub value: ParameterText,
    /// Whether it is to be kept secret.
    pub is_secret: bool,
}

/// The value of a parameter as it is stored.
#[derive(Debug, Clone)]
pub enum StoredValue {
    /// As it was said.
    Plain(ParameterText),
    /// Sealed with the service key.
    Sealed(String),
}

impl ParameterDraft {
    /// Seals what is secret.
    pub fn stored(&self, cipher: &dyn kontor_kernel::SecretCipher) -> StoredValue {
        if self.is_secret {
            StoredValue::Sealed(cipher.seal(&SecretString::from(self.value.as_str())))
        } else {
            StoredValue::Plain(self.value.clone())
        }
    }
}
