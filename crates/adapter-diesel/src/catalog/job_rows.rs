//! First rows of the file of a job, as JSON.

use std::borrow::Cow;

use kontor_catalog::spreadsheet::RowPreview;
use kontor_kernel::{StoreError, Word as _};
use serde::{Deserialize, Serialize};

use crate::decode;

/// Values by column name.
type Values = Vec<(String, Option<String>)>;

#[derive(Serialize, Deserialize)]
struct StoredRow {
    row: u32,
    action: String,
    article: Option<String>,
    id: Option<i64>,
    warehouse: Option<String>,
    fields: Values,
    before: Values,
}

/// Returns the stored form of rows.
pub(super) fn text(rows: &[RowPreview]) -> Result<String, StoreError> {
    let owned = |values: &[(Cow<'static, str>, Option<String>)]| -> Values {
        values.iter().map(|(column, value)| (column.to_string(), value.clone())).collect()
    };
    let stored = rows.iter().map(|row| StoredRow {
        row: row.row,
        action: row.action.word().to_owned(),
        article: row.article.as_ref().map(ToString::to_string),
        id: row.id,
        warehouse: row.warehouse.clone(),
        fields: owned(&row.fields),
        before: owned(&row.before),
    });
    serde_json::to_string(&stored.collect::<Vec<_>>()).map_err(StoreError::corrupt)
}

/// Reads the rows of a job.
pub(super) fn rows(job: i64, text: &str) -> Result<Vec<RowPreview>, StoreError> {
    let read = |values: Values| -> Vec<(Cow<'static, str>, Option<String>)> {
        values.into_iter().map(|(column, value)| (column.into(), value)).collect()
    };
    let stored: Vec<StoredRow> = serde_json::from_str(text).map_err(StoreError::corrupt)?;
    let row = |stored: StoredRow| {
        Ok::<_, StoreError>(RowPreview {
            row: stored.row,
            action: decode::word("jobs", job, "preview", &stored.action)?,
            article: decode::optional_text(stored.article.as_deref())?,
            id: stored.id,
            warehouse: stored.warehouse,
            fields: read(stored.fields),
            before: read(stored.before),
        })
    };
    stored.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use kontor_catalog::spreadsheet::RowAction;
    use kontor_kernel::Line;

    use super::*;

    #[test]
    fn rows_are_read_as_they_were_stored() {
        let first = RowPreview {
            row: 2,
            action: RowAction::Update,
            article: Some(Line::parse("MUG-01").unwrap()),
            id: Some(7),
            warehouse: Some("Main\u{0}\"".to_owned()),
            fields: vec![("price".into(), Some("1.50".to_owned())), ("brand".into(), None)],
            before: vec![("price".into(), None), ("brand".into(), Some("Норд".to_owned()))],
        };
        let second = RowPreview { row: 3, action: RowAction::Skip, article: None, id: None, ..first.clone() };
        let stored = text(&[first.clone(), second.clone()]).unwrap();
        assert!(!stored.contains('\0'), "PostgreSQL stores no NUL");
        assert_eq!(rows(1, &stored).unwrap(), [first, second]);
        assert!(rows(1, &stored.replace("skip", "jump")).is_err());
    }
}
