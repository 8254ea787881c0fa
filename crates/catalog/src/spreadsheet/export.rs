use std::borrow::Cow;
use std::fs::File;

use kontor_kernel::{Line, NomenclatureId};

use super::cell::PhotoCell;
use super::column_map::Column;
use super::ports::{SheetFailed, SheetWriter};
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

/// Error: the text is too long for a cell of the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {column} of item {item}{} has {length} characters but a cell holds {most}; use csv", with(.article.as_ref()))]
pub struct TextTooLong {
    /// Identifier of the item.
    pub item: NomenclatureId,
    /// Article (SKU).
    pub article: Option<Line<100>>,
    /// Name of the column.
    pub column: &'static str,
    /// Length of the text, as the format counts it.
    pub length: usize,
    /// Maximum length of a cell.
    pub most: usize,
}

fn with(article: Option<&Line<100>>) -> String {
    article.map(|article| format!(" ({article})")).unwrap_or_default()
}

/// Reason why an export is refused.
#[derive(Debug, thiserror::Error)]
pub enum ExportFailed {
    /// These texts are too long for a cell; at most [`CardExport::MAX_LISTED`] are listed.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    LongTexts(Vec<TextTooLong>),
    /// The file cannot be written.
    #[error(transparent)]
    Sheet(#[from] SheetFailed),
}

/// Export in progress: a file of all items, or the list of texts that are too long for it.
pub struct CardExport {
    writer: Box<dyn SheetWriter>,
    long: Vec<TextTooLong>,
}

impl CardExport {
    /// Maximum number of texts that are listed as too long.
    pub const MAX_LISTED: usize = 20;

    /// Writes the headers.
    pub fn begin(mut writer: Box<dyn SheetWriter>) -> Result<Self, SheetFailed> {
        writer.row(&CardLine::header())?;
        Ok(Self { writer, long: Vec::new() })
    }

    /// Writes the next items. A text that is too long is recorded and refused at the end, so that all of them are
    /// listed at once.
    pub fn add(&mut self, lines: &[CardLine]) -> Result<(), SheetFailed> {
        for line in lines {
            match self.writer.row(&line.cells()) {
                Err(SheetFailed::LongTexts { cells, most }) => {
                    let long = cells.into_iter().map(|(cell, length)| TextTooLong {
                        item: line.id,
                        article: line.article().cloned(),
                        column: CardColumn::ALL.get(cell).map_or("", |(_, name, _)| name),
                        length,
                        most,
                    });
                    self.long.extend(long.take(Self::MAX_LISTED.saturating_sub(self.long.len())));
                }
                written => written?,
            }
        }
        Ok(())
    }

    /// Completes the file and returns it, positioned at its start.
    pub fn finish(self) -> Result<File, ExportFailed> {
        if self.long.is_empty() { Ok(self.writer.finish()?) } else { Err(ExportFailed::LongTexts(self.long)) }
    }
}
