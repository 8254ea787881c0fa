use std::path::Path;
use std::sync::Arc;

use kontor_kernel::{Clock, NomenclatureId, Permission, ProjectId, Resource, Staff, Stamp};

use super::ports::{CardBook, SheetFailed, SheetFormat, SheetReader, SheetWriter, SheetWriters, StockBook};
use super::{
    CardExport, CardLine, CardSheet, ImportError, ImportMode, ImportReport, ReadOptions, SheetRefused, StockSheet,
};

/// Use cases of spreadsheets. Files are read on the calling thread; the server does that where blocking is allowed.
pub struct SpreadsheetService {
    /// Reads files.
    pub reader: Arc<dyn SheetReader>,
    /// Writes files.
    pub writers: Arc<dyn SheetWriters>,
    /// Where cards are kept.
    pub cards: Arc<dyn CardBook>,
    /// Where stock is kept.
    pub stock: Arc<dyn StockBook>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl SpreadsheetService {
    /// How many items one page of an export has.
    pub const PAGE: u32 = 500;

    /// Refuses who may not import cards; the first step of an import, before anything is received.
    pub fn may_import_cards(&self, staff: &Staff) -> Result<(), ImportError> {
        staff.require(Permission::create(Resource::Nomenclatures))?;
        Ok(staff.require(Permission::edit(Resource::Nomenclatures))?)
    }

    /// Reads a file of cards.
    pub fn read_cards(&self, file: &Path) -> Result<CardSheet, ImportError> {
        Ok(CardSheet::read(&*self.reader, file, CardSheet::MOST_ROWS)?)
    }

    /// Reads a file of cards, unless it has more rows than that or too much text to be taken at once.
    pub fn read_few_cards(
        &self,
        file: &Path,
        options: &ReadOptions,
        most: u32,
    ) -> Result<Option<CardSheet>, ImportError> {
        few(CardSheet::read_with(&*self.reader, file, options, most.min(CardSheet::MOST_ROWS)))
    }

    /// What an import would do and which problems it would find.
    pub async fn check_cards(&self, staff: &Staff, sheet: CardSheet) -> Result<ImportReport, ImportError> {
        self.may_import_cards(staff)?;
        self.cards.check(staff.project_id, Arc::new(sheet)).await
    }

    /// Creates and changes the cards of a sheet.
    pub async fn import_cards(
        &self,
        staff: &Staff,
        sheet: CardSheet,
        mode: ImportMode,
    ) -> Result<ImportReport, ImportError> {
        self.may_import_cards(staff)?;
        self.cards.import(Stamp::of(staff, self.clock.now()), Arc::new(sheet), mode).await
    }

    /// Refuses who may not upload stock.
    pub fn may_upload_stock(&self, staff: &Staff) -> Result<(), ImportError> {
        Ok(staff.require(Permission::edit(Resource::Inventories))?)
    }

    /// Reads a file of stock.
    pub fn read_stock(&self, file: &Path) -> Result<StockSheet, ImportError> {
        Ok(StockSheet::read(&*self.reader, file, StockSheet::MOST_ROWS)?)
    }

    /// Reads a file of stock, unless it has more rows than that or too much text to be taken at once.
    pub fn read_few_stock(
        &self,
        file: &Path,
        options: &ReadOptions,
        most: u32,
    ) -> Result<Option<StockSheet>, ImportError> {
        few(StockSheet::read_with(&*self.reader, file, options, most.min(StockSheet::MOST_ROWS)))
    }

    /// What an upload would do and which problems it would find.
    pub async fn check_stock(&self, staff: &Staff, sheet: StockSheet) -> Result<ImportReport, ImportError> {
        self.may_upload_stock(staff)?;
        self.stock.check(staff.project_id, Arc::new(sheet)).await
    }

    /// Creates and changes the stock of a sheet.
    pub async fn upload_stock(
        &self,
        staff: &Staff,
        sheet: StockSheet,
        mode: ImportMode,
    ) -> Result<ImportReport, ImportError> {
        self.may_upload_stock(staff)?;
        self.stock.upload(Stamp::of(staff, self.clock.now()), Arc::new(sheet), mode).await
    }

    /// The next rows of an export, after this item; fewer than [`SpreadsheetService::PAGE`] are the last.
    pub async fn export_cards(
        &self,
        staff: &Staff,
        after: Option<NomenclatureId>,
    ) -> Result<Vec<CardLine>, ImportError> {
        staff.require(Permission::view(Resource::Nomenclatures))?;
        self.export_cards_of(staff.project_id, after).await
    }

    /// The same for the operator, who may see everything.
    pub async fn export_cards_of(
        &self,
        project: ProjectId,
        after: Option<NomenclatureId>,
    ) -> Result<Vec<CardLine>, ImportError> {
        Ok(self.cards.lines(project, after, Self::PAGE).await?)
    }

    /// Rows of an export as a piece of csv; the first piece begins with the headers.
    pub fn piece(&self, lines: &[CardLine], is_first: bool) -> Result<Vec<u8>, SheetFailed> {
        let headers = is_first.then(CardLine::header);
        let rows: Vec<_> = headers.into_iter().chain(lines.iter().map(CardLine::cells)).collect();
        self.writers.piece(&rows, is_first)
    }

    /// A file for the rows of an export.
    pub fn begin_export(&self, format: SheetFormat) -> Result<CardExport, SheetFailed> {
        CardExport::begin(self.writers.open(format)?)
    }

    /// An empty file.
    pub fn open(&self, format: SheetFormat) -> Result<Box<dyn SheetWriter>, SheetFailed> {
        self.writers.open(format)
    }
}

fn few<S>(read: Result<S, SheetRefused>) -> Result<Option<S>, ImportError> {
    match read {
        Err(SheetRefused::TooManyRows(_) | SheetRefused::TooMuchText(_)) => Ok(None),
        read => Ok(Some(read?)),
    }
}
