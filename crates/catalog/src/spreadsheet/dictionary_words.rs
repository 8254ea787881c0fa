//! Words that price lists use for the records of dictionaries, independent of the records' names.

/// Synonyms, in lower case and without a point at the end.
type Words = &'static [&'static str];

/// Storage units.
const UNITS: &[Words] = &[
    &["piece", "pieces", "pc", "pcs", "шт", "штука", "штук", "штуки"],
    &["kilogram", "kg", "кг", "килограмм"],
    &["gram", "g", "г", "гр", "грамм"],
    &["tonne", "t", "т", "тонна"],
    &["litre", "l", "л", "литр"],
    &["millilitre", "ml", "мл", "миллилитр"],
    &["metre", "m", "м", "метр", "пог. м", "п.м"],
    &["square metre", "m2", "m²", "м2", "м²", "кв.м", "кв. м", "квадратный метр"],
    &["cubic metre", "m3", "m³", "м3", "м³", "куб.м", "куб. м", "кубический метр"],
    &["pack", "уп", "упак", "упаковка", "пачка", "пач"],
    &["set", "комплект", "компл", "набор"],
    &["pair", "пара", "пар"],
    &["hour", "h", "ч", "час"],
];

/// Countries.
const COUNTRIES: &[Words] = &[
    &["russia", "россия", "рф", "российская федерация", "russian federation"],
    &["belarus", "беларусь", "белоруссия", "республика беларусь"],
    &["kazakhstan", "казахстан"],
    &["china", "китай", "кнр"],
    &["germany", "германия"],
    &["italy", "италия"],
    &["turkey", "турция", "türkiye"],
    &["india", "индия"],
    &["sweden", "швеция"],
    &["poland", "польша"],
];

/// VAT rates without a number.
const VATS: &[Words] = &[&["no vat", "without vat", "без ндс", "ндс не облагается", "не облагается", "безндс"]];

/// Dictionary of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum DictionarySynonyms {
    /// Only the names of the records.
    #[default]
    None,
    /// Storage units.
    Units,
    /// Countries.
    Countries,
    /// VAT rates: a number is a rate, never the identifier of a record.
    Vats,
}

impl DictionarySynonyms {
    /// Returns `true` if a number means the record with this identifier.
    pub fn takes_numbers(self) -> bool {
        self != Self::Vats
    }

    /// Returns synonyms of a text, which must be in lower case.
    pub fn synonyms(self, text: &str) -> Vec<String> {
        let groups = match self {
            Self::None => return Vec::new(),
            Self::Units => UNITS,
            Self::Countries => COUNTRIES,
            Self::Vats => {
                if let Some(rate) = rate(text) {
                    return vec![rate];
                }
                VATS
            }
        };
        let word = text.trim_end_matches('.');
        let group = groups.iter().find(|words| words.contains(&word));
        group.into_iter().flat_map(|words| words.iter()).map(|word| (*word).to_owned()).collect()
    }
}

/// Returns the name of a rate: `20`, `20 %` and `ндс 20%` are `20%`.
fn rate(text: &str) -> Option<String> {
    let number: String =
        text.replace("ндс", "").replace("vat", "").chars().filter(|sign| !sign.is_whitespace()).collect();
    let number = number.strip_suffix('%').unwrap_or(&number);
    let is_rate = !number.is_empty() && number.len() <= 2 && number.bytes().all(|digit| digit.is_ascii_digit());
    is_rate.then(|| format!("{number}%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_price_lists_have_the_meaning_of_records() {
        assert!(DictionarySynonyms::Units.synonyms("шт.").contains(&"piece".to_owned()));
        assert!(DictionarySynonyms::Countries.synonyms("китай").contains(&"china".to_owned()));
        assert!(DictionarySynonyms::Vats.synonyms("без ндс").contains(&"no vat".to_owned()));
        for text in ["20", "20%", "20 %", "ндс 20%", "vat 20 %"] {
            assert_eq!(DictionarySynonyms::Vats.synonyms(text), ["20%"], "{text}");
        }
        for text in ["0.2", "", "%", "200", "twenty"] {
            assert_eq!(DictionarySynonyms::Vats.synonyms(text), Vec::<String>::new(), "{text}");
        }
        assert!(DictionarySynonyms::None.synonyms("шт").is_empty());
    }

    #[test]
    fn synonyms_are_unambiguous() {
        for groups in [UNITS, COUNTRIES, VATS] {
            let mut words: Vec<&str> = groups.concat();
            let count = words.len();
            words.sort_unstable();
            words.dedup();
            assert_eq!(words.len(), count);
        }
    }
}
