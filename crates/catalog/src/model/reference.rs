use kontor_kernel::{Name, StorageUnitId};

/// Reference to another record, by identifier and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference<Id> {
    /// Identifier of the record.
    pub id: Id,
    /// Name.
    pub name: Name,
}

/// Unit in which goods are counted, of the system-wide dictionary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageUnit {
    /// Identifier of the unit.
    pub id: StorageUnitId,
    /// Name.
    pub name: Name,
    /// Abbreviation, such as `kg`.
    pub abbreviation: Name,
}
