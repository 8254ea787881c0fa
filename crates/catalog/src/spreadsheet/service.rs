use std::path::Path;
use std::sync::Arc;

use kontor_kernel::{Clock, NomenclatureId, Permission, Resource, Staff};

use super::ports::{CardBook, SheetFailed, SheetFormat, SheetReader, SheetWriter, SheetWriters, StockBook};
use super::{CardLine, CardSheet, ImportError, ImportMode, ImportReport, StockSheet};

/// Use cases of spreadsheets. Files are read on the calling thread; the server does that where blocking is allowed.
pub struct SpreadsheetService {
    reader: Arc<dyn SheetReader>,
    writers: Arc<dyn SheetWriters>,
    cards: Arc<dyn CardBook>,
    stock: Arc<dyn StockBook>,
    clock: Arc<dyn Clock>,
}

impl SpreadsheetService {
    /// How many items one page of an export has.
    pub const PAGE: u32 = 500;

    /// Wires the ports.
    pub fn new(
        reader: Arc<dyn SheetReader>,
        writers: Arc<dyn SheetWriters>,
        cards: Arc<dyn CardBook>,
        stock: Arc<dyn StockBook>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { reader, writers, cards, stock, clock }
    }

    /// Refuses who may not import cards; the first step of an import, before anything is received.
    pub fn may_import_cards(&self, staff: &Staff) -> Result<(), ImportError> {
        staff.require(Permission::create(Resource::Nomenclatures))?;
        Ok(staff.require(Permission::edit(Resource::Nomenclatures))?)
    }

    /// Reads a file of cards.
    pub fn read_cards(&self, file: &Path) -> Result<CardSheet, ImportError> {
        Ok(CardSheet::read(&*self.reader, file)?)
    }

    /// Creates and changes the cards of a sheet.
    pub async fn import_cards(
        &self,
        staff: &Staff,
        sheet: CardSheet,
        mode: ImportMode,
    ) -> Result<ImportReport, ImportError> {
        self.may_import_cards(staff)?;
        self.cards.import(staff.project_id, Arc::new(sheet), mode, self.clock.now()).await
    }

    /// Refuses who may not upload stock.
    pub fn may_upload_stock(&self, staff: &Staff) -> Result<(), ImportError> {
        Ok(staff.require(Permission::edit(Resource::Inventories))?)
    }

    /// Reads a file of stock.
    pub fn read_stock(&self, file: &Path) -> Result<StockSheet, ImportError> {
        Ok(StockSheet::read(&*self.reader, file)?)
    }

    /// Creates and changes the stock of a sheet.
    pub async fn upload_stock(
        &self,
        staff: &Staff,
        sheet: StockSheet,
        mode: ImportMode,
    ) -> Result<ImportReport, ImportError> {
        self.may_upload_stock(staff)?;
        self.stock.upload(staff.project_id, Arc::new(sheet), mode, self.clock.now()).await
    }

    /// The next rows of an export, after this item; fewer than [`SpreadsheetService::PAGE`] are the last.
    pub async fn export_cards(
        &self,
        staff: &Staff,
        after: Option<NomenclatureId>,
    ) -> Result<Vec<CardLine>, ImportError> {
        staff.require(Permission::view(Resource::Nomenclatures))?;
        Ok(self.cards.lines(staff.project_id, after, Self::PAGE).await?)
    }

    /// An empty file for an export.
    pub fn open(&self, format: SheetFormat) -> Result<Box<dyn SheetWriter>, SheetFailed> {
        self.writers.open(format)
    }
}
