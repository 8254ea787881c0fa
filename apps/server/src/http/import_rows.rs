//! The table of an import as it was found, and its first rows as they will be.

use std::collections::BTreeMap;

use kontor_catalog::spreadsheet::{HeaderColumn, RowPreview};
use kontor_kernel::Word as _;
use serde::Serialize;
use utoipa::ToSchema;

/// A header of the file.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HeaderRecord {
    /// As it stands in the file.
    header: String,
    /// The name of the column it is taken for; `null` if it is ignored.
    column: Option<String>,
}

impl From<HeaderColumn> for HeaderRecord {
    fn from(HeaderColumn { header, column }: HeaderColumn) -> Self {
        Self { header, column }
    }
}

/// A row as it will be written.
#[derive(Serialize, ToSchema)]
pub struct RowRecord {
    /// As the spreadsheet counts, from 1.
    row: u32,
    /// `create`, `update`, `unchanged` or `skip`.
    action: &'static str,
    article: Option<String>,
    /// The item, or the stock; `null` for a new one.
    id: Option<i64>,
    /// The warehouse as the file has it; only of stock.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    warehouse: Option<String>,
    /// Values by column, as an export writes them, cut at 200 characters: of a new record those that are not empty, of a
    /// known one those that change.
    #[schema(value_type = Object)]
    fields: BTreeMap<&'static str, Option<String>>,
    /// The values of a known record that change, as they are.
    #[schema(value_type = Object)]
    before: BTreeMap<&'static str, Option<String>>,
}

impl From<RowPreview> for RowRecord {
    fn from(preview: RowPreview) -> Self {
        Self {
            row: preview.row,
            action: preview.action.word(),
            article: preview.article.map(Into::into),
            id: preview.id,
            warehouse: preview.warehouse,
            fields: preview.fields.into_iter().collect(),
            before: preview.before.into_iter().collect(),
        }
    }
}
