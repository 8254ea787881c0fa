//! Column mappings: those that projects save, and those of a job. Also the first rows of the file of a job, as JSON.

use std::borrow::Cow;

use async_trait::async_trait;
use diesel::prelude::*;
use kontor_catalog::spreadsheet::ports::ColumnMaps;
use kontor_catalog::spreadsheet::{ColumnMap, HeaderColumn, ImportKind, Layout, ReadOptions, RowPreview};
use kontor_kernel::{ProjectId, StoreError, Word as _};
use serde::{Deserialize, Serialize};

use crate::database::{Abort, Database};
use crate::decode;
use crate::locks::lock_project;
use crate::schema::import_columns;

/// Headers with the names of their columns.
type Entries = Vec<(String, Option<String>)>;

fn entries(map: &ColumnMap) -> Entries {
    map.headers().iter().map(|mapped| (mapped.header.to_string(), mapped.column.map(str::to_owned))).collect()
}

fn wrong(reasons: Vec<String>) -> StoreError {
    StoreError::corrupt(reasons.join("; "))
}

/// Options for reading a job's file.
#[derive(Serialize, Deserialize)]
struct StoredReading {
    sheet: Option<String>,
    header_row: Option<u32>,
    columns: Entries,
    is_complete: bool,
    keep_empty: bool,
}

/// Returns the stored form of the options; `None` for the defaults.
pub(super) fn reading_text(options: &ReadOptions) -> Result<Option<String>, StoreError> {
    if *options == ReadOptions::default() {
        return Ok(None);
    }
    let stored = StoredReading {
        sheet: options.sheet.as_ref().map(ToString::to_string),
        header_row: options.header_row,
        columns: entries(&options.columns),
        is_complete: options.columns.is_complete(),
        keep_empty: options.keep_empty,
    };
    serde_json::to_string(&stored).map(Some).map_err(StoreError::corrupt)
}

pub(super) fn reading(kind: ImportKind, text: Option<&str>) -> Result<ReadOptions, StoreError> {
    let Some(text) = text else { return Ok(ReadOptions::default()) };
    let StoredReading { sheet, header_row, columns, is_complete, keep_empty } =
        serde_json::from_str(text).map_err(StoreError::corrupt)?;
    let columns = if is_complete { ColumnMap::of_file(kind, columns) } else { ColumnMap::shared(kind, columns) };
    let sheet = sheet.map(|sheet| decode::text(&sheet)).transpose()?;
    Ok(ReadOptions { sheet, header_row, columns: columns.map_err(wrong)?, keep_empty })
}

/// Position of the rows of a job in its file.
#[derive(Serialize, Deserialize)]
struct StoredLayout {
    sheet: Option<String>,
    header_row: u32,
    columns: Entries,
}

pub(super) fn layout_text(layout: &Layout) -> Result<String, StoreError> {
    let columns = layout.columns.iter().map(|column| (column.header.clone(), column.column.clone())).collect();
    let stored = StoredLayout { sheet: layout.sheet.clone(), header_row: layout.header_row, columns };
    serde_json::to_string(&stored).map_err(StoreError::corrupt)
}

pub(super) fn layout(text: &str) -> Result<Layout, StoreError> {
    let StoredLayout { sheet, header_row, columns } = serde_json::from_str(text).map_err(StoreError::corrupt)?;
    let columns = columns.into_iter().map(|(header, column)| HeaderColumn { header, column }).collect();
    Ok(Layout { sheet, header_row, columns })
}

#[async_trait]
impl ColumnMaps for Database {
    async fn find(&self, project: ProjectId, kind: ImportKind) -> Result<ColumnMap, StoreError> {
        self.read(move |connection| {
            let text: Option<String> = import_columns::table
                .find((project.get(), kind.word()))
                .select(import_columns::mapping)
                .first(connection)
                .optional()?;
            let Some(text) = text else { return Ok(ColumnMap::default()) };
            let entries: Entries = serde_json::from_str(&text).map_err(StoreError::corrupt)?;
            Ok::<_, Abort<StoreError>>(ColumnMap::shared(kind, entries).map_err(wrong)?)
        })
        .await
    }

    async fn replace(&self, project: ProjectId, kind: ImportKind, map: ColumnMap) -> Result<(), StoreError> {
        let text = serde_json::to_string(&entries(&map)).map_err(StoreError::corrupt)?;
        self.write(move |connection| {
            // Concurrent saves run one after the other.
            lock_project(connection, project)?;
            let project = project.get();
            diesel::delete(import_columns::table.find((project, kind.word()))).execute(connection)?;
            if !map.is_empty() {
                diesel::insert_into(import_columns::table)
                    .values((
                        import_columns::project_id.eq(project),
                        import_columns::kind.eq(kind.word()),
                        import_columns::mapping.eq(&text),
                    ))
                    .execute(connection)?;
            }
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }
}

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
pub(super) fn rows_text(rows: &[RowPreview]) -> Result<String, StoreError> {
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
        let stored = rows_text(&[first.clone(), second.clone()]).unwrap();
        assert!(!stored.contains('\0'), "PostgreSQL stores no NUL");
        assert_eq!(rows(1, &stored).unwrap(), [first, second]);
        assert!(rows(1, &stored.replace("skip", "jump")).is_err());
    }
}
