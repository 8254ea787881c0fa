//! A query as either database reads it. Words consist of letters and digits, so that nothing has to be escaped.

use kontor_catalog::model::{SearchQuery, SearchText, SearchWord};
use kontor_kernel::{Line, ProjectId};

use crate::database::AnyConnection;
use crate::statement::Statement;

/// How many letters the index knows together.
const GRAM: usize = 3;

/// Long words are known by so many letters, too: three digits of an article are those of every thousandth other.
const LONG: usize = 6;

/// Stands for the two places before a word.
const BEFORE: char = '_';

/// The tokens of a word: every `count` letters of it that stand together, after the number of the project and, of long
/// ones, a hyphen, so that the tokens of two projects never meet.
fn tokens<'a>(start: &'a str, word: &'a str, count: usize) -> impl Iterator<Item = [&'a str; 2]> {
    let ends = word.char_indices().map(|(place, _)| place).chain([word.len()]).skip(count);
    word.char_indices().zip(ends).filter_map(move |((from, _), to)| Some([start, word.get(from..to)?]))
}

/// How tokens of [`GRAM`] and of [`LONG`] letters start.
fn starts(project: ProjectId) -> (String, String) {
    (project.to_string(), format!("{project}-"))
}

/// What FTS5 keeps of a text.
pub(super) fn document(project: ProjectId, text: &SearchText) -> String {
    let (short, long) = starts(project);
    let mut document = String::with_capacity(512);
    for word in text.words() {
        let begun: String = [BEFORE, BEFORE].into_iter().chain(word.chars()).collect();
        for parts in tokens(&short, &begun, GRAM).chain(tokens(&long, word, LONG)) {
            document.extend(parts);
            document.push(' ');
        }
    }
    document
}

/// The word as a phrase of FTS5: its grams one after the other.
fn phrase(project: ProjectId, word: &SearchWord) -> String {
    let (short, long) = starts(project);
    let joined = |start: &str, word: &str, count| {
        tokens(start, word, count).map(|parts| parts.concat()).collect::<Vec<_>>().join(" ")
    };
    let phrase = match word {
        SearchWord::Within(word) if word.chars().count() < LONG => joined(&short, word, GRAM),
        SearchWord::Within(word) => joined(&long, word, LONG),
        // The first letter alone follows two places, the first two follow one.
        SearchWord::Beginning(word) => {
            let before = GRAM.saturating_sub(word.chars().count());
            let begun: String = std::iter::repeat_n(BEFORE, before).chain(word.chars()).collect();
            joined(&short, &begun, GRAM)
        }
    };
    format!("\"{phrase}\"")
}

/// Joins what stands for every word of every way of every term.
fn every(query: &SearchQuery, word: impl Fn(&SearchWord) -> String) -> String {
    let all = |words: &Vec<SearchWord>| words.iter().map(&word).collect::<Vec<_>>().join(" AND ");
    let terms = query.terms().iter().map(|term| {
        let ways: Vec<String> = term.ways.iter().map(|way| format!("({})", all(way))).collect();
        format!("({})", ways.join(" OR "))
    });
    terms.collect::<Vec<_>>().join(" AND ")
}

/// What FTS5 is asked. The query has terms.
pub(super) fn expression(project: ProjectId, query: &SearchQuery) -> String {
    every(query, |word| phrase(project, word))
}

/// The same as conditions on `search_text` of the cards with this alias.
pub(super) fn conditions(alias: &str, query: &SearchQuery) -> String {
    let condition = |word: &SearchWord| match word {
        SearchWord::Within(word) => format!("{alias}.search_text LIKE '%{word}%'"),
        SearchWord::Beginning(word) => format!("{alias}.search_text LIKE '% {word}%'"),
    };
    if query.terms().is_empty() { "FALSE".to_owned() } else { every(query, condition) }
}

/// `(SELECT ...)`: the items of a project that a text finds, for lists of what refers to items.
pub(crate) fn items_found(connection: &AnyConnection, project: ProjectId, text: &Line<255>) -> Statement {
    let query = SearchQuery::of(text);
    if query.terms().is_empty() {
        Statement::new("(NULL)")
    } else if connection.is_postgres() {
        Statement::new("(SELECT s.id FROM nomenclatures s WHERE s.project_id = ")
            .value(project.get())
            .sql(format!(" AND {})", conditions("s", &query)))
            .once()
    } else {
        Statement::new("(SELECT rowid FROM nomenclature_search WHERE nomenclature_search MATCH ")
            .value(expression(project, &query))
            .sql(")")
    }
}

/// The items that a query finds, as a statement goes on: from the index, `SELECT` before it and further conditions after
/// it. `table` is joined by the number of the item in its column `id`.
pub(super) fn matched(
    connection: &AnyConnection,
    project: ProjectId,
    query: &SearchQuery,
    table: &str,
    id: &str,
) -> Statement {
    if connection.is_postgres() {
        Statement::new(format!(" FROM nomenclatures s JOIN {table} ON {id} = s.id WHERE s.project_id = "))
            .value(project.get())
            .sql(format!(" AND {}", conditions("s", query)))
            .once()
    } else {
        Statement::new(format!(
            " FROM nomenclature_search CROSS JOIN {table} ON {id} = nomenclature_search.rowid \
             WHERE nomenclature_search MATCH "
        ))
        .value(expression(project, query))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::Name;

    fn project() -> ProjectId {
        ProjectId::new(12).unwrap()
    }

    #[test]
    fn a_text_becomes_grams_of_its_project() {
        let text = SearchText::of(&Name::parse("Ёж x5").unwrap(), None);
        assert_eq!(document(project(), &text), "12__е 12_еж 12__x 12_x5 12__5 ");
    }

    #[test]
    fn long_words_are_known_by_six_letters_too() {
        let text = SearchText::of(&Name::parse("0123456").unwrap(), None);
        assert!(document(project(), &text).ends_with("12345 12456 12-012345 12-123456 "));
        let asked = |query: &str| expression(project(), &SearchQuery::of(&Line::parse(query).unwrap()));
        assert_eq!(asked("0123456"), "((\"12-012345 12-123456\"))");
        assert_eq!(asked("12345"), "((\"12123 12234 12345\"))");
    }

    #[test]
    fn a_query_is_never_syntax() {
        let query = SearchQuery::of(&Line::parse("NEAR(a\" OR* x-ray").unwrap());
        let asked = expression(project(), &query);
        assert_eq!(
            asked,
            "((\"12nea 12ear\" AND \"12__a\") OR (\"12nea 12ear 12ara\")) \
             AND ((\"12ray\" AND \"12__x\") OR (\"12xra 12ray\")) AND ((\"12_or\"))"
        );
        assert!(!conditions("s", &query).contains('"'));
    }
}
