//! Sheets of a workbook, letterheads of csv files.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::io::Write;

use kontor_adapter_spreadsheet::Spreadsheets;
use kontor_catalog::spreadsheet::{CardSheet, ReadOptions, SheetError};
use kontor_kernel::Line;
use rust_xlsxwriter::Workbook;
use tempfile::NamedTempFile;

fn read(bytes: &[u8], options: &ReadOptions) -> Result<CardSheet, SheetError> {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    CardSheet::read_with(&Spreadsheets::default(), file.path(), options, 1_000)
}

fn workbook() -> Vec<u8> {
    let mut book = Workbook::new();
    let cells = [
        ("Hidden", vec![(0, "article"), (1, "H-1")]),
        ("About", vec![(0, "Letter"), (3, "more")]),
        ("Prices", vec![(0, "Company"), (4, "article"), (5, "P-1"), (6, "P-2")]),
        ("Stock", vec![(0, "article"), (1, "S-1")]),
    ];
    for (name, texts) in cells {
        let sheet = book.add_worksheet().set_name(name).unwrap();
        sheet.set_hidden(name == "Hidden").set_active(name == "About");
        for (row, text) in texts {
            sheet.write_string(row, 0, text).unwrap();
            sheet.write_string(row, 1, if text == "article" { "name" } else { "x" }).unwrap();
        }
    }
    book.save_to_buffer().unwrap()
}

#[test]
fn sheets_are_found_by_name_by_number_and_by_their_headers() {
    let book = workbook();
    for (wanted, name, header_row, rows) in [
        (None, "Prices", 5, 2),
        (Some("stock"), "Stock", 1, 1),
        (Some("3"), "Stock", 1, 1),
        (Some("2"), "Prices", 5, 2),
    ] {
        let sheet = wanted.map(|wanted| Line::parse(wanted).unwrap());
        let read = read(&book, &ReadOptions { sheet, ..ReadOptions::default() }).unwrap();
        let found = (read.layout.sheet.as_deref(), read.layout.header_row, read.rows.len());
        assert_eq!(found, (Some(name), header_row, rows), "{wanted:?}");
    }
    let hidden = ReadOptions { sheet: Line::parse("Hidden").ok(), ..ReadOptions::default() };
    assert_eq!(read(&book, &hidden), Err(SheetError::NoSuchSheet("`About`, `Prices`, `Stock`".to_owned())));
}

#[test]
fn a_csv_file_may_have_a_letterhead() {
    let text = "Price list\n\n1, Main street, Town, Country\narticle;name;price\nP-1;Mug;1,50\nP-2;A;b;3\n";
    let chosen = ReadOptions { header_row: Some(4), ..ReadOptions::default() };
    let sheet = read(text.as_bytes(), &chosen).unwrap();
    assert_eq!((sheet.layout.sheet.as_deref(), sheet.layout.header_row, sheet.rows.len()), (None, 4, 1));
    assert_eq!(sheet.problems.kept()[0].to_string().split(';').next(), Some("row 6: has 4 cells under 3 headers"));
    // Without the row number, the separator is detected in the first line that has one.
    assert_eq!(read(text.as_bytes(), &ReadOptions::default()), Err(SheetError::MissingColumn("article")));
    let plain = text.replace("1, Main street, Town, Country", "Main street");
    assert_eq!(read(plain.as_bytes(), &ReadOptions::default()).unwrap().layout.header_row, 4);
}
