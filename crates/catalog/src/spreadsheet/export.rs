use std::borrow::Cow;

use kontor_kernel::{Line, NomenclatureId};

use super::columns::Column;
use super::photo_cell::PhotoCell;
use super::{CardColumn, Content, ReferenceLookup, TagNames};
use crate::bulk::JobProblem;
use crate::model::{Card, NomenclatureKind, ShareLink};

/// Cells of an item, with the names of the records it refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CardCells {
    pub card: Card,
    pub category: Option<String>,
    pub brand: Option<String>,
    country: Option<String>,
    unit: Option<String>,
    vat: Option<String>,
    nomenclature_type: Option<String>,
    pub tags: String,
}

impl CardCells {
    /// Looks up the names.
    pub fn new(card: Card, words: &ReferenceLookup) -> Self {
        let category = card.category_id.and_then(|id| words.path(id)).map(|path| path.to_text());
        let brand = card.brand_id.and_then(|id| words.brands.name(id)).map(ToString::to_string);
        let country = card.country_id.and_then(|id| words.countries.name(id)).map(ToString::to_string);
        let unit = card.storage_unit_id.and_then(|id| words.units.name(id)).map(ToString::to_string);
        let vat = card.vat_id.and_then(|id| words.vats.name(id)).map(ToString::to_string);
        let nomenclature_type = card.type_id.and_then(|id| words.types.name(id)).map(ToString::to_string);
        let tags = TagNames::text_of(card.tags.iter().filter_map(|id| words.tags.name(*id)));
        Self { card, category, brand, country, unit, vat, nomenclature_type, tags }
    }

    /// Returns the cells by column name, except for the columns that identify the item.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, Content<'_>)> {
        let fields =
            CardColumn::ALL.iter().filter(|(column, ..)| !matches!(column, CardColumn::Article | CardColumn::Id));
        fields.map(|(column, name, _)| (*name, self.cell(*column)))
    }

    fn cell(&self, column: CardColumn) -> Content<'_> {
        let card = &self.card;
        let flag = |value: bool| Content::Number(u8::from(value).to_string());
        match column {
            CardColumn::Article => text(card.article.as_deref()),
            CardColumn::Name => text(Some(card.name.as_str())),
            CardColumn::Kind => text(Some(match card.kind {
                NomenclatureKind::Goods => "goods",
                NomenclatureKind::Service => "service",
            })),
            CardColumn::Category => text(self.category.as_deref()),
            CardColumn::Brand => text(self.brand.as_deref()),
            CardColumn::Country => text(self.country.as_deref()),
            CardColumn::Unit => text(self.unit.as_deref()),
            CardColumn::Vat => text(self.vat.as_deref()),
            CardColumn::Price => card.price.map_or(Content::Empty, |price| Content::Number(price.to_string())),
            CardColumn::Description => text(card.description.as_deref()),
            CardColumn::Characteristics => text(card.characteristics.as_deref()),
            CardColumn::Wholesale => flag(card.packaging.wholesale),
            CardColumn::PiecesPerPack => Content::Number(card.packaging.pieces_per_pack.get().to_string()),
            CardColumn::QuantityPack => Content::Number(card.packaging.quantity_pack.get().to_string()),
            CardColumn::Photos => {
                PhotoCell::text_of(&card.photos).map_or(Content::Empty, |text| Content::Text(text.into()))
            }
            CardColumn::IsSubscription => flag(card.subscription.is_some()),
            CardColumn::BillingPeriod => {
                card.subscription.map_or(Content::Empty, |period| Content::Number(period.get().to_string()))
            }
            CardColumn::Type => text(self.nomenclature_type.as_deref()),
            CardColumn::Tags => text(Some(self.tags.as_str()).filter(|tags| !tags.is_empty())),
            CardColumn::ShareLink => text(card.share_link.as_ref().map(ShareLink::as_str)),
            CardColumn::Id => Content::Empty,
        }
    }
}

/// Item as a row of an export, with the names of the records it refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardLine {
    /// Identifier of the item.
    pub id: NomenclatureId,
    cells: CardCells,
}

impl CardLine {
    /// Looks up the names.
    pub fn new(id: NomenclatureId, card: Card, words: &ReferenceLookup) -> Self {
        Self { id, cells: CardCells::new(card, words) }
    }

    /// Returns the article of the item.
    pub(super) fn article(&self) -> Option<&Line<100>> {
        self.cells.card.article.as_ref()
    }

    /// Returns the header row.
    pub fn header() -> Vec<Content<'static>> {
        CardColumn::ALL.iter().map(|(_, name, _)| Content::Text(Cow::Borrowed(*name))).collect()
    }

    /// Returns the cells in the order of the headers.
    pub fn cells(&self) -> Vec<Content<'_>> {
        let cell = |column: CardColumn| match column {
            CardColumn::Id => Content::Number(self.id.to_string()),
            column => self.cells.cell(column),
        };
        CardColumn::ALL.iter().map(|(column, ..)| cell(*column)).collect()
    }
}

fn text(value: Option<&str>) -> Content<'_> {
    value.map_or(Content::Empty, |text| Content::Text(Cow::Borrowed(text)))
}

/// Problem as a row of an error sheet.
pub struct ProblemLine;

impl ProblemLine {
    /// Returns the header row.
    pub fn header() -> Vec<Content<'static>> {
        ["row", "column", "reason"].map(|title| Content::Text(Cow::Borrowed(title))).into()
    }

    /// Returns the cells in the order of the headers.
    pub fn cells(problem: &JobProblem) -> Vec<Content<'_>> {
        vec![Content::Number(problem.row.to_string()), text(Some(&problem.column)), text(Some(&problem.reason))]
    }
}
