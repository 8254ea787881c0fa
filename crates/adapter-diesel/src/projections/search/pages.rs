//! What pages are found by: kept in the commits that write them.

use diesel::result::QueryResult;
use kontor_catalog::model::{SearchQuery, SearchText};
use kontor_kernel::{Line, ProjectId};

use super::terms::{conditions, document, expression};
use crate::database::AnyConnection;
use crate::statement::Statement;

/// What a page is found by, as its column has it.
pub(crate) fn page_text<'a>(texts: impl IntoIterator<Item = &'a str>) -> SearchText {
    SearchText::of_texts(texts)
}

/// Has a page found by what it says now. PostgreSQL needs only the column.
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
        .tuple([page.into(), document(project, text).into()])
        .run(connection)?;
    Ok(())
}

/// Has a page found no longer.
pub(crate) fn forget_page(connection: &mut AnyConnection, page: i64) -> QueryResult<()> {
    if !connection.is_postgres() {
        Statement::new("DELETE FROM page_search WHERE rowid = ").value(page).run(connection)?;
    }
    Ok(())
}

/// That a page `p` of the project has what a text says.
pub(crate) fn pages_found(connection: &AnyConnection, project: ProjectId, text: &Line<255>) -> Statement {
    let query = SearchQuery::of(text);
    if query.terms().is_empty() {
        Statement::new("FALSE")
    } else if connection.is_postgres() {
        Statement::new(format!("({})", conditions("p", &query))).once()
    } else {
        Statement::new("p.id IN (SELECT rowid FROM page_search WHERE page_search MATCH ")
            .value(expression(project, &query))
            .sql(")")
    }
}
