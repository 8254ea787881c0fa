use std::collections::HashMap;

use kontor_kernel::{BrandId, CategoryId, CountryId, InvalidId, Line, Name, StorageUnitId, TextError, VatId};

use crate::model::Reference;

/// Where a category lies, from its root down: `Kitchen / Mugs`. A ` / ` inside a name is written ` \/ `.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CategoryPath(Vec<Name>);

const SEPARATOR: &str = " / ";
const ESCAPED: &str = " \\/ ";

impl CategoryPath {
    /// The deepest path.
    pub const DEEPEST: usize = 20;

    /// From names, the root first.
    pub fn of(names: Vec<Name>) -> Self {
        Self(names)
    }

    /// From text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let names: Result<Vec<Name>, TextError> =
            text.trim().split(SEPARATOR).map(|name| Line::parse(&name.replace(ESCAPED, SEPARATOR))).collect();
        let names = names.map_err(|error| format!("each category of the path {error}"))?;
        if names.len() > Self::DEEPEST {
            return Err(format!("must have at most {} levels", Self::DEEPEST));
        }
        Ok(Self(names))
    }

    /// The names, the root first.
    pub fn names(&self) -> &[Name] {
        &self.0
    }

    /// As [`CategoryPath::parse`] reads it.
    pub fn to_text(&self) -> String {
        let names: Vec<String> = self.0.iter().map(|name| name.replace(SEPARATOR, ESCAPED)).collect();
        names.join(SEPARATOR)
    }

    /// The path in the form in which paths are compared.
    pub fn key(&self) -> Vec<String> {
        self.0.iter().map(Line::key).collect()
    }
}

/// A category, as far as paths are concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VocabularyCategory {
    /// The number of the category.
    pub id: CategoryId,
    /// The category it lies in.
    pub parent: Option<CategoryId>,
    /// Its name.
    pub name: Name,
}

/// The records that cards name: those of the project and those of the dictionaries.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    categories: HashMap<CategoryId, VocabularyCategory>,
    by_place: HashMap<(Option<CategoryId>, String), CategoryId>,
    brands: Dictionary<BrandId>,
    countries: Dictionary<CountryId>,
    units: Dictionary<StorageUnitId>,
    vats: Dictionary<VatId>,
}

impl Vocabulary {
    /// Adds a category; of two with one name in one place the one added first is found by name.
    pub fn add_category(&mut self, category: VocabularyCategory) {
        self.by_place.entry((category.parent, category.name.key())).or_insert(category.id);
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

    /// Adds a storage unit, which is known by its abbreviation, too.
    pub fn add_unit(&mut self, unit: Reference<StorageUnitId>, abbreviation: &str) {
        self.units.add(unit.id, unit.name, Some(abbreviation));
    }

    /// Adds a VAT rate.
    pub fn add_vat(&mut self, vat: Reference<VatId>) {
        self.vats.add(vat.id, vat.name, None);
    }

    /// The category at a path, or how much of the path there is: its last category and how many names lead to it.
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

    /// The path of a category.
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

    /// Brands.
    pub(super) fn brands(&self) -> &Dictionary<BrandId> {
        &self.brands
    }

    /// Countries.
    pub(super) fn countries(&self) -> &Dictionary<CountryId> {
        &self.countries
    }

    /// Storage units.
    pub(super) fn units(&self) -> &Dictionary<StorageUnitId> {
        &self.units
    }

    /// VAT rates.
    pub(super) fn vats(&self) -> &Dictionary<VatId> {
        &self.vats
    }
}

/// Records by name, in any case, or by number.
#[derive(Debug, Clone)]
pub(super) struct Dictionary<Id> {
    by_key: HashMap<String, Id>,
    names: HashMap<i64, (Id, Name)>,
}

impl<Id> Default for Dictionary<Id> {
    fn default() -> Self {
        Self { by_key: HashMap::new(), names: HashMap::new() }
    }
}

impl<Id: Copy + Eq + Into<i64> + TryFrom<i64, Error = InvalidId>> Dictionary<Id> {
    /// Adds a record; of two with one name the one added first is found by name.
    pub fn add(&mut self, id: Id, name: Name, other: Option<&str>) {
        self.by_key.entry(name.key()).or_insert(id);
        if let Some(other) = other {
            self.by_key.entry(other.trim().to_lowercase()).or_insert(id);
        }
        self.names.insert(id.into(), (id, name));
    }

    /// The record that a text names. The `current` one is meant whenever the text is its name: names need not be unique.
    pub fn find(&self, text: &str, current: Option<Id>) -> Option<Id> {
        let key = text.trim().to_lowercase();
        let is_current = |id: &Id| self.name(*id).is_some_and(|name| name.key() == key);
        let numbered = || self.names.get(&key.parse::<i64>().ok()?).map(|(id, _)| *id);
        current.filter(is_current).or_else(|| self.by_key.get(&key).copied()).or_else(numbered)
    }

    /// The name of a record.
    pub fn name(&self, id: Id) -> Option<&Name> {
        self.names.get(&id.into()).map(|(_, name)| name)
    }
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
        for names in [vec!["Kitchen", "Mugs / Cups"], vec!["a/b"], vec!["x \\ y"]] {
            let path = CategoryPath::of(names.iter().map(|text| name(text)).collect());
            assert_eq!(CategoryPath::parse(&path.to_text()).unwrap(), path);
        }
        assert!(CategoryPath::parse("Kitchen /  / Mugs").is_err());
        assert!(CategoryPath::parse(&vec!["a"; 21].join(" / ")).is_err());
    }

    #[test]
    fn a_path_leads_as_far_as_there_are_categories() {
        let mut words = Vocabulary::default();
        words.add_category(VocabularyCategory { id: id(1), parent: None, name: name("Kitchen") });
        words.add_category(VocabularyCategory { id: id(2), parent: Some(id(1)), name: name("Mugs") });
        words.add_category(VocabularyCategory { id: id(3), parent: Some(id(1)), name: name("mugs") });
        let path = |text: &str| CategoryPath::parse(text).unwrap();
        assert_eq!(words.category(&path("KITCHEN / mugs")), Ok(id(2)));
        assert_eq!(words.category(&path("Kitchen / Mugs / Tall")), Err((Some(id(2)), 2)));
        assert_eq!(words.category(&path("Mugs")), Err((None, 0)));
        assert_eq!(words.path(id(3)).unwrap().to_text(), "Kitchen / mugs");
    }

    #[test]
    fn a_name_means_the_current_record_first() {
        let mut dictionary = Dictionary::default();
        for number in [1, 2] {
            dictionary.add(CountryId::new(number).unwrap(), name("Norway"), None);
        }
        let second = CountryId::new(2).unwrap();
        assert_eq!(dictionary.find("norway", None).map(CountryId::get), Some(1));
        assert_eq!(dictionary.find("NORWAY", Some(second)), Some(second));
        assert_eq!(dictionary.find("2", None), Some(second));
        assert_eq!(dictionary.find("3", None), None);
    }
}
