//! Slugs that are unique among the records of a project or an application.

use diesel::OptionalExtension as _;
use diesel::result::QueryResult;
use kontor_content::model::Slug;
use kontor_kernel::StoreError;

use crate::database::AnyConnection;
use crate::decode::FromText;
use crate::statement::Statement;

impl FromText for Slug {
    fn from_text(text: &str) -> Result<Self, StoreError> {
        Self::parse(text).map_err(StoreError::corrupt)
    }
}

/// Table with slugs and the scope in which they are unique.
pub(super) struct Slugs {
    /// Table name.
    pub table: &'static str,
    /// Column with the owner of the records.
    pub within: &'static str,
}

impl Slugs {
    fn of(&self, selected: &'static str, owner: i64) -> Statement {
        let Self { table, within } = self;
        Statement::new(format!("SELECT {selected} FROM {table} WHERE {within} = ")).value(owner).sql(" AND slug")
    }

    /// Returns the record with the slug.
    pub fn holder(&self, connection: &mut AnyConnection, owner: i64, slug: &Slug) -> QueryResult<Option<i64>> {
        self.of("id", owner).sql(" = ").value(slug.as_str()).scalar(connection).optional()
    }

    /// Returns this slug, or the slug with a free number appended. The caller prevents concurrent assignments.
    pub fn free(&self, connection: &mut AnyConnection, owner: i64, wanted: &Slug) -> QueryResult<Slug> {
        if self.holder(connection, owner, wanted)?.is_none() {
            return Ok(wanted.clone());
        }
        // `.` follows `-` in the sort order.
        let numbered = self.of("count(*)", owner).sql(" >= ").value(format!("{wanted}-"));
        let many: i64 = numbered.sql(" AND slug < ").value(format!("{wanted}.")).scalar(connection)?;
        let mut number = u32::try_from(many).unwrap_or_default().saturating_add(2);
        loop {
            let next = wanted.numbered(number);
            if self.holder(connection, owner, &next)?.is_none() {
                return Ok(next);
            }
            number = number.saturating_add(1);
        }
    }
}
