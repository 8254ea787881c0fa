use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{ApplicationId, BranchId, Line, Name, Resource, WarehouseId};

use super::{Edit, Reference};

/// A place goods are sold from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warehouse {
    /// The number of the warehouse.
    pub id: WarehouseId,
    /// Its name.
    pub name: Name,
    /// Where it is.
    pub address: Option<Line<500>>,
    /// The branch that runs it.
    pub branch: Reference<BranchId>,
    /// The applications that sell from it, oldest first.
    pub applications: Vec<Reference<ApplicationId>>,
    /// Raised by every change.
    pub version: u64,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
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

/// What staff say about a new warehouse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarehouseDraft {
    /// Its name.
    pub name: Name,
    /// Where it is.
    pub address: Option<Line<500>>,
    /// The branch that runs it.
    pub branch_id: BranchId,
    /// The applications that sell from it; without a list, every application of the branch.
    pub application_ids: Option<Vec<ApplicationId>>,
}

/// What staff change about a warehouse.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WarehouseChange {
    /// Its name.
    pub name: Edit<Name>,
    /// Where it is.
    pub address: Edit<Option<Line<500>>>,
    /// The branch that runs it. The applications stay as they are.
    pub branch_id: Edit<BranchId>,
    /// The applications that sell from it.
    pub application_ids: Edit<Vec<ApplicationId>>,
}
