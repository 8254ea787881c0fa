//! Parts of an import request beside its file.

use kontor_catalog::bulk::JobOptions;
use kontor_catalog::spreadsheet::{ColumnMap, ImportKind, ImportMode, ReadOptions};
use kontor_kernel::{Line, Violations};
use serde_json::Value;

use kontor_web::upload::Texts;

/// Options of an import request.
#[derive(Debug, Clone)]
pub struct ImportRequestOptions {
    /// `partial` and `dry_run`.
    pub options: JobOptions,
    /// `async`: create a job, even for a small file.
    pub background: bool,
    /// `sheet`, `header_row`, `keep_empty` and, if sent, `columns`.
    pub reading: ReadOptions,
    /// `true` if the part `columns` was sent; otherwise the saved columns apply.
    pub has_columns: bool,
}

impl ImportRequestOptions {
    /// Names of the parts.
    pub const PARTS: [&str; 7] = ["partial", "dry_run", "async", "keep_empty", "sheet", "header_row", "columns"];

    /// Reads the parts and reports all wrong ones together.
    pub fn of(kind: ImportKind, texts: Texts) -> Result<Self, Violations> {
        let flags = ["partial", "dry_run", "async", "keep_empty"].map(|name| (name, flag(texts.get(name))));
        let given = |name: &str| texts.get(name).filter(|text| !text.is_empty()).map(str::to_owned);
        let (sheet, header_row, columns) = (given("sheet"), given("header_row"), given("columns"));
        let mut wrong = texts.violations;
        let [partial, dry_run, background, keep_empty] =
            flags.map(|(name, flag)| wrong.check(name, flag).unwrap_or_default());
        let sheet = sheet.and_then(|text| wrong.check("sheet", Line::parse(&text).map_err(|error| error.to_string())));
        let header_row = header_row.and_then(|text| wrong.check("header_row", row(&text)));
        let has_columns = columns.is_some();
        let columns = columns.map_or(Ok(ColumnMap::default()), |text| mapping(kind, &text));
        let columns = columns.unwrap_or_else(|reasons| {
            for reason in reasons {
                wrong.add("columns", reason);
            }
            ColumnMap::default()
        });
        wrong.into_result()?;
        let mode = if partial { ImportMode::Partial } else { ImportMode::AllOrNothing };
        let reading = ReadOptions { sheet, header_row, columns, keep_empty };
        Ok(Self { options: JobOptions { dry_run, mode }, background, reading, has_columns })
    }
}

fn flag(text: Option<&str>) -> Result<bool, String> {
    match text {
        None | Some("" | "0" | "false") => Ok(false),
        Some("1" | "true") => Ok(true),
        Some(_) => Err("must be true or false".to_owned()),
    }
}

fn row(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|row| *row > 0).ok_or_else(|| "must be a whole number from 1".to_owned())
}

/// Parses a JSON object of headers and column names.
fn mapping(kind: ImportKind, text: &str) -> Result<ColumnMap, Vec<String>> {
    let Ok(Value::Object(object)) = serde_json::from_str(text) else {
        return Err(vec!["must be a JSON object of headers and the names of their columns".to_owned()]);
    };
    let (mut entries, mut wrong) = (Vec::new(), Vec::new());
    for (header, column) in object {
        match column {
            Value::String(column) => entries.push((header, Some(column))),
            Value::Null => entries.push((header, None)),
            _ => wrong.push(format!("`{header}` must be the name of a column or null")),
        }
    }
    match ColumnMap::of_file(kind, entries) {
        Ok(map) if wrong.is_empty() => Ok(map),
        Ok(_) => Err(wrong),
        Err(reasons) => Err(wrong.into_iter().chain(reasons).collect()),
    }
}
