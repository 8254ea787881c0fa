use std::path::Path;
use std::sync::Arc;

use kontor_kernel::{Clock, NomenclatureId, Permission, ProjectId, Resource, Staff, Stamp};

use super::ports::{
    ItemSheetRepository, SheetFailed, SheetFormat, SheetReader, SheetWriter, SheetWriters, StockSheetRepository,
};
use super::{
    CardExport, CardLine, CardSheet, ImportError, ImportMode, ImportReport, ReadOptions, SheetError, StockSheet,
};

/// Use cases of spreadsheets. Files are read on the calling thread; the server calls them where blocking is allowed.
pub struct SpreadsheetService {
    /// Reads files.
    pub reader: Arc<dyn SheetReader>,
    /// Writes files.
    pub writers: Arc<dyn SheetWriters>,
    /// Storage of catalog items.
    pub cards: Arc<dyn ItemSheetRepository>,
    /// Storage of stock levels.
    pub stock: Arc<dyn StockSheetRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl SpreadsheetService {
    /// Items per page of an export.
    pub const PAGE: u32 = 500;

    /// Returns an error if the employee may not import items. Callers check it before they receive a file.
    pub fn may_import_cards(&self, staff: &Staff) -> Result<(), ImportError> {
        staff.require(Permission::create(Resource::Nomenclatures))?;
        Ok(staff.require(Permission::edit(Resource::Nomenclatures))?)
    }

    /// Reads a file of items.
    pub fn read_cards(&self, file: &Path) -> Result<CardSheet, ImportError> {
        Ok(CardSheet::read(&*self.reader, file, CardSheet::MAX_ROWS)?)
    }

    /// Reads a file of items. Refuses a file with more than `most` rows or too much text for one import.
    pub fn read_few_cards(
        &self,
        file: &Path,
        options: &ReadOptions,
        most: u32,
    ) -> Result<Option<CardSheet>, ImportError> {
        few(CardSheet::read_with(&*self.reader, file, options, most.min(CardSheet::MAX_ROWS)))
    }

    /// Returns the report of an import without writing.
    pub async fn check_cards(&self, staff: &Staff, sheet: CardSheet) -> Result<ImportReport, ImportError> {
        self.may_import_cards(staff)?;
        self.cards.check(staff.project_id, Arc::new(sheet)).await
    }

    /// Creates and changes the items of a sheet.
    pub async fn import_cards(
        &self,
        staff: &Staff,
        sheet: CardSheet,
        mode: ImportMode,
    ) -> Result<ImportReport, ImportError> {
        self.may_import_cards(staff)?;
        self.cards.import(Stamp::of(staff, self.clock.now()), Arc::new(sheet), mode).await
    }

    /// Returns an error if the employee may not upload stock.
    pub fn may_upload_stock(&self, staff: &Staff) -> Result<(), ImportError> {
        Ok(staff.require(Permission::edit(Resource::Inventories))?)
    }

    /// Reads a file of stock.
    pub fn read_stock(&self, file: &Path) -> Result<StockSheet, ImportError> {
        Ok(StockSheet::read(&*self.reader, file, StockSheet::MAX_ROWS)?)
    }

    /// Reads a file of stock. Refuses a file with more than `most` rows or too much text for one import.
    pub fn read_few_stock(
        &self,
        file: &Path,
        options: &ReadOptions,
        most: u32,
    ) -> Result<Option<StockSheet>, ImportError> {
        few(StockSheet::read_with(&*self.reader, file, options, most.min(StockSheet::MAX_ROWS)))
    }

    /// Returns the report of an upload without writing.
    pub async fn check_stock(&self, staff: &Staff, sheet: StockSheet) -> Result<ImportReport, ImportError> {
        self.may_upload_stock(staff)?;
        self.stock.check(staff.project_id, Arc::new(sheet)).await
    }

    /// Creates and changes the stock levels of a sheet.
    pub async fn upload_stock(
        &self,
        staff: &Staff,
        sheet: StockSheet,
        mode: ImportMode,
    ) -> Result<ImportReport, ImportError> {
        self.may_upload_stock(staff)?;
        self.stock.upload(Stamp::of(staff, self.clock.now()), Arc::new(sheet), mode).await
    }

    /// Returns the next rows of an export after this item. Fewer than [`SpreadsheetService::PAGE`] rows are the last.
    pub async fn export_cards(
        &self,
        staff: &Staff,
        after: Option<NomenclatureId>,
    ) -> Result<Vec<CardLine>, ImportError> {
        staff.require(Permission::view(Resource::Nomenclatures))?;
        self.export_cards_of(staff.project_id, after).await
    }

    /// Returns the next rows of an export for an operator, without a permission check.
    pub async fn export_cards_of(
        &self,
        project: ProjectId,
        after: Option<NomenclatureId>,
    ) -> Result<Vec<CardLine>, ImportError> {
        Ok(self.cards.lines(project, after, Self::PAGE).await?)
    }

    /// Returns rows of an export as a chunk of csv; the first chunk begins with the headers.
    pub fn piece(&self, lines: &[CardLine], is_first: bool) -> Result<Vec<u8>, SheetFailed> {
        let headers = is_first.then(CardLine::header);
        let rows: Vec<_> = headers.into_iter().chain(lines.iter().map(CardLine::cells)).collect();
        self.writers.piece(&rows, is_first)
    }

    /// Creates a file for the rows of an export.
    pub fn begin_export(&self, format: SheetFormat) -> Result<CardExport, SheetFailed> {
        CardExport::begin(self.writers.open(format)?)
    }

    /// Creates an empty file.
    pub fn open(&self, format: SheetFormat) -> Result<Box<dyn SheetWriter>, SheetFailed> {
        self.writers.open(format)
    }
}

fn few<S>(read: Result<S, SheetError>) -> Result<Option<S>, ImportError> {
    match read {
        Err(SheetError::TooManyRows(_) | SheetError::TooMuchText(_)) => Ok(None),
        read => Ok(Some(read?)),
    }
}
