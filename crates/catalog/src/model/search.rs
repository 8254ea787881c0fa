//! Search queries and the texts that they are compared with.
//!
//! Texts and queries are converted to words in the same way: folded, then split at every character that is neither a
//! letter nor a digit. Words joined by punctuation (`KLIPPAN-601`) also count as one word (`klippan601`). So do
//! neighbours where letters meet digits: `zorvek601` finds `Zorvek 601`, and `iphone 15` finds `iPhone15`. A query
//! therefore has no syntax, and a missing hyphen or space does not matter.
//!
//! Folding means: lower case, composed, without accents, `ß` as `ss`. Cyrillic letters with a mark are separate letters
//! (`й` is not `и`). Exceptions are `ё`, which is often written as `е`, and stress marks.

use std::collections::BTreeSet;

use kontor_kernel::{Line, Name};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_canonical;

use super::fuzzy::{look_alike, root, switched};

/// Minimum letters of a word that is found anywhere inside words. Shorter ones are found only where words begin, since
/// nearly every text contains two given letters somewhere.
const MIN_INFIX_LENGTH: usize = 3;

/// Accents and stress marks. Marks of other scripts are vowels.
fn is_accent(mark: char) -> bool {
    matches!(mark, '\u{300}'..='\u{36F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

/// Folds one composed lower-case letter.
fn fold(letter: char, folded: &mut String) {
    match letter {
        'ё' | 'ѐ' => folded.push('е'),
        'ѝ' => folded.push('и'),
        'a'..='z' | '0'..='9' | '\u{400}'..='\u{4FF}' => folded.push(letter),
        'ß' => folded.push_str("ss"),
        'æ' => folded.push_str("ae"),
        'œ' => folded.push_str("oe"),
        'ø' => folded.push('o'),
        'ł' => folded.push('l'),
        'đ' => folded.push('d'),
        'ı' => folded.push('i'),
        'ς' => folded.push('σ'),
        _ => decompose_canonical(letter, |part| {
            if !is_accent(part) {
                folded.push(part);
            }
        }),
    }
}

/// Returns the folded text.
fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let composed = text.nfkc().flat_map(char::to_lowercase).nfkc();
    composed.for_each(|letter| fold(letter, &mut folded));
    if folded.is_ascii() { folded } else { folded.nfc().collect() }
}

/// Splits a text at white space, and each segment into words.
pub(super) fn pieces(text: &str) -> Vec<Vec<String>> {
    let text = folded(text);
    let words = |piece: &str| -> Vec<String> {
        let words = piece.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    };
    text.split_whitespace().map(words).filter(|words| !words.is_empty()).collect()
}

/// Returns `true` if a space between these characters is optional: between a letter and a digit.
fn is_space_optional(left: char, right: char) -> bool {
    left.is_numeric() != right.is_numeric()
}

/// Returns the parts of a word after its first run of letters or digits: `x` and `60` of `120x60`.
fn parts(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    letters
        .chunk_by(|left, right| !is_space_optional(*left, *right))
        .skip(1)
        .map(|part| part.iter().collect())
        .collect()
}

/// Returns neighbours that meet at a letter and a digit, joined as one word: `zorvek601` of `Zorvek 601`.
fn chains(pieces: &[Vec<String>]) -> Vec<String> {
    let joined: Vec<String> = pieces.iter().map(|piece| piece.concat()).collect();
    let meet = |left: &String, right: &String| {
        left.chars().next_back().zip(right.chars().next()).is_some_and(|(left, right)| is_space_optional(left, right))
    };
    joined.chunk_by(meet).filter(|chain| chain.len() > 1).map(<[String]>::concat).collect()
}

/// Searchable text of an item: the words of its name and article. Other records use it with their own texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchText {
    words: Vec<String>,
    article: Option<String>,
}

impl SearchText {
    /// Creates the text of an item with this name and article.
    pub fn of(name: &Name, article: Option<&Line<100>>) -> Self {
        let texts = std::iter::once(name.as_str()).chain(article.map(Line::as_str));
        Self { article: article.and_then(|article| plain(article)), ..Self::of_texts(texts) }
    }

    /// Creates the text of a record with these texts.
    pub fn of_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut words = Vec::new();
        for text in texts {
            let pieces = pieces(text);
            let chains = chains(&pieces);
            for piece in pieces {
                let joined = (piece.len() > 1).then(|| piece.concat());
                for word in piece {
                    let parts = parts(&word);
                    words.push(word);
                    words.extend(parts);
                }
                words.extend(joined);
            }
            words.extend(chains);
        }
        Self { words, article: None }
    }

    /// Creates the text from a stored [`line`](Self::line).
    pub fn of_line(line: &str) -> Self {
        Self { words: line.split_whitespace().map(str::to_owned).collect(), article: None }
    }

    /// Returns every word, in the order of the text.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns every word with a space before it: ` table oak 120`.
    pub fn line(&self) -> String {
        self.words.iter().fold(String::new(), |line, word| line + " " + word)
    }

    /// Returns the article reduced to letters and digits.
    pub fn article(&self) -> Option<&str> {
        self.article.as_deref()
    }
}

/// Returns `true` for signs that distinguish names: `C++` and `C#` are not `C`.
pub(super) fn is_significant(sign: char) -> bool {
    matches!(sign, '+' | '#')
}

/// Returns the folded letters, digits and distinguishing signs of a text.
pub(super) fn code(text: &str) -> String {
    folded(text).chars().filter(|sign| sign.is_alphanumeric() || is_significant(*sign)).collect()
}

/// Returns all words of a text joined; `None` if there are none.
fn plain(text: &str) -> Option<String> {
    let joined = pieces(text).concat().concat();
    (!joined.is_empty()).then_some(joined)
}

/// Word of a query, with its required position in a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SearchWord {
    /// Anywhere, also inside a word. Three letters or more.
    Infix(String),
    /// At the start of a word. One or two letters.
    Prefix(String),
}

impl From<String> for SearchWord {
    fn from(word: String) -> Self {
        if word.chars().count() >= MIN_INFIX_LENGTH { Self::Infix(word) } else { Self::Prefix(word) }
    }
}

/// Term of a query: all words of at least one alternative must match.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SearchTerm {
    /// Alternatives; at least one, none of them empty.
    pub ways: Vec<Vec<SearchWord>>,
}

/// Returns the alternatives of one segment: its words separately, or joined.
fn ways(words: Vec<String>) -> Vec<Vec<SearchWord>> {
    if words.is_empty() {
        return Vec::new();
    }
    // A text with the joined word contains each word too, if the words may match inside words.
    let is_apart = words.iter().all(|word| word.chars().count() >= MIN_INFIX_LENGTH);
    let joined = (words.len() > 1 && !is_apart).then(|| vec![words.concat().into()]);
    let apart: BTreeSet<SearchWord> = words.into_iter().map(SearchWord::from).collect();
    std::iter::once(apart.into_iter().collect()).chain(joined).collect()
}

/// Returns the alternatives of all interpretations of a segment.
pub(super) fn lenient_alternatives(typed: &str, words: Vec<String>) -> Vec<Vec<SearchWord>> {
    let roots = |words: Vec<String>| words.iter().map(|word| root(word).to_owned()).collect();
    let switched = switched(typed).and_then(|text| pieces(&text).into_iter().next()).unwrap_or_default();
    let twins: Option<Vec<String>> = words.iter().map(|word| look_alike(word)).collect();
    let mut all = ways(roots(words.clone()));
    for way in ways(words).into_iter().skip(1).chain(ways(roots(switched))).chain(ways(twins.unwrap_or_default())) {
        if !all.contains(&way) {
            all.push(way);
        }
    }
    all
}

/// Search query: every term must match, in any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    terms: Vec<SearchTerm>,
    words: Vec<String>,
    plain: Option<String>,
    key: String,
}

impl SearchQuery {
    /// Creates a query for people, mail addresses and pages, matched letter by letter.
    pub fn of(text: &Line<255>) -> Self {
        Self::with(text, pieces(text).into_iter().map(ways))
    }

    /// Creates a query for items. Words also match in other forms, in the wrong keyboard layout, and with look-alike
    /// letters of the other alphabet.
    pub fn of_items(text: &Line<255>) -> Self {
        Self::with(
            text,
            text.split_whitespace().flat_map(|typed| {
                let mut pieces = pieces(typed);
                match pieces.pop() {
                    Some(words) if pieces.is_empty() => vec![lenient_alternatives(typed, words)],
                    last => pieces.into_iter().chain(last).map(ways).collect(),
                }
            }),
        )
    }

    /// Duplicate terms count once.
    fn with(text: &Line<255>, terms: impl Iterator<Item = Vec<Vec<SearchWord>>>) -> Self {
        let terms = terms.filter(|ways| !ways.is_empty()).map(|ways| SearchTerm { ways });
        Self::of_terms(text, terms.collect())
    }

    /// Creates a query from terms.
    pub(super) fn of_terms(text: &Line<255>, terms: BTreeSet<SearchTerm>) -> Self {
        let words = pieces(text).concat();
        Self { terms: terms.into_iter().collect(), words, plain: plain(text), key: text.key() }
    }

    /// Returns the query with other terms.
    pub(super) fn with_terms(&self, terms: BTreeSet<SearchTerm>) -> Self {
        Self { terms: terms.into_iter().collect(), ..self.clone() }
    }

    /// Returns the query without the alternatives that no text has, and the terms of which none is left. If there are such
    /// terms, the query finds nothing.
    pub fn of_known(&self, is_known: impl Fn(&[SearchWord]) -> bool) -> (Self, Vec<SearchTerm>) {
        let (mut known, mut missing) = (BTreeSet::new(), Vec::new());
        for term in &self.terms {
            let ways: Vec<Vec<SearchWord>> = term.ways.iter().filter(|way| is_known(way)).cloned().collect();
            if ways.is_empty() {
                missing.push(term.clone());
            } else {
                known.insert(SearchTerm { ways });
            }
        }
        (self.with_terms(known), missing)
    }

    /// Returns the typed words in order.
    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the terms. They are empty if the query has no letter or digit; such a query finds nothing.
    pub fn terms(&self) -> &[SearchTerm] {
        &self.terms
    }

    /// Returns the query reduced to letters and digits, for comparison with articles. An item with this article comes
    /// first.
    pub fn article(&self) -> Option<&str> {
        self.plain.as_deref()
    }

    /// Returns the query in lower case. Names that begin with it come next.
    pub fn beginning(&self) -> &str {
        &self.key
    }

    /// Returns `true` if the query finds this text. Storage adapters must give the same result.
    pub fn matches(&self, text: &SearchText) -> bool {
        let stands = |word: &SearchWord| match word {
            SearchWord::Infix(part) => text.words.iter().any(|word| word.contains(part)),
            SearchWord::Prefix(part) => text.words.iter().any(|word| word.starts_with(part)),
        };
        !self.terms.is_empty() && self.terms.iter().all(|term| term.ways.iter().any(|way| way.iter().all(stands)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str, article: Option<&str>) -> SearchText {
        let article = article.map(|article| Line::parse(article).unwrap());
        SearchText::of(&Name::parse(name).unwrap(), article.as_ref())
    }

    fn finds(query: &str, name: &str, article: Option<&str>) -> bool {
        SearchQuery::of(&Line::parse(query).unwrap()).matches(&text(name, article))
    }

    #[test]
    fn punctuated_words_are_indexed_whole_and_in_parts() {
        let text = text("Стол «Ёлка», 120x60 см", Some("KLIPPAN-601/a"));
        assert_eq!(text.line(), " стол елка 120x60 x 60 см елка120x60см klippan 601 a klippan601a");
        assert_eq!(text.article(), Some("klippan601a"));
    }

    #[test]
    fn a_stored_line_equals_its_text() {
        let text = text("Стол «Ёлка», 120x60 см", None);
        assert_eq!(SearchText::of_line(&text.line()), text);
    }

    #[test]
    fn infix_words_are_not_searched_joined() {
        let ways = |query: &str| SearchQuery::of(&Line::parse(query).unwrap()).terms()[0].ways.len();
        assert_eq!(["buyer7@example.com", "AB-12", "wi-fi", "Klippan-601"].map(ways), [1, 2, 2, 1]);
    }

    #[test]
    fn words_are_found_in_any_case_order_and_part() {
        for query in [
            "ДИВАН клип",
            "клип диван",
            "ива",
            "601",
            "klippan 601",
            "klippan601",
            "PPAN-60",
            "KLIPPAN_601",
            "4",
            "4 м",
        ] {
            assert!(finds(query, "Диван Клиппан, 4 места", Some("KLIPPAN-601")), "{query}");
        }
        for query in ["иван стол", "01", "ва", "*", "\"", "klippan 602", "диванa"] {
            assert!(!finds(query, "Диван Клиппан, 4 места", Some("KLIPPAN-601")), "{query}");
        }
    }

    #[test]
    fn punctuation_in_the_query_joins_or_parts() {
        assert!(finds("AB-12", "Bolt", Some("AB12")));
        assert!(finds("wi-fi", "WiFi router", None));
        assert!(finds("wifi", "Wi-Fi router", None));
        assert!(finds("1,5л", "Бутыль 1.5л", None));
        assert!(!finds("ab-12", "Bolt", Some("AB2")));
    }

    #[test]
    fn texts_are_found_as_people_write_them() {
        const CASES: &[(&str, &str, bool)] = include!("search_cases.rs");
        for (query, name, found) in CASES {
            assert_eq!(finds(query, name, None), *found, "`{query}` in `{name}`");
        }
    }

    #[test]
    fn items_are_found_as_people_look_for_them() {
        const CASES: &[(&str, &[&str], &[&str])] = include!("item_search_cases.rs");
        let wrong: Vec<(&str, &str)> = CASES
            .iter()
            .flat_map(|(name, found, others)| {
                let finds =
                    |query: &str| SearchQuery::of_items(&Line::parse(query).unwrap()).matches(&text(name, None));
                let missed = found.iter().filter(move |query| !finds(query));
                let other = others.iter().filter(move |query| finds(query));
                missed.chain(other).map(|query| (*query, *name))
            })
            .collect();
        assert_eq!(wrong, []);
    }

    #[test]
    fn unknown_alternatives_are_left_out() {
        let query = SearchQuery::of_items(&Line::parse("cnjk белый xyzzy").unwrap());
        let texts = [text("Письменный стол", None), text("Шкаф белый", None)];
        let is_known = |way: &[SearchWord]| {
            let term = SearchTerm { ways: vec![way.to_vec()] };
            let asked = query.with_terms(BTreeSet::from([term]));
            texts.iter().any(|text| asked.matches(text))
        };
        let (known, missing) = query.of_known(is_known);
        let word = |word: &str| SearchTerm { ways: vec![vec![SearchWord::Infix(word.to_owned())]] };
        assert_eq!(known.terms(), [word("белый"), word("стол")]);
        assert_eq!(missing.len(), 1);
        assert!(missing.iter().all(|term| query.terms().contains(term)));
    }

    #[test]
    fn a_query_without_letters_and_digits_finds_nothing() {
        let query = SearchQuery::of(&Line::parse("-% *").unwrap());
        assert!(query.terms().is_empty() && query.article().is_none());
        assert!(!query.matches(&text("-% *", None)));
    }
}
