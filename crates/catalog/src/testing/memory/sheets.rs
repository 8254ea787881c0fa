//! Spreadsheets of items and of stock in memory, the column mappings of projects, and the rows of stock exports.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use kontor_kernel::{
    Edit, JobId, Money, NomenclatureId, ProjectId, RecordError, Reference, Refusal, Stamp, StoreError,
};

use super::{Guard, InMemoryStock, State};
use crate::bulk::ports::ExportSource;
use crate::bulk::{ExportCursor, ExportKind, ExportRow, ExportScope, JobLease, PartError, Step};
use crate::model::{
    BrandDraft, CategoryDraft, Inventory, InventoryDraft, Nomenclature, StockChange, StockReason, StockSource, TagDraft,
};
use crate::spreadsheet::ports::{ColumnMaps, ItemSheetRepository, StockSheetRepository};
use crate::spreadsheet::{
    CardDraft, CardLine, CardSheet, CategoryNode, CategoryPath, ColumnMap, Content, Decision, ImportError, ImportKind,
    ImportMode, ImportReport, ItemKey, KnownCard, ReferenceLookup, ResolvedCard, RowProblems, StockDecision,
    StockLookup, StockSheet, StockWrite,
};

/// Column mappings by project and kind of import.
pub(super) type SavedMaps = HashMap<(ProjectId, ImportKind), ColumnMap>;

/// Headers of a stock export.
const STOCK_HEADER: [&str; 5] = ["article", "warehouse", "quantity", "price", "kontor_id"];

/// Returns the error of an import for that of one of its records.
fn refused<R: Refusal>(error: RecordError<R>) -> ImportError {
    match error {
        RecordError::Store(error) => ImportError::Store(error),
        _ => ImportError::Stale,
    }
}

impl State {
    /// Returns the records that a sheet of the project can refer to.
    fn within<'a, T: 'a>(&self, all: impl Iterator<Item = &'a (ProjectId, T)>, project: ProjectId) -> Vec<&'a T> {
        let is_open = !self.guards.has(Guard::Project);
        all.filter(|(owner, _)| is_open || *owner == project).map(|(_, record)| record).collect()
    }

    /// Refuses the sheet if there are problems, unless the mode is partial and accepts the valid rows.
    fn accept(&self, problems: &RowProblems, mode: ImportMode) -> Result<(), ImportError> {
        if problems.is_empty() || mode == ImportMode::Partial || !self.guards.has(Guard::Whole) {
            Ok(())
        } else {
            Err(ImportError::Rows(problems.clone()))
        }
    }

    fn words(&self, project: ProjectId) -> ReferenceLookup {
        let mut words = ReferenceLookup::default();
        for category in self.within(self.categories.values(), project) {
            let (id, name) = (category.id, category.name.clone());
            words.add_category(CategoryNode { id, parent: category.parent.as_ref().map(|parent| parent.id), name });
        }
        for brand in self.within(self.brands.values(), project) {
            words.add_brand(Reference { id: brand.id, name: brand.name.clone() });
        }
        for tag in self.within(self.tags.iter(), project) {
            words.add_tag(Reference { id: tag.id, name: tag.name.clone() });
        }
        words
    }

    fn known(&self, project: ProjectId) -> HashMap<ItemKey, KnownCard> {
        let mut known = HashMap::new();
        for item in self.within(self.items.values(), project) {
            let has_stock = self.stock.values().any(|(_, stock)| stock.nomenclature.id == item.id);
            let found = KnownCard { id: item.id, card: item.card.clone(), has_stock };
            if let Some(article) = item.card.article.clone() {
                known.insert(ItemKey::Article(article), found.clone());
            }
            known.insert(ItemKey::Id(item.id), found);
        }
        known
    }

    /// Creates the missing categories, brands and tags of the drafts. Returns those of the project.
    fn complete(&mut self, stamp: Stamp, drafts: &[CardDraft]) -> Result<ReferenceLookup, ImportError> {
        for draft in drafts {
            let words = self.words(stamp.project_id);
            let path = draft.missing_category(&words);
            let (mut parent_id, depth) = path.and_then(|path| words.category(path).err()).unwrap_or_default();
            for name in path.map(CategoryPath::names).unwrap_or_default().iter().skip(depth) {
                let (name, photo, code, description) = (name.clone(), None, None, None);
                let category = CategoryDraft { name, photo, parent_id, code, description };
                parent_id = Some(self.insert_category(stamp, category).map_err(refused)?.id);
            }
            if let Some(name) = draft.missing_brand(&words) {
                self.insert_brand(stamp, BrandDraft { name: name.clone(), photo: None }).map_err(refused)?;
            }
            for name in draft.missing_tags(&words) {
                self.insert_tag(stamp, TagDraft { name: name.clone(), photo: None }).map_err(refused)?;
            }
        }
        Ok(self.words(stamp.project_id))
    }

    /// Writes an item with the category, the brand and the tags that the sheet names.
    fn write_item(&mut self, stamp: Stamp, resolved: &ResolvedCard) -> Result<(), ImportError> {
        let card = resolved.card.clone();
        let known = resolved.id.and_then(|id| self.items.get(&id)).map(|(_, item)| item.clone());
        let written = match known {
            Some(seen) => self.replace_item(stamp, &seen, card),
            None => self.insert_item(stamp, card),
        };
        written.map(drop).map_err(refused)
    }

    fn import(&mut self, stamp: Stamp, sheet: &CardSheet, mode: ImportMode) -> Result<ImportReport, ImportError> {
        let words = self.words(stamp.project_id);
        let decision = Decision::of(sheet, &words, &self.known(stamp.project_id));
        self.accept(&decision.problems, mode)?;
        let words = self.complete(stamp, &decision.drafts)?;
        let rows = decision.drafts.len();
        let cards: Vec<ResolvedCard> = decision.drafts.into_iter().filter_map(|draft| draft.resolve(&words)).collect();
        for resolved in &cards {
            self.write_item(stamp, resolved)?;
        }
        let created = cards.iter().filter(|resolved| resolved.id.is_none()).count();
        Ok(ImportReport {
            created,
            updated: cards.len() - created,
            unchanged: rows - cards.len(),
            skipped: decision.skipped,
            problems: decision.problems,
            ignored_columns: sheet.ignored_columns.clone(),
            rows: Vec::new(),
        })
    }

    fn stock_lookup(&self, project: ProjectId) -> StockLookup {
        let mut target = StockLookup::default();
        for warehouse in self.within(self.warehouses.values(), project) {
            target.add_warehouse(Reference { id: warehouse.id, name: warehouse.name.clone() });
        }
        for Nomenclature { id, card, .. } in self.within(self.items.values(), project) {
            target.add_item(card.article.clone(), *id, card.is_stocked(), card.price);
        }
        for stock in self.within(self.stock.values(), project) {
            let place = (stock.id, stock.nomenclature.id, stock.warehouse.id);
            target.add_stock(place, stock.quantity, stock.reserved, stock.price);
        }
        target
    }

    fn write_stock(&mut self, stamp: Stamp, write: StockWrite, job: Option<JobId>) -> Result<(), ImportError> {
        let StockWrite { warehouse_id, nomenclature_id, quantity, price, .. } = write;
        let written = match write.id {
            None => {
                let price = price.unwrap_or(Money::ZERO);
                self.insert_stock(stamp, &InventoryDraft { warehouse_id, nomenclature_id, quantity, price })
            }
            Some(id) => {
                let change = StockChange { quantity: Edit::Set(quantity), price: price.into(), comment: None };
                self.set_stock(stamp, id, change)
            }
        };
        let stock = written.map_err(refused)?;
        if let Some(entry) = self.movements.get_mut(&stock.id).and_then(|entries| entries.last_mut()) {
            (entry.reason, entry.source) = (StockReason::Upload, job.map(StockSource::Job));
        }
        Ok(())
    }

    fn upload(
        &mut self,
        stamp: Stamp,
        sheet: &StockSheet,
        mode: ImportMode,
        job: Option<JobId>,
    ) -> Result<ImportReport, ImportError> {
        let decision = StockDecision::of(sheet, &self.stock_lookup(stamp.project_id));
        self.accept(&decision.problems, mode)?;
        for write in &decision.writes {
            self.write_stock(stamp, *write, job)?;
        }
        Ok(decision.report(sheet))
    }
}

#[async_trait]
impl ItemSheetRepository for InMemoryStock {
    async fn import(&self, stamp: Stamp, sheet: Arc<CardSheet>, mode: ImportMode) -> Result<ImportReport, ImportError> {
        self.state.commit(|state| state.import(stamp, &sheet, mode))
    }

    async fn check(&self, project: ProjectId, sheet: Arc<CardSheet>) -> Result<ImportReport, ImportError> {
        Ok(self.state.with(|state| {
            let words = state.words(project);
            let report = Decision::of(&sheet, &words, &state.known(project)).preview_report(&words);
            ImportReport { ignored_columns: sheet.ignored_columns.clone(), ..report }
        }))
    }

    async fn import_part(
        &self,
        held: JobLease,
        step: Step,
        sheet: Arc<CardSheet>,
        mode: ImportMode,
        stamp: Stamp,
    ) -> Result<ImportReport, PartError> {
        self.state.commit(|state| {
            let report = state.import(stamp, &sheet, mode)?;
            state.step(&held, step, &report)?;
            Ok(report)
        })
    }

    async fn lines(
        &self,
        project: ProjectId,
        after: Option<NomenclatureId>,
        limit: u32,
    ) -> Result<Vec<CardLine>, StoreError> {
        Ok(self.state.with(|state| {
            let words = state.words(project);
            let own = state.items.values().filter(|(owner, item)| *owner == project && Some(item.id) > after);
            let lines = own.map(|(_, item)| CardLine::new(item.id, item.card.clone(), &words));
            lines.take(usize::try_from(limit).unwrap_or(usize::MAX)).collect()
        }))
    }
}

#[async_trait]
impl StockSheetRepository for InMemoryStock {
    async fn upload(
        &self,
        stamp: Stamp,
        sheet: Arc<StockSheet>,
        mode: ImportMode,
    ) -> Result<ImportReport, ImportError> {
        self.state.commit(|state| state.upload(stamp, &sheet, mode, None))
    }

    async fn check(&self, project: ProjectId, sheet: Arc<StockSheet>) -> Result<ImportReport, ImportError> {
        let decision = self.state.with(|state| StockDecision::of(&sheet, &state.stock_lookup(project)));
        Ok(decision.report(&sheet))
    }

    async fn upload_part(
        &self,
        held: JobLease,
        step: Step,
        sheet: Arc<StockSheet>,
        mode: ImportMode,
        stamp: Stamp,
    ) -> Result<ImportReport, PartError> {
        self.state.commit(|state| {
            let report = state.upload(stamp, &sheet, mode, Some(held.job))?;
            state.step(&held, step, &report)?;
            Ok(report)
        })
    }
}

#[async_trait]
impl ColumnMaps for InMemoryStock {
    async fn find(&self, project: ProjectId, kind: ImportKind) -> Result<ColumnMap, StoreError> {
        Ok(self.state.with(|state| state.column_maps.get(&(project, kind)).cloned().unwrap_or_default()))
    }

    async fn replace(&self, project: ProjectId, kind: ImportKind, map: ColumnMap) -> Result<(), StoreError> {
        self.state.with(|state| state.column_maps.insert((project, kind), map));
        Ok(())
    }
}

fn export_row(stock: &Inventory) -> ExportRow {
    let article = stock.nomenclature.article.as_ref().map(|article| Content::Text(article.to_string().into()));
    let cells = vec![
        article.unwrap_or(Content::Empty),
        Content::Text(stock.warehouse.id.to_string().into()),
        Content::Number(stock.quantity.get().to_string()),
        stock.price.map_or(Content::Empty, |price| Content::Number(price.to_string())),
        Content::Number(stock.nomenclature.id.to_string()),
    ];
    ExportRow { at: ExportCursor { record: stock.id.get(), line: 0 }, cells }
}

impl State {
    /// Returns the rows of an export; there are no orders and no customers.
    fn export(&self, project: ProjectId, scope: ExportScope) -> Vec<ExportRow> {
        let own = self.stock.values().filter(|(owner, _)| scope.kind == ExportKind::Stock && *owner == project);
        own.map(|(_, stock)| export_row(stock)).collect()
    }
}

#[async_trait]
impl ExportSource for InMemoryStock {
    fn header(&self, kind: ExportKind) -> &'static [&'static str] {
        match kind {
            ExportKind::Stock => &STOCK_HEADER,
            ExportKind::Orders | ExportKind::Customers => &[],
        }
    }

    async fn total(&self, project: ProjectId, scope: ExportScope) -> Result<u64, StoreError> {
        let rows = self.state.with(|state| state.export(project, scope).len());
        u64::try_from(rows).map_err(StoreError::corrupt)
    }

    async fn rows(
        &self,
        project: ProjectId,
        scope: ExportScope,
        after: ExportCursor,
        limit: u32,
    ) -> Result<Vec<ExportRow>, StoreError> {
        let rows = self.state.with(|state| state.export(project, scope));
        let next = rows.into_iter().filter(|row| row.at > after);
        Ok(next.take(usize::try_from(limit).unwrap_or(usize::MAX)).collect())
    }
}
