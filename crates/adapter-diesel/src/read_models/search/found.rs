//! Items that a search shows, and their order.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use diesel::result::Error as QueryError;
use kontor_catalog::model::{NearQuery, Relevance, SearchQuery, SearchTerm, SearchText};
use kontor_kernel::{Line, PageRequest, ProjectId};

use super::terms::{SAMPLE, conditions, known, matched, matched_in_parts, sample};
use crate::database::AnyConnection;
use crate::listing::Recent;
use crate::statement::{Statement, by_place};

/// Maximum records that a search of staff counts and pages through. A user with more matches refines the search, and
/// counting a million would take too long.
pub(crate) const MAX_FOUND: i64 = 10_000;

/// The same for customers. PostgreSQL finds the first thousand matches of a frequent word by reading rows; more take ten
/// times as long.
pub(crate) const MAX_FOUND_BY_CUSTOMERS: i64 = 1_000;

/// Maximum items that are sorted. More frequent words fill a page soon by reading rows in the requested order.
const MAX_SORTED: i64 = 2_000;

/// Maximum items with exactly the typed article.
const MAX_EXACT: i64 = 20;

/// Maximum items ranked by relevance.
const MAX_RANKED: usize = 300;

/// Maximum texts compared by letter when nothing is found.
const MAX_COMPARED: i64 = 3_000;

/// Texts that are compared first. If there are more, those that match show the spelling to search for.
const FIRST_COMPARED: i64 = 200;

by_place! {
    struct CandidateRow {
        part: i64,
        id: i64,
        line: String,
    }
}

by_place! {
    struct TextRow {
        id: i64,
        line: String,
    }
}

by_place! {
    struct NamedRow {
        id: i64,
        name: String,
        article: Option<String>,
        line: String,
    }
}

/// Matches of frequent words, by search.
pub(crate) type FrequentMatches = Recent<Vec<i64>>;

/// A page of a search result.
pub(crate) struct Found {
    /// Ids of the items, in order.
    pub ids: Vec<i64>,
    /// Total number, at most [`Search::most`].
    pub total: i64,
}

impl Found {
    /// Returns a page of the first `total` of these items.
    fn part_of(all: &[i64], total: i64, page: PageRequest) -> Self {
        let (first, last) = bounds(page, total);
        let place = |place: i64| usize::try_from(place).unwrap_or(usize::MAX).min(all.len());
        Self { ids: all.get(place(first)..place(last)).unwrap_or_default().to_vec(), total }
    }
}

/// Rank of a match, best first. Matches of the same rank are ordered by id.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The query is the article.
    Article,
    /// The query begins this name.
    Beginning(String),
    Other(Relevance),
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
    /// Cache of searches with as many matches.
    frequent: Option<Arc<FrequentMatches>>,
}

impl Search {
    pub fn new(
        project: ProjectId,
        text: &Line<255>,
        (table, id, name): (&'static str, &'static str, &'static str),
        condition: Statement,
        most: i64,
    ) -> Self {
        let (text, query) = (text.clone(), SearchQuery::of_items(text));
        Self { project, text, query, table, id, name, condition, most, frequent: None }
    }

    /// Keeps the matches for a short time if there are more than are counted. PostgreSQL reads all of them for each page.
    pub fn cached(self, frequent: &Arc<FrequentMatches>) -> Self {
        Self { frequent: Some(Arc::clone(frequent)), ..self }
    }

    fn select(&self) -> Statement {
        Statement::new(format!("SELECT {} AS id", self.id))
    }

    /// Selects the matches from the index.
    fn matched(&self, connection: &mut AnyConnection) -> Result<Statement, QueryError> {
        let matched = matched(connection, self.project, &self.query, self.table, self.id)?;
        Ok(matched.sql(" AND ").then(self.condition.clone()))
    }

    /// Selects the matches by reading the rows of the table.
    fn matches_by_scan(&self) -> Statement {
        Statement::new(format!(" FROM {} WHERE ", self.table))
            .then(self.condition.clone())
            .sql(format!(
                " AND (SELECT {} FROM nomenclatures s WHERE s.id = {})",
                conditions("s", &self.query),
                self.id
            ))
            .once()
    }

    /// Returns the search without alternatives that no item has, and the terms that no item has.
    fn known(&self, connection: &mut AnyConnection) -> Result<(Self, Vec<SearchTerm>), QueryError> {
        let (query, missing) = known(connection, self.project, &self.query)?;
        Ok((Self { query, ..self.clone() }, missing))
    }

    fn finds_nothing(&self) -> bool {
        self.query.terms().is_empty()
    }

    fn count(&self, connection: &mut AnyConnection, most: i64) -> Result<i64, QueryError> {
        let few = Statement::new("SELECT count(*) AS total FROM (SELECT 1").then(self.matched(connection)?);
        few.sql(" LIMIT ").value(most).sql(") AS few").scalar(connection)
    }

    /// Returns the ids of the matches in ascending order, at most [`Self::most`]. If there are more, SQLite returns the
    /// lowest ids, and PostgreSQL those that it finds first: in order, it would have to read all of them.
    fn matches(&self, connection: &mut AnyConnection) -> Result<Vec<i64>, QueryError> {
        if self.finds_nothing() {
            return Ok(Vec::new());
        }
        let key = || format!("{} {} {:?} {:?}", self.project, self.table, self.query.terms(), self.condition);
        if let Some(ids) = self.frequent.as_ref().and_then(|frequent| frequent.get(&key())) {
            return Ok(ids);
        }
        let order = if connection.is_postgres() { "" } else { " ORDER BY nomenclature_search.rowid" };
        let matches = self.select().then(self.matched(connection)?).sql(order).sql(" LIMIT ").value(self.most);
        let mut ids: Vec<i64> = matches.scalars(connection)?;
        ids.sort_unstable();
        if let Some(frequent) = self.frequent.as_ref().filter(|_| count_of(&ids) >= self.most) {
            frequent.insert(key(), ids.clone());
        }
        Ok(ids)
    }

    /// Returns the items with the typed article, then the first `count` names that begin with the text, by name.
    fn leading(&self, connection: &mut AnyConnection, count: i64) -> Result<Vec<i64>, QueryError> {
        let exact = Statement::new(format!("SELECT {} AS id, s.article AS line", self.id))
            .sql(format!(" FROM nomenclatures s JOIN {} ON {} = s.id WHERE s.project_id = ", self.table, self.id))
            .value(self.project.get())
            .sql(" AND s.article_search = ")
            .value(self.query.article())
            .sql(format!(" AND {} AND ", conditions("s", &self.query)))
            .then(self.condition.clone())
            .sql(" ORDER BY s.id LIMIT ")
            .value(MAX_EXACT)
            .once();
        let exact: Vec<TextRow> = exact.rows(connection)?;
        let mut ids: Vec<i64> =
            exact.into_iter().filter(|row| self.query.is_article(&row.line)).map(|row| row.id).collect();
        let first = self.query.beginning();
        let begins = self
            .select()
            .sql(format!(" FROM {} WHERE ", self.table))
            .then(self.condition.clone())
            .sql(format!(" AND {} >= ", self.name))
            .value(first)
            .sql(format!(" AND {} < ", self.name))
            .value(format!("{first}{}", char::MAX));
        let begins = if ids.is_empty() { begins } else { begins.sql(format!(" AND NOT {}", self.id)).among(&ids) };
        let begins = begins.sql(format!(" ORDER BY {}, {} LIMIT ", self.name, self.id)).value(count);
        ids.extend(begins.scalars::<i64>(connection)?);
        Ok(ids)
    }

    /// Sorts items by their rank.
    fn by_rank(&self, connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<i64>, QueryError> {
        let rows: Vec<NamedRow> = Statement::new(
            "SELECT c.id AS id, c.name_key AS name, c.article AS article, c.search_text AS line FROM nomenclatures c \
             WHERE c.id",
        )
        .among(ids)
        .rows(connection)?;
        let mut ranked: Vec<(Rank, i64)> = rows.into_iter().map(|row| self.rank(row)).collect();
        ranked.sort_unstable();
        Ok(ranked.into_iter().map(|(_, id)| id).collect())
    }

    fn rank(&self, row: NamedRow) -> (Rank, i64) {
        let rank = if row.article.as_deref().is_some_and(|article| self.query.is_article(article)) {
            Rank::Article
        } else if row.name.starts_with(self.query.beginning()) {
            Rank::Beginning(row.name)
        } else {
            Rank::Other(self.query.relevance(&row.name, &SearchText::of_line(&row.line)))
        };
        (rank, row.id)
    }

    /// Returns a page, best matches first. If nothing matches, these are items that a mistyped query may mean.
    pub fn ranked_page(&self, connection: &mut AnyConnection, page: PageRequest) -> Result<Found, QueryError> {
        self.or_similar(connection, page, |search, connection| search.ranked(connection, page))
    }

    /// Returns a page in the order of the given ` ORDER BY ...`. If nothing matches, these are items that a mistyped query
    /// may mean; the few that are compared one by one come in the order of their typos.
    pub fn sorted(
        &self,
        connection: &mut AnyConnection,
        page: PageRequest,
        order: &Statement,
    ) -> Result<Found, QueryError> {
        self.or_similar(connection, page, |search, connection| search.in_order(connection, page, order.clone()))
    }

    /// Returns what `find` finds, or a page of items that a mistyped query may mean.
    fn or_similar(
        &self,
        connection: &mut AnyConnection,
        page: PageRequest,
        find: impl Fn(&Self, &mut AnyConnection) -> Result<Found, QueryError>,
    ) -> Result<Found, QueryError> {
        let (search, mut missing) = self.known(connection)?;
        if missing.is_empty() {
            let found = find(&search, connection)?;
            if found.total > 0 || self.finds_nothing() {
                return Ok(found);
            }
            missing = self.only_term();
        }
        if let Some(respelt) = search.respelt(connection, &missing)? {
            let found = find(&respelt, connection)?;
            if found.total >= FIRST_COMPARED {
                return Ok(found);
            }
        }
        match self.similar(connection)? {
            Near::Items(ids) => Ok(Found::part_of(&ids, count_of(&ids), page)),
            Near::Corrected(search) => find(&search, connection),
        }
    }

    /// Returns the term of a query of one term. If such a query finds nothing, no item has the term.
    fn only_term(&self) -> Vec<SearchTerm> {
        if let [term] = self.query.terms() { vec![term.clone()] } else { Vec::new() }
    }

    /// Returns the search with missing terms in the spelling of frequent words, if the project has many items. Comparing
    /// the words of some items takes less time than reading the index for every part of a mistyped word.
    fn respelt(&self, connection: &mut AnyConnection, missing: &[SearchTerm]) -> Result<Option<Self>, QueryError> {
        if missing.is_empty() {
            return Ok(None);
        }
        let lines: Vec<Option<String>> = sample(self.project).scalars(connection)?;
        if count_of(&lines) < SAMPLE {
            return Ok(None);
        }
        let words: BTreeSet<&str> = lines.iter().flatten().flat_map(|line| line.split_whitespace()).collect();
        let query = NearQuery::respelt(&self.text, &self.query, missing, &words);
        Ok(query.map(|query| Self { query, ..self.clone() }))
    }

    /// Returns a page of the matches by [`Rank`]. Of more than [`MAX_RANKED`] matches, items with the typed article and names
    /// that begin with the text are found by their own indexes, the first [`MAX_RANKED`] others are ranked, and the rest
    /// follows by id.
    fn ranked(&self, connection: &mut AnyConnection, page: PageRequest) -> Result<Found, QueryError> {
        let matches = self.matches(connection)?;
        let total = count_of(&matches);
        let (first, last) = bounds(page, self.most);
        if first >= last.min(total) {
            return Ok(Found { ids: Vec::new(), total });
        }
        let mut ids = if matches.len() > MAX_RANKED { self.leading(connection, last)? } else { Vec::new() };
        if count_of(&ids) < last {
            let leading: HashSet<i64> = ids.iter().copied().collect();
            let others: Vec<i64> = matches.into_iter().filter(|id| !leading.contains(id)).collect();
            let (ranked, rest) = others.split_at(others.len().min(MAX_RANKED));
            ids.extend(self.by_rank(connection, ranked)?);
            ids.extend(rest);
        }
        Ok(Found::part_of(&ids, total, page))
    }

    /// Selects all matches, or those that the query may mean if it finds nothing: a statement from `FROM` on.
    pub fn all_matches(&self, connection: &mut AnyConnection) -> Result<Option<Statement>, QueryError> {
        if self.finds_nothing() {
            return Ok(None);
        }
        let (search, mut missing) = self.known(connection)?;
        if missing.is_empty() {
            let ids = search.matches(connection)?;
            if !ids.is_empty() {
                return search.all_of(connection, &ids).map(Some);
            }
            missing = self.only_term();
        }
        if let Some(respelt) = search.respelt(connection, &missing)? {
            let ids = respelt.matches(connection)?;
            if count_of(&ids) >= FIRST_COMPARED {
                return respelt.all_of(connection, &ids).map(Some);
            }
        }
        Ok(Some(match self.similar(connection)? {
            Near::Items(ids) => self.these(&ids),
            Near::Corrected(search) => search.matched(connection)?,
        }))
    }

    /// Selects all matches, of which these are the first: a statement from `FROM` on.
    fn all_of(&self, connection: &mut AnyConnection, first: &[i64]) -> Result<Statement, QueryError> {
        if count_of(first) < self.most { Ok(self.these(first)) } else { self.matched(connection) }
    }

    /// Selects these items: a statement from `FROM` on.
    fn these(&self, ids: &[i64]) -> Statement {
        let from = Statement::new(format!(" FROM {} WHERE ", self.table)).then(self.condition.clone());
        from.sql(format!(" AND {}", self.id)).among(ids)
    }

    /// Returns the items that a mistyped query may mean. If many texts may be meant, the matches among the first ones
    /// show the spelling, and the index finds the others.
    fn similar(&self, connection: &mut AnyConnection) -> Result<Near, QueryError> {
        let Some(near) = NearQuery::of(&self.text) else { return Ok(Near::Items(Vec::new())) };
        let (mut rows, is_whole) = self.candidates(connection, &near, FIRST_COMPARED)?;
        if !is_whole {
            let texts: Vec<SearchText> = rows.values().map(|line| SearchText::of_line(line)).collect();
            if let Some(query) = near.corrected(&texts) {
                return Ok(Near::Corrected(Self { query, ..self.clone() }));
            }
            (rows, _) = self.candidates(connection, &near, MAX_COMPARED)?;
        }
        let typos = |(id, line): (i64, String)| Some((near.typos(&SearchText::of_line(&line))?, id));
        let mut found: Vec<(usize, i64)> = rows.into_iter().filter_map(typos).collect();
        found.sort_unstable();
        let most = usize::try_from(self.most).unwrap_or(usize::MAX);
        Ok(Near::Items(found.into_iter().map(|(_, id)| id).take(most).collect()))
    }

    /// Returns the texts of items that a mistyped query may mean, and `true` if these are all. If there are more, every
    /// combination of word parts has the same share.
    fn candidates(
        &self,
        connection: &mut AnyConnection,
        near: &NearQuery,
        most: i64,
    ) -> Result<(BTreeMap<i64, String>, bool), QueryError> {
        let parts = matched_in_parts(connection, self.project, near.candidates(), self.table, self.id)?;
        let share = most / count_of(&parts).max(1);
        let mut found = Statement::default();
        for (place, part) in parts.into_iter().enumerate() {
            found = found
                .sql(format!("{}SELECT * FROM (SELECT {place} AS part, ", if place == 0 { "" } else { " UNION ALL " }))
                .sql(format!("{} AS id", self.id))
                .then(part)
                .sql(" AND ")
                .then(self.condition.clone())
                .sql(" LIMIT ")
                .value(share)
                .sql(format!(") AS part_{place}"));
        }
        let texts = Statement::new("SELECT CAST(p.part AS BIGINT) AS part, c.id AS id, c.search_text AS line FROM (")
            .then(found)
            .sql(") AS p CROSS JOIN nomenclatures c WHERE c.id = p.id")
            .once();
        let rows: Vec<CandidateRow> = texts.rows(connection)?;
        let mut counts = BTreeMap::new();
        for row in &rows {
            *counts.entry(row.part).or_insert(0) += 1;
        }
        let is_whole = counts.values().all(|count| *count < share);
        Ok((rows.into_iter().map(|row| (row.id, row.line)).collect(), is_whole))
    }

    /// Returns a page of the matches in the given order.
    fn in_order(
        &self,
        connection: &mut AnyConnection,
        page: PageRequest,
        order: Statement,
    ) -> Result<Found, QueryError> {
        let most = if connection.is_postgres() { self.most } else { self.most.max(MAX_SORTED + 1) };
        let count = if self.finds_nothing() { 0 } else { self.count(connection, most)? };
        let total = count.min(self.most);
        let (first, last) = bounds(page, self.most);
        if first >= last.min(total) {
            return Ok(Found { ids: Vec::new(), total });
        }
        let statement = self
            .select()
            .then(self.index_or_table(connection, count)?)
            .then(order)
            .sql(" LIMIT ")
            .value(last - first)
            .sql(" OFFSET ")
            .value(first);
        Ok(Found { ids: statement.scalars(connection)?, total })
    }

    /// Selects from the index or from the table, whichever is faster for this total. PostgreSQL decides by its
    /// statistics.
    fn index_or_table(&self, connection: &mut AnyConnection, total: i64) -> Result<Statement, QueryError> {
        let by_scan = total > MAX_SORTED && !connection.is_postgres();
        if by_scan { Ok(self.matches_by_scan()) } else { self.matched(connection) }
    }

    /// Selects the lowest and the highest of a value; `value` follows `SELECT`.
    pub fn extremes(&self, connection: &mut AnyConnection, value: Statement) -> Result<Option<Statement>, QueryError> {
        if self.finds_nothing() {
            return Ok(None);
        }
        let (search, missing) = self.known(connection)?;
        if !missing.is_empty() {
            return Ok(None);
        }
        let total = if connection.is_postgres() { 0 } else { search.count(connection, MAX_SORTED + 1)? };
        let found = search.index_or_table(connection, total)?;
        if total <= MAX_SORTED {
            let both = Statement::new("SELECT min(").then(value.clone()).sql(") AS lowest, max(").then(value);
            return Ok(Some(both.sql(") AS highest").then(found)));
        }
        let end = |direction: &'static str| {
            let one = Statement::new("(SELECT ").then(value.clone()).then(found.clone()).sql(" ORDER BY ");
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
            let search = Search::new(ProjectId::new(1).unwrap(), &text, table, Statement::new(condition), MAX_FOUND);
            let plan = db
                .database
                .read(move |connection| {
                    let others = search.select().then(search.matched(connection)?);
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
