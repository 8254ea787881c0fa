//! Modified workbooks: reading them ends with an error or a result, and never panics.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::io::{Cursor, Read, Write};

use kontor_adapter_spreadsheet::Spreadsheets;
use kontor_catalog::spreadsheet::ports::SheetReader;
use kontor_catalog::spreadsheet::{Cell, SheetError, SheetRow};
use proptest::prelude::*;
use rust_xlsxwriter::Workbook;
use tempfile::NamedTempFile;
use zip::ZipArchive;
use zip::write::{SimpleFileOptions, ZipWriter};

fn read(bytes: &[u8]) -> Result<Vec<SheetRow>, SheetError> {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut rows = Vec::new();
    Spreadsheets::default().read(file.path(), &mut |row| {
        if !row.is_none_yet() {
            rows.push(row);
        }
        Ok(())
    })?;
    Ok(rows)
}

/// A valid workbook with texts, numbers and a formula.
fn workbook() -> Vec<u8> {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    for (column, title) in ["article", "name", "price"].into_iter().enumerate() {
        sheet.write_string(0, u16::try_from(column).unwrap(), title).unwrap();
    }
    sheet.write_string(1, 0, "A-1").unwrap();
    sheet.write_string(1, 1, "Кружка").unwrap();
    sheet.write_number(1, 2, 265.5).unwrap();
    sheet.write_formula(2, 2, "=1+1").unwrap();
    book.save_to_buffer().unwrap()
}

/// The same archive with one of its files changed.
fn tampered(name: &str, change: impl Fn(Vec<u8>) -> Vec<u8>) -> Vec<u8> {
    let mut archive = ZipArchive::new(Cursor::new(workbook())).unwrap();
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        let own = entry.name().unwrap().into_owned();
        let content = if own == name { change(content) } else { content };
        out.start_file(own, SimpleFileOptions::default()).unwrap();
        out.write_all(&content).unwrap();
    }
    out.finish().unwrap().into_inner()
}

fn replaced(name: &str, from: &str, to: &str) -> Vec<u8> {
    tampered(name, |content| {
        let text = String::from_utf8(content).unwrap();
        assert!(text.contains(from), "{from} is not in {text}");
        text.replace(from, to).into_bytes()
    })
}

const SHEET: &str = "xl/worksheets/sheet1.xml";
const TEXTS: &str = "xl/sharedStrings.xml";
const BOOK: &str = "xl/workbook.xml";

#[test]
fn a_formula_without_a_result_is_no_empty_cell() {
    assert_eq!(read(&workbook()).unwrap()[2].cells[2], Cell::Text("0".to_owned()));
    let rows = read(&replaced(SHEET, "<f>1+1</f><v>0</v>", "<f>1+1</f>")).unwrap();
    assert!(matches!(&rows[2].cells[2], Cell::Fault(reason) if reason.contains("never calculated")), "{rows:?}");
    let rows = read(&replaced(SHEET, "<f>1+1</f><v>0</v>", "<v></v>")).unwrap();
    assert!(rows.len() < 3 || rows[2].cells.iter().all(|cell| !matches!(cell, Cell::Fault(_))), "{rows:?}");
}

#[test]
fn declared_sizes_of_a_workbook_allocate_nothing() {
    let huge = replaced(SHEET, "ref=\"A1:C3\"", "ref=\"A1:XFD1048576\"");
    assert_eq!(read(&huge).unwrap().len(), 3);
    assert_eq!(read(&replaced(SHEET, "r=\"C3\"", "r=\"XFD1048576\"")), Err(SheetError::TooManyColumns(200)));
    assert!(read(&replaced(SHEET, "r=\"C3\"", "r=\"C99999999\"")).is_err());
    let lies = Err(SheetError::TooLarge("the declared number of texts"));
    for lie in ["uniqueCount=\"4294967295\"", "uniqueCount = '4294967295'", "uniqueCount=\"99999999999999999999999\""] {
        assert_eq!(read(&replaced(TEXTS, "uniqueCount=\"5\"", lie)), lies, "{lie}");
        let hidden = format!("<!-- <si><sst> {} --><sst", "x".repeat(100_000));
        let hidden = replaced(TEXTS, "<sst", &hidden);
        assert_eq!(read(&hidden).unwrap().len(), 3);
    }
    let hidden = tampered(TEXTS, |content| {
        let text = String::from_utf8(content).unwrap().replace("uniqueCount=\"5\"", "uniqueCount=\"4294967295\"");
        text.replace("<sst", &format!("<!-- <si><sst> {} --><sst", "x".repeat(100_000))).into_bytes()
    });
    assert_eq!(read(&hidden), lies);
}

#[test]
fn references_that_lead_nowhere_are_named() {
    for broken in [
        replaced(SHEET, "<v>0</v></c><c r=\"B1\"", "<v>999999</v></c><c r=\"B1\""),
        replaced(BOOK, "<sheets>", "<sheetz>"),
        tampered(SHEET, |content| content[..content.len() / 2].to_vec()),
        tampered(TEXTS, |_| b"<sst".to_vec()),
        tampered("[Content_Types].xml", |_| Vec::new()),
    ] {
        // Refused, or read without the lost data; never a panic.
        let _ = read(&broken);
    }
    assert!(read(&tampered(SHEET, |content| content[..content.len() / 2].to_vec())).is_err());
}

#[test]
fn a_directory_of_very_many_files_is_not_read() {
    let refused = Err(SheetError::TooLarge("the number of files in it"));
    // The end of a large directory, and its locator.
    let large = |total: u64, place: Option<u64>| {
        let mut bytes = workbook();
        let end = bytes.len() - 22;
        assert_eq!(bytes[end..end + 4], *b"PK\x05\x06");
        let place = place.unwrap_or(u64::try_from(end).unwrap()).to_le_bytes();
        let record = [b"PK\x06\x06".as_slice(), &[0; 28], &total.to_le_bytes(), &[0; 16]].concat();
        let locator = [b"PK\x06\x07".as_slice(), &[0; 4], &place, &[0; 4]].concat();
        bytes.splice(end..end, [record, locator].concat());
        bytes
    };
    assert_eq!(read(&large(10_001, None)), refused);
    assert_eq!(read(&large(u64::MAX, None)), refused);
    assert_eq!(read(&large(10, Some(0))), refused);
    assert_eq!(read(&large(10, Some(u64::MAX))), refused);
    // An archive that states few entries is read, or found broken.
    assert_ne!(read(&large(10, None)), refused);
}

#[test]
fn a_workbook_whose_files_share_content_is_not_unpacked() {
    let mut book = ZipWriter::new_append(Cursor::new(workbook())).unwrap();
    book.shallow_copy_file(SHEET, "xl/worksheets/copy.xml").unwrap();
    assert_eq!(read(&book.finish().unwrap().into_inner()), Err(SheetError::NotASpreadsheet));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Some bytes of one file in the workbook are changed.
    #[test]
    fn random_bytes_in_a_file_cause_no_panic(
        name in prop::sample::select(vec![SHEET, TEXTS, BOOK, "xl/styles.xml", "xl/_rels/workbook.xml.rels"]),
        place in 0..3_000_usize,
        noise in prop::collection::vec(prop::sample::select(b"<>/\"=&;A19 \0\xff".to_vec()), 1..12),
    ) {
        let _ = read(&tampered(name, |mut content| {
            let place = place % content.len();
            let end = (place + noise.len()).min(content.len());
            content.splice(place..end, noise.iter().copied());
            content
        }));
    }

    /// Some bytes of the archive itself are changed.
    #[test]
    fn random_bytes_in_an_archive_cause_no_panic(place in 0..9_000_usize, noise in prop::collection::vec(any::<u8>(), 1..12)) {
        let mut bytes = workbook();
        let place = place % bytes.len();
        let end = (place + noise.len()).min(bytes.len());
        bytes.splice(place..end, noise);
        let _ = read(&bytes);
    }

    /// Any content named as text.
    #[test]
    fn any_text_is_read_or_refused(text in "[a-c\"',;\t\r\n= ]{0,200}") {
        let _ = read(text.as_bytes());
    }
}
