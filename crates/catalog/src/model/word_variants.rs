//! Other meanings of a typed word: the same word with another ending, on the other keyboard layout, with
//! letters of the other alphabet that look alike.

use rust_stemmers::{Algorithm, Stemmer};

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
    use super::*;

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
