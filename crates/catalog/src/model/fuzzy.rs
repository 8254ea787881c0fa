//! Fuzzy search: items that a query with typos can mean, used when the query finds nothing, and other meanings of a
//! typed word: the same word with another ending, on the other keyboard layout, with letters of the other alphabet that
//! look alike.

use std::collections::BTreeSet;

use kontor_kernel::Line;
use rust_stemmers::{Algorithm, Stemmer};

use super::search::{SearchQuery, SearchTerm, SearchText, SearchWord, lenient_alternatives, pieces};

/// Least letters of a word of a text that may have one typo, and two. The typed word may lack as many letters as it has typos.
const ONE_TYPO: usize = 5;
const TWO_TYPOS: usize = 9;

/// Maximum spellings of a mistyped word.
const SPELLINGS: usize = 4;

fn min_letters(typos: usize) -> usize {
    match typos {
        0 => 0,
        1 => ONE_TYPO,
        _ => TWO_TYPOS,
    }
}

/// Word that may be mistyped.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MistypedWord {
    letters: Vec<char>,
    typos: usize,
}

/// Query with typos. A missing, extra, different or swapped letter counts as a typo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearQuery {
    candidates: SearchQuery,
    exact: SearchQuery,
    words: Vec<MistypedWord>,
}

impl NearQuery {
    /// Builds the query from the typed text. `None` if no word is long enough.
    pub fn of(text: &Line<255>) -> Option<Self> {
        let (mut candidates, mut exact, mut words) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for typed in text.split_whitespace() {
            let pieces = pieces(typed);
            for piece in &pieces {
                if let [word] = piece.as_slice()
                    && let Some(word) = MistypedWord::of(word)
                {
                    candidates.insert(SearchTerm { ways: word.alternatives() });
                    words.push(word);
                } else {
                    let term = SearchTerm { ways: lenient_alternatives(typed, piece.clone()) };
                    candidates.insert(term.clone());
                    exact.insert(term);
                }
            }
        }
        let query = |terms: BTreeSet<SearchTerm>| SearchQuery::of_terms(text, terms);
        (!words.is_empty()).then(|| Self { candidates: query(candidates), exact: query(exact), words })
    }

    /// Returns the query with each missing term in the spelling of those words that are one typo away. No text has a
    /// missing term, so no text is nearer. `None` if there is no such word for a term, or if the words lack another term.
    pub fn respelt(
        text: &Line<255>,
        query: &SearchQuery,
        missing: &[SearchTerm],
        words: &BTreeSet<&str>,
    ) -> Option<SearchQuery> {
        let others = query.terms().iter().filter(|term| !missing.contains(term));
        let mut terms: BTreeSet<SearchTerm> = others.cloned().collect();
        let sample = SearchText::of_line(&words.iter().copied().collect::<Vec<_>>().join(" "));
        if !terms.is_empty() && !query.with_terms(terms.clone()).matches(&sample) {
            return None;
        }
        let mut respelt = BTreeSet::new();
        for typed in text.split_whitespace() {
            let Ok([piece]) = <[Vec<String>; 1]>::try_from(pieces(typed)) else { continue };
            let term = SearchTerm { ways: lenient_alternatives(typed, piece.clone()) };
            if !missing.contains(&term) {
                continue;
            }
            let [word] = piece.as_slice() else { return None };
            let mistyped = MistypedWord::of(word)?;
            let is_meant =
                |word: &&&str| mistyped.typos_in(&word.chars().collect::<Vec<_>>()).is_some_and(|typos| typos < 2);
            let meant = words.iter().filter(is_meant).map(|word| root(word));
            let ways: BTreeSet<Vec<SearchWord>> =
                meant.map(|root| vec![root.to_owned().into()]).take(SPELLINGS).collect();
            if ways.is_empty() {
                return None;
            }
            terms.insert(SearchTerm { ways: ways.into_iter().collect() });
            respelt.insert(term);
        }
        (respelt.len() == missing.len()).then(|| query.with_terms(terms))
    }

    /// Query for texts to compare. It finds more than those that can be meant.
    pub fn candidates(&self) -> &SearchQuery {
        &self.candidates
    }

    /// Returns the number of typos if the query can mean this text.
    pub fn typos(&self, text: &SearchText) -> Option<usize> {
        Some(self.nearest_words(text)?.iter().map(|(typos, _)| typos).sum())
    }

    /// Returns the nearest word of the text for each mistyped word, with the number of typos.
    fn nearest_words<'a>(&self, text: &'a SearchText) -> Option<Vec<(usize, &'a str)>> {
        if !self.exact.terms().is_empty() && !self.exact.matches(text) {
            return None;
        }
        let words: Vec<(Vec<char>, &str)> = text.words().iter().map(|word| (word.chars().collect(), &**word)).collect();
        let nearest = |mistyped: &MistypedWord| {
            words.iter().filter_map(|(letters, word)| Some((mistyped.typos_in(letters)?, *word))).min()
        };
        self.words.iter().map(nearest).collect()
    }

    /// Returns the query in the spelling of those texts that have the fewest typos; `None` if it means none of them.
    pub fn corrected(&self, texts: &[SearchText]) -> Option<SearchQuery> {
        let meant: Vec<Vec<(usize, &str)>> = texts.iter().filter_map(|text| self.nearest_words(text)).collect();
        let typos = |words: &[(usize, &str)]| words.iter().map(|(typos, _)| typos).sum::<usize>();
        let fewest = meant.iter().map(|words| typos(words)).min()?;
        let spellings = |place: usize| -> BTreeSet<&str> {
            let nearest = meant.iter().filter(|words| typos(words) == fewest);
            nearest.filter_map(|words| words.get(place)).map(|(_, word)| *word).collect()
        };
        let term = |place: usize| {
            let spellings = spellings(place).into_iter().take(SPELLINGS);
            SearchTerm { ways: spellings.flat_map(|word| lenient_alternatives(word, vec![word.to_owned()])).collect() }
        };
        let terms = (0..self.words.len()).map(term);
        let exact = self.exact.terms().iter().cloned();
        Some(self.candidates.with_terms(exact.chain(terms).collect()))
    }
}

impl MistypedWord {
    fn of(word: &str) -> Option<Self> {
        let length = word.chars().count();
        if length + 1 < ONE_TYPO || !word.chars().all(char::is_alphabetic) {
            return None;
        }
        let typos = if length + 2 < TWO_TYPOS { 1 } else { 2 };
        // The root of a short word is near too many others.
        let root = Some(root(word)).filter(|root| root.chars().count() + 1 >= TWO_TYPOS);
        Some(Self { letters: root.unwrap_or(word).chars().collect(), typos })
    }

    /// Parts of the word, at least one of which has no typo. With two typos they overlap: two swapped letters may damage two
    /// parts.
    fn alternatives(&self) -> Vec<Vec<SearchWord>> {
        let length = self.letters.len();
        let part = |from: usize, to: usize| {
            let letters: String = self.letters.get(from..to.min(length)).unwrap_or_default().iter().collect();
            (!letters.is_empty()).then(|| vec![SearchWord::from(letters)])
        };
        let parts = match (self.typos, length) {
            (2, 7..) => (0..=length - 3).map(|from| part(from, from + 3)).collect(),
            (_, 7..) => vec![part(0, 3), part(4, length)],
            _ => {
                let mut swapped = self.letters.clone();
                swapped.swap(1, 2);
                let both_damaged = vec![SearchWord::from(swapped.into_iter().collect::<String>())];
                vec![part(0, 2), part(length.saturating_sub(3), length), Some(both_damaged)]
            }
        };
        parts.into_iter().flatten().collect()
    }

    /// Returns the number of typos between this word and the beginning of a word of a text, if they are few.
    fn typos_in(&self, word: &[char]) -> Option<usize> {
        let longest = self.letters.len() + self.typos;
        let full_length = word.len();
        let word = word.get(..longest.min(word.len()))?;
        let mut before: Vec<usize> = Vec::new();
        let mut row: Vec<usize> = (0..=word.len()).collect();
        for (place, letter) in self.letters.iter().enumerate() {
            let mut next = vec![place + 1];
            for (other_place, other) in word.iter().enumerate() {
                let replaced = row.get(other_place)? + usize::from(letter != other);
                let mut least = replaced.min(row.get(other_place + 1)? + 1).min(next.get(other_place)? + 1);
                let is_swapped = place > 0
                    && other_place > 0
                    && self.letters.get(place - 1) == Some(other)
                    && word.get(other_place - 1) == Some(letter);
                if is_swapped {
                    least = least.min(before.get(other_place - 1)? + 1);
                }
                next.push(least);
            }
            before = std::mem::replace(&mut row, next);
        }
        // The beginning of a word has to be long enough. Less may only mean a whole word that lacks a letter for each typo.
        let least = row.iter().copied().min().filter(|typos| self.letters.len() + typos > min_letters(*typos));
        let is_lost = |typos: &usize| full_length == self.letters.len() + typos && full_length >= min_letters(*typos);
        let lost = row.pop().filter(is_lost);
        least.or(lost).filter(|typos| *typos <= self.typos)
    }
}

/// The shortest roots: Russian words of three letters are parts of too many others.
const RUSSIAN_ROOT: usize = 4;
const ENGLISH_ROOT: usize = 3;
/// The shortest word that is taken for one on the wrong layout: shorter ones would often mean something else.
const MIN_SWITCHED_LENGTH: usize = 4;

/// Keys of a keyboard with both layouts, without shift.
const KEYS: [(char, char); 33] = [
    ('q', 'й'),
    ('w', 'ц'),
    ('e', 'у'),
    ('r', 'к'),
    ('t', 'е'),
    ('y', 'н'),
    ('u', 'г'),
    ('i', 'ш'),
    ('o', 'щ'),
    ('p', 'з'),
    ('[', 'х'),
    (']', 'ъ'),
    ('a', 'ф'),
    ('s', 'ы'),
    ('d', 'в'),
    ('f', 'а'),
    ('g', 'п'),
    ('h', 'р'),
    ('j', 'о'),
    ('k', 'л'),
    ('l', 'д'),
    (';', 'ж'),
    ('\'', 'э'),
    ('z', 'я'),
    ('x', 'ч'),
    ('c', 'с'),
    ('v', 'м'),
    ('b', 'и'),
    ('n', 'т'),
    ('m', 'ь'),
    (',', 'б'),
    ('.', 'ю'),
    ('`', 'ё'),
];

/// The same keys with shift, where that is more than a capital letter.
const SHIFTED_KEYS: [(char, char); 7] =
    [('{', 'х'), ('}', 'ъ'), (':', 'ж'), ('"', 'э'), ('<', 'б'), ('>', 'ю'), ('~', 'ё')];

/// Letters of both alphabets that look alike.
const LOOK_ALIKES: [(char, char); 12] = [
    ('a', 'а'),
    ('b', 'в'),
    ('c', 'с'),
    ('e', 'е'),
    ('h', 'н'),
    ('k', 'к'),
    ('m', 'м'),
    ('o', 'о'),
    ('p', 'р'),
    ('t', 'т'),
    ('x', 'х'),
    ('y', 'у'),
];

fn is_cyrillic(letter: char) -> bool {
    matches!(letter, 'а'..='я' | 'ё')
}

/// The word without its ending, as far as all its forms begin with that; words are in lower case.
pub(super) fn root(word: &str) -> &str {
    let (root, least) = if word.chars().all(|letter| letter.is_ascii_alphabetic()) {
        let root = shared(word, &Stemmer::create(Algorithm::English).stem(word));
        // `berries` and `berry`: their roots differ by the last letter.
        (root.strip_suffix('i').unwrap_or(root), ENGLISH_ROOT)
    } else if word.chars().all(is_cyrillic) {
        let root = shared(word, &Stemmer::create(Algorithm::Russian).stem(word));
        (without_fleeting_vowel(root), RUSSIAN_ROOT)
    } else {
        return word;
    };
    if root.chars().count() >= least { root } else { word }
}

/// The common beginning of a word and its stem.
fn shared<'a>(word: &'a str, stem: &str) -> &'a str {
    let same = word.char_indices().zip(stem.chars()).take_while(|((_, own), other)| own == other);
    let end = same.last().map_or(0, |((place, own), _)| place + own.len_utf8());
    word.get(..end).unwrap_or(word)
}

/// `кресел` is of `кресло`, and `молоток` becomes `молотки`.
fn without_fleeting_vowel(root: &str) -> &str {
    let cut = root.strip_suffix(['к', 'л', 'н', 'р', 'ц']).and_then(|rest| rest.strip_suffix(['е', 'о']));
    cut.filter(|rest| rest.chars().count() >= RUSSIAN_ROOT).unwrap_or(root)
}

/// The text that the same keys give on the other layout. Texts of both alphabets were meant as they are.
pub(super) fn switched(text: &str) -> Option<String> {
    let text = text.to_lowercase();
    let is_russian = text.chars().any(is_cyrillic);
    if is_russian && text.chars().any(|letter| letter.is_ascii_alphabetic()) {
        return None;
    }
    let key = |sign: char| {
        let mut keys = KEYS.iter().chain(&SHIFTED_KEYS);
        let found = keys.find(|(latin, cyrillic)| sign == if is_russian { *cyrillic } else { *latin });
        found.map(|(latin, cyrillic)| if is_russian { *latin } else { *cyrillic })
    };
    let is_long = text.chars().filter_map(key).count() >= MIN_SWITCHED_LENGTH;
    is_long.then(|| text.chars().map(|sign| key(sign).unwrap_or(sign)).collect())
}

/// The word in the other alphabet, if each of its letters has a look-alike there: `m6` in Latin and in Cyrillic letters.
pub(super) fn look_alike(word: &str) -> Option<String> {
    let is_russian = word.chars().any(is_cyrillic);
    let other = |letter: char| {
        if letter.is_numeric() {
            return Some(letter);
        }
        let found = LOOK_ALIKES.iter().find(|(latin, cyrillic)| letter == if is_russian { *cyrillic } else { *latin });
        found.map(|(latin, cyrillic)| if is_russian { *latin } else { *cyrillic })
    };
    let twin: String = word.chars().map(other).collect::<Option<_>>()?;
    (twin != word).then_some(twin)
}

#[cfg(test)]
mod tests {
    use kontor_kernel::Name;

    use super::*;

    const CASES: &[(&str, &[&str], &[&str])] = include!("near_search_cases.rs");

    #[test]
    fn mistyped_words_are_found() {
        let (mut found, mut asked) = (0, 0);
        for (name, queries, others) in CASES {
            let text = SearchText::of(&Name::parse(name).unwrap(), None);
            let near = |query: &str| {
                let query = NearQuery::of(&Line::parse(query).unwrap())?;
                query.typos(&text).inspect(|_| assert!(query.candidates().matches(&text), "{query:?} in {name}"))
            };
            for query in *queries {
                assert!(near(query).is_some(), "{query} in {name}");
                (found, asked) = (found + usize::from(near(query).is_some()), asked + 1);
            }
            for query in *others {
                assert_eq!(near(query), None, "{query} in {name}");
            }
        }
        assert!(asked >= 100 && found == asked, "{found} of {asked}");
    }

    #[test]
    fn a_query_is_corrected_by_the_texts_that_it_means() {
        let query = NearQuery::of(&Line::parse("kyeboard black x15").unwrap()).unwrap();
        let text = |name: &str| SearchText::of(&Name::parse(name).unwrap(), None);
        let texts = ["Keyboard black X15", "Keybord, black x15", "Keyboard white x15", "Keyboard black x16"].map(text);
        let corrected = query.corrected(&texts).unwrap();
        let found: Vec<bool> = texts.iter().map(|text| corrected.matches(text)).collect();
        assert_eq!(found, [true, false, false, false]);
        assert!(corrected.matches(&text("Black keyboards x15")));
        assert_eq!(query.corrected(&texts[2..]), None);
    }

    #[test]
    fn missing_words_are_respelt_by_words_one_typo_away() {
        let line = |text: &str| Line::parse(text).unwrap();
        let words = BTreeSet::from(["keyboard", "keybords", "black", "клавиатура", "x15"]);
        let respelt = |typed: &str, is_missing: fn(&str) -> bool| {
            let query = SearchQuery::of_items(&line(typed));
            let (known, missing) = query.of_known(|way| {
                way.iter().all(|word| match word {
                    SearchWord::Infix(word) | SearchWord::Prefix(word) => !is_missing(word),
                })
            });
            NearQuery::respelt(&line(typed), &known, &missing, &words)
        };
        let text = |name: &str| SearchText::of(&Name::parse(name).unwrap(), None);
        let found = respelt("kyeboard black", |word| word != "black").unwrap();
        assert!(found.matches(&text("Black keyboard")) && found.matches(&text("Keyboards, black")));
        assert!(!found.matches(&text("Black keybords")) && !found.matches(&text("White keyboard")));
        // Two typos, a word that is too short, nothing near, and a rare word beside.
        for typed in ["клваиатруа black", "x51 black", "monitor black", "kyeboard 4711"] {
            assert_eq!(respelt(typed, |word| word != "black" && word != "4711"), None, "{typed}");
        }
        let both = respelt("kyeboard blakc", |_| true).unwrap();
        assert!(both.matches(&text("Black keyboard")) && !both.matches(&text("Black mouse")));
    }

    #[test]
    fn the_nearest_has_the_fewest_typos() {
        let query = NearQuery::of(&Line::parse("клавиатура").unwrap()).unwrap();
        let typos = |name: &str| query.typos(&SearchText::of(&Name::parse(name).unwrap(), None));
        assert_eq!(
            (typos("Клавиатура"), typos("Клавеатура"), typos("Клавеатора"), typos("Карта")),
            (Some(0), Some(1), Some(2), None)
        );
        for short in ["чай", "601", "m6"] {
            assert_eq!(NearQuery::of(&Line::parse(short).unwrap()), None, "{short}");
        }
    }

    #[test]
    fn forms_of_a_word_begin_with_its_root() {
        for (forms, found) in [
            (vec!["клавиатура", "клавиатуры", "клавиатуру", "клавиатурой"], "клавиатур"),
            (vec!["кружка", "кружки", "кружку", "кружек"], "круж"),
            (vec!["keyboards", "keyboard"], "keyboard"),
            (vec!["berries", "berry"], "berr"),
        ] {
            for form in forms {
                assert!(form.starts_with(root(form)), "{form}");
                assert!(root(form).starts_with(found), "{form}: {}", root(form));
            }
        }
        for word in ["чай", "мыло", "case", "601", "klippan601", "диванa"] {
            assert_eq!(root(word), word);
        }
    }

    #[test]
    fn keys_mean_other_letters_on_the_other_layout() {
        for (typed, meant) in
            [("rkfdbfnehf", "клавиатура"), ("Rhe;rf", "кружка"), ("лунищфкв", "keyboard"), (",ev'h", "бумэр")]
        {
            assert_eq!(switched(typed).as_deref(), Some(meant));
        }
        for typed in ["vs", "кот", "диванa", "12345"] {
            assert_eq!(switched(typed), None, "{typed}");
        }
    }

    #[test]
    fn look_alike_letters_match() {
        assert_eq!(look_alike("m6"), Some("м6".to_owned()));
        assert_eq!(look_alike("м6"), Some("m6".to_owned()));
        assert_eq!(look_alike("сок"), Some("cok".to_owned()));
        for word in ["klippan", "диван", "601"] {
            assert_eq!(look_alike(word), None, "{word}");
        }
    }
}
