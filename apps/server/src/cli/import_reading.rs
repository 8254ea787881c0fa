//! Settings of `kontor import` for reading its file.

use clap::Args;
use kontor_catalog::spreadsheet::{ColumnMap, ImportColumns, ImportKind, ReadOptions};
use kontor_kernel::{Line, ProjectId};

use super::Failure;

/// Settings of `kontor import` for its file.
#[derive(Args)]
pub struct ReadingArguments {
    /// Name of a sheet, or its number among the visible ones.
    #[arg(long)]
    sheet: Option<String>,
    /// Number of the header row in the spreadsheet.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    header_row: Option<u32>,
    /// Column of a header, as `HEADER=COLUMN`; `HEADER=` ignores the header. May be repeated. Without it the saved
    /// columns of the project apply.
    #[arg(long = "column", value_name = "HEADER=COLUMN")]
    columns: Vec<String>,
    /// Save the columns for later imports of the project after a successful import.
    #[arg(long, requires = "columns", conflicts_with = "dry_run")]
    pub save_columns: bool,
    /// Keep the values of fields with empty cells.
    #[arg(long)]
    keep_empty: bool,
}

impl ReadingArguments {
    /// Returns the options. The saved columns of the project are the default.
    pub async fn options(
        &self,
        saved: &ImportColumns,
        project: ProjectId,
        kind: ImportKind,
    ) -> Result<ReadOptions, Failure> {
        let sheet = self.sheet.as_deref().map(Line::parse).transpose();
        let sheet = sheet.map_err(|error| format!("--sheet: {error}"))?;
        let columns = if self.columns.is_empty() { saved.read_for(project, kind).await? } else { self.mapping(kind)? };
        Ok(ReadOptions { sheet, header_row: self.header_row, columns, keep_empty: self.keep_empty })
    }

    fn mapping(&self, kind: ImportKind) -> Result<ColumnMap, String> {
        let entry = |text: &String| {
            let (header, column) =
                text.rsplit_once('=').ok_or_else(|| format!("--column: `{text}` must be HEADER=COLUMN"))?;
            let column = column.trim();
            Ok((header.to_owned(), (!column.is_empty()).then(|| column.to_owned())))
        };
        let entries = self.columns.iter().map(entry).collect::<Result<Vec<_>, String>>()?;
        ColumnMap::of_file(kind, entries).map_err(|reasons| format!("--column: {}", reasons.join("; ")))
    }
}
