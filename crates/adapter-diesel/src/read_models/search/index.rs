//! Search index of items and content pages, updated in the transactions that write them.

use diesel::result::{Error as QueryError, QueryResult};
use kontor_catalog::model::{SearchQuery, SearchText};
use kontor_kernel::{Line, Name, ProjectId, StoreError};

use super::terms::{Grams, conditions, document, expression};
use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, repeat_until_zero};
use crate::decode;
use crate::statement::{Statement, by_place};

const ROWS: usize = 200;

by_place! {
    struct ItemRow {
        id: i64,
        project_id: i64,
        name: String,
        article: Option<String>,
    }
}

/// Adds new items to the index, in the transaction that wrote them. PostgreSQL needs only the columns of the items.
pub(crate) fn put(
    connection: &mut AnyConnection,
    project: ProjectId,
    items: &[(i64, SearchText)],
) -> Result<(), QueryError> {
    if connection.is_postgres() {
        return Ok(());
    }
    for items in items.chunks(ROWS) {
        let insert = Statement::new("INSERT INTO nomenclature_search (rowid, grams) VALUES ")
            .tuples(items.iter().map(|(id, text)| [(*id).into(), document(project, text, Grams::Names).into()]));
        // Full chunks and single items share one statement text each.
        let insert = if items.len() == ROWS || items.len() == 1 { insert } else { insert.once() };
        insert.run(connection)?;
    }
    Ok(())
}

/// Updates changed items in the index, in the transaction that changed them.
pub(crate) fn update_index(
    connection: &mut AnyConnection,
    project: ProjectId,
    items: &[(i64, SearchText)],
) -> Result<(), QueryError> {
    if connection.is_postgres() {
        return Ok(());
    }
    for chunk in items.chunks(ROWS) {
        let ids: Vec<i64> = chunk.iter().map(|(id, _)| *id).collect();
        Statement::new("DELETE FROM nomenclature_search WHERE rowid").among(&ids).run(connection)?;
    }
    put(connection, project, items)
}

/// Writes search texts and sort keys of these items, from their names and articles.
pub(crate) fn refill<R>(connection: &mut AnyConnection, items: &[i64]) -> Result<(), Abort<R>> {
    for items in items.chunks(ROWS) {
        let rows: Vec<ItemRow> = Statement::new("SELECT id, project_id, name, article FROM nomenclatures WHERE id")
            .among(items)
            .rows(connection)?;
        if rows.is_empty() {
            continue;
        }
        let mut entries: Vec<(ProjectId, i64, SearchText, Vec<u8>)> = Vec::with_capacity(rows.len());
        for row in rows {
            let name: Name = decode::owned(row.name)?;
            let article: Option<Line<100>> = row.article.map(decode::owned).transpose()?;
            entries.push((
                decode::id(row.project_id)?,
                row.id,
                SearchText::of(&name, article.as_ref()),
                sort_key(&name),
            ));
        }
        let values = entries.iter().map(|(project, id, text, key)| {
            [(*id).into(), text.line().into(), text.article().into(), key.clone().into(), project.get().into()]
        });
        Statement::new(
            "UPDATE nomenclatures SET search_text = v.column2, article_search = v.column3, sort_key = v.column4 FROM (VALUES ",
        )
        .tuples(values)
        .sql(") AS v WHERE nomenclatures.id = v.column1 AND nomenclatures.project_id = v.column5")
        .once()
        .run(connection)?;
        Statement::new(
            "UPDATE storefront_offers SET sort_key = n.sort_key FROM nomenclatures n \
             WHERE n.id = storefront_offers.nomenclature_id AND n.project_id = storefront_offers.project_id \
             AND storefront_offers.sort_key IS DISTINCT FROM n.sort_key AND storefront_offers.nomenclature_id",
        )
        .among(items)
        .run(connection)?;
        entries.sort_by_key(|(project, id, ..)| (*project, *id));
        for of_project in entries.chunk_by(|(left, ..), (right, ..)| left == right) {
            let Some((project, ..)) = of_project.first() else { continue };
            let items: Vec<(i64, SearchText)> = of_project.iter().map(|(_, id, text, _)| (*id, text.clone())).collect();
            update_index(connection, *project, &items)?;
        }
    }
    Ok(())
}

by_place! {
    struct EntryRow {
        id: i64,
        project_id: i64,
        name: String,
        article: Option<String>,
        search_text: Option<String>,
        article_search: Option<String>,
        sort_key: Option<Vec<u8>>,
        is_listed: bool,
    }
}

/// Column with the search text of an item.
pub(crate) const SEARCH_TEXT_COLUMN: &str = "nomenclatures.search_text";

/// Returns project and id of those items whose search text or sort key is outdated.
pub(crate) fn outdated_items(
    connection: &mut AnyConnection,
    items: &[i64],
) -> Result<Vec<(i64, i64)>, Abort<StoreError>> {
    // The index of SQLite does not return its texts, only which items it contains.
    let listed = if connection.is_postgres() {
        "TRUE"
    } else {
        "EXISTS (SELECT 1 FROM nomenclature_search_docsize d WHERE d.id = n.id)"
    };
    let select = "SELECT n.id, n.project_id, n.name, n.article, n.search_text, n.article_search, n.sort_key, ";
    let rows: Vec<EntryRow> = Statement::new(format!("{select}{listed} FROM nomenclatures n WHERE n.id"))
        .among(items)
        .sql(" ORDER BY n.id")
        .rows(connection)?;
    let mut off = Vec::new();
    for row in rows {
        let name: Name = decode::owned(row.name)?;
        let article: Option<Line<100>> = row.article.map(decode::owned).transpose()?;
        let text = SearchText::of(&name, article.as_ref());
        let is_right = row.is_listed
            && row.search_text.as_deref() == Some(text.line().as_str())
            && row.article_search.as_deref() == text.article()
            && row.sort_key.as_deref() == Some(sort_key(&name).as_slice());
        if !is_right {
            off.push((row.project_id, row.id));
        }
    }
    Ok(off)
}

/// Fills in values that a migration cleared. Each batch is one transaction; the next run continues with the rest.
pub(crate) fn fill_missing(connection: &mut AnyConnection) -> Result<(), Abort<StoreError>> {
    repeat_until_zero(connection, |connection| {
        let missing =
            "SELECT id, project_id, name, article FROM nomenclatures WHERE search_text IS NULL ORDER BY id LIMIT 500";
        let rows: Vec<ItemRow> = Statement::new(missing).rows(connection)?;
        let ids: Vec<i64> = rows.into_iter().map(|row| row.id).collect();
        refill::<StoreError>(connection, &ids)?;
        Ok(ids.len())
    })
}

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
    delete_page(connection, page)?;
    if text.words().is_empty() {
        return Ok(());
    }
    Statement::new("INSERT INTO page_search (rowid, grams) VALUES ")
        .tuple([page.into(), document(project, text, Grams::Texts).into()])
        .run(connection)?;
    Ok(())
}

/// Removes a page from the index.
pub(crate) fn delete_page(connection: &mut AnyConnection, page: i64) -> QueryResult<()> {
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
