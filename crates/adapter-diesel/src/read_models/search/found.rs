//! Items that a search shows, and their order.

use diesel::result::Error as QueryError;
use diesel::sql_types::{BigInt, Text};
use kontor_catalog::model::{NearQuery, SearchQuery, SearchText};
use kontor_kernel::{Line, PageRequest, ProjectId};

use super::terms::{conditions, matched};
use crate::database::AnyConnection;
use crate::statement::{IdRow, Statement, by_place};

/// Maximum records that a search of staff counts and pages through. A user with more matches refines the search, and
/// counting a million would take too long.
pub(crate) const MOST: i64 = 10_000;

/// The same for customers. PostgreSQL finds the first thousand matches of a frequent word by reading rows; more take ten
/// times as long.
pub(crate) const MOST_OF_CUSTOMERS: i64 = 1_000;

/// Maximum items that are sorted. More frequent words fill a page soon by reading rows in the requested order.
const FEW: i64 = 2_000;

/// Maximum items with exactly the typed article.
const EXACT: i64 = 20;

/// Maximum items ranked by relevance.
const RANKED: i64 = 300;

/// Maximum texts compared by letter when nothing is found.
const COMPARED: i64 = 3_000;

/// Texts that are compared first. If there are more, those that match show the spelling to search for.
const SAMPLE: i64 = 200;

by_place! {
    struct TotalRow {
        total: i64 as BigInt,
    }
}

by_place! {
    struct TextRow {
        id: i64 as BigInt,
        line: String as Text,
    }
}

by_place! {
    struct NamedRow {
        id: i64 as BigInt,
        name: String as Text,
        line: String as Text,
    }
}

/// A page of a search result.
pub(crate) struct Found {
    /// Ids of the items, in order.
    pub ids: Vec<i64>,
    /// Total number, at most [`Search::most`].
    pub total: i64,
}

impl Found {
    /// Returns a page of all these items.
    fn part_of(all: &[i64], page: PageRequest) -> Self {
        let total = count_of(all);
        let (first, last) = bounds(page, MOST);
        let place = |place: i64| usize::try_from(place.clamp(0, total)).unwrap_or_default();
        Self { ids: all.get(place(first)..place(last)).unwrap_or_default().to_vec(), total }
    }
}

/// Result of a query with typos.
enum Near {
    /// Items, those with the fewest typos first.
    Items(Vec<i64>),
    /// The same search in the spelling of the items.
    Corrected(Search),
}

/// A search among the rows of a table.
#[derive(Clone)]
pub(crate) struct Search {
    pub project: ProjectId,
    /// Text of the query.
    pub text: Line<255>,
    pub query: SearchQuery,
    /// Table and its alias.
    pub table: &'static str,
    /// Column with the id of the item.
    pub id: &'static str,
    /// Column with the name in lower case.
    pub name: &'static str,
    /// Additional condition on the rows.
    pub condition: Statement,
    /// Maximum matches that are counted and paged through.
    pub most: i64,
}

impl Search {
    pub fn new(
        project: ProjectId,
        text: &Line<255>,
        (table, id, name): (&'static str, &'static str, &'static str),
        condition: Statement,
        most: i64,
    ) -> Self {
        Self { project, text: text.clone(), query: SearchQuery::of_items(text), table, id, name, condition, most }
    }

    fn select(&self) -> Statement {
        Statement::new(format!("SELECT {} AS id", self.id))
    }

    /// Selects the matches from the index.
    fn matched(&self, connection: &AnyConnection) -> Statement {
        let matched = matched(connection, self.project, &self.query, self.table, self.id);
        matched.sql(" AND ").then(self.condition.clone())
    }

    /// Selects the matches by reading the rows of the table.
    fn looked_at(&self) -> Statement {
        Statement::new(format!(" FROM {} WHERE ", self.table))
            .then(self.condition.clone())
            .sql(format!(
                " AND (SELECT {} FROM nomenclatures s WHERE s.id = {})",
                conditions("s", &self.query),
                self.id
            ))
            .once()
    }

    fn finds_nothing(&self) -> bool {
        self.query.terms().is_empty()
    }

    fn count(&self, connection: &mut AnyConnection, most: i64) -> Result<i64, QueryError> {
        let few = Statement::new("SELECT count(*) AS total FROM (SELECT 1").then(self.matched(connection));
        let row: TotalRow = few.sql(" LIMIT ").value(most).sql(") AS few").row(connection)?;
        Ok(row.total)
    }

    fn ids(statement: Statement, connection: &mut AnyConnection) -> Result<Vec<i64>, QueryError> {
        let rows: Vec<IdRow> = statement.rows(connection)?;
        Ok(rows.into_iter().map(|row| row.id).collect())
    }

    /// Returns the items with the typed article.
    fn exact(&self, connection: &mut AnyConnection) -> Result<Vec<i64>, QueryError> {
        let exact = Statement::new(format!("SELECT {} AS id, s.article AS line", self.id))
            .sql(format!(" FROM nomenclatures s JOIN {} ON {} = s.id WHERE s.project_id = ", self.table, self.id))
            .value(self.project.get())
            .sql(" AND s.article_search = ")
            .value(self.query.article())
            .sql(format!(" AND {} AND ", conditions("s", &self.query)))
            .then(self.condition.clone())
            .sql(" ORDER BY s.id LIMIT ")
            .value(EXACT)
            .once();
        let rows: Vec<TextRow> = exact.rows(connection)?;
        Ok(rows.into_iter().filter(|row| self.query.is_article(&row.line)).map(|row| row.id).collect())
    }

    /// Condition that the name begins with the typed text.
    fn begins(&self) -> Statement {
        let first = self.query.beginning();
        Statement::new(format!("({} >= ", self.name))
            .value(first)
            .sql(format!(" AND {} < ", self.name))
            .value(format!("{first}{}", char::MAX))
            .sql(")")
    }

    fn but(&self, ids: &[i64]) -> Statement {
        Statement::new(format!(" AND NOT {}", self.id)).among(ids)
    }

    /// Returns a page, best matches first. If nothing matches, these are items that a mistyped query may mean.
    pub fn best(&self, connection: &mut AnyConnection, page: PageRequest) -> Result<Found, QueryError> {
        let found = self.ranked(connection, page)?;
        if found.total > 0 || self.finds_nothing() {
            return Ok(found);
        }
        match self.near(connection)? {
            Near::Items(ids) => Ok(Found::part_of(&ids, page)),
            Near::Corrected(search) => search.ranked(connection, page),
        }
    }

    /// Returns a page of the matches:
    /// 1. items with the typed article
    /// 2. names that begin with the text, by name
    /// 3. the first [`RANKED`] others by [`Relevance`](kontor_catalog::model::Relevance)
    /// 4. the rest by id
    fn ranked(&self, connection: &mut AnyConnection, page: PageRequest) -> Result<Found, QueryError> {
        let (first, last) = bounds(page, self.most);
        if self.finds_nothing() || first >= last {
            return Ok(Found { ids: Vec::new(), total: self.total(connection)? });
        }
        let exact = self.exact(connection)?;
        let but_exact = if exact.is_empty() { Statement::default() } else { self.but(&exact) };
        let begins = self
            .select()
            .sql(format!(" FROM {} WHERE ", self.table))
            .then(self.condition.clone())
            .sql(" AND ")
            .then(self.begins())
            .then(but_exact.clone())
            .sql(format!(" ORDER BY {}, {} LIMIT ", self.name, self.id))
            .value(last);
        let mut ids = exact;
        ids.extend(Self::ids(begins, connection)?);
        let leading = count_of(&ids);
        let mut known = None;
        if leading < last {
            let skipped = (first - leading).max(0);
            let wanted = last - leading - skipped;
            let (others, count) = self.others(connection, &but_exact, skipped, wanted)?;
            known = count.map(|count| leading + count);
            ids.drain(..usize::try_from(first.min(leading)).unwrap_or_default());
            ids.extend(others);
        } else {
            ids.truncate(usize::try_from(last).unwrap_or(usize::MAX));
            ids.drain(..usize::try_from(first).unwrap_or_default());
        }
        let total = match known {
            Some(total) => total.min(self.most),
            None => self.total(connection)?,
        };
        Ok(Found { ids, total })
    }

    /// Returns `wanted` matches after `skipped` ones, without exact articles and names that begin with the text, and the
    /// number of all of them if it is known: every further statement costs as much as the search itself.
    fn others(
        &self,
        connection: &mut AnyConnection,
        but_exact: &Statement,
        skipped: i64,
        wanted: i64,
    ) -> Result<(Vec<i64>, Option<i64>), QueryError> {
        let order = if connection.is_postgres() { self.id } else { "nomenclature_search.rowid" };
        let by_number = |connection: &AnyConnection, wanted: i64, skipped: i64| {
            self.select()
                .then(self.matched(connection))
                .sql(" AND NOT ")
                .then(self.begins())
                .then(but_exact.clone())
                .sql(format!(" ORDER BY {order} LIMIT "))
                .value(wanted)
                .sql(" OFFSET ")
                .value(skipped)
        };
        let mut ids = Vec::new();
        if skipped < RANKED {
            let ranked = Statement::new(
                "SELECT c.id AS id, c.name_key AS name, c.search_text AS line FROM nomenclatures c WHERE c.id IN (",
            );
            let ranked = ranked.then(by_number(connection, RANKED, 0)).sql(")");
            let rows: Vec<NamedRow> = ranked.rows(connection)?;
            let count = count_of(&rows);
            let rank = |row: NamedRow| (self.query.relevance(&row.name, &SearchText::of_line(&row.line)), row.id);
            let mut ranked: Vec<_> = rows.into_iter().map(rank).collect();
            ranked.sort_unstable();
            let places = |count: i64| usize::try_from(count).unwrap_or_default();
            ids.extend(ranked.into_iter().map(|(_, id)| id).skip(places(skipped)).take(places(wanted)));
            if count < RANKED {
                return Ok((ids, Some(count)));
            }
        }
        let missing = wanted - count_of(&ids);
        if missing == 0 {
            return Ok((ids, None));
        }
        let begin = skipped.max(RANKED);
        let last = Self::ids(by_number(connection, missing, begin), connection)?;
        let count = count_of(&last);
        ids.extend(last);
        // A page that is not full ends the list.
        let is_end = count < missing && (count > 0 || begin == RANKED);
        Ok((ids, is_end.then_some(begin + count)))
    }

    /// Selects all matches, or those that the query may mean if it finds nothing: a statement from `FROM` on.
    pub fn everything(&self, connection: &mut AnyConnection) -> Result<Option<Statement>, QueryError> {
        if self.finds_nothing() {
            return Ok(None);
        }
        if self.count(connection, 1)? > 0 {
            return Ok(Some(self.matched(connection)));
        }
        let from = Statement::new(format!(" FROM {} WHERE ", self.table)).then(self.condition.clone());
        Ok(Some(match self.near(connection)? {
            Near::Items(ids) => from.sql(format!(" AND {}", self.id)).among(&ids),
            Near::Corrected(search) => search.matched(connection),
        }))
    }

    /// Returns the items that a mistyped query may mean. If many texts may be meant, the matches among the first ones
    /// show the spelling, and the index finds the others.
    fn near(&self, connection: &mut AnyConnection) -> Result<Near, QueryError> {
        let Some(near) = NearQuery::of(&self.text) else { return Ok(Near::Items(Vec::new())) };
        let mut rows = self.candidates(connection, &near, SAMPLE)?;
        if count_of(&rows) == SAMPLE {
            let texts: Vec<SearchText> = rows.iter().map(|row| SearchText::of_line(&row.line)).collect();
            if let Some(query) = near.corrected(&texts) {
                return Ok(Near::Corrected(Self { query, ..self.clone() }));
            }
            rows = self.candidates(connection, &near, COMPARED)?;
        }
        let typos = |row: TextRow| Some((near.typos(&SearchText::of_line(&row.line))?, row.id));
        let mut found: Vec<(usize, i64)> = rows.into_iter().filter_map(typos).collect();
        found.sort_unstable();
        let most = usize::try_from(self.most).unwrap_or(usize::MAX);
        Ok(Near::Items(found.into_iter().map(|(_, id)| id).take(most).collect()))
    }

    /// Returns the first texts that a mistyped query may mean.
    fn candidates(
        &self,
        connection: &mut AnyConnection,
        near: &NearQuery,
        most: i64,
    ) -> Result<Vec<TextRow>, QueryError> {
        let candidates = Statement::new(format!(
            "SELECT c.id AS id, c.search_text AS line FROM nomenclatures c WHERE c.id IN (SELECT {}",
            self.id
        ))
        .then(matched(connection, self.project, near.candidates(), self.table, self.id))
        .sql(" AND ")
        .then(self.condition.clone())
        .sql(" LIMIT ")
        .value(most)
        .sql(")");
        candidates.rows(connection)
    }

    /// Returns the number of matches, at most [`Self::most`].
    fn total(&self, connection: &mut AnyConnection) -> Result<i64, QueryError> {
        if self.finds_nothing() { Ok(0) } else { self.count(connection, self.most) }
    }

    /// Returns a page in the order of the given ` ORDER BY ...`. If nothing matches, these are items that a mistyped query
    /// may mean; the few that are compared one by one come in the order of their typos.
    pub fn sorted(
        &self,
        connection: &mut AnyConnection,
        page: PageRequest,
        order: Statement,
    ) -> Result<Found, QueryError> {
        let found = self.in_order(connection, page, order.clone())?;
        if found.total > 0 || self.finds_nothing() {
            return Ok(found);
        }
        match self.near(connection)? {
            Near::Items(ids) => Ok(Found::part_of(&ids, page)),
            Near::Corrected(search) => search.in_order(connection, page, order),
        }
    }

    /// Returns a page of the matches in the given order.
    fn in_order(
        &self,
        connection: &mut AnyConnection,
        page: PageRequest,
        order: Statement,
    ) -> Result<Found, QueryError> {
        let most = if connection.is_postgres() { self.most } else { self.most.max(FEW + 1) };
        let count = if self.finds_nothing() { 0 } else { self.count(connection, most)? };
        let total = count.min(self.most);
        let (first, last) = bounds(page, self.most);
        if first >= last.min(total) {
            return Ok(Found { ids: Vec::new(), total });
        }
        let statement = self
            .select()
            .then(self.either(connection, count))
            .then(order)
            .sql(" LIMIT ")
            .value(last - first)
            .sql(" OFFSET ")
            .value(first);
        Ok(Found { ids: Self::ids(statement, connection)?, total })
    }

    /// Selects from the index or from the table, whichever is faster for this total. PostgreSQL decides by its
    /// statistics.
    fn either(&self, connection: &AnyConnection, total: i64) -> Statement {
        if total > FEW && !connection.is_postgres() { self.looked_at() } else { self.matched(connection) }
    }

    /// Selects the lowest and the highest of a value; `value` follows `SELECT`.
    pub fn extremes(&self, connection: &mut AnyConnection, value: Statement) -> Result<Option<Statement>, QueryError> {
        if self.finds_nothing() {
            return Ok(None);
        }
        let total = if connection.is_postgres() { 0 } else { self.count(connection, FEW + 1)? };
        let found = || self.either(connection, total);
        if total <= FEW {
            let both = Statement::new("SELECT min(").then(value.clone()).sql(") AS lowest, max(").then(value);
            return Ok(Some(both.sql(") AS highest").then(found())));
        }
        let end = |direction: &'static str| {
            let one = Statement::new("(SELECT ").then(value.clone()).then(found()).sql(" ORDER BY ");
            one.then(value.clone()).sql(direction).sql(" LIMIT 1)")
        };
        Ok(Some(Statement::new("SELECT ").then(end("")).sql(" AS lowest, ").then(end(" DESC")).sql(" AS highest")))
    }
}

fn count_of<T>(items: &[T]) -> i64 {
    i64::try_from(items.len()).unwrap_or(i64::MAX)
}

/// Returns the positions of a page, none beyond `most`.
fn bounds(page: PageRequest, most: i64) -> (i64, i64) {
    let first = page.offset().min(most);
    (first, (first + page.limit()).min(most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Abort;
    use crate::testing::{Kind, TestDatabase};
    use kontor_kernel::StoreError;

    #[tokio::test]
    async fn a_search_walks_its_index_in_order_and_looks_rows_up_by_key() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let tables = [
            (("storefront_offers o", "o.nomenclature_id", "o.name_key"), "o.application_id = 1"),
            (("nomenclatures o", "o.id", "o.name_key"), "o.project_id = 1"),
        ];
        for (table, condition) in tables {
            let text = Line::parse("oak ta KN-1").unwrap();
            let search = Search::new(ProjectId::new(1).unwrap(), &text, table, Statement::new(condition), MOST);
            let plan = db
                .database
                .read(move |connection| {
                    let others = search.select().then(search.matched(connection));
                    let others = others.sql(" ORDER BY nomenclature_search.rowid LIMIT 10");
                    others.plan(connection).map_err(Abort::<StoreError>::Query)
                })
                .await
                .unwrap();
            assert!(plan.contains("SCAN nomenclature_search VIRTUAL TABLE INDEX"), "{plan}");
            assert!(plan.contains("SEARCH o USING") && !plan.contains("TEMP B-TREE"), "{plan}");
        }
    }
}
