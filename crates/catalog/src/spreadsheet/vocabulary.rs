//! Words that price lists use for columns and for the records of dictionaries, independent of the records' names.

use std::collections::{HashMap, HashSet};

use kontor_kernel::{
    BrandId, CategoryId, CountryId, InvalidId, Line, Name, NomenclatureTypeId, StorageUnitId, TagId, TextError, VatId,
};

use crate::model::Reference;

/// Path of a category from its root down: `Kitchen / Mugs`.
///
/// A `/` alone between spaces separates names. A `/` that belongs to a name is written `\/`, and a `\/` of a name
/// `\\/`: every word of a name that consists of backslashes and a slash gets one more backslash. A `/` at the beginning
/// or the end of a path separates nothing, so it belongs to its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CategoryPath(Vec<Name>);

const SEPARATOR: &str = "/";

/// Returns `true` if a word is a slash after any number of backslashes.
fn is_slash(word: &str) -> bool {
    word.strip_suffix(SEPARATOR).is_some_and(|backslashes| backslashes.chars().all(|letter| letter == '\\'))
}

/// Returns a name as written in a path.
fn escaped(name: &str) -> String {
    let words: Vec<String> =
        name.split(' ').map(|word| if is_slash(word) { format!("\\{word}") } else { word.to_owned() }).collect();
    words.join(" ")
}

/// Returns the word of a name from its escaped form.
fn unescaped(word: &str) -> &str {
    if is_slash(word) { word.strip_prefix('\\').unwrap_or(word) } else { word }
}

impl CategoryPath {
    /// Maximum depth of a path that an import creates; existing paths may be deeper.
    pub const MAX_DEPTH: usize = 20;

    /// Creates a path from names, the root first.
    pub fn of(names: Vec<Name>) -> Self {
        Self(names)
    }

    /// Parses a path.
    pub fn parse(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.trim().split(' ').collect();
        let last = words.len().saturating_sub(1);
        let parts = |(place, word): (usize, &&str)| *word == SEPARATOR && place > 0 && place < last;
        let mut names = vec![Vec::new()];
        for (place, word) in words.iter().enumerate() {
            if parts((place, word)) {
                names.push(Vec::new());
            } else if let Some(name) = names.last_mut() {
                name.push(unescaped(word));
            }
        }
        let names: Result<Vec<Name>, TextError> = names.iter().map(|words| Line::parse(&words.join(" "))).collect();
        names.map(Self).map_err(|error| format!("each category of the path {error}"))
    }

    /// Returns the names, the root first.
    pub fn names(&self) -> &[Name] {
        &self.0
    }

    /// Returns the text that [`CategoryPath::parse`] reads.
    pub fn to_text(&self) -> String {
        let names: Vec<String> = self.0.iter().map(|name| escaped(name)).collect();
        names.join(" / ")
    }

    /// Returns the path in the form in which paths are compared.
    pub fn key(&self) -> Vec<String> {
        self.0.iter().map(Line::key).collect()
    }
}

/// Category as needed for paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CategoryNode {
    /// Identifier of the category.
    pub id: CategoryId,
    /// Parent category.
    pub parent: Option<CategoryId>,
    /// Name.
    pub name: Name,
}

/// Records that items refer to by name: those of the project and those of the dictionaries.
#[derive(Debug, Clone)]
pub struct ReferenceLookup {
    categories: HashMap<CategoryId, CategoryNode>,
    by_place: HashMap<(Option<CategoryId>, String), CategoryId>,
    shared_places: HashSet<(Option<CategoryId>, String)>,
    pub(super) brands: Dictionary<BrandId>,
    pub(super) countries: Dictionary<CountryId>,
    pub(super) units: Dictionary<StorageUnitId>,
    pub(super) vats: Dictionary<VatId>,
    pub(super) types: Dictionary<NomenclatureTypeId>,
    pub(super) tags: Dictionary<TagId>,
}

impl Default for ReferenceLookup {
    fn default() -> Self {
        Self {
            categories: HashMap::new(),
            by_place: HashMap::new(),
            shared_places: HashSet::new(),
            brands: Dictionary::default(),
            countries: Dictionary::with(DictionarySynonyms::Countries),
            units: Dictionary::with(DictionarySynonyms::Units),
            vats: Dictionary::with(DictionarySynonyms::Vats),
            types: Dictionary::default(),
            tags: Dictionary::default(),
        }
    }
}

impl ReferenceLookup {
    /// Adds a category.
    pub fn add_category(&mut self, category: CategoryNode) {
        let place = (category.parent, category.name.key());
        if *self.by_place.entry(place.clone()).or_insert(category.id) != category.id {
            self.shared_places.insert(place);
        }
        self.categories.insert(category.id, category);
    }

    /// Adds a brand.
    pub fn add_brand(&mut self, brand: Reference<BrandId>) {
        self.brands.add(brand.id, brand.name, None);
    }

    /// Adds a country.
    pub fn add_country(&mut self, country: Reference<CountryId>) {
        self.countries.add(country.id, country.name, None);
    }

    /// Adds a storage unit, which is also found by its abbreviation.
    pub fn add_unit(&mut self, unit: Reference<StorageUnitId>, abbreviation: &str) {
        self.units.add(unit.id, unit.name, Some(abbreviation));
    }

    /// Adds a VAT rate.
    pub fn add_vat(&mut self, vat: Reference<VatId>) {
        self.vats.add(vat.id, vat.name, None);
    }

    /// Adds a type.
    pub fn add_type(&mut self, nomenclature_type: Reference<NomenclatureTypeId>) {
        self.types.add(nomenclature_type.id, nomenclature_type.name, None);
    }

    /// Adds a tag.
    pub fn add_tag(&mut self, tag: Reference<TagId>) {
        self.tags.add(tag.id, tag.name, None);
    }

    /// Returns `true` if several categories have the path.
    pub fn is_ambiguous(&self, path: &CategoryPath) -> bool {
        let mut parent = None;
        for name in path.names() {
            let place = (parent, name.key());
            if self.shared_places.contains(&place) {
                return true;
            }
            parent = self.by_place.get(&place).copied();
            if parent.is_none() {
                return false;
            }
        }
        false
    }

    /// Returns the category at a path. If it does not exist, returns the last existing category of the path and the
    /// number of existing names. Of two categories with one name and parent, the one added first is used; see
    /// [`ReferenceLookup::is_ambiguous`].
    pub fn category(&self, path: &CategoryPath) -> Result<CategoryId, (Option<CategoryId>, usize)> {
        let mut parent = None;
        for (depth, name) in path.names().iter().enumerate() {
            match self.by_place.get(&(parent, name.key())) {
                Some(id) => parent = Some(*id),
                None => return Err((parent, depth)),
            }
        }
        parent.ok_or((None, 0))
    }

    /// Returns the category that a cell means. If the `current` category of the item has the path, it is meant, even if
    /// others have that path too. Otherwise the result is that of [`ReferenceLookup::category`].
    pub fn find_category(&self, path: &CategoryPath, current: Option<CategoryId>) -> Option<CategoryId> {
        current.filter(|id| self.has_path(*id, path)).or_else(|| self.category(path).ok())
    }

    /// Returns `true` if a category has this path.
    pub fn has_path(&self, category: CategoryId, path: &CategoryPath) -> bool {
        self.path(category).is_some_and(|own| own.key() == path.key())
    }

    /// Returns the path of a category.
    pub fn path(&self, category: CategoryId) -> Option<CategoryPath> {
        let mut names = Vec::new();
        let mut next = Some(category);
        while let Some(id) = next {
            let category = self.categories.get(&id)?;
            names.push(category.name.clone());
            next = category.parent;
            if names.len() > self.categories.len() {
                return None;
            }
        }
        names.reverse();
        Some(CategoryPath(names))
    }
}

/// Reason why a cell identifies no record.
pub(super) const AMBIGUOUS_NAME: &str = "several records have this name; give the number";

/// Records by name, in any case, or by identifier.
#[derive(Debug, Clone)]
pub(super) struct Dictionary<Id> {
    by_key: HashMap<String, Id>,
    by_other: HashMap<String, Id>,
    shared: HashSet<String>,
    names: HashMap<i64, (Id, Name)>,
    words: DictionarySynonyms,
}

impl<Id> Dictionary<Id> {
    fn with(words: DictionarySynonyms) -> Self {
        let (by_key, by_other) = (HashMap::new(), HashMap::new());
        Self { by_key, by_other, shared: HashSet::new(), names: HashMap::new(), words }
    }
}

impl<Id> Default for Dictionary<Id> {
    fn default() -> Self {
        Self::with(DictionarySynonyms::None)
    }
}

impl<Id: Copy + Eq + Into<i64> + TryFrom<i64, Error = InvalidId>> Dictionary<Id> {
    /// Adds a record. Its other name is used only if no record has it as a name.
    pub fn add(&mut self, id: Id, name: Name, other: Option<&str>) {
        if *self.by_key.entry(name.key()).or_insert(id) != id {
            self.shared.insert(name.key());
        }
        if let Some(other) = other {
            self.by_other.entry(other.trim().to_lowercase()).or_insert(id);
        }
        self.names.insert(id.into(), (id, name));
    }

    /// Returns the record that a text means; `None` if several have the name. Names need not be unique, so the
    /// `current` record is meant whenever the text is its name.
    pub fn find(&self, text: &str, current: Option<Id>) -> Option<Id> {
        let key = text.trim().to_lowercase();
        let numbered = || {
            let number = key.parse::<i64>().ok().filter(|_| self.words.takes_numbers())?;
            self.names.get(&number).map(|(id, _)| *id)
        };
        let called = |key: &String| self.by_key.get(key).or_else(|| self.by_other.get(key)).copied();
        let named = || called(&key).or_else(numbered).or_else(|| self.words.synonyms(&key).iter().find_map(called));
        self.chosen(&key, current, named)
    }

    /// Returns the `current` record if it has this key, otherwise the one of `named` unless several have the key.
    fn chosen(&self, key: &str, current: Option<Id>, named: impl FnOnce() -> Option<Id>) -> Option<Id> {
        let is_current = |id: &Id| self.name(*id).is_some_and(|name| name.key() == key);
        current.filter(is_current).or_else(|| if self.shared.contains(key) { None } else { named() })
    }

    /// Returns `true` if several records have the name.
    pub fn is_ambiguous(&self, text: &str) -> bool {
        self.shared.contains(&text.trim().to_lowercase())
    }

    /// Returns the record with this name, without matching identifiers.
    pub fn named(&self, name: &Name) -> Option<Id> {
        self.by_key.get(&name.key()).copied()
    }

    /// Finds a record like [`Dictionary::find`], without matching identifiers: a name may look like a number.
    pub fn find_named(&self, name: &Name, current: Option<Id>) -> Option<Id> {
        self.chosen(&name.key(), current, || self.named(name))
    }

    /// Returns the name of a record.
    pub fn name(&self, id: Id) -> Option<&Name> {
        self.names.get(&id.into()).map(|(_, name)| name)
    }
}

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

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    fn id(number: i64) -> CategoryId {
        CategoryId::new(number).unwrap()
    }

    #[test]
    fn a_path_is_read_back_as_it_was_written() {
        for names in [
            vec!["Kitchen", "Mugs / Cups"],
            vec!["a/b"],
            vec!["x \\ y"],
            vec!["Mugs \\/ Cups", "a \\\\/ b"],
            vec!["Kitchen /", "Mugs"],
            vec!["Kitchen", "/ Mugs"],
            vec!["Kitchen", "Mugs /"],
            vec!["/", "/", "\\/"],
            vec!["a / / b", "c  / d"],
        ] {
            let path = CategoryPath::of(names.iter().map(|text| name(text)).collect());
            assert_eq!(CategoryPath::parse(&path.to_text()).unwrap(), path, "{}", path.to_text());
        }
        assert!(CategoryPath::parse("Kitchen /  / Mugs").is_err());
    }

    #[test]
    fn a_path_of_an_earlier_version_is_read_where_it_can_mean_one_thing_only() {
        for (text, names) in [
            ("Kitchen / Mugs \\/ Cups", vec!["Kitchen", "Mugs / Cups"]),
            ("Kitchen / Mugs /", vec!["Kitchen", "Mugs /"]),
            ("/ Kitchen / Mugs", vec!["/ Kitchen", "Mugs"]),
            ("Kitchen /", vec!["Kitchen /"]),
        ] {
            let path = CategoryPath::parse(text).unwrap();
            assert_eq!(path.names().iter().map(Name::as_str).collect::<Vec<_>>(), names, "{text}");
        }
        assert!(CategoryPath::parse("Kitchen / / Mugs").is_err(), "`Kitchen /` or `/ Mugs`");
    }

    #[test]
    fn a_path_leads_as_far_as_there_are_categories() {
        let mut words = ReferenceLookup::default();
        words.add_category(CategoryNode { id: id(1), parent: None, name: name("Kitchen") });
        words.add_category(CategoryNode { id: id(2), parent: Some(id(1)), name: name("Mugs") });
        words.add_category(CategoryNode { id: id(3), parent: Some(id(1)), name: name("mugs") });
        let path = |text: &str| CategoryPath::parse(text).unwrap();
        assert_eq!(words.category(&path("KITCHEN / mugs")), Ok(id(2)));
        assert_eq!(words.category(&path("Kitchen / Mugs / Tall")), Err((Some(id(2)), 2)));
        assert_eq!(words.category(&path("Mugs")), Err((None, 0)));
        for (text, several) in [
            ("Kitchen", false),
            ("kitchen / MUGS", true),
            ("Kitchen / Mugs / Tall", true),
            ("None / Kitchen", false),
            ("Mugs", false),
        ] {
            assert_eq!(words.is_ambiguous(&path(text)), several, "{text}");
        }
        assert_eq!(words.path(id(3)).unwrap().to_text(), "Kitchen / mugs");
    }

    #[test]
    fn an_ambiguous_name_matches_only_the_current_record() {
        let mut dictionary = Dictionary::default();
        for (number, text) in [(1, "Norway"), (2, "NORWAY"), (3, "Sweden"), (4, "se")] {
            dictionary.add(CountryId::new(number).unwrap(), name(text), Some("SE"));
        }
        let second = CountryId::new(2).unwrap();
        let found = |text: &str, current| dictionary.find(text, current).map(CountryId::get);
        assert_eq!((found("norway", None), dictionary.is_ambiguous(" Norway ")), (None, true));
        assert_eq!(found("NORWAY", Some(second)), Some(2));
        assert_eq!((found("2", None), found("5", None)), (Some(2), None));
        assert_eq!((found("sweden", Some(second)), dictionary.is_ambiguous("sweden")), (Some(3), false));
        assert_eq!(found("SE", None), Some(4), "a name comes before the other names");
    }

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
