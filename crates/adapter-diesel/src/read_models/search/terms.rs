//! Queries in the syntax of each database. Words consist of letters and digits, so nothing needs escaping.
//!
//! Also the text indexes of PostgreSQL. They need the extensions `pg_trgm` and `btree_gin`. A server without them
//! returns the same results from the same columns, but reads more rows.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use diesel::QueryResult;
use diesel::connection::SimpleConnection;
use kontor_catalog::model::{SearchQuery, SearchTerm, SearchText, SearchWord};
use kontor_kernel::{Line, ProjectId, StoreError};

use crate::database::{Abort, AnyConnection, Database, conclude, is_lost};
use crate::statement::Statement;

const EXTENSIONS: &str = "CREATE EXTENSION IF NOT EXISTS pg_trgm; CREATE EXTENSION IF NOT EXISTS btree_gin;";

/// Maximum size in kB of the list of rows that an index does not contain yet. Every search reads the list once for each
/// scan of the index. With the default of 4 MB, PostgreSQL prefers to read a table of 10,000 items.
const PENDING_LIST: &str = "gin_pending_list_limit=128";

const TABLES: [&str; 3] = ["nomenclatures", "counterparties", "pages"];

/// Share of all items from which the index is read without the project: the list of such a project is about as long as
/// the table, and would be read with every word.
const LARGE: &str = "0.2";

/// Time until the shares are read again.
const SHARES_LIFETIME: Duration = Duration::from_mins(10);

fn are_indexed(connection: &mut AnyConnection) -> Result<bool, Abort<StoreError>> {
    let indexes = "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace \
        AND relname IN ('nomenclatures_search', 'counterparties_search', 'pages_search') AND ";
    let count: i64 = Statement::new(indexes).value(PENDING_LIST).sql(" = ANY (reloptions)").scalar(connection)?;
    Ok(usize::try_from(count) == Ok(TABLES.len()))
}

/// Returns the projects that have a large share of all items, by the statistics of the server.
fn large_projects(connection: &mut AnyConnection) -> QueryResult<Vec<i64>> {
    if let Some((_, projects)) =
        connection.large_projects.as_ref().filter(|(read_at, _)| read_at.elapsed() < SHARES_LIFETIME)
    {
        return Ok(projects.clone());
    }
    let shares = "SELECT v.id FROM pg_stats s, \
        unnest(s.most_common_vals::text::bigint[], s.most_common_freqs) AS v(id, share) \
        WHERE s.schemaname = current_schema() AND s.tablename = 'nomenclatures' AND s.attname = 'project_id' \
        AND v.share >= ";
    let projects: Vec<i64> = Statement::new(shares).sql(LARGE).scalars(connection)?;
    connection.large_projects = Some((Instant::now(), projects.clone()));
    Ok(projects)
}

/// Returns the condition that an item `s` belongs to the project. Searches of customers and pages take the plain one: they
/// are in the order of an index that begins with the project.
pub(super) fn of_project(connection: &mut AnyConnection, project: ProjectId) -> QueryResult<Statement> {
    // An expression, so that the index is not read for the project.
    let all = if large_projects(connection)?.contains(&project.get()) { " + 0" } else { "" };
    Ok(Statement::new(format!("s.project_id{all} = ")).value(project.get()))
}

fn make(connection: &mut AnyConnection) -> QueryResult<()> {
    connection.batch_execute(EXTENSIONS)?;
    for table in TABLES {
        connection.batch_execute(&format!(
            "CREATE INDEX IF NOT EXISTS {table}_search ON {table} USING gin (project_id, search_text gin_trgm_ops); \
             ALTER INDEX {table}_search SET ({PENDING_LIST})"
        ))?;
    }
    Ok(())
}

/// Creates missing indexes, unless the server does not support them.
pub(crate) fn index_texts(connection: &mut AnyConnection) -> Result<(), Abort<StoreError>> {
    if !connection.is_postgres() || are_indexed(connection)? {
        return Ok(());
    }
    match make(connection) {
        Err(error) if is_lost(&error) => Err(error.into()),
        // Another process created them in the meantime.
        Err(_) if are_indexed(connection)? => Ok(()),
        Err(error) => {
            tracing::warn!(%error, "the server has no trigram index; searches scan all records of a project");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

impl Database {
    /// Returns `true` if searches use indexes instead of reading every record of a project.
    pub fn searches_are_indexed(&self) -> Result<bool, StoreError> {
        self.with_connection(|connection| {
            if !connection.is_postgres() {
                return Ok(true);
            }
            are_indexed(connection).map_err(conclude)
        })
    }
}

/// Token length of every index, in letters.
const GRAM: usize = 3;

/// Longest token length, in letters.
const LONG: usize = 6;

/// Maximum combinations of alternatives that are written out.
const COMBINATIONS: usize = 16;

/// Maximum alternatives that are looked up before a search.
const MAX_PROBED: usize = 32;

/// Maximum items among which frequent words are looked up.
pub(super) const SAMPLE: i64 = 200;

/// Letters of a word by which the trigram index of PostgreSQL finds several words: two of its tokens.
const ENOUGH: usize = 4;

/// Number of words of which FTS5 finds few items by their first tokens alone.
const SEVERAL: usize = 3;

/// Placeholder for the two positions before a word.
const BEFORE: char = '_';

/// Additional token lengths besides [`GRAM`], longest first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Grams {
    /// Tokens of names and numbers. Three digits of an article are shared by every thousandth other one.
    Names,
    /// Tokens of whole texts: nearly every three letters occur in very many texts.
    Texts,
}

impl Grams {
    fn lengths(self) -> &'static [usize] {
        match self {
            Self::Names => &[LONG],
            Self::Texts => &[LONG, 4],
        }
    }
}

/// Returns the tokens of a word: every `count` adjacent letters, after this prefix.
fn tokens<'a>(start: &'a str, word: &'a str, count: usize) -> impl Iterator<Item = [&'a str; 2]> {
    let ends = word.char_indices().map(|(place, _)| place).chain([word.len()]).skip(count);
    word.char_indices().zip(ends).filter_map(move |((from, _), to)| Some([start, word.get(from..to)?]))
}

/// Returns the prefix of tokens of this length: the id of the project and a sign for the length. Tokens of two projects
/// or of two lengths never match each other.
fn start(project: ProjectId, count: usize) -> String {
    let sign = match count {
        GRAM => "",
        4 => "--",
        _ => "-",
    };
    format!("{project}{sign}")
}

/// Returns the FTS5 document of a text.
pub(super) fn document(project: ProjectId, text: &SearchText, grams: Grams) -> String {
    let short = start(project, GRAM);
    let longer: Vec<(usize, String)> = grams.lengths().iter().map(|count| (*count, start(project, *count))).collect();
    let mut document = String::with_capacity(512);
    for word in text.words() {
        let begun: String = [BEFORE, BEFORE].into_iter().chain(word.chars()).collect();
        let longer = longer.iter().flat_map(|(count, start)| tokens(start, word, *count));
        for parts in tokens(&short, &begun, GRAM).chain(longer) {
            document.extend(parts);
            document.push(' ');
        }
    }
    document
}

/// Returns the longest tokens of a word, in order.
fn grams_of(project: ProjectId, word: &SearchWord, grams: Grams) -> Vec<String> {
    let of = |word: &str, count: usize| {
        let start = start(project, count);
        tokens(&start, word, count).map(|parts| parts.concat()).collect()
    };
    match word {
        SearchWord::Infix(word) => {
            let letters = word.chars().count();
            of(word, grams.lengths().iter().copied().find(|count| *count <= letters).unwrap_or(GRAM))
        }
        // The first letter alone follows two placeholders, the first two follow one.
        SearchWord::Prefix(word) => {
            let before = GRAM.saturating_sub(word.chars().count());
            let begun: String = std::iter::repeat_n(BEFORE, before).chain(word.chars()).collect();
            of(&begun, GRAM)
        }
    }
}

/// Returns the word as a phrase of FTS5.
fn phrase(project: ProjectId, word: &SearchWord, grams: Grams) -> String {
    format!("\"{}\"", grams_of(project, word, grams).join(" "))
}

/// Joins the expressions of all words.
fn all(words: &[SearchWord], word: impl Fn(&SearchWord) -> String) -> String {
    words.iter().map(word).collect::<Vec<_>>().join(" AND ")
}

/// Joins the expressions of every alternative of every term.
fn all_alternatives(query: &SearchQuery, way: impl Fn(&[SearchWord]) -> String) -> String {
    let terms = query.terms().iter().map(|term| {
        let ways: Vec<String> = term.ways.iter().map(|words| format!("({})", way(words))).collect();
        format!("({})", ways.join(" OR "))
    });
    terms.collect::<Vec<_>>().join(" AND ")
}

/// Returns the FTS5 expression. The query has terms.
pub(super) fn expression(project: ProjectId, query: &SearchQuery, grams: Grams) -> String {
    all_alternatives(query, |words| all(words, |word| phrase(project, word, grams)))
}

/// Returns the expression of the first token of every word, if few items are likely to have all of them: of several terms
/// that begin differently. FTS5 reads one list for each word and no positions. The items are compared with the query.
fn beginnings(project: ProjectId, query: &SearchQuery) -> Option<String> {
    let first = |word: &SearchWord| grams_of(project, word, Grams::Names).into_iter().next().unwrap_or_default();
    let of_terms = query.terms().iter().filter_map(|term| term.ways.first()?.first());
    let different: BTreeSet<String> = of_terms.map(first).collect();
    let terms = query.terms().len();
    (terms >= SEVERAL && different.len() == terms)
        .then(|| all_alternatives(query, |words| all(words, |word| format!("\"{}\"", first(word)))))
}

/// Returns the condition that a text contains the word.
fn like(text: &str, word: &SearchWord) -> String {
    match word {
        SearchWord::Infix(word) => format!("{text} LIKE '%{word}%'"),
        SearchWord::Prefix(word) => format!("{text} LIKE '% {word}%'"),
    }
}

/// Returns the same as conditions on `search_text` of the items with this alias.
pub(super) fn conditions(alias: &str, query: &SearchQuery) -> String {
    let text = format!("{alias}.search_text");
    asked(query, |words| all(words, |word| like(&text, word)))
}

/// Returns the first letters of a long word without digits, which are enough to find it among several words. PostgreSQL
/// reads the list of every three letters of a word; those of one word have about the same rows.
fn beginning(word: &SearchWord) -> Option<SearchWord> {
    match word {
        SearchWord::Infix(word) if !word.contains(|letter: char| letter.is_ascii_digit()) => {
            let (end, _) = word.char_indices().nth(ENOUGH)?;
            word.get(..end).map(|letters| SearchWord::Infix(letters.to_owned()))
        }
        _ => None,
    }
}

/// Returns the condition for several words in one scan of the trigram index: the index finds their first letters, then
/// the whole words are compared.
fn together(text: &str, words: &[SearchWord]) -> String {
    let whole = |text: &str| all(words, |word| like(text, word));
    if words.len() < 2 || words.iter().all(|word| beginning(word).is_none()) {
        return whole(text);
    }
    let found = all(words, |word| like(text, &beginning(word).unwrap_or_else(|| word.clone())));
    // An expression, so that the index is not read for the whole words as well.
    format!("{found} AND {}", whole(&format!("({text} || '')")))
}

/// Returns the same with every combination of alternatives written out, unless they are too many. The trigram index of
/// PostgreSQL intersects the words of a combination in one scan, which ends at once if one of them is unknown, as most
/// words typed in the wrong keyboard layout are. Otherwise it collects all rows of every word.
fn conditions_by_trigrams(alias: &str, query: &SearchQuery) -> String {
    match combinations(query) {
        None => conditions(alias, query),
        Some(combinations) => {
            let text = format!("{alias}.search_text");
            let ways: Vec<String> = combinations.iter().map(|words| format!("({})", together(&text, words))).collect();
            format!("({})", ways.join(" OR "))
        }
    }
}

/// Returns every combination of alternatives, unless they are too many.
fn combinations(query: &SearchQuery) -> Option<Vec<Vec<SearchWord>>> {
    let count = query.terms().iter().fold(1_usize, |count, term| count.saturating_mul(term.ways.len()));
    if query.terms().is_empty() || count > COMBINATIONS {
        return None;
    }
    Some(query.terms().iter().fold(vec![Vec::new()], |begun: Vec<Vec<SearchWord>>, term| {
        let longer = |way: &Vec<SearchWord>| {
            let way = way.clone();
            begun.iter().map(move |words| [words.as_slice(), way.as_slice()].concat())
        };
        term.ways.iter().flat_map(longer).collect()
    }))
}

/// Returns `true` if few texts are likely to contain a word: whole numbers, and e-mail addresses with digits.
fn is_rare(word: &SearchWord) -> bool {
    match word {
        SearchWord::Infix(word) => {
            word.chars().count() >= LONG && word.contains(|letter: char| letter.is_ascii_digit())
        }
        SearchWord::Prefix(_) => false,
    }
}

/// Returns the same as conditions on a table with a `kontor_grams` index on PostgreSQL, which has six-letter tokens of
/// such words. It is used for alternatives with a rare word. The texts of its matches are compared one by one, so there
/// must be few.
pub(super) fn conditions_by_grams(project: ProjectId, alias: &str, query: &SearchQuery) -> String {
    let column = format!("{alias}.search_text");
    // An expression, so that no other index is used as well.
    let text = format!("({column} || '')");
    asked(query, |words| {
        let rare = words.iter().filter(|word| is_rare(word));
        let grams: Vec<String> = rare.flat_map(|word| grams_of(project, word, Grams::Names)).collect();
        if grams.is_empty() {
            return all(words, |word| like(&column, word));
        }
        let (grams, words) = (grams.join("', '"), all(words, |word| like(&text, word)));
        format!("kontor_grams({alias}.project_id, {column}) @> ARRAY['{grams}'] AND {words}")
    })
}

fn asked(query: &SearchQuery, way: impl Fn(&[SearchWord]) -> String) -> String {
    if query.terms().is_empty() { "FALSE".to_owned() } else { all_alternatives(query, way) }
}

/// `(SELECT ...)`: items of a project that match a text, for lists of records that refer to items.
pub(crate) fn items_found(
    connection: &mut AnyConnection,
    project: ProjectId,
    text: &Line<255>,
) -> QueryResult<Statement> {
    let query = SearchQuery::of_items(text);
    Ok(if query.terms().is_empty() {
        Statement::new("(NULL)")
    } else if connection.is_postgres() {
        Statement::new("(SELECT s.id FROM nomenclatures s WHERE ")
            .then(of_project(connection, project)?)
            .sql(format!(" AND {})", conditions_by_trigrams("s", &query)))
            .once()
    } else {
        Statement::new("(SELECT rowid FROM nomenclature_search WHERE nomenclature_search MATCH ")
            .value(expression(project, &query, Grams::Names))
            .sql(")")
    })
}

/// Selects the texts of the first items of a project.
pub(super) fn sample(project: ProjectId) -> Statement {
    Statement::new("SELECT s.search_text FROM nomenclatures s WHERE s.project_id = ")
        .value(project.get())
        .sql(format!(" ORDER BY s.id LIMIT {SAMPLE}"))
}

/// Returns the query without the alternatives that no item of the project has, and the terms of which none is left. Most
/// words in the other keyboard layout are such, and PostgreSQL would read the index for each combination. Queries with
/// few or very many alternatives are searched as they are.
pub(super) fn known(
    connection: &mut AnyConnection,
    project: ProjectId,
    query: &SearchQuery,
) -> QueryResult<(SearchQuery, Vec<SearchTerm>)> {
    let ways: Vec<&[SearchWord]> = query.terms().iter().flat_map(|term| &term.ways).map(Vec::as_slice).collect();
    let with_alternatives = query.terms().iter().filter(|term| term.ways.len() > 1).count();
    if with_alternatives < 2 || ways.len() > MAX_PROBED {
        return Ok((query.clone(), Vec::new()));
    }
    let probes = if connection.is_postgres() {
        probes_by_trigrams(project, &of_project(connection, project)?, &ways)
    } else {
        probes_by_tokens(project, &ways)
    };
    let places: Vec<i64> = probes.once().scalars(connection)?;
    let found: BTreeSet<&[SearchWord]> =
        places.into_iter().filter_map(|place| ways.get(usize::try_from(place).ok()?).copied()).collect();
    Ok(query.of_known(|way| found.contains(way)))
}

/// Selects the places of those alternatives that an item has. Frequent words are among the first items, and the lists of
/// rare words are short.
fn probes_by_trigrams(project: ProjectId, own: &Statement, ways: &[&[SearchWord]]) -> Statement {
    let (mut found, mut probes) = (Statement::default(), Statement::default());
    for (place, way) in ways.iter().enumerate() {
        let union = if place == 0 { " " } else { " UNION ALL " };
        let condition = all(way, |word| like("s.search_text", word));
        // As an expression of its own, the index is planned to be read, and not the table up to the first such item.
        found = found
            .sql(format!(", found_{place} AS MATERIALIZED (SELECT 1 FROM nomenclatures s WHERE "))
            .then(own.clone())
            .sql(format!(" AND {condition})"));
        probes = probes.sql(format!(
            "{union}SELECT CAST({place} AS BIGINT) WHERE EXISTS (SELECT 1 FROM first_items s WHERE {condition}) \
             OR EXISTS (SELECT 1 FROM found_{place})"
        ));
    }
    Statement::new("WITH first_items AS MATERIALIZED (").then(sample(project)).sql(")").then(found).then(probes)
}

/// The same from the index of SQLite, which returns the first match at once.
fn probes_by_tokens(project: ProjectId, ways: &[&[SearchWord]]) -> Statement {
    ways.iter().enumerate().fold(Statement::default(), |probes, (place, way)| {
        let union = if place == 0 { "" } else { " UNION ALL " };
        probes
            .sql(format!("{union}SELECT CAST({place} AS BIGINT) WHERE EXISTS (SELECT 1 FROM nomenclature_search "))
            .sql("WHERE nomenclature_search MATCH ")
            .value(all(way, |word| phrase(project, word, Grams::Names)))
            .sql(")")
    })
}

/// Selects the items that match a query, from the index. The caller prepends `SELECT` and appends further conditions.
/// `table` is joined by the item id in its column `id`.
pub(super) fn matched(
    connection: &mut AnyConnection,
    project: ProjectId,
    query: &SearchQuery,
    table: &str,
    id: &str,
) -> QueryResult<Statement> {
    Ok(if connection.is_postgres() {
        Statement::new(format!(" FROM nomenclatures s JOIN {table} ON {id} = s.id WHERE "))
            .then(of_project(connection, project)?)
            .sql(format!(" AND {}", conditions_by_trigrams("s", query)))
            .once()
    } else if let Some(tokens) = beginnings(project, query) {
        Statement::new(format!(
            " FROM nomenclature_search CROSS JOIN nomenclatures s ON s.id = nomenclature_search.rowid \
             CROSS JOIN {table} ON {id} = s.id WHERE nomenclature_search MATCH "
        ))
        .value(tokens)
        .sql(format!(" AND {}", conditions("s", query)))
        .once()
    } else {
        Statement::new(format!(
            " FROM nomenclature_search CROSS JOIN {table} ON {id} = nomenclature_search.rowid \
             WHERE nomenclature_search MATCH "
        ))
        .value(expression(project, query, Grams::Names))
    })
}

/// The same in parts, each without alternatives where possible: PostgreSQL finds the first matches of each fast.
pub(super) fn matched_in_parts(
    connection: &mut AnyConnection,
    project: ProjectId,
    query: &SearchQuery,
    table: &str,
    id: &str,
) -> QueryResult<Vec<Statement>> {
    let combinations = if connection.is_postgres() { combinations(query) } else { None };
    let Some(combinations) = combinations else { return Ok(vec![matched(connection, project, query, table, id)?]) };
    let own = of_project(connection, project)?;
    let part = |words: &Vec<SearchWord>| {
        Statement::new(format!(" FROM nomenclatures s JOIN {table} ON {id} = s.id WHERE "))
            .then(own.clone())
            .sql(format!(" AND {}", together("s.search_text", words)))
    };
    Ok(combinations.iter().map(part).collect())
}

#[cfg(test)]
mod tests {
    use kontor_kernel::Name;

    use super::*;

    fn project() -> ProjectId {
        ProjectId::new(12).unwrap()
    }

    #[test]
    fn a_text_becomes_grams_of_its_project() {
        let text = SearchText::of(&Name::parse("Ёж x5").unwrap(), None);
        assert_eq!(document(project(), &text, Grams::Names), "12__е 12_еж 12__x 12_x5 12__5 ");
    }

    #[test]
    fn long_words_are_known_by_six_letters_too() {
        let text = SearchText::of(&Name::parse("0123456").unwrap(), None);
        assert!(document(project(), &text, Grams::Names).ends_with("12345 12456 12-012345 12-123456 "));
        let asked = |query: &str, grams| expression(project(), &SearchQuery::of(&Line::parse(query).unwrap()), grams);
        assert_eq!(asked("0123456", Grams::Names), "((\"12-012345 12-123456\"))");
        assert_eq!(asked("12345", Grams::Names), "((\"12123 12234 12345\"))");
        let text = SearchText::of_texts(["01234"]);
        assert!(document(project(), &text, Grams::Texts).ends_with("12123 12234 12--0123 12--1234 "));
        assert_eq!(asked("01234", Grams::Texts), "((\"12--0123 12--1234\"))");
        assert_eq!(asked("0123456", Grams::Texts), "((\"12-012345 12-123456\"))");
        assert_eq!(asked("012 3", Grams::Texts), "((\"12012\")) AND ((\"12__3\"))");
    }

    #[test]
    fn several_words_are_looked_for_by_their_beginnings() {
        let asked = |query: &str| beginnings(project(), &SearchQuery::of(&Line::parse(query).unwrap()));
        let tokens = "((\"12-keyboa\")) AND ((\"12oak\")) AND ((\"12_m6\"))";
        assert_eq!(asked("oak keyboard m6").as_deref(), Some(tokens));
        for query in ["oak keyboard", "oaks oak keyboard"] {
            assert_eq!(asked(query), None, "{query}");
        }
    }

    #[test]
    fn a_query_is_never_syntax() {
        let query = SearchQuery::of(&Line::parse("NEAR(a\" OR* x-ray").unwrap());
        let asked = expression(project(), &query, Grams::Names);
        assert_eq!(
            asked,
            "((\"12nea 12ear\" AND \"12__a\") OR (\"12nea 12ear 12ara\")) \
             AND ((\"12ray\" AND \"12__x\") OR (\"12xra 12ray\")) AND ((\"12_or\"))"
        );
        assert!(!conditions("s", &query).contains('"'));
    }

    #[test]
    fn combinations_of_alternatives_are_written_out_if_they_are_few() {
        let asked = |query: &str| conditions_by_trigrams("s", &SearchQuery::of(&Line::parse(query).unwrap()));
        let text = "s.search_text LIKE ";
        assert_eq!(
            asked("ab-12 oak"),
            format!("(({text}'%oak%' AND {text}'% 12%' AND {text}'% ab%') OR ({text}'%oak%' AND {text}'%ab12%'))")
        );
        assert_eq!(asked("'"), "FALSE");
        let whole = "(s.search_text || '') LIKE ";
        assert_eq!(
            asked("tables 1234567"),
            format!("(({text}'%1234567%' AND {text}'%tabl%' AND {whole}'%1234567%' AND {whole}'%tables%'))")
        );
        assert_eq!(asked("tables"), format!("(({text}'%tables%'))"));
        let many = "a-1 b-2 c-3 d-4 e-5";
        assert_eq!(asked(many), conditions("s", &SearchQuery::of(&Line::parse(many).unwrap())));
    }

    #[test]
    fn rare_words_are_looked_for_by_their_grams() {
        let asked = |query: &str| conditions_by_grams(project(), "s", &SearchQuery::of(&Line::parse(query).unwrap()));
        let rare = "kontor_grams(s.project_id, s.search_text) @> ARRAY['12-012345', '12-123456'] AND ";
        assert_eq!(asked("0123456"), format!("(({rare}(s.search_text || '') LIKE '%0123456%'))"));
        assert_eq!(
            asked("0123456-abc"),
            format!("(({rare}(s.search_text || '') LIKE '%0123456%' AND (s.search_text || '') LIKE '%abc%'))")
        );
        for (query, word) in [("01234", "01234"), ("Nordstern", "nordstern")] {
            assert_eq!(asked(query), format!("((s.search_text LIKE '%{word}%'))"));
        }
        assert_eq!(asked("'"), "FALSE");
    }
}
