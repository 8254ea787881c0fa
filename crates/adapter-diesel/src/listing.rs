//! Declarative lists: each field is mapped to a column. A request selects one page of record numbers, which the loader
//! of the list turns into records.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use diesel::result::QueryResult;
use kontor_kernel::listing::{Comparison, Condition, FilterValue, Sort};
use kontor_kernel::{Line, Listing, Page, PageRequest, ProjectId, StoreError};
use quick_cache::sync::Cache;

use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::statement::{Statement, Value};

/// Source of the records of a list.
pub(crate) struct Source {
    /// Table with alias and joins: `warehouses w`.
    pub from: &'static str,
    /// Column of the record number: `w.id`.
    pub id: &'static str,
    /// Fields for filters and sorting: wire name and SQL expression.
    pub fields: &'static [(&'static str, &'static str)],
    /// Condition for records that match a search text.
    pub search: fn(&Line<255>) -> Statement,
}

/// Up to this many records are counted for every page of a long list: counting a million takes as long as reading them.
pub(crate) const ALWAYS_COUNTED: i64 = 1_000;

/// Lifetime of a cached fact.
const CACHE_LIFETIME: Duration = Duration::from_secs(10);

/// Number of records from which a page is searched in the order of its list.
const ORDERED_SEARCH_MINIMUM: i64 = 10_000;

/// Cached facts about long lists, by query.
pub(crate) struct Recent<T>(Cache<String, (Instant, T)>);

/// Cached totals of long lists.
pub(crate) type Totals = Recent<i64>;

impl<T: Clone> Default for Recent<T> {
    fn default() -> Self {
        Self(Cache::new(1_024))
    }
}

impl<T: Clone> Recent<T> {
    /// Returns the cached fact, unless it is too old.
    pub(crate) fn get(&self, asked: &str) -> Option<T> {
        self.0.get(asked).filter(|(counted, _)| counted.elapsed() < CACHE_LIFETIME).map(|(_, fact)| fact)
    }

    /// Caches a fact.
    pub(crate) fn insert(&self, asked: String, fact: T) {
        self.0.insert(asked, (Instant::now(), fact));
    }
}

/// Field with the creation time of a record.
const MOMENT: &str = "created_at";

/// Strategy for finding a page.
#[derive(Clone, Copy)]
enum PageStrategy {
    /// The database chooses the plan.
    AsPlanned,
    /// In the order of the list: so many records match that a page is soon full. An index over a range of numbers would
    /// find all of them first and sort them.
    ByOrder,
}

impl PageStrategy {
    /// Returns the operator that prevents the use of an index.
    fn before(self, comparison: &Comparison) -> &'static str {
        let range = match comparison {
            Comparison::AnyOf(_) => return "",
            Comparison::GreaterThan(value) | Comparison::LessThan(value) | Comparison::AtLeast(value) => value,
        };
        match (self, range) {
            (Self::ByOrder, FilterValue::Number(_)) => "+",
            _ => "",
        }
    }
}

/// Range of the sorted records.
#[derive(Clone, Copy)]
struct Window {
    limit: i64,
    offset: i64,
}

impl Window {
    fn of(page: PageRequest) -> Self {
        Self { limit: page.limit(), offset: page.offset() }
    }
}

/// Result of the first query on a long list.
enum CountedPage {
    /// The page, and the total.
    Few(Vec<i64>, i64),
    /// More than [`ALWAYS_COUNTED`] records; the page, if it was among those read.
    Many(Option<Vec<i64>>),
}

/// Nullable columns. The databases sort `NULL` differently; here it comes first in ascending order.
const MAY_BE_EMPTY: &[&str] = &["n.price", "i.price", "t.deadline", "s.sort_key"];

/// Search condition for lists without search: their tables declare no `query`.
pub(crate) fn unsearched(_: &Line<255>) -> Statement {
    Statement::new("TRUE")
}

/// Escape character for the wildcards of a `LIKE` pattern.
const ESCAPE: char = '\\';

/// Returns the pattern for keys that contain this text, which must be lower case.
pub(crate) fn containing(key: &str) -> String {
    let mut pattern = String::with_capacity(key.len() + 2);
    pattern.push('%');
    for letter in key.chars() {
        if matches!(letter, '%' | '_' | ESCAPE) {
            pattern.push(ESCAPE);
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}

/// Returns the search condition of short lists: the key of the name contains the text.
pub(crate) fn key_contains(column: &'static str, text: &Line<255>) -> Statement {
    Statement::new(column).sql(" LIKE ").value(containing(&text.key())).sql(" ESCAPE '\\'")
}

/// Returns the condition that a record belongs to the project. Search results are looked up by number; then an operator
/// prevents a walk of the indexes of the project.
pub(crate) fn of_project(column: &'static str, project: ProjectId, listing: &Listing) -> Statement {
    let sign = if listing.text.is_some() { "+" } else { "" };
    Statement::new(sign).sql(column).sql(" = ").value(project.get())
}

/// Sorts the records into the order of these numbers.
pub(crate) fn in_order<T>(ids: &[i64], records: Vec<T>, number: impl Fn(&T) -> i64) -> Vec<T> {
    let mut records: HashMap<i64, T> = records.into_iter().map(|record| (number(&record), record)).collect();
    ids.iter().filter_map(|id| records.remove(id)).collect()
}

impl From<FilterValue> for Value {
    fn from(value: FilterValue) -> Self {
        match value {
            FilterValue::Number(number) => number.into(),
            FilterValue::Text(text) => text.into(),
            FilterValue::Flag(flag) => flag.into(),
            FilterValue::Moment(moment) => moment.naive_utc().into(),
        }
    }
}

impl Source {
    /// Returns the numbers on the requested page, from the records `within`: a condition such as `w.project_id = ?`.
    pub fn page<R>(
        &self,
        connection: &mut AnyConnection,
        within: Statement,
        listing: &Listing,
    ) -> Result<Page<i64>, Abort<R>> {
        let matching = self.matching(within, listing)?;
        let items = self.numbers(connection, matching.clone(), listing, Window::of(listing.page))?;
        let total = self.count(connection, matching)?;
        Ok(Page { items, total: decode::count(total)?, request: listing.page })
    }

    /// As [`Source::page`], for a list that may be long: more than [`ALWAYS_COUNTED`] records are not counted for every page.
    pub fn page_of_many<R>(
        &self,
        connection: &mut AnyConnection,
        within: Statement,
        listing: &Listing,
        totals: &Totals,
    ) -> Result<Page<i64>, Abort<R>> {
        let matching = self.matching(within.clone(), listing)?;
        let first = self.first_of(connection, &matching, listing)?;
        let (items, total) = match first {
            CountedPage::Few(items, total) => (items, total),
            CountedPage::Many(items) => {
                let asked = format!("{} {matching:?}", self.from);
                let total = if let Some(total) = totals.get(&asked) {
                    total
                } else {
                    let total = self.count(connection, matching)?;
                    totals.insert(asked, total);
                    total
                };
                let walk = if total < ORDERED_SEARCH_MINIMUM { PageStrategy::AsPlanned } else { PageStrategy::ByOrder };
                let items = if let Some(items) = items {
                    items
                } else {
                    let matching = self.conditions(within, listing, walk)?;
                    self.numbers(connection, matching, listing, Window::of(listing.page))?
                };
                (items, total)
            }
        };
        // Records may have been added since the count.
        let seen = i64::try_from(items.len()).unwrap_or_default();
        let least = if seen > 0 { listing.page.offset() + seen } else { 0 };
        Ok(Page { items, total: decode::count(total.max(least))?, request: listing.page })
    }

    /// Determines if there are more than [`ALWAYS_COUNTED`] records, and reads the page if possible. A text search runs only
    /// once: it costs more than reading the numbers of all its results when there are few.
    fn first_of<R>(
        &self,
        connection: &mut AnyConnection,
        matching: &Statement,
        listing: &Listing,
    ) -> Result<CountedPage, Abort<R>> {
        let page = listing.page;
        if listing.text.is_some() {
            let most = Window { limit: ALWAYS_COUNTED + 1, offset: 0 };
            let found = self.numbers(connection, matching.clone(), listing, most)?;
            let total = i64::try_from(found.len()).unwrap_or_default();
            let of_page = |found: &[i64]| {
                let place = |rows: i64| usize::try_from(rows).unwrap_or(usize::MAX);
                found.iter().copied().skip(place(page.offset())).take(place(page.limit())).collect::<Vec<_>>()
            };
            let within = page.offset() + page.limit() <= ALWAYS_COUNTED;
            return Ok(match (total <= ALWAYS_COUNTED, within) {
                (true, _) => CountedPage::Few(of_page(&found), total),
                (false, true) => CountedPage::Many(Some(of_page(&found))),
                (false, false) => CountedPage::Many(None),
            });
        }
        let some = Statement::new(format!("SELECT count(*) FROM (SELECT 1 FROM {} WHERE ", self.from))
            .then(matching.clone())
            .sql(format!(" LIMIT {}) AS counted", ALWAYS_COUNTED + 1));
        let few: i64 = some.scalar(connection)?;
        if few > ALWAYS_COUNTED {
            return Ok(CountedPage::Many(None));
        }
        let items = self.numbers(connection, matching.clone(), listing, Window::of(page))?;
        Ok(CountedPage::Few(items, few))
    }

    fn count(&self, connection: &mut AnyConnection, matching: Statement) -> QueryResult<i64> {
        Statement::new(format!("SELECT count(*) FROM {} WHERE ", self.from)).then(matching).scalar(connection)
    }

    fn numbers<R>(
        &self,
        connection: &mut AnyConnection,
        matching: Statement,
        listing: &Listing,
        rows: Window,
    ) -> Result<Vec<i64>, Abort<R>> {
        let ids = Statement::new(format!("SELECT {} FROM {} WHERE ", self.id, self.from))
            .then(matching)
            .sql(self.order(listing)?)
            .sql(" LIMIT ")
            .value(rows.limit)
            .sql(" OFFSET ")
            .value(rows.offset);
        Ok(ids.scalars(connection)?)
    }

    fn column(&self, field: &str) -> Result<&'static str, StoreError> {
        let declared = self.fields.iter().find(|(name, _)| *name == field);
        declared.map(|(_, column)| *column).ok_or_else(|| {
            StoreError::Failed(format!("the list over `{}` has no column for the field `{field}`", self.from))
        })
    }

    /// Returns ` ORDER BY ...`. Creation times ascend with the numbers, so a list filtered by creation time is sorted
    /// by it, to use its index.
    pub fn order(&self, listing: &Listing) -> Result<String, StoreError> {
        let of_period = listing.conditions.iter().any(|condition| condition.field == MOMENT);
        let by_moment = Sort { field: MOMENT, ..listing.sort };
        let sort = if of_period && listing.sort.field == "id" { by_moment } else { listing.sort };
        let direction = if sort.descending { " DESC" } else { "" };
        let (column, id) = (self.column(sort.field)?, self.id);
        if column == id {
            return Ok(format!(" ORDER BY {id}{direction}"));
        }
        let empty = match (MAY_BE_EMPTY.contains(&column), sort.descending) {
            (false, _) => "",
            (true, false) => " NULLS FIRST",
            (true, true) => " NULLS LAST",
        };
        Ok(format!(" ORDER BY {column}{direction}{empty}, {id}{direction}"))
    }

    /// Returns the condition for the requested records.
    pub fn matching(&self, within: Statement, listing: &Listing) -> Result<Statement, StoreError> {
        self.conditions(within, listing, PageStrategy::AsPlanned)
    }

    fn conditions(&self, within: Statement, listing: &Listing, walk: PageStrategy) -> Result<Statement, StoreError> {
        // The conditions have too many combinations for each to stay prepared.
        let several = listing.conditions.len() > 1;
        let mut matching = if several { within.once() } else { within };
        for Condition { field, comparison } in &listing.conditions {
            matching = matching.sql(" AND ").sql(walk.before(comparison)).sql(self.column(field)?);
            matching = match comparison {
                Comparison::AnyOf(values) => among(matching, values),
                Comparison::GreaterThan(value) => matching.sql(" > ").value(value.clone()),
                Comparison::LessThan(value) => matching.sql(" < ").value(value.clone()),
                Comparison::AtLeast(value) => matching.sql(" >= ").value(value.clone()),
            };
        }
        Ok(match &listing.text {
            Some(text) => matching.sql(" AND ").then((self.search)(text)),
            None => matching,
        })
    }
}

fn among(statement: Statement, values: &[FilterValue]) -> Statement {
    let numbers: Vec<i64> = values
        .iter()
        .filter_map(|value| if let FilterValue::Number(number) = value { Some(*number) } else { None })
        .collect();
    if numbers.len() == values.len() {
        return statement.among(&numbers);
    }
    let list = statement.sql(" IN ").tuple(values.iter().cloned().map(Into::into));
    // Each length of a list is a statement of its own.
    if values.len() > 1 { list.once() } else { list }
}

#[cfg(test)]
impl Source {
    /// Returns the plan of SQLite for the first page of a list with this order and condition.
    pub async fn plan(
        &'static self,
        db: &crate::testing::TestDatabase,
        own: Statement,
        sort: Sort,
        condition: Option<Condition>,
    ) -> String {
        let all = Listing::unfiltered(sort, PageRequest::new(1, 15, 100).unwrap());
        let listing = Listing { conditions: condition.into_iter().collect(), ..all };
        let read = db.database.read(move |connection| self.plan_of(connection, own.clone(), &listing));
        read.await.unwrap()
    }

    /// Returns the plan for any listing.
    pub fn plan_of(
        &self,
        connection: &mut AnyConnection,
        own: Statement,
        listing: &Listing,
    ) -> Result<String, Abort<StoreError>> {
        let page = Statement::new(format!("SELECT {} FROM {} WHERE ", self.id, self.from))
            .then(self.matching(own, listing)?)
            .sql(self.order(listing)?)
            .sql(" LIMIT 15");
        page.plan(connection).map_err(Abort::Query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Kind, TestDatabase};

    #[test]
    fn a_pattern_means_its_text_and_nothing_else() {
        assert_eq!(containing("50%_\\"), "%50\\%\\_\\\\%");
    }

    const COUNTRIES: Source = Source { from: "countries c", id: "c.id", fields: &[("id", "c.id")], search: unsearched };

    /// Returns the total and the numbers of a page of all countries.
    async fn page(db: &TestDatabase, totals: &std::sync::Arc<Totals>, page: i64) -> (u64, Vec<i64>) {
        found(db, totals, None, page).await
    }

    /// As [`page`], for the countries that a text finds; it finds all.
    async fn found(
        db: &TestDatabase,
        totals: &std::sync::Arc<Totals>,
        text: Option<&str>,
        page: i64,
    ) -> (u64, Vec<i64>) {
        let all = Listing::unfiltered(Sort::descending("id"), PageRequest::new(page, 2, 100).unwrap());
        let listing = Listing { text: text.map(|text| Line::parse(text).unwrap()), ..all };
        let totals = std::sync::Arc::clone(totals);
        let read = db.database.snapshot(move |connection| {
            COUNTRIES.page_of_many::<StoreError>(connection, Statement::new("c.id > 1000"), &listing, &totals)
        });
        let page = read.await.unwrap();
        (page.total, page.items)
    }

    async fn add(db: &TestDatabase, from: i64, count: i64) {
        let rows =
            (from..from + count).map(|id| [id.into(), format!("Land {id}").into(), "2026-01-01 00:00:00".into()]);
        let rows: Vec<[Value; 3]> = rows.collect();
        let insert = move |connection: &mut AnyConnection| {
            let statement = Statement::new("INSERT INTO countries (id, name, created_at) VALUES ");
            statement.tuples(rows.clone()).once().run(connection)?;
            Ok::<_, Abort<StoreError>>(())
        };
        db.database.write_and_invalidate_all(insert).await.unwrap();
    }

    #[tokio::test]
    async fn short_lists_are_counted_and_long_totals_are_cached() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let totals = std::sync::Arc::new(Totals::default());
        add(&db, 1_001, 999).await;
        assert_eq!(page(&db, &totals, 1).await, (999, vec![1_999, 1_998]));
        add(&db, 2_000, 1).await;
        assert_eq!(page(&db, &totals, 1).await, (1_000, vec![2_000, 1_999]));
        add(&db, 2_001, 3).await;
        assert_eq!(page(&db, &totals, 1).await, (1_003, vec![2_003, 2_002]));
        add(&db, 2_004, 1).await;
        assert_eq!(page(&db, &totals, 1).await, (1_003, vec![2_004, 2_003]), "remembered");
        // The total is never less than the records shown so far.
        assert_eq!(page(&db, &totals, 502).await, (1_004, vec![1_002, 1_001]));
        assert_eq!(page(&db, &totals, 900).await, (1_003, vec![]));
        let forgotten = std::sync::Arc::new(Totals::default());
        assert_eq!(page(&db, &forgotten, 1).await.0, 1_004);
    }
    #[tokio::test]
    async fn search_results_are_paged_like_full_lists() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let mut last = 1_000;
        for more in [1, 998, 1, 1, 2] {
            add(&db, last + 1, more).await;
            last += more;
            for number in [1, 2, 499, 500, 501, 502, 503, 900] {
                let page = page(&db, &std::sync::Arc::default(), number).await;
                let searched = found(&db, &std::sync::Arc::default(), Some("land"), number).await;
                assert_eq!(searched, page, "page {number} of {}", last - 1_000);
            }
        }
    }
}
