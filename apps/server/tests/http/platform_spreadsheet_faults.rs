//! Faulty and hostile spreadsheets: each gets an error that names the fault, and nothing is written.

use std::io::{Cursor, Write};

use kontor_adapter_diesel::database_tests;
use rust_xlsxwriter::{Format, Workbook, Worksheet};
use serde_json::{Value, json};
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::project_fixture::ProjectFixture;

const IMPORT: &str = "/api/nomenclatures/import";
const UPLOAD: &str = "/api/inventories/upload";

fn book(fill: impl FnOnce(&mut Worksheet)) -> Vec<u8> {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    for (column, title) in (0..).zip(["article", "name", "price"]) {
        sheet.write_string(0, column, title).unwrap();
    }
    fill(sheet);
    book.save_to_buffer().unwrap()
}

fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Checks that the file as a whole is refused with this reason.
async fn refused(fixture: &ProjectFixture, file: Vec<u8>, why: &str) {
    for path in [IMPORT, UPLOAD] {
        let answer = fixture.upload(path, file.clone(), &[]).await;
        answer.expect_invalid(&["file"]);
        let reason = answer.json()["errors"]["file"][0].as_str().unwrap().to_owned();
        assert!(reason.contains(why), "{reason:?} does not say {why:?}");
    }
}

/// Returns the named rows and columns, with the reasons.
fn rows(answer: &Value) -> Vec<(u64, &str, &str)> {
    let rows = answer["rows"].as_array().unwrap().iter();
    rows.map(|row| (row["row"].as_u64().unwrap(), row["column"].as_str().unwrap(), row["reason"].as_str().unwrap()))
        .collect()
}

async fn nothing_was_written(fixture: &ProjectFixture) {
    assert_eq!(fixture.get("/api/nomenclatures").await.expect(200)["nomenclaturesCount"], 0);
}

database_tests! {
    async fn a_zip_bomb_is_refused_before_it_is_unpacked(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        for (what, reason) in [("<c/>", "its unpacked size"), (" ", "one of its cells")] {
            let zeros = what.repeat((16 << 20) / what.len());
            let bomb = archive(&[("xl/workbook.xml", b"<workbook/>"), ("xl/worksheets/sheet1.xml", zeros.as_bytes())]);
            assert!(bomb.len() < 100_000, "{}", bomb.len());
            refused(&fixture, bomb, &format!("is too large: {reason}")).await;
        }
        let many: Vec<String> = (0..10_001).map(|number| format!("f{number}")).collect();
        let mut entries: Vec<(&str, &[u8])> = many.iter().map(|name| (name.as_str(), b"".as_slice())).collect();
        entries.push(("xl/workbook.xml", b"<workbook/>"));
        refused(&fixture, archive(&entries), "is too large: the number of files in it").await;
        let texts = b"<sst uniqueCount=\"4294967295\"><si/></sst>".as_slice();
        let lying = archive(&[("xl/workbook.xml", b"<workbook/>"), ("xl/sharedStrings.xml", texts)]);
        refused(&fixture, lying, "is too large: the declared number of texts").await;
        nothing_was_written(&fixture).await;
    }

    async fn files_that_are_no_tables_are_refused_with_any_name(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let noise: Vec<u8> = (0..5_000_u32).map(|n| u8::try_from(n.wrapping_mul(2_654_435_761) >> 24).unwrap()).collect();
        for file in [noise, b"\x89PNG\r\n\x1a\n".to_vec(), archive(&[("word/document.xml", b"<w/>")]), b"<html>".to_vec()] {
            refused(&fixture, file, "must be a spreadsheet").await;
        }
        refused(&fixture, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 an old workbook".to_vec(), "save an xls file as xlsx").await;
        let whole = book(|_| {});
        refused(&fixture, whole[..whole.len() / 2].to_vec(), "must be a spreadsheet").await;
        // The format does not depend on the file name: `ProjectFixture::upload` names every file `sheet`.
        fixture.upload(IMPORT, b"article;name\nA-1;Mug\n".to_vec(), &[]).await.expect(200);
    }

    async fn empty_sheets_and_headers_are_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let headers = "must have a first row with the names of the columns";
        let mut first_empty = Workbook::new();
        first_empty.add_worksheet();
        first_empty.add_worksheet().write_string(0, 0, "remark").unwrap();
        refused(&fixture, first_empty.save_to_buffer().unwrap(), headers).await;
        for empty in ["", "\n\n\n", " ; ; \n", "\u{feff}"] {
            refused(&fixture, empty.as_bytes().to_vec(), headers).await;
        }
        refused(&fixture, b"name;price\nMug;1\n".to_vec(), "must have a column `article`").await;
        refused(&fixture, b"article;Article\nA;B\n".to_vec(), "must have the column `article` once").await;
        nothing_was_written(&fixture).await;
        let only_headers = fixture.upload(IMPORT, book(|_| {}), &[]).await.expect(200);
        assert_eq!(only_headers["created"], 0);
    }

    async fn two_hundred_columns_are_read_and_one_more_is_not(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let wide = |columns: u16| book(|sheet| {
            for column in 3..columns {
                sheet.write_string(0, column, format!("extra {column}")).unwrap();
            }
        });
        let report = fixture.upload(IMPORT, wide(200), &[]).await.expect(200);
        assert_eq!(report["ignored_columns"].as_array().unwrap().len(), 197);
        refused(&fixture, wide(201), "must have at most 200 columns").await;
    }

    async fn formulas_merged_cells_and_duplicates_are_named_by_row_and_column(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let file = book(|sheet| {
            sheet.write_string(1, 0, "A-1").unwrap();
            sheet.write_string(1, 1, "Mug").unwrap();
            sheet.write_formula(1, 2, rust_xlsxwriter::Formula::new("1/0").set_result("#DIV/0!")).unwrap();
            // One article over two rows: both rows have it.
            sheet.merge_range(2, 0, 3, 0, "A-2", &Format::new()).unwrap();
            sheet.write_string(2, 1, "Cup").unwrap();
            sheet.write_string(3, 1, "Bowl").unwrap();
            sheet.write_string(4, 0, "A-2").unwrap();
            sheet.write_string(4, 1, "Cup again").unwrap();
            sheet.write_string(6, 0, "A-3").unwrap();
            sheet.write_string(6, 1, "x".repeat(256)).unwrap();
            sheet.write_string(6, 2, "1e3").unwrap();
        });
        let answer = fixture.upload(IMPORT, file, &[]).await.expect(422);
        let expected = [
            (2, "price", "has a formula that failed: #DIV/0!"),
            (4, "article", "is already in row 3"),
            (5, "article", "is already in row 3"),
            (7, "name", "must have at most 255 characters"),
            (7, "price", "must be a decimal number"),
        ];
        assert_eq!(rows(&answer), expected);
        assert_eq!(answer["rows_total"], 5);
        nothing_was_written(&fixture).await;
    }

    async fn texts_that_look_like_formulas_stay_texts(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let file = book(|sheet| {
            sheet.write_string(1, 0, "=1+1").unwrap();
            sheet.write_string(1, 1, "@SUM(A1)").unwrap();
            sheet.write_formula(1, 2, rust_xlsxwriter::Formula::new("100+165").set_result("265")).unwrap();
        });
        assert_eq!(fixture.upload(IMPORT, file, &[]).await.expect(200)["created"], 1);
        let item = &fixture.get("/api/nomenclatures").await.expect(200)["nomenclatures"][0];
        assert_eq!((&item["article"], &item["name"], &item["price"]), (&json!("=1+1"), &json!("@SUM(A1)"), &json!("265.00")));
    }

    async fn a_cell_that_is_too_long_is_refused(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let noise: Vec<u8> = (0..75_000_u64).flat_map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes()).collect();
        let noise = kontor_kernel::hex(&noise);
        let cell = format!("<worksheet><sheetData><row><c t=\"inlineStr\"><is><t>{noise}</t></is></c></row></sheetData></worksheet>");
        let file = archive(&[("xl/workbook.xml", b"<workbook/>"), ("xl/worksheets/sheet1.xml", cell.as_bytes())]);
        assert!(file.len() < 4 << 20, "{}", file.len());
        refused(&fixture, file, "is too large: one of its cells").await;
        let line = format!("article;warehouse;name\nA-1;Main;{noise}\n");
        refused(&fixture, line.into_bytes(), "is too large: row 2").await;
        nothing_was_written(&fixture).await;
    }

    async fn a_name_of_several_warehouses_names_none(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (_, second) = (fixture.warehouse("Main").await, fixture.warehouse("main ").await);
        fixture.upload(IMPORT, b"article;name;price\nA-1;Mug;1\n".to_vec(), &[]).await.expect(200);
        let sheet = |name: &str| format!("article;warehouse;quantity\nA-1;{name};5\n").into_bytes();
        let answer = fixture.upload(UPLOAD, sheet("Main"), &[]).await.expect(422);
        assert_eq!(rows(&answer), [(2, "warehouse", "several records have this name; give the number")]);
        assert_eq!(fixture.get("/api/inventories").await.expect(200)["inventoriesCount"], 0);
        assert_eq!(fixture.upload(UPLOAD, sheet(&second.to_string()), &[]).await.expect(200)["created"], 1);
    }

    async fn stock_is_checked_the_same_way(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let warehouse = fixture.warehouse("Main").await;
        fixture.upload(IMPORT, b"article;name\nA-1;Mug\n".to_vec(), &[]).await.expect(200);
        let sheet = format!("article;warehouse;quantity;price\nA-1;{warehouse};-1;1\nA-1;Main;1.5;1\nA-1;Attic;1;1\nB;Main;1;1\n;Main;1;1\nA-1;Main;1;1\nA-1;Main;2;1\n");
        let answer = fixture.upload(UPLOAD, sheet.into_bytes(), &[]).await.expect(422);
        let places: Vec<_> = rows(&answer).into_iter().map(|(row, column, _)| (row, column)).collect();
        let expected = [(2, "quantity"), (3, "quantity"), (4, "warehouse"), (5, "article"), (6, "article"), (8, "article")];
        assert_eq!(places, expected, "{answer}");
        assert_eq!(fixture.get("/api/inventories").await.expect(200)["inventoriesCount"], 0);
    }
}
