//! Detection of the table of a file, and of the columns of its headers.

use std::collections::HashMap;
use std::path::Path;

use kontor_catalog::model::Edit;
use kontor_catalog::spreadsheet::ports::{HeaderRow, RowSink, SheetBook, SheetReader};
use kontor_catalog::spreadsheet::{
    CardSheet, ColumnMap, Decision, ImportKind, ReadOptions, ReferenceLookup, RowAction, SheetError,
};
use kontor_kernel::{Line, Money};

use crate::decision::Grid;

/// Workbook: names and texts of its visible sheets.
struct Workbook(Vec<(&'static str, &'static str)>);

impl Workbook {
    fn sheet(&self, place: usize) -> Grid {
        Grid(self.0.get(place).unwrap().1)
    }
}

struct Open<'a>(&'a Workbook, Vec<String>);

impl SheetReader for Workbook {
    fn read(&self, file: &Path, sink: &mut RowSink<'_>) -> Result<(), SheetError> {
        self.sheet(0).read(file, sink)
    }

    fn book<'a>(
        &'a self,
        _: &'a Path,
        _: Option<u32>,
        _: &mut dyn FnMut() -> Result<(), SheetError>,
    ) -> Result<Box<dyn SheetBook + 'a>, SheetError> {
        Ok(Box::new(Open(self, self.0.iter().map(|(name, _)| (*name).to_owned()).collect())))
    }
}

impl SheetBook for Open<'_> {
    fn sheets(&self) -> Option<&[String]> {
        Some(&self.1)
    }

    fn read(&mut self, sheet: usize, _: HeaderRow, sink: &mut RowSink<'_>) -> Result<(), SheetError> {
        self.0.sheet(sheet).read(Path::new(""), sink)
    }
}

const PRICES: &str =
    "ООО «Ромашка»\nг. Москва, тел. 1\nПрайс-лист\n\nАртикул;Наименование;Цена розн.\nA-1;Кружка;100\n";

fn prices() -> Workbook {
    Workbook(vec![("О нас", "Условия поставки\nСамовывоз"), ("Прайс", PRICES), ("Склад 2", "article;name\nB-1;Bowl")])
}

fn mapped(entries: &[(&str, Option<&str>)]) -> ColumnMap {
    ColumnMap::of_file(ImportKind::Nomenclatures, entries.iter().copied()).unwrap()
}

fn read(book: &dyn SheetReader, options: &ReadOptions) -> Result<CardSheet, SheetError> {
    CardSheet::read_with(book, Path::new(""), options, 100)
}

fn on(sheet: &str) -> ReadOptions {
    ReadOptions { sheet: Some(Line::parse(sheet).unwrap()), ..ReadOptions::default() }
}

#[test]
fn the_first_sheet_with_headers_below_a_letterhead_is_found() {
    let sheet = read(&prices(), &ReadOptions::default()).unwrap();
    assert_eq!((sheet.layout.sheet.as_deref(), sheet.layout.header_row), (Some("Прайс"), 5));
    assert_eq!((sheet.rows.len(), sheet.ignored_columns), (1, vec!["Цена розн.".to_owned()]));
}

#[test]
fn a_sheet_is_chosen_by_name_or_number() {
    for wanted in ["склад 2", "3"] {
        assert_eq!(read(&prices(), &on(wanted)).unwrap().layout.sheet.as_deref(), Some("Склад 2"), "{wanted}");
    }
    let refused = read(&prices(), &on("4")).unwrap_err();
    assert_eq!(refused, SheetError::NoSuchSheet("`О нас`, `Прайс`, `Склад 2`".to_owned()));
    assert_eq!(refused.part(), "sheet");
    assert_eq!(read(&prices(), &on("О нас")), Err(SheetError::MissingColumn("article")));
    assert_eq!(read(&Grid("article;name\n"), &on("1")), Err(SheetError::NoSheets));
}

#[test]
fn a_file_without_headers_is_refused_as_its_first_row_is() {
    assert_eq!(read(&Grid("name;price\nA;1\n"), &ReadOptions::default()), Err(SheetError::MissingColumn("article")));
    assert_eq!(read(&Grid("\n\n"), &ReadOptions::default()), Err(SheetError::Empty));
    let refused = read(&Grid("article;name;название\n"), &ReadOptions::default());
    assert_eq!(refused, Err(SheetError::DuplicateColumn("name")));
    let below = "x\n".repeat(30) + "article;name\nA;1\n";
    let refused = read(&Grid(Box::leak(below.into_boxed_str())), &ReadOptions::default());
    assert_eq!(refused, Err(SheetError::MissingColumn("article")));
}

#[test]
fn a_chosen_row_has_the_headers_or_is_refused() {
    const TWICE: &str = "article;name\narticle;name;price\nA;Mug;5\n";
    let at = |row| ReadOptions { header_row: Some(row), ..ReadOptions::default() };
    assert_eq!(read(&Grid(TWICE), &ReadOptions::default()).unwrap().rows.len(), 2);
    assert_eq!(read(&Grid(TWICE), &at(2)).unwrap().rows.len(), 1);
    for (row, reason) in [(3, "must have a column `article`"), (9, "is empty")] {
        let refused = read(&Grid(TWICE), &at(row)).unwrap_err();
        assert_eq!((refused.part(), &refused), ("header_row", &SheetError::HeaderRow(row, reason.to_owned())));
    }
}

#[test]
fn mapped_headers_come_before_known_ones() {
    const FILE: &str = "Код товара;Цена;Цена\u{a0}РОЗН.;Название\nA-1;1;2;Mug\n";
    let columns = mapped(&[("код  товара", Some("article")), ("Цена\nрозн.", Some("price")), ("Название", None)]);
    let sheet = read(&Grid(FILE), &ReadOptions { columns, ..ReadOptions::default() }).unwrap();
    assert_eq!(sheet.ignored_columns, ["Цена", "Название"]);
    let change = &sheet.rows[0].change;
    assert_eq!((&change.price, &change.name), (&Edit::Set("2".parse::<Money>().unwrap()), &Edit::Keep));
}

#[test]
fn headers_of_a_mapping_of_one_file_must_be_there() {
    let columns = mapped(&[("Цена", Some("price")), ("Вес", None)]);
    let refused = read(&Grid("article;name\n"), &ReadOptions { columns, ..ReadOptions::default() }).unwrap_err();
    assert_eq!(refused.part(), "columns");
    assert_eq!(refused.reasons(), ["there is no header `Цена` in the file", "there is no header `Вес` in the file"]);
    let entries = [("Цена", Some("price")), ("Вес", None)];
    let columns = ColumnMap::shared(ImportKind::Nomenclatures, entries).unwrap();
    assert!(read(&Grid("article;name\n"), &ReadOptions { columns, ..ReadOptions::default() }).is_ok());
}

#[test]
fn empty_cells_keep_what_there_is_if_they_are_to() {
    const FILE: &str = "article;name;brand;tags;photos\nA;;;;\n";
    let cleared = read(&Grid(FILE), &ReadOptions::default()).unwrap().rows.remove(0);
    assert_eq!((cleared.brand, cleared.change.photos.as_set().is_some()), (Edit::Set(None), true));
    let kept = read(&Grid(FILE), &ReadOptions { keep_empty: true, ..ReadOptions::default() }).unwrap().rows.remove(0);
    assert_eq!((kept.brand, kept.tags.as_set(), kept.change.photos.as_set()), (Edit::Keep, None, None));
}

#[test]
fn the_first_rows_are_shown_as_they_will_be() {
    const FILE: &str = "article;name;price;category;brand\nA;Mug;1,5;Kitchen / Mugs;Nord\n;x;;;\nC;Cup;y;;\n";
    let sheet = read(&Grid(FILE), &ReadOptions::default()).unwrap();
    let report =
        Decision::of(&sheet, &ReferenceLookup::default(), &HashMap::new()).preview_report(&ReferenceLookup::default());
    let actions: Vec<_> = report.rows.iter().map(|row| (row.row, row.action)).collect();
    assert_eq!(actions, [(2, RowAction::Create), (3, RowAction::Skip), (4, RowAction::Skip)]);
    let fields: HashMap<_, _> = report.rows[0].fields.iter().cloned().collect();
    for (column, value) in
        [("name", "Mug"), ("price", "1.50"), ("category", "Kitchen / Mugs"), ("brand", "Nord"), ("kind", "goods")]
    {
        assert_eq!(fields.get(column).cloned().flatten().as_deref(), Some(value), "{column}");
    }
    assert!(!fields.contains_key("description") && !fields.contains_key("article"));
}
