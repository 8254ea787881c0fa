//! Tables for staff screens, `GET /api/tables/<resource>`: declared as columns, rendered with the documented envelope.

mod query;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use kontor_kernel::Page;
use kontor_kernel::listing::Sort;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

pub(crate) use self::query::list_params;
pub use self::query::{Filter, TableRequest};
use kontor_web::paging::Pagination;

/// Table, defined completely by its declaration. The response has the rows under the name of the resource.
pub struct Table<R: 'static> {
    /// Number of the table; `table_id` of its columns.
    pub id: i64,
    /// Last segment of its path and key of its rows.
    pub resource: &'static str,
    /// Version of the record in a row, if it has one: `version` of the row, which is no column.
    pub version: Option<fn(&R) -> Value>,
    /// Columns in display order.
    pub columns: &'static [Column<R>],
    /// Sortable fields: `order_by=<field>_asc` and `<field>_desc`.
    pub sorts: &'static [&'static str],
    /// Available filters.
    pub filters: &'static [Filter],
    /// Description of the fields that `query` searches. Without it there is no `query`.
    pub search: Option<&'static str>,
    /// Field of `date_from` and `date_to`. Without it there are none.
    pub period: Option<&'static str>,
    /// Default order.
    pub order: Sort,
}

/// Column: its name, and the value that a row shows in it.
pub struct Column<R> {
    key: &'static str,
    text: &'static str,
    has_icon: bool,
    cell: fn(&R) -> Cell,
}

impl<R> Column<R> {
    /// Creates a column from the field of the row, the heading, and the cell of a row, which is a bare value.
    pub const fn new(key: &'static str, text: &'static str, cell: fn(&R) -> Cell) -> Self {
        Self { key, text, has_icon: false, cell }
    }

    /// Like [`Column::new`], with cells that are objects and may have an icon: [`Cell::linked`].
    pub const fn with_icon(key: &'static str, text: &'static str, cell: fn(&R) -> Cell) -> Self {
        Self { key, text, has_icon: true, cell }
    }
}

/// Content of a cell.
pub enum Cell {
    /// Bare value.
    Plain(Value),
    /// `{icon, value, link}`: the raw value is `row.<field>.value`.
    Linked {
        /// Displayed value.
        value: Value,
        /// URL of an image, or `null`.
        icon: Option<String>,
        /// Link of the value, or `null`.
        link: Option<String>,
    },
}

impl Cell {
    /// Creates a cell with a bare value.
    pub fn plain(value: impl Into<Value>) -> Self {
        Self::Plain(value.into())
    }

    /// Creates a cell with a time in ISO 8601, or `null`.
    pub fn moment(at: impl Into<Option<DateTime<Utc>>>) -> Self {
        Self::Plain(json!(at.into()))
    }

    /// Creates a cell with a link to a record.
    pub fn linked(value: impl Into<Value>, link: String) -> Self {
        Self::Linked { value: value.into(), icon: None, link: Some(link) }
    }

    fn render(self) -> Value {
        match self {
            Self::Plain(value) => value,
            Self::Linked { value, icon, link } => json!({ "icon": icon, "value": value, "link": link }),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct ColumnRecord {
    id: i64,
    table_id: i64,
    order: i64,
    key: &'static str,
    has_icon: bool,
    text: &'static str,
}

/// Envelope of a table. Beside `columns` and `pagination` it has the rows under the name of the resource.
#[derive(Serialize, ToSchema)]
pub struct TableAnswer {
    columns: Vec<ColumnRecord>,
    #[serde(flatten)]
    #[schema(value_type = BTreeMap<String, Vec<Object>>)]
    rows: BTreeMap<&'static str, Vec<Map<String, Value>>>,
    pagination: Pagination,
}

impl<R> Table<R> {
    /// Renders a page of records.
    pub fn render(&self, page: &Page<R>) -> TableAnswer {
        let columns = self.columns.iter().zip(1_i64..).map(|(column, order)| ColumnRecord {
            id: self.id * 100 + order,
            table_id: self.id,
            order,
            key: column.key,
            has_icon: column.has_icon,
            text: column.text,
        });
        let row = |record: &R| {
            let cells = self.columns.iter().map(|column| (column.key.to_owned(), (column.cell)(record).render()));
            cells.chain(self.version.map(|version| ("version".to_owned(), version(record)))).collect()
        };
        TableAnswer {
            columns: columns.collect(),
            rows: BTreeMap::from([(self.resource, page.items.iter().map(row).collect())]),
            pagination: page.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::PageRequest;

    #[test]
    fn rows_stand_under_the_name_of_the_resource() {
        const TABLE: Table<(i64, &str)> = Table {
            id: 7,
            resource: "things",
            version: Some(|(id, _)| json!(id + 1)),
            columns: &[
                Column::new("id", "No.", |(id, _)| Cell::plain(*id)),
                Column::with_icon("name", "Name", |(id, name)| Cell::linked(*name, format!("/api/things/{id}"))),
            ],
            sorts: &[],
            filters: &[],
            search: None,
            period: None,
            order: Sort::ascending("id"),
        };
        let page = Page { items: vec![(1, "A")], total: 1, request: PageRequest::new(1, 15, 100).unwrap() };
        let answer = serde_json::to_value(TABLE.render(&page)).unwrap();
        assert_eq!(answer["things"][0]["name"], json!({ "icon": null, "value": "A", "link": "/api/things/1" }));
        assert_eq!(
            answer["columns"][1],
            json!({
                "id": 702, "table_id": 7, "order": 2, "key": "name", "has_icon": true, "text": "Name",
            })
        );
        assert_eq!(answer["things"][0]["version"], 2);
        assert_eq!(answer["pagination"]["total"], 1);
    }
}
