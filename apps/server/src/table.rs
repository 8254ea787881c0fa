//! Tables for staff screens, `GET /api/tables/<resource>`: declared as columns, rendered with the documented envelope.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use kontor_kernel::Page;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::http::paging::Pagination;

/// One table. The rows stand under the name of the resource.
pub struct Table<R: 'static> {
    /// The number of the table; `table_id` of its columns.
    pub id: i64,
    /// The last segment of its path and the key of its rows.
    pub resource: &'static str,
    /// Its columns, in their order.
    pub columns: &'static [Column<R>],
}

/// One column: how it is named and what a row shows in it.
pub struct Column<R> {
    /// The field of the row.
    pub key: &'static str,
    /// The heading.
    pub text: &'static str,
    /// Whether cells carry an icon.
    pub has_icon: bool,
    /// The cell of a row.
    pub cell: fn(&R) -> Cell,
}

/// What stands in a cell.
pub enum Cell {
    /// A bare value.
    Plain(Value),
    /// `{icon, value, link}`: the raw value is `row.<field>.value`.
    Linked {
        /// The value.
        value: Value,
        /// An image, or `null`.
        icon: Option<String>,
        /// Where the value leads, or `null`.
        link: Option<String>,
    },
}

impl Cell {
    /// A bare value.
    pub fn plain(value: impl Into<Value>) -> Self {
        Self::Plain(value.into())
    }

    /// A moment, ISO 8601.
    pub fn moment(at: DateTime<Utc>) -> Self {
        Self::Plain(json!(at))
    }

    /// A value that leads to a record.
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

/// The envelope of a table. Beside `columns` and `pagination` it carries the rows under the name of the resource.
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
            self.columns.iter().map(|column| (column.key.to_owned(), (column.cell)(record).render())).collect()
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
            columns: &[
                Column { key: "id", text: "No.", has_icon: false, cell: |(id, _)| Cell::plain(*id) },
                Column {
                    key: "name",
                    text: "Name",
                    has_icon: true,
                    cell: |(id, name)| Cell::linked(*name, format!("/api/things/{id}")),
                },
            ],
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
        assert_eq!(answer["pagination"]["total"], 1);
    }
}
