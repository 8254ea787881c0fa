use std::collections::{BTreeSet, HashMap, HashSet};

use kontor_kernel::{Name, NomenclatureId, Prose, TagId};

use super::cell::is_shortened;
use super::column_map::Column;
use super::export::CardCells;
use super::vocabulary::AMBIGUOUS_NAME;
use super::{
    CardColumn, CardRow, CardSheet, CategoryPath, ImportReport, ItemKey, ReferenceLookup, RowPreview, RowProblems,
    TagNames,
};
use crate::model::{Card, CardRefusal, Edit, NomenclatureKind};

const SHORTENED_NUMBER: &str =
    "is a number that a spreadsheet program shortened; format its column as text and enter the numbers again";

/// Existing item that a row refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownCard {
    /// Identifier of the item.
    pub id: NomenclatureId,
    /// Editable fields.
    pub card: Card,
    /// `true` if it has stock.
    pub has_stock: bool,
}

/// Item after the change by a row, except for category, brand and tags, which may have to be created first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardDraft {
    /// Identifier; `None` for a new item.
    pub id: Option<NomenclatureId>,
    row: u32,
    before: Option<Card>,
    card: Card,
    category: Edit<Option<CategoryPath>>,
    brand: Edit<Option<Name>>,
    tags: Edit<TagNames>,
}

/// Item to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedCard {
    /// Identifier; `None` for a new item.
    pub id: Option<NomenclatureId>,
    /// Fields before the change.
    pub before: Option<Card>,
    /// Fields to write.
    pub card: Card,
    /// `true` if the photos change.
    pub new_photos: bool,
    /// `true` if the tags change.
    pub new_tags: bool,
}

/// Changes by a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Items of the valid rows.
    pub drafts: Vec<CardDraft>,
    /// Problems of the other rows.
    pub problems: RowProblems,
    /// Number of the other rows.
    pub skipped: usize,
    skips: Vec<RowPreview>,
}

impl Decision {
    /// Computes the changes from the sheet, the existing records and the existing items of its rows.
    pub fn of(sheet: &CardSheet, words: &ReferenceLookup, known: &HashMap<ItemKey, KnownCard>) -> Self {
        let mut decision = Self {
            drafts: Vec::with_capacity(sheet.rows.len()),
            problems: sheet.problems.clone(),
            skipped: sheet.refused,
            skips: RowPreview::from_problems(&sheet.problems),
        };
        let most = decision.skips.len() + RowPreview::MAX_ROWS;
        let mut seen = HashSet::new();
        for row in &sheet.rows {
            let item = known.get(&row.key);
            let mut problems = RowProblems::default();
            if item.is_some_and(|item| !seen.insert(item.id)) {
                problems.add(row.row, CardColumn::Id.name(), "is already in an earlier row");
            }
            match draft(row, words, item, &mut problems) {
                Some(draft) if problems.is_empty() => decision.drafts.push(draft),
                _ => {
                    decision.skipped += 1;
                    if decision.skips.len() < most {
                        decision.skips.push(RowPreview::skipped(row.row, Some(&row.key)));
                    }
                }
            }
            decision.problems.merge(&problems);
        }
        decision.problems = decision.problems.sorted();
        decision
    }

    /// Returns the report of the import without writing, with the first rows after the import.
    pub fn preview_report(self, words: &ReferenceLookup) -> ImportReport {
        let mut report = ImportReport { skipped: self.skipped, problems: self.problems, ..ImportReport::default() };
        let mut rows = self.skips;
        for (place, draft) in self.drafts.into_iter().enumerate() {
            let preview = (place < RowPreview::MAX_ROWS).then(|| draft.preview(words));
            let is_new = draft.id.is_none();
            let misses = draft.missing_category(words).is_some()
                || draft.missing_brand(words).is_some()
                || draft.missing_tags(words).next().is_some();
            let is_changed = is_new || misses || draft.resolve(words).is_some();
            if is_new {
                report.created += 1;
            } else if is_changed {
                report.updated += 1;
            } else {
                report.unchanged += 1;
            }
            rows.extend(preview.map(|preview| if is_changed { preview } else { preview.kept() }));
        }
        report.rows = RowPreview::first(rows);
        report
    }
}

fn draft(
    row: &CardRow,
    words: &ReferenceLookup,
    known: Option<&KnownCard>,
    problems: &mut RowProblems,
) -> Option<CardDraft> {
    let mut problem = |column: CardColumn, reason: &str| problems.add(row.row, column.name(), reason);
    let before = known.map(|known| &known.card);
    let base = match (&row.key, before) {
        (_, Some(card)) => Some(card.clone()),
        (ItemKey::Id(_), None) => {
            problem(CardColumn::Id, "there is no such item");
            None
        }
        (ItemKey::Article(article), None) => {
            let name = row.change.name.as_set();
            if name.is_none() {
                problem(CardColumn::Name, "is required for a new item");
            }
            if is_shortened(article) {
                problem(CardColumn::Article, SHORTENED_NUMBER);
            }
            name.map(|name| Card { article: Some(article.clone()), ..Card::new(name.clone(), NomenclatureKind::Goods) })
        }
    };
    let mut change = row.change.clone();
    let mut named = |column, found: bool| {
        if !found {
            problem(column, not_found_reason(row, words, column));
        }
    };
    if let Edit::Set(text) = &row.country {
        let id = text.as_ref().map(|text| words.countries.find(text, before.and_then(|card| card.country_id)));
        named(CardColumn::Country, id != Some(None));
        change.country_id = Edit::Set(id.flatten());
    }
    if let Edit::Set(text) = &row.unit {
        let id = text.as_ref().map(|text| words.units.find(text, before.and_then(|card| card.storage_unit_id)));
        named(CardColumn::Unit, id != Some(None));
        change.storage_unit_id = Edit::Set(id.flatten());
    }
    if let Edit::Set(text) = &row.vat {
        let id = text.as_ref().map(|text| words.vats.find(text, before.and_then(|card| card.vat_id)));
        named(CardColumn::Vat, id != Some(None));
        change.vat_id = Edit::Set(id.flatten());
    }
    if let Edit::Set(text) = &row.nomenclature_type {
        let id = text.as_ref().map(|text| words.types.find(text, before.and_then(|card| card.type_id)));
        named(CardColumn::Type, id != Some(None));
        change.type_id = Edit::Set(id.flatten());
    }
    let mut card = match change.apply(base?) {
        Ok(card) => card,
        Err(refusal) => {
            let column = match refusal {
                CardRefusal::Billing(_) => CardColumn::BillingPeriod,
                CardRefusal::Price(_) => CardColumn::Price,
            };
            problem(column, &refusal.to_string());
            return None;
        }
    };
    if let Some(before) = before {
        card.description = same_lines(before.description.as_ref(), card.description);
        card.characteristics = same_lines(before.characteristics.as_ref(), card.characteristics);
    }
    if let Some(path) = row.category.as_set().and_then(Option::as_ref)
        && words.is_ambiguous(path)
        && !card.category_id.is_some_and(|id| words.has_path(id, path))
    {
        problem(CardColumn::Category, "several categories have this path; give one of them another name");
    }
    if let Some(path) = row.category.as_set().and_then(Option::as_ref)
        && path.names().len() > CategoryPath::MAX_DEPTH
        && words.find_category(path, card.category_id).is_none()
    {
        problem(CardColumn::Category, &format!("must have at most {} levels", CategoryPath::MAX_DEPTH));
    }
    if known.is_some_and(|known| known.has_stock) && !card.is_stocked() {
        problem(CardColumn::Kind, "the item has stock in warehouses and must stay goods");
    }
    Some(CardDraft {
        id: known.map(|known| known.id),
        row: row.row,
        before: before.cloned(),
        card,
        category: row.category.clone(),
        brand: row.brand.clone(),
        tags: row.tags.clone(),
    })
}

/// Returns the reason why no record was found.
fn not_found_reason(row: &CardRow, words: &ReferenceLookup, column: CardColumn) -> &'static str {
    let text = |cell: &Edit<Option<String>>| cell.as_set().and_then(Option::clone).unwrap_or_default();
    let is_ambiguous = match column {
        CardColumn::Country => words.countries.is_ambiguous(&text(&row.country)),
        CardColumn::Unit => words.units.is_ambiguous(&text(&row.unit)),
        CardColumn::Vat => words.vats.is_ambiguous(&text(&row.vat)),
        _ => false,
    };
    if is_ambiguous { AMBIGUOUS_NAME } else { "there is no such record" }
}

/// Ignores differences in line ends only, since spreadsheet programs change them.
fn same_lines(before: Option<&Prose>, after: Option<Prose>) -> Option<Prose> {
    let plain = |text: &Prose| text.as_str().replace("\r\n", "\n").replace('\r', "\n");
    match (before, after) {
        (Some(before), Some(after)) if plain(before) == plain(&after) => Some(before.clone()),
        (_, after) => after,
    }
}

impl CardDraft {
    /// Returns the category that must be created first.
    pub fn missing_category(&self, words: &ReferenceLookup) -> Option<&CategoryPath> {
        let path = self.category.as_set()?.as_ref()?;
        words.find_category(path, self.card.category_id).is_none().then_some(path)
    }

    /// Returns the brand that must be created first.
    pub fn missing_brand(&self, words: &ReferenceLookup) -> Option<&Name> {
        let name = self.brand.as_set()?.as_ref()?;
        words.brands.find_named(name, self.card.brand_id).is_none().then_some(name)
    }

    /// Returns the tags that must be created first.
    pub fn missing_tags(&self, words: &ReferenceLookup) -> impl Iterator<Item = &Name> {
        let names = self.tags.as_set().map(TagNames::names).unwrap_or_default();
        names.iter().filter(move |name| words.tags.named(name).is_none())
    }

    /// Returns the row after the import, with the names of records that must be created first.
    fn preview(&self, words: &ReferenceLookup) -> RowPreview {
        let resolved = self.clone().resolve(words).map_or_else(|| self.card.clone(), |resolved| resolved.card);
        let mut cells = CardCells::new(resolved, words);
        if let Some(path) = self.missing_category(words) {
            cells.category = Some(path.to_text());
        }
        if let Some(brand) = self.missing_brand(words) {
            cells.brand = Some(brand.to_string());
        }
        if self.missing_tags(words).next().is_some()
            && let Edit::Set(tags) = &self.tags
        {
            cells.tags = TagNames::text_of(tags.names().iter());
        }
        let preview = RowPreview::unchanged(self.row, self.card.article.as_ref(), self.id.map(NomenclatureId::get));
        match self.before.clone().map(|card| CardCells::new(card, words)) {
            None => preview.creating(cells.named()),
            Some(before) => {
                let pairs = before.named().zip(cells.named());
                preview.updating(pairs.map(|((name, before), (_, after))| (name, before, after)))
            }
        }
    }

    /// Returns the item to write, once all referenced records exist; `None` if the row changes nothing.
    pub fn resolve(self, words: &ReferenceLookup) -> Option<ResolvedCard> {
        let mut card = self.card;
        if let Edit::Set(path) = &self.category {
            card.category_id = path.as_ref().and_then(|path| words.find_category(path, card.category_id));
        }
        if let Edit::Set(name) = &self.brand {
            card.brand_id = name.as_ref().and_then(|name| words.brands.find_named(name, card.brand_id));
        }
        if let Edit::Set(tags) = &self.tags {
            let tags: BTreeSet<TagId> = tags.names().iter().filter_map(|name| words.tags.named(name)).collect();
            card.tags = tags.into_iter().collect();
        }
        let new_tags = self.before.as_ref().is_none_or(|before| before.tags != card.tags);
        let new_photos = self.before.as_ref().is_none_or(|before| before.photos != card.photos);
        (self.before.as_ref() != Some(&card)).then_some(ResolvedCard {
            id: self.id,
            before: self.before,
            card,
            new_photos,
            new_tags,
        })
    }
}
