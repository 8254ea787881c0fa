use std::sync::Arc;

use kontor_kernel::{AccessDenied, ProjectId, Staff, StoreError};

use super::ports::ColumnMaps;
use super::{ColumnMap, ImportError, ImportKind};

/// Use cases of the column mappings that a project saves for its imports.
pub struct ImportColumns {
    /// Storage of the mappings.
    pub maps: Arc<dyn ColumnMaps>,
}

impl ImportColumns {
    /// Returns the saved mapping of the employee's project.
    pub async fn read(&self, staff: &Staff, kind: ImportKind) -> Result<ColumnMap, ImportError> {
        may_import(staff, kind)?;
        Ok(self.read_for(staff.project_id, kind).await?)
    }

    /// Replaces the saved mapping.
    pub async fn replace(&self, staff: &Staff, kind: ImportKind, map: ColumnMap) -> Result<ColumnMap, ImportError> {
        may_import(staff, kind)?;
        self.replace_for(staff.project_id, kind, map.clone()).await?;
        Ok(map)
    }

    /// Returns the saved mapping of a project, for operators.
    pub async fn read_for(&self, project: ProjectId, kind: ImportKind) -> Result<ColumnMap, StoreError> {
        self.maps.find(project, kind).await
    }

    /// Replaces the saved mapping of a project, for operators.
    pub async fn replace_for(&self, project: ProjectId, kind: ImportKind, map: ColumnMap) -> Result<(), StoreError> {
        self.maps.replace(project, kind, map).await
    }
}

fn may_import(staff: &Staff, kind: ImportKind) -> Result<(), AccessDenied> {
    kind.to_import().iter().try_for_each(|permission| staff.require(*permission))
}
