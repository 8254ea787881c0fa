//! Spreadsheets of items and stock: import in one transaction, export of items in pages.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use diesel::prelude::*;
use kontor_catalog::bulk::{JobLease, PartError, Step};
use kontor_catalog::model::{NomenclatureKind, StockLevel};
use kontor_catalog::spreadsheet::ports::{ItemSheetRepository, StockSheetRepository};
use kontor_catalog::spreadsheet::{
    CardLine, CardSheet, Decision, ImportError, ImportMode, ImportReport, ItemKey, KnownCard, ResolvedCard,
    RowProblems, StockDecision, StockLookup, StockRow as SheetStock, StockSheet, StockWrite,
};
use kontor_kernel::{Money, NomenclatureId, ProjectId, Stamp, StoreError};

use super::{cards, import_words, import_writes, job_order};
use crate::database::{Abort, AnyConnection, Database, Topic, on_duplicate};
use crate::decode::{self, reference};
use crate::locks::{lock_project, lock_spreadsheet_items, with_articles};
use crate::read_models::offers;
use crate::records;
use crate::schema::{inventories, nomenclatures, warehouses};
use crate::statement::{Statement, by_place};
use crate::stock::{self, Cause, NewStock, Reason, StockLevels};

const CHUNK: usize = 500;

/// Returns the items of the rows. Locks them until the end of the transaction if they are to be written.
fn known(
    connection: &mut AnyConnection,
    project: ProjectId,
    sheet: &CardSheet,
    lock: bool,
) -> Result<HashMap<ItemKey, KnownCard>, Abort<ImportError>> {
    let mut known = HashMap::new();
    if lock {
        let keys = || sheet.rows.iter().map(|row| &row.key);
        let articles =
            keys().filter_map(|key| if let ItemKey::Article(article) = key { Some(article.as_str()) } else { None });
        let numbers = keys().filter_map(|key| if let ItemKey::Id(id) = key { Some(id.get()) } else { None });
        lock_spreadsheet_items(connection, project, articles, numbers)?;
    }
    for rows in sheet.rows.chunks(CHUNK) {
        let mut articles = Vec::new();
        let mut numbers = Vec::new();
        for row in rows {
            match &row.key {
                ItemKey::Article(article) => articles.push(article.as_str()),
                ItemKey::Id(id) => numbers.push(id.get()),
            }
        }
        let mut ids = Vec::new();
        if !articles.is_empty() {
            ids.extend(with_articles("id", project, articles).once().scalars::<i64>(connection)?);
        }
        if !numbers.is_empty() {
            let own = Statement::new("SELECT id FROM nomenclatures WHERE project_id = ").value(project.get());
            ids.extend(own.sql(" AND id").among(&numbers).once().scalars::<i64>(connection)?);
        }
        ids.sort_unstable();
        if ids.is_empty() {
            continue;
        }
        let stocked: Vec<i64> = inventories::table
            .filter(inventories::nomenclature_id.eq_any(ids.clone()))
            .filter(inventories::deleted_at.is_null())
            .select(inventories::nomenclature_id)
            .distinct()
            .load(connection)?;
        for item in records::within(cards::load::<ImportError>(connection, &ids)?, project) {
            let has_stock = stocked.contains(&item.id.get());
            let found = KnownCard { id: item.id, card: item.card, has_stock };
            if let Some(article) = found.card.article.clone() {
                known.insert(ItemKey::Article(article), found.clone());
            }
            known.insert(ItemKey::Id(found.id), found);
        }
    }
    Ok(known)
}

/// Refuses the import if there are problems, unless the mode is partial and accepts the valid rows.
fn accept(problems: &RowProblems, mode: ImportMode) -> Result<(), Abort<ImportError>> {
    if problems.is_empty() || mode == ImportMode::Partial {
        Ok(())
    } else {
        Err(Abort::Refused(ImportError::Rows(problems.clone())))
    }
}

/// Writes the decisions about the rows, within the caller's transaction.
fn apply(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    sheet: &CardSheet,
    mode: ImportMode,
) -> Result<ImportReport, Abort<ImportError>> {
    let project = stamp.project_id;
    connection.invalidate(Topic::Storefront, project.get());
    // Imports of a project run one after the other: they create the same categories and brands.
    lock_project(connection, project)?;
    let mut words = import_words::load(connection, project)?;
    let known = known(connection, project, sheet, true)?;
    let decision = Decision::of(sheet, &words, &known);
    accept(&decision.problems, mode)?;
    import_words::complete(connection, stamp, &decision.drafts, &mut words)?;
    let rows = decision.drafts.len();
    let cards: Vec<ResolvedCard> = decision.drafts.into_iter().filter_map(|draft| draft.resolve(&words)).collect();
    let offered = import_writes::write(connection, stamp, &cards)?;
    offers::refresh(connection, &offered)?;
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

#[async_trait]
impl ItemSheetRepository for Database {
    async fn import(&self, stamp: Stamp, sheet: Arc<CardSheet>, mode: ImportMode) -> Result<ImportReport, ImportError> {
        let report = self.write_long(move |connection| apply(connection, &stamp, &sheet, mode)).await?;
        job_order::analyze_after(self, report.created + report.updated).await;
        Ok(report)
    }

    async fn check(&self, project: ProjectId, sheet: Arc<CardSheet>) -> Result<ImportReport, ImportError> {
        self.snapshot(move |connection| {
            let words = import_words::load(connection, project)?;
            let known = known(connection, project, &sheet, false)?;
            let decision = Decision::of(&sheet, &words, &known);
            Ok(ImportReport { ignored_columns: sheet.ignored_columns.clone(), ..decision.preview_report(&words) })
        })
        .await
    }

    async fn import_part(
        &self,
        held: JobLease,
        step: Step,
        sheet: Arc<CardSheet>,
        mode: ImportMode,
        stamp: Stamp,
    ) -> Result<ImportReport, PartError> {
        let written = self.write_long(move |connection| {
            let report = apply(connection, &stamp, &sheet, mode).map_err(job_order::of_part)?;
            job_order::commit_step(connection, &held, step, &report)?;
            Ok(report)
        });
        let report = written.await?;
        job_order::analyze_periodically(self, step).await;
        Ok(report)
    }

    async fn lines(
        &self,
        project: ProjectId,
        after: Option<NomenclatureId>,
        limit: u32,
    ) -> Result<Vec<CardLine>, StoreError> {
        self.snapshot(move |connection| {
            let ids: Vec<i64> = nomenclatures::table
                .filter(nomenclatures::project_id.eq(project.get()))
                .filter(nomenclatures::id.gt(after.map_or(0, NomenclatureId::get)))
                .order(nomenclatures::id)
                .limit(limit.into())
                .select(nomenclatures::id)
                .load(connection)?;
            if ids.is_empty() {
                return Ok(Vec::new());
            }
            let words = import_words::load(connection, project)?;
            let items = records::within(cards::load(connection, &ids)?, project);
            Ok(items.into_iter().map(|item| CardLine::new(item.id, item.card, &words)).collect())
        })
        .await
    }
}

by_place! {
    struct ItemRow {
        id: i64,
        article: Option<String>,
        kind_id: i64,
        is_subscription: bool,
        price: Option<i64>,
    }
}

by_place! {
    struct StockRow {
        id: i64,
        nomenclature_id: i64,
        warehouse_id: i64,
        quantity: i64,
        reserved: i64,
        price: Option<i64>,
    }
}

const ITEM: &str = "id, article, kind_id, is_subscription, price";

/// Returns the articles and ids of the items that rows refer to.
fn named(rows: &[SheetStock]) -> (Vec<&str>, Vec<i64>) {
    let (mut articles, mut numbers) = (Vec::new(), Vec::new());
    for row in rows {
        match &row.key {
            ItemKey::Article(article) => articles.push(article.as_str()),
            ItemKey::Id(id) => numbers.push(id.get()),
        }
    }
    (articles, numbers)
}

/// Locks the records to be written on PostgreSQL until the end of the transaction. The order by expression keeps the
/// planner from scanning all records by primary key.
fn locked(connection: &AnyConnection, records: Statement, lock: bool) -> Statement {
    if lock { records.locked(connection, " ORDER BY id + 0 FOR NO KEY UPDATE") } else { records }
}

fn target(
    connection: &mut AnyConnection,
    project: ProjectId,
    sheet: &StockSheet,
    lock: bool,
) -> Result<StockLookup, Abort<ImportError>> {
    let mut target = StockLookup::default();
    let rows: Vec<(i64, String)> = warehouses::table
        .filter(warehouses::project_id.eq(project.get()))
        .filter(warehouses::deleted_at.is_null())
        .order(warehouses::id)
        .select((warehouses::id, warehouses::name))
        .load(connection)?;
    for (id, name) in rows {
        target.add_warehouse(reference(id, &name)?);
    }
    if lock {
        let (articles, numbers) = named(&sheet.rows);
        lock_spreadsheet_items(connection, project, articles, numbers)?;
    }
    for rows in sheet.rows.chunks(CHUNK) {
        let (articles, numbers) = named(rows);
        let mut items: Vec<ItemRow> = Vec::new();
        if !articles.is_empty() {
            items.extend(with_articles(ITEM, project, articles).rows::<ItemRow>(connection)?);
        }
        if !numbers.is_empty() {
            let own = Statement::new("SELECT ").sql(ITEM).sql(" FROM nomenclatures WHERE project_id = ");
            let own = own.value(project.get()).sql(" AND id").among(&numbers).once();
            items.extend(own.rows::<ItemRow>(connection)?);
        }
        let ids: Vec<i64> = items.iter().map(|item| item.id).collect();
        for item in items {
            let is_stocked = item.kind_id == NomenclatureKind::Goods.id() && !item.is_subscription;
            let price = decode::optional_money(item.price)?;
            target.add_item(decode::optional_text(item.article.as_deref())?, decode::id(item.id)?, is_stocked, price);
        }
        let stock = Statement::new(
            "SELECT id, nomenclature_id, warehouse_id, quantity, reserved, price FROM inventories WHERE nomenclature_id",
        )
        .among(&ids);
        let stock: Vec<StockRow> = locked(connection, stock, lock).rows(connection)?;
        let level = |pieces: i64| StockLevel::new(pieces).map_err(StoreError::corrupt);
        for row in stock {
            let place = (decode::id(row.id)?, decode::id(row.nomenclature_id)?, decode::id(row.warehouse_id)?);
            target.add_stock(place, level(row.quantity)?, level(row.reserved)?, decode::optional_money(row.price)?);
        }
    }
    Ok(target)
}

fn write(
    connection: &mut AnyConnection,
    project: ProjectId,
    writes: &[StockWrite],
    cause: &Cause,
) -> Result<(), Abort<ImportError>> {
    let (mut new, mut known) = (Vec::new(), Vec::new());
    for write in writes {
        let (quantity, price) = (write.quantity.get().into(), write.price.map(Money::minor));
        match write.id {
            Some(id) => {
                known.push(StockLevels { inventory: id.get(), quantity: Some(quantity), price });
            }
            None => new.push(NewStock {
                item: write.nomenclature_id.get(),
                warehouse: write.warehouse_id.get(),
                quantity,
                price,
            }),
        }
    }
    stock::create(connection, project.get(), &new, cause).map_err(on_duplicate(ImportError::Stale))?;
    let written = stock::set(connection, project.get(), &known, cause)?;
    if written == known.len() { Ok(()) } else { Err(Abort::Refused(ImportError::Stale)) }
}

/// Writes the decisions about the rows, within the caller's transaction.
fn apply_stock(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    cause: &Cause,
    sheet: &StockSheet,
    mode: ImportMode,
) -> Result<ImportReport, Abort<ImportError>> {
    let project = stamp.project_id;
    connection.invalidate(Topic::Storefront, project.get());
    stock::lock_warehouses(connection, project.get())?;
    let target = target(connection, project, sheet, true)?;
    let decision = StockDecision::of(sheet, &target);
    accept(&decision.problems, mode)?;
    write(connection, project, &decision.writes, cause)?;
    let mut items: Vec<i64> = decision.writes.iter().map(|write| write.nomenclature_id.get()).collect();
    items.sort_unstable();
    items.dedup();
    offers::refresh_locked(connection, &items)?;
    Ok(decision.report(sheet))
}

#[async_trait]
impl StockSheetRepository for Database {
    async fn upload(
        &self,
        stamp: Stamp,
        sheet: Arc<StockSheet>,
        mode: ImportMode,
    ) -> Result<ImportReport, ImportError> {
        let cause = Cause::new(Reason::Upload, &stamp);
        let report = self.write_long(move |connection| apply_stock(connection, &stamp, &cause, &sheet, mode)).await?;
        job_order::analyze_after(self, report.created + report.updated).await;
        Ok(report)
    }

    async fn check(&self, project: ProjectId, sheet: Arc<StockSheet>) -> Result<ImportReport, ImportError> {
        self.snapshot(move |connection| {
            let target = target(connection, project, &sheet, false)?;
            Ok(StockDecision::of(&sheet, &target).report(&sheet))
        })
        .await
    }

    async fn upload_part(
        &self,
        held: JobLease,
        step: Step,
        sheet: Arc<StockSheet>,
        mode: ImportMode,
        stamp: Stamp,
    ) -> Result<ImportReport, PartError> {
        let cause = Cause::of_job(Reason::Upload, held.job, &stamp);
        let written = self.write_long(move |connection| {
            let report = apply_stock(connection, &stamp, &cause, &sheet, mode).map_err(job_order::of_part)?;
            job_order::commit_step(connection, &held, step, &report)?;
            Ok(report)
        });
        let report = written.await?;
        job_order::analyze_periodically(self, step).await;
        Ok(report)
    }
}
