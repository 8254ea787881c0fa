//! Contract of spreadsheets: items and stock are written whole or not at all, and stay in their project.
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a broken promise fails the test that runs it")]

use std::path::Path;
use std::sync::Arc;

use chrono::TimeDelta;
use futures_util::future::join_all;
use kontor_kernel::listing::Sort;
use kontor_kernel::{Line, Listing, NomenclatureId, PageRequest, ProjectId, RecordRepository, WarehouseId};

use super::stock::{self, item, level, warehouse};
use super::{fresh, noon, stamp};
use crate::bulk::ports::{ExportSource, JobRepository};
use crate::bulk::{ExportCursor, ExportKind, ExportScope, JobLease, JobOptions, NewJob, PartError, Step};
use crate::model::{Brand, Card, Inventory, NomenclatureKind, StockReason, StockSource};
use crate::ports::{CategoryRepository, InventoryRepository, NomenclatureRepository};
use crate::spreadsheet::ports::{ColumnMaps, ItemSheetRepository, RowSink, SheetReader, StockSheetRepository};
use crate::spreadsheet::{
    CardSheet, Cell, ColumnMap, Content, ImportError, ImportKind, ImportMode, ImportReport, ReadOptions, SheetError,
    SheetRow, StockSheet,
};

/// Storage under test that also reads and writes sheets.
pub trait Fixture:
    stock::Fixture<
        Store: CategoryRepository
                   + RecordRepository<Brand>
                   + ItemSheetRepository
                   + StockSheetRepository
                   + JobRepository
                   + ColumnMaps
                   + ExportSource,
    >
{
}

/// File with a row per line and cells separated by `;`.
struct Grid<'a>(&'a str);

impl SheetReader for Grid<'_> {
    fn read(&self, _: &Path, sink: &mut RowSink<'_>) -> Result<(), SheetError> {
        for (number, line) in (1..).zip(self.0.lines()) {
            let cells = line.split(';').map(|text| Cell::Text(text.to_owned())).collect();
            sink(SheetRow::new(number, cells))?;
        }
        Ok(())
    }
}

/// Sheet of items with these rows.
pub(super) fn cards(text: &str) -> Arc<CardSheet> {
    Arc::new(CardSheet::read(&Grid(text), Path::new(""), 100).unwrap())
}

fn levels(text: &str) -> Arc<StockSheet> {
    Arc::new(StockSheet::read(&Grid(text), Path::new(""), 100).unwrap())
}

const STRICT: ImportMode = ImportMode::AllOrNothing;

/// Created, updated, unchanged and skipped records.
fn counts(report: &ImportReport) -> [usize; 4] {
    [report.created, report.updated, report.unchanged, report.skipped]
}

/// Returns the places of the problems for which rows were refused: rows and columns.
fn refused<E: Into<PartError>>(outcome: Result<ImportReport, E>) -> Vec<(u32, &'static str)> {
    match outcome.map_err(Into::into) {
        Err(PartError::Import(ImportError::Rows(problems))) => {
            problems.kept().iter().map(|problem| (problem.row, problem.column)).collect()
        }
        other => vec![(0, if other.is_ok() { "accepted" } else { "refused for another reason" })],
    }
}

async fn import<F: Fixture>(fixture: &F, project: ProjectId, text: &str) -> Result<ImportReport, ImportError> {
    fixture.store().import(stamp(project), cards(text), STRICT).await
}

async fn upload<F: Fixture>(fixture: &F, project: ProjectId, text: &str) -> Result<ImportReport, ImportError> {
    fixture.store().upload(stamp(project), levels(text), STRICT).await
}

async fn items<F: Fixture>(fixture: &F, project: ProjectId) -> Vec<NomenclatureId> {
    let lines = fixture.store().lines(project, None, 100).await.unwrap();
    lines.into_iter().map(|line| line.id).collect()
}

/// Number of categories and of brands of a project.
async fn words<F: Fixture>(fixture: &F, project: ProjectId) -> (usize, usize) {
    let store = fixture.store();
    let categories = CategoryRepository::list(&*store, project).await.unwrap();
    (categories.len(), RecordRepository::<Brand>::list(&*store, project).await.unwrap().len())
}

async fn stock_of<F: Fixture>(fixture: &F, project: ProjectId) -> Vec<Inventory> {
    let listing = Listing::unfiltered(Sort::ascending("id"), PageRequest::new(1, 100, 100).unwrap());
    InventoryRepository::list(&*fixture.store(), project, listing).await.unwrap().items
}

/// Goods with this article.
async fn labelled<F: Fixture>(fixture: &F, project: ProjectId, article: &str) -> NomenclatureId {
    let card = Card::new(fresh("Goods"), NomenclatureKind::Goods);
    item(fixture, project, Card { article: Line::parse(article).ok(), ..card }).await.id
}

/// Lease of a new import, for an hour.
async fn leased<F: Fixture>(fixture: &F, project: ProjectId, kind: ImportKind) -> JobLease {
    let job = NewJob {
        kind,
        options: JobOptions::default(),
        reading: ReadOptions::default(),
        place: "file".to_owned(),
        file_name: None,
        file_bytes: 1,
        user_id: None,
        token_id: None,
    };
    let store = fixture.store();
    let id = JobRepository::insert(&*store, project, job, 20, noon()).await.unwrap().id;
    store.lease(Some(id), "worker", noon(), noon() + TimeDelta::hours(1)).await.unwrap().unwrap().lease()
}

fn step(after: u32, through: u32) -> Step {
    Step { after, through, rows: 1, until: noon() + TimeDelta::hours(1) }
}

/// Checkpoint, rows done and records created by a job.
async fn progress<F: Fixture>(fixture: &F, held: &JobLease) -> (u32, u64, u64) {
    let job = JobRepository::find(&*fixture.store(), held.job).await.unwrap().unwrap().within(held.project).unwrap();
    (job.checkpoint, job.done_rows, job.tally.created)
}

/// A sheet of items is written whole or not at all, with its categories and brands; in partial mode its valid rows are.
pub async fn a_sheet_is_written_whole_or_not_at_all<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await.0);
    let text = "article;name;category;brand;colour\nA;Vase;Kitchen / Vases;Nord;red\nB;;Garden;Süd;\n";
    let checked = ItemSheetRepository::check(&*store, project, cards(text)).await.unwrap();
    assert_eq!((counts(&checked), checked.rows.len()), ([1, 0, 0, 1], 2));
    assert_eq!(refused(import(fixture, project, text).await), [(3, "name")]);
    assert!(items(fixture, project).await.is_empty());
    assert_eq!(words(fixture, project).await, (0, 0));
    let written = store.import(stamp(project), cards(text), ImportMode::Partial).await.unwrap();
    assert_eq!((counts(&written), written.ignored_columns), ([1, 0, 0, 1], vec!["colour".to_owned()]));
    assert_eq!(written.problems, checked.problems);
    assert_eq!(items(fixture, project).await.len(), 1);
    assert_eq!(words(fixture, project).await, (2, 1));
    let again = store.import(stamp(project), cards(text), ImportMode::Partial).await.unwrap();
    assert_eq!(counts(&again), [0, 0, 1, 1]);
}

/// Under concurrent calls, a new article, category or brand of a sheet is created once. A known article is changed.
pub async fn an_article_is_imported_once<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await.0);
    let text = "article;name;category;brand\nA;Vase;Kitchen;Nord\n";
    let outcomes = join_all((0..4).map(|_| import(fixture, project, text))).await;
    let known = |outcome: &Result<ImportReport, ImportError>| matches!(outcome, Ok(_) | Err(ImportError::Stale));
    assert!(outcomes.iter().all(known), "{outcomes:?}");
    let created: usize = outcomes.iter().flatten().map(|report| report.created).sum();
    assert_eq!((created, items(fixture, project).await.len()), (1, 1), "{outcomes:?}");
    assert_eq!(words(fixture, project).await, (1, 1));
    let id = items(fixture, project).await.into_iter().next().unwrap();
    let read = async || NomenclatureRepository::find(&*store, id).await.unwrap().unwrap().within(project).unwrap();
    let before = read().await;
    assert_eq!(before.labels.category.map(|category| category.name.to_string()), Some("Kitchen".to_owned()));
    assert_eq!(counts(&import(fixture, project, "article;price\nA;5\n").await.unwrap()), [0, 1, 0, 0]);
    let after = read().await;
    assert!(after.version > before.version, "the version grows");
    assert_eq!(after.card, Card { price: "5.00".parse().ok(), ..before.card }, "missing columns change nothing");
}

/// A sheet finds items of its project alone, by article and by identifier.
pub async fn foreign_items_are_not_imported<F: Fixture>(fixture: &F) {
    let (store, ours, theirs) = (fixture.store(), fixture.project().await.0, fixture.project().await.0);
    let foreign = labelled(fixture, theirs, "A").await;
    let read = async || NomenclatureRepository::find(&*store, foreign).await.unwrap().unwrap().within(theirs);
    let before = read().await;
    let text = format!("article;kontor_id;name\n;{foreign};Stolen\n");
    let checked = ItemSheetRepository::check(&*store, ours, cards(&text)).await;
    assert_eq!(checked.map(|report| counts(&report)).unwrap(), [0, 0, 0, 1]);
    assert_eq!(refused(import(fixture, ours, &text).await), [(2, "kontor_id")]);
    assert_eq!(counts(&import(fixture, ours, "article;name\nA;Vase\n").await.unwrap()), [1, 0, 0, 0]);
    assert_eq!(read().await, before);
    assert_eq!((items(fixture, ours).await.len(), items(fixture, theirs).await), (1, vec![foreign]));
}

/// Items are read in pages, by identifier.
pub async fn items_are_read_in_pages<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await.0);
    import(fixture, project, "article;name\nA;Vase\nB;Cup\nC;Lamp\n").await.unwrap();
    let all = items(fixture, project).await;
    assert!(all.len() == 3 && all.is_sorted(), "{all:?}");
    let page = async |after: Option<NomenclatureId>| {
        let lines = store.lines(project, after, 2).await.unwrap();
        lines.into_iter().map(|line| line.id).collect::<Vec<_>>()
    };
    let first = page(None).await;
    let second = page(first.last().copied()).await;
    assert!(page(second.last().copied()).await.is_empty());
    assert_eq!((first.len(), [first, second].concat()), (2, all));
}

/// A part of a job is written in one commit with its step: once, and only by the holder of the lease.
pub async fn a_part_is_written_with_its_step<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await.0);
    let held = leased(fixture, project, ImportKind::Nomenclatures).await;
    let part =
        async |step: Step, text: &str| store.import_part(held.clone(), step, cards(text), STRICT, stamp(project)).await;
    assert_eq!(refused(part(step(0, 2), "article;name\nA;\n").await), [(2, "name")]);
    assert_eq!(progress(fixture, &held).await, (0, 0, 0));
    assert_eq!(counts(&part(step(0, 2), "article;name\nA;Vase\n").await.unwrap()), [1, 0, 0, 0]);
    assert_eq!(progress(fixture, &held).await, (2, 1, 1));
    let repeated = part(step(0, 2), "article;name\nB;Cup\n").await;
    assert!(matches!(repeated, Err(PartError::LeaseLost)), "{repeated:?}");
    store.cancel(held.job, noon()).await.unwrap().unwrap();
    let late = part(step(2, 3), "article;name\nB;Cup\n").await;
    assert!(matches!(late, Err(PartError::LeaseLost)), "{late:?}");
    assert_eq!((progress(fixture, &held).await, items(fixture, project).await.len()), ((2, 1, 1), 1));
}

/// A part of a stock job is written in one commit with its step, and its movements name the job.
pub async fn a_part_of_stock_is_written_with_its_step<F: Fixture>(fixture: &F) {
    let (store, place) = (fixture.store(), fixture.project().await);
    let (project, near) = (place.0, warehouse(fixture, place).await);
    labelled(fixture, project, "A").await;
    let held = leased(fixture, project, ImportKind::Inventories).await;
    let part = async |step: Step, quantity: &str| {
        let text = format!("article;warehouse;quantity;price\nA;{near};{quantity};10\n");
        store.upload_part(held.clone(), step, levels(&text), STRICT, stamp(project)).await
    };
    assert_eq!(counts(&part(step(0, 2), "5").await.unwrap()), [1, 0, 0, 0]);
    let repeated = part(step(0, 2), "6").await;
    assert!(matches!(repeated, Err(PartError::LeaseLost)), "{repeated:?}");
    store.cancel(held.job, noon()).await.unwrap().unwrap();
    let late = part(step(2, 3), "7").await;
    assert!(matches!(late, Err(PartError::LeaseLost)), "{late:?}");
    assert_eq!(progress(fixture, &held).await, (2, 1, 1));
    let stock = stock_of(fixture, project).await.into_iter().next().unwrap();
    assert_eq!(stock.quantity, level(5));
    let entries = store.history(project, stock.id, PageRequest::new(1, 10, 10).unwrap()).await.unwrap().items;
    let causes: Vec<_> = entries.iter().map(|entry| (entry.reason, entry.source.and_then(StockSource::job))).collect();
    assert_eq!(causes, [(StockReason::Upload, Some(held.job))]);
}

/// A sheet of stock is written whole or not at all. Each written level is a movement.
pub async fn stock_is_uploaded_whole_or_not_at_all<F: Fixture>(fixture: &F) {
    let (store, place) = (fixture.store(), fixture.project().await);
    let (project, near) = (place.0, warehouse(fixture, place).await);
    labelled(fixture, project, "A").await;
    let sheet = |quantity: u32| format!("article;warehouse;quantity;price\nA;{near};{quantity};10\nNONE;{near};1;1\n");
    let half = sheet(5);
    let checked = StockSheetRepository::check(&*store, project, levels(&half)).await.unwrap();
    assert_eq!(counts(&checked), [1, 0, 0, 1]);
    assert_eq!(refused(upload(fixture, project, &half).await), [(3, "article")]);
    assert!(stock_of(fixture, project).await.is_empty());
    for (quantity, expected) in [(5, [1, 0, 0, 1]), (5, [0, 0, 1, 1]), (7, [0, 1, 0, 1])] {
        let written = store.upload(stamp(project), levels(&sheet(quantity)), ImportMode::Partial).await;
        assert_eq!(counts(&written.unwrap()), expected);
    }
    let stock = stock_of(fixture, project).await.into_iter().next().unwrap();
    assert_eq!((stock.quantity, stock.price.map(|price| price.to_string())), (level(7), Some("10.00".to_owned())));
    let entries = store.history(project, stock.id, PageRequest::new(1, 10, 10).unwrap()).await.unwrap().items;
    assert_eq!(entries.iter().map(|entry| entry.reason).collect::<Vec<_>>(), [StockReason::Upload; 2]);
    fixture.reserve(stock.id, 3).await;
    let low = format!("article;warehouse;quantity\nA;{near};2\n");
    assert_eq!(refused(upload(fixture, project, &low).await), [(2, "quantity")], "three units are reserved");
    let service = import(fixture, project, "article;kind;price\nA;service;1\n").await;
    assert_eq!(refused(service), [(2, "kind")], "goods with stock stay goods");
    assert_eq!(stock_of(fixture, project).await.first().map(|stock| stock.quantity), Some(level(7)));
}

/// Under concurrent calls, an item is stocked once in a warehouse.
pub async fn stock_is_uploaded_once<F: Fixture>(fixture: &F) {
    let place = fixture.project().await;
    let (project, near) = (place.0, warehouse(fixture, place).await);
    labelled(fixture, project, "A").await;
    let text = format!("article;warehouse;quantity;price\nA;{near};5;10\n");
    let outcomes = join_all((0..4).map(|_| upload(fixture, project, &text))).await;
    let known = |outcome: &Result<ImportReport, ImportError>| matches!(outcome, Ok(_) | Err(ImportError::Stale));
    assert!(outcomes.iter().all(known), "{outcomes:?}");
    let created: usize = outcomes.iter().flatten().map(|report| report.created).sum();
    assert_eq!((created, stock_of(fixture, project).await.len()), (1, 1), "{outcomes:?}");
}

/// A sheet finds items and warehouses of its project alone.
pub async fn stock_of_foreign_records_is_not_uploaded<F: Fixture>(fixture: &F) {
    let (ours, theirs) = (fixture.project().await, fixture.project().await);
    let (near, abroad) = (warehouse(fixture, ours).await, warehouse(fixture, theirs).await);
    labelled(fixture, ours.0, "A").await;
    let foreign = labelled(fixture, theirs.0, "B").await;
    let row = |article: &str, id: &str, warehouse: WarehouseId| {
        format!("article;kontor_id;warehouse;quantity;price\n{article};{id};{warehouse};1;10\n")
    };
    for (text, column) in [
        (row("B", "", near), "article"),
        (row("", &foreign.to_string(), near), "article"),
        (row("A", "", abroad), "warehouse"),
    ] {
        assert_eq!(refused(upload(fixture, ours.0, &text).await), [(2, column)], "{text}");
    }
    assert!(stock_of(fixture, ours.0).await.is_empty());
    assert!(stock_of(fixture, theirs.0).await.is_empty());
}

/// Stock is exported in pages, as a sheet whose upload changes nothing, without that of other projects.
pub async fn exported_stock_uploads_unchanged<F: Fixture>(fixture: &F) {
    let (store, ours, theirs) = (fixture.store(), fixture.project().await, fixture.project().await);
    for (place, articles) in [(ours, vec!["A", "B", "C"]), (theirs, vec!["D"])] {
        let near = warehouse(fixture, place).await;
        for article in articles {
            labelled(fixture, place.0, article).await;
            let text = format!("article;warehouse;quantity;price\n{article};{near};5;10\n");
            assert_eq!(counts(&upload(fixture, place.0, &text).await.unwrap()), [1, 0, 0, 0]);
        }
    }
    let scope = ExportScope::from(ExportKind::Stock);
    let header = store.header(ExportKind::Stock);
    let (mut lines, mut after) = (vec![header.join(";")], ExportCursor::default());
    loop {
        let rows = store.rows(ours.0, scope, after, 2).await.unwrap();
        let Some(last) = rows.last() else { break };
        assert!(rows.len() <= 2 && rows.iter().all(|row| row.at > after && row.cells.len() == header.len()));
        after = last.at;
        let text = |cell: &Content<'_>| match cell {
            Content::Empty => String::new(),
            Content::Text(text) => text.to_string(),
            Content::Number(number) => number.clone(),
        };
        lines.extend(rows.iter().map(|row| row.cells.iter().map(text).collect::<Vec<_>>().join(";")));
    }
    assert_eq!((store.total(ours.0, scope).await.unwrap(), lines.len()), (3, 4));
    assert_eq!(counts(&upload(fixture, ours.0, &lines.join("\n")).await.unwrap()), [0, 0, 3, 0]);
    let elsewhere = store.total(fixture.project().await.0, scope).await.unwrap();
    assert_eq!(elsewhere, 0);
}

/// Under concurrent calls, a project has one column mapping for each kind of import, written whole.
pub async fn a_column_map_belongs_to_a_project_and_a_kind<F: Fixture>(fixture: &F) {
    let (store, ours, theirs) = (fixture.store(), fixture.project().await.0, fixture.project().await.0);
    let kind = ImportKind::Inventories;
    let map = |header: &str| ColumnMap::shared(kind, [(header, Some("article")), ("Weight", None)]).unwrap();
    let find = async |project: ProjectId, kind: ImportKind| ColumnMaps::find(&*store, project, kind).await.unwrap();
    assert!(find(ours, kind).await.is_empty());
    let maps: Vec<ColumnMap> = ["Code", "Item", "Number", "SKU"].map(map).to_vec();
    let outcomes = join_all(maps.iter().map(|map| ColumnMaps::replace(&*store, ours, kind, map.clone()))).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert!(maps.contains(&find(ours, kind).await));
    ColumnMaps::replace(&*store, theirs, kind, map("Code")).await.unwrap();
    ColumnMaps::replace(&*store, ours, kind, map("SKU")).await.unwrap();
    assert_eq!((find(ours, kind).await, find(theirs, kind).await), (map("SKU"), map("Code")));
    assert!(find(ours, ImportKind::Nomenclatures).await.is_empty());
    ColumnMaps::replace(&*store, ours, kind, ColumnMap::default()).await.unwrap();
    assert!(find(ours, kind).await.is_empty());
    assert_eq!(find(theirs, kind).await, map("Code"));
}
