use kontor_kernel::{Name, StorageUnitId};

/// Another record, by its number and the name people know it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference<Id> {
    /// The number of the record.
    pub id: Id,
    /// Its name.
    pub name: Name,
}

/// A unit goods are counted in, of the system-wide dictionary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageUnit {
    /// The number of the unit.
    pub id: StorageUnitId,
    /// Its name.
    pub name: Name,
    /// Its short form, such as `kg`.
    pub abbreviation: Name,
}
