use std::path::Path;
use std::sync::Arc;

use kontor_kernel::ProjectId;

use super::JobRunner;
use crate::spreadsheet::{CardSheet, ImportError, ImportKind, Layout, ReadOptions, RowPreview, StockSheet};

impl JobRunner {
    /// Returns the location of the table in a file of any size, and its first rows after the import. For operators:
    /// checks no permission. Reads the file on the calling thread.
    pub async fn preview(
        &self,
        project: ProjectId,
        kind: ImportKind,
        file: &Path,
        options: &ReadOptions,
    ) -> Result<(Layout, Vec<RowPreview>), ImportError> {
        let (layout, report) = match kind {
            ImportKind::Nomenclatures => {
                let sheet = CardSheet::read_top(&*self.reader, file, options)?;
                (sheet.layout.clone(), self.cards.check(project, Arc::new(sheet)).await?)
            }
            ImportKind::Inventories => {
                let sheet = StockSheet::read_top(&*self.reader, file, options)?;
                (sheet.layout.clone(), self.stock.check(project, Arc::new(sheet)).await?)
            }
        };
        Ok((layout, report.rows))
    }
}
