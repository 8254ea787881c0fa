//! Key of a row of a queue.

use std::fmt::Display;

use diesel::result::QueryResult;
use diesel::sql_types::Text;

use crate::database::AnyConnection;
use crate::statement::{IdRow, Statement, Value, by_place};

/// Number or text that identifies a row.
pub(crate) trait Key: Clone + PartialEq + Display + Into<Value> + Send + Sync + 'static {
    /// Returns the keys from a statement with one column.
    fn rows(statement: Statement, connection: &mut AnyConnection) -> QueryResult<Vec<Self>>;
}

impl Key for i64 {
    fn rows(statement: Statement, connection: &mut AnyConnection) -> QueryResult<Vec<Self>> {
        let rows: Vec<IdRow> = statement.rows(connection)?;
        Ok(rows.into_iter().map(|row| row.id).collect())
    }
}

by_place! {
    struct TextRow {
        key: String as Text,
    }
}

impl Key for String {
    fn rows(statement: Statement, connection: &mut AnyConnection) -> QueryResult<Vec<Self>> {
        let rows: Vec<TextRow> = statement.rows(connection)?;
        Ok(rows.into_iter().map(|row| row.key).collect())
    }
}
