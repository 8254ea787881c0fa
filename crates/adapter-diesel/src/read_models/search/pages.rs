//! Search index of content pages, updated in the transactions that write them.

use diesel::result::QueryResult;
use kontor_catalog::model::{SearchQuery, SearchText};
use kontor_kernel::{Line, ProjectId};

use super::terms::{Grams, conditions, document, expression};
use crate::database::AnyConnection;
use crate::statement::Statement;

/// Returns the search text of a page, as stored in its column.
pub(crate) fn page_text<'a>(texts: impl IntoIterator<Item = &'a str>) -> SearchText {
    SearchText::of_texts(texts)
}

/// Updates a page in the index. PostgreSQL needs only the column.
pub(crate) fn note_page(
    connection: &mut AnyConnection,
    project: ProjectId,
    page: i64,
    text: &SearchText,
) -> QueryResult<()> {
    if connection.is_postgres() {
        return Ok(());
    }
    forget_page(connection, page)?;
    if text.words().is_empty() {
        return Ok(());
    }
    Statement::new("INSERT INTO page_search (rowid, grams) VALUES ")
        .tuple([page.into(), document(project, text, Grams::Texts).into()])
        .run(connection)?;
    Ok(())
}

/// Removes a page from the index.
pub(crate) fn forget_page(connection: &mut AnyConnection, page: i64) -> QueryResult<()> {
    if !connection.is_postgres() {
        Statement::new("DELETE FROM page_search WHERE rowid = ").value(page).run(connection)?;
    }
    Ok(())
}

/// Table expression of pages for the lookup of matches.
pub(crate) fn pages_to_find(connection: &AnyConnection) -> &'static str {
    // By primary key, SQLite would read the whole row, which contains long texts.
    if connection.is_postgres() { "pages p" } else { "pages p INDEXED BY pages_found" }
}

/// Condition that a page `p` of the project matches a text.
pub(crate) fn pages_found(connection: &AnyConnection, project: ProjectId, text: &Line<255>) -> Statement {
    let query = SearchQuery::of(text);
    if connection.is_postgres() {
        return Statement::new(format!("({})", conditions("p", &query))).once();
    }
    // The ids make SQLite use `pages_found`, even if there are none.
    let found = if query.terms().is_empty() {
        Statement::new("SELECT NULL")
    } else {
        Statement::new("SELECT rowid FROM page_search WHERE page_search MATCH ").value(expression(
            project,
            &query,
            Grams::Texts,
        ))
    };
    Statement::new("p.id IN (").then(found).sql(")")
}
