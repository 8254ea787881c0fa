//! Relevance of the items that a query finds, used if the request names no order.

use super::search::{SearchQuery, SearchText, code, is_significant, pieces};

/// Relevance of an item to a query, best first. Items whose article equals the query come before all of them. Items of
/// the same relevance are ordered by identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relevance {
    /// The query equals the name.
    Name,
    /// The name begins with the words of the query.
    NamePrefix,
    /// The query occurs in the name exactly as typed.
    Phrase,
    /// Every word of the query is a word of the item.
    Words,
    /// Every word of the query begins a word of the item.
    WordPrefixes,
    /// Every word of the query is part of a word.
    Parts,
    /// A word matches only in another form: another ending, the other keyboard layout, or look-alike letters.
    WordVariants,
}

fn ends_word(sign: Option<char>) -> bool {
    sign.is_none_or(|sign| !sign.is_alphanumeric() && !is_significant(sign))
}

impl SearchQuery {
    /// Returns `true` if the query equals the article, ignoring case, blanks, hyphens and other separators.
    pub fn is_article(&self, article: &str) -> bool {
        code(article) == code(self.beginning())
    }

    /// Returns the relevance of an item that the query finds, from its name in lower case and the words of its name and
    /// article.
    pub fn relevance(&self, name: &str, text: &SearchText) -> Relevance {
        let typed = self.beginning();
        let is_phrase = name.match_indices(typed).any(|(place, found)| {
            let (before, after) = (name.get(..place), name.get(place + found.len()..));
            let neighbours = (before.and_then(|text| text.chars().next_back()), after.and_then(|t| t.chars().next()));
            ends_word(neighbours.0) && ends_word(neighbours.1)
        });
        if !is_phrase && typed.contains(is_significant) {
            return Relevance::WordVariants;
        }
        let (asked, words) = (self.words(), pieces(name).concat());
        let all = |fits: fn(&str, &str) -> bool| {
            asked.iter().all(|word| text.words().iter().any(|other| fits(other.as_str(), word.as_str())))
        };
        if words == asked {
            Relevance::Name
        } else if words.starts_with(asked) {
            Relevance::NamePrefix
        } else if is_phrase {
            Relevance::Phrase
        } else if all(|other, word| other == word) {
            Relevance::Words
        } else if all(|other, word| other.starts_with(word)) {
            Relevance::WordPrefixes
        } else if all(|other, word| other.contains(word)) {
            Relevance::Parts
        } else {
            Relevance::WordVariants
        }
    }
}

#[cfg(test)]
mod tests {
    use kontor_kernel::{Line, Name};

    use super::*;

    fn query(text: &str) -> SearchQuery {
        SearchQuery::of_items(&Line::parse(text).unwrap())
    }

    #[test]
    fn an_item_is_as_near_as_its_name_says() {
        for (asked, name, expected) in [
            ("C++", "C++", Relevance::Name),
            ("ёлка", "Елка", Relevance::Name),
            ("c++", "C++ для начинающих", Relevance::NamePrefix),
            ("c++", "Язык C++ за неделю", Relevance::Phrase),
            ("c++", "C# для начинающих", Relevance::WordVariants),
            ("c", "Книга о C++", Relevance::Words),
            ("c", "Язык C", Relevance::Phrase),
            ("стол", "Письменный стол", Relevance::Phrase),
            ("стол белый", "Белый письменный стол", Relevance::Words),
            ("стол бел", "Белый письменный стол", Relevance::WordPrefixes),
            ("тол бел", "Белый письменный стол", Relevance::Parts),
            ("столы", "Письменный стол", Relevance::WordVariants),
            ("cnjk", "Письменный стол", Relevance::WordVariants),
        ] {
            let text = SearchText::of(&Name::parse(name).unwrap(), None);
            assert!(query(asked).matches(&text), "{asked} in {name}");
            assert_eq!(query(asked).relevance(&name.to_lowercase(), &text), expected, "{asked} in {name}");
        }
    }

    #[test]
    fn results_are_ordered_by_relevance() {
        const CASES: &[(&str, &[&str])] = include!("ranked_search_cases.rs");
        for (asked, names) in CASES {
            let asked = query(asked);
            let rank = |name: &&str| {
                let (text, name) = (SearchText::of(&Name::parse(name).unwrap(), None), name.to_lowercase());
                assert!(asked.matches(&text), "{asked:?} in {name}");
                let begins = name.starts_with(asked.beginning());
                (!begins, begins.then(|| name.clone()), asked.relevance(&name, &text))
            };
            let mut ranked = names.to_vec();
            ranked.reverse();
            ranked.sort_by_key(rank);
            assert_eq!(ranked, *names);
        }
    }

    #[test]
    fn separators_do_not_part_an_article_from_a_query() {
        for (asked, article) in [("kn 1", "KN-1"), ("KN1", "kn.1"), ("c++", "C++"), ("ТР/841", "тр-841")] {
            assert!(query(asked).is_article(article), "{asked} is {article}");
        }
        for (asked, article) in [("c++", "C"), ("c", "C#"), ("kn1", "kn12")] {
            assert!(!query(asked).is_article(article), "{asked} is {article}");
        }
    }
}
