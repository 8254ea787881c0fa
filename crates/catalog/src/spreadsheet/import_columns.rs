use std::sync::Arc;

use kontor_kernel::{AccessDenied, ProjectId, Staff, StoreError};

use super::ports::ColumnMaps;
use super::{ColumnMap, ImportError, ImportKind};

/// Use cases of the mappings of columns that a project saves for its imports.
pub struct ImportColumns {
    /// The store of the mappings.
    pub maps: Arc<dyn ColumnMaps>,
}

impl ImportColumns {
    /// The saved mapping of the employee's project.
    pub async fn read(&self, staff: &Staff, kind: ImportKind) -> Result<ColumnMap, ImportError> {
        may_import(staff, kind)?;
        Ok(self.read_for(staff.project_id, kind).await?)
    }

    /// Saves a mapping in the place of the one there is.
    pub async fn replace(&self, staff: &Staff, kind: ImportKind, map: ColumnMap) -> Result<ColumnMap, ImportError> {
        may_import(staff, kind)?;
        self.replace_for(staff.project_id, kind, map.clone()).await?;
        Ok(map)
    }

    /// The saved mapping of a project, for the operator.
    pub async fn read_for(&self, project: ProjectId, kind: ImportKind) -> Result<ColumnMap, StoreError> {
        self.maps.find(project, kind).await
    }

    /// Saves a mapping for the operator.
    pub async fn replace_for(&self, project: ProjectId, kind: ImportKind, map: ColumnMap) -> Result<(), StoreError> {
        self.maps.replace(project, kind, map).await
    }
}

fn may_import(staff: &Staff, kind: ImportKind) -> Result<(), AccessDenied> {
    kind.to_import().iter().try_for_each(|permission| staff.require(*permission))
}
