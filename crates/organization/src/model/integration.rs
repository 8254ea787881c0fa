use chrono::{DateTime, Utc};
use kontor_kernel::{
    BankRequisite, BankRequisiteId, BranchId, IntegrationId, IntegrationParameterId, Line, Name, Permission, Resource,
    SecretString, WarehouseId,
};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Record that uses integrations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegrationOwner {
    /// Warehouse.
    Warehouse(WarehouseId),
    /// Bank account of a branch.
    BankRequisite(BranchId, BankRequisiteId),
}

impl IntegrationOwner {
    /// Returns the kind of record.
    pub fn kind(self) -> IntegrationKind {
        match self {
            Self::Warehouse(_) => IntegrationKind::Warehouse,
            Self::BankRequisite(..) => IntegrationKind::BankRequisite,
        }
    }

    /// Returns the number of the record.
    pub fn number(self) -> i64 {
        match self {
            Self::Warehouse(id) => id.get(),
            Self::BankRequisite(_, id) => id.get(),
        }
    }

    /// Returns the record whose history gets the changes, and the prefix of the field names there.
    pub fn history_target(self) -> (i64, String) {
        match self {
            Self::Warehouse(id) => (id.get(), String::new()),
            Self::BankRequisite(branch, id) => (branch.get(), format!("{}.{id}.", BankRequisite::NAME)),
        }
    }
}

/// Kinds of records that use integrations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum IntegrationKind {
    /// Warehouses.
    Warehouse,
    /// Bank accounts of branches.
    BankRequisite,
}

impl IntegrationKind {
    /// Returns the permission to see such records.
    pub fn view(self) -> Permission {
        Permission::view(self.resource())
    }

    /// Returns the permission to change such records.
    pub fn edit(self) -> Permission {
        Permission::edit(self.resource())
    }

    /// Returns the resource of such records in permissions and histories.
    pub fn resource(self) -> Resource {
        match self {
            Self::Warehouse => Resource::Warehouses,
            Self::BankRequisite => Resource::Branches,
        }
    }
}

/// External program that records can be connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Integration {
    /// Identifier.
    pub id: IntegrationId,
    /// Name.
    pub name: Name,
    /// Number and name of its type.
    pub kind: (i64, Name),
    /// Kind of records it is for.
    pub owner: IntegrationKind,
}

/// Integration with its state for a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedIntegration {
    /// Integration.
    pub integration: Integration,
    /// `true` if the record uses it.
    pub is_active: bool,
    /// Time of the last change of this state; `None` if it was never changed.
    pub updated_at: Option<DateTime<Utc>>,
}

/// Name of a parameter: one line of at most 100 characters.
pub type ParameterKey = Line<100>;

/// Value of a parameter: one line of at most 2,000 characters.
pub type ParameterText = Line<2000>;

/// Parameter of an integration. A secret value is never shown again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntegrationParameter {
    /// Identifier.
    pub id: IntegrationParameterId,
    /// Name.
    pub key: ParameterKey,
    /// Value; `None` for a secret.
    pub value: Option<ParameterText>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

impl IntegrationParameter {
    /// Text shown instead of a secret.
    pub const MASK: &'static str = "********";

    /// Returns the value, or the mask of a secret.
    pub fn shown(&self) -> &str {
        self.value.as_deref().unwrap_or(Self::MASK)
    }
}

/// Parameter entered by staff. It may be secret, so it has no readable debug output.
#[derive(Clone)]
pub struct ParameterDraft {
    /// Name.
    pub key: ParameterKey,
    /// Value.
    pub value: ParameterText,
    /// `true` if the value is a secret.
    pub is_secret: bool,
}

/// Stored value of a parameter.
#[derive(Debug, Clone)]
pub enum StoredValue {
    /// Plain text.
    Plain(ParameterText),
    /// Sealed with the service key.
    Sealed(String),
}

impl ParameterDraft {
    /// Returns the stored form; secrets are sealed.
    pub fn stored(&self, cipher: &dyn kontor_kernel::SecretCipher) -> StoredValue {
        if self.is_secret {
            StoredValue::Sealed(cipher.seal(&SecretString::from(self.value.as_str())))
        } else {
            StoredValue::Plain(self.value.clone())
        }
    }
}
