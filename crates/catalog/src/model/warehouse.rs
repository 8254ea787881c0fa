use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{ApplicationId, BranchId, Line, Name, Resource, WarehouseId};

use super::{Edit, Reference};

/// Warehouse from which goods are sold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warehouse {
    /// Identifier.
    pub id: WarehouseId,
    /// Name.
    pub name: Name,
    /// Address.
    pub address: Option<Line<500>>,
    /// Branch that runs it.
    pub branch: Reference<BranchId>,
    /// Applications that sell from it, oldest first.
    pub applications: Vec<Reference<ApplicationId>>,
    /// Version, incremented by every change.
    pub version: u64,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

impl Audited for Warehouse {
    const RESOURCE: Resource = Resource::Warehouses;

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        let applications: Vec<String> = self.applications.iter().map(|one| one.id.to_string()).collect();
        vec![
            ("name", Some(self.name.to_string())),
            ("address", self.address.as_ref().map(ToString::to_string)),
            ("branch_id", Some(self.branch.id.to_string())),
            ("application_ids", Some(applications.join(", ")).filter(|list| !list.is_empty())),
        ]
    }
}

/// Fields of a new warehouse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarehouseDraft {
    /// Name.
    pub name: Name,
    /// Address.
    pub address: Option<Line<500>>,
    /// Branch that runs it.
    pub branch_id: BranchId,
    /// Applications that sell from it; by default every application of the branch.
    pub application_ids: Option<Vec<ApplicationId>>,
}

/// Change of a warehouse.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WarehouseChange {
    /// Name.
    pub name: Edit<Name>,
    /// Address.
    pub address: Edit<Option<Line<500>>>,
    /// Branch that runs it. A new branch does not change the applications.
    pub branch_id: Edit<BranchId>,
    /// Applications that sell from it.
    pub application_ids: Edit<Vec<ApplicationId>>,
}
