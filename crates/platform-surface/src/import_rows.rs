//! Header row of an import as found in the file, and a preview of its first rows.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kontor_catalog::spreadsheet::{HeaderColumn, RowPreview};
use kontor_kernel::Word as _;
use serde::Serialize;
use utoipa::ToSchema;

/// Header of the file.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HeaderRecord {
    /// Text of the header in the file.
    header: String,
    /// Name of the matching column; `null` if the header is ignored.
    column: Option<String>,
}

impl From<HeaderColumn> for HeaderRecord {
    fn from(HeaderColumn { header, column }: HeaderColumn) -> Self {
        Self { header, column }
    }
}

/// Preview of a row.
#[derive(Serialize, ToSchema)]
pub struct RowRecord {
    /// Row number in the spreadsheet, from 1.
    row: u32,
    /// `create`, `update`, `unchanged` or `skip`.
    action: &'static str,
    article: Option<String>,
    /// Id of the item or stock level; `null` for a new record.
    id: Option<i64>,
    /// Warehouse as written in the file; only for stock levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    warehouse: Option<String>,
    /// Values by column, formatted as in an export and cut at 200 characters. A new record has its non-empty values, an
    /// existing one the values that change.
    #[schema(value_type = Object)]
    fields: BTreeMap<Cow<'static, str>, Option<String>>,
    /// Current values of the columns that change.
    #[schema(value_type = Object)]
    before: BTreeMap<Cow<'static, str>, Option<String>>,
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
