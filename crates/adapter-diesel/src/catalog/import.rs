//! Item spreadsheets: import in one transaction, export in pages.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use diesel::prelude::*;
use kontor_catalog::bulk::{JobLease, PartError, Step};
use kontor_catalog::spreadsheet::ports::ItemSheetRepository;
use kontor_catalog::spreadsheet::{
    CardLine, CardSheet, Decision, ImportError, ImportMode, ImportReport, ItemKey, KnownCard, ResolvedCard, RowProblems,
};
use kontor_kernel::{NomenclatureId, ProjectId, Stamp, StoreError};

use super::{cards, import_words, import_writes, job_steps};
use crate::database::{Abort, AnyConnection, Database, Topic};
use crate::locks::{lock_project, lock_spreadsheet_items, with_articles};
use crate::read_models::offers;
use crate::records;
use crate::schema::{inventories, nomenclatures};
use crate::statement::Statement;

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
pub(super) fn accept(problems: &RowProblems, mode: ImportMode) -> Result<(), Abort<ImportError>> {
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
        self.write_long(move |connection| apply(connection, &stamp, &sheet, mode)).await
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
            let report = apply(connection, &stamp, &sheet, mode).map_err(job_steps::of_part)?;
            job_steps::commit_step(connection, &held, step, &report)?;
            Ok(report)
        });
        let report = written.await?;
        job_steps::analyze_periodically(self, step).await;
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
