//! Preview of the first rows in a dry run.

use kontor_catalog::spreadsheet::{Layout, RowPreview};
use kontor_kernel::Word as _;
use serde_json::{Value, json};

use kontor_platform_surface::import_rows::{HeaderRecord, RowRecord};

/// Adds the layout and the preview to a report in JSON, with the names of the API.
pub fn add(report: &mut Value, layout: Layout, rows: Vec<RowPreview>) {
    let Value::Object(report) = report else { return };
    let columns: Vec<HeaderRecord> = layout.columns.into_iter().map(Into::into).collect();
    let rows: Vec<RowRecord> = rows.into_iter().map(Into::into).collect();
    report.insert("sheet".to_owned(), json!(layout.sheet));
    report.insert("header_row".to_owned(), json!(layout.header_row));
    report.insert("columns".to_owned(), json!(columns));
    report.insert("first_rows".to_owned(), json!(rows));
}

/// Prints the layout and the preview.
pub fn print(layout: &Layout, rows: &[RowPreview]) {
    match &layout.sheet {
        Some(sheet) => println!("sheet {sheet}, headers in row {}", layout.header_row),
        None => println!("headers in row {}", layout.header_row),
    }
    for column in &layout.columns {
        println!("  {} = {}", column.header, column.column.as_deref().unwrap_or("(ignored)"));
    }
    for row in rows {
        println!("{}", line(row));
    }
}

/// Formats a row: `row 6: update MUG-01, price 100 -> 120`.
fn line(row: &RowPreview) -> String {
    let shown = |text: &Option<String>| text.clone().unwrap_or_else(|| "(empty)".to_owned());
    let article = row.article.as_ref().map(ToString::to_string);
    let identity = article.or_else(|| row.id.map(|id| id.to_string())).unwrap_or_default();
    let fields = row.fields.iter().map(|(name, after)| {
        let before = row.before.iter().find(|(column, _)| column == name);
        let before = before.map(|(_, before)| format!("{} -> ", shown(before))).unwrap_or_default();
        format!(", {name} {before}{}", shown(after))
    });
    let warehouse = row.warehouse.as_ref().map(|warehouse| format!(" in {warehouse}")).unwrap_or_default();
    format!("row {}: {} {identity}{warehouse}{}", row.row, row.action.word(), fields.collect::<String>())
}

#[cfg(test)]
mod tests {
    use kontor_catalog::spreadsheet::RowAction;
    use kontor_kernel::Line;

    use super::*;

    #[test]
    fn a_row_is_one_line() {
        let row = RowPreview {
            row: 6,
            action: RowAction::Update,
            article: Some(Line::parse("MUG-01").unwrap()),
            id: Some(7),
            warehouse: None,
            fields: vec![("price".into(), Some("120".to_owned())), ("brand".into(), None)],
            before: vec![("price".into(), Some("100".to_owned())), ("brand".into(), Some("Acme".to_owned()))],
        };
        assert_eq!(line(&row), "row 6: update MUG-01, price 100 -> 120, brand Acme -> (empty)");
    }
}
