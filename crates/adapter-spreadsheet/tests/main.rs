//! Incoming files: valid, unusual and hostile.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::io::{Read, Write};

use kontor_adapter_spreadsheet::{Limits, Spreadsheets};
use kontor_catalog::spreadsheet::ports::{SheetFormat, SheetReader, SheetWriters};
use kontor_catalog::spreadsheet::{Cell, Content, SheetError, SheetRow};
use rust_xlsxwriter::{Format, Formula, Workbook};
use tempfile::NamedTempFile;
use zip::write::{SimpleFileOptions, ZipWriter};

fn file(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file.flush().unwrap();
    file
}

fn read_with(limits: Limits, bytes: &[u8]) -> Result<Vec<SheetRow>, SheetError> {
    let mut rows = Vec::new();
    Spreadsheets::with_limits(limits).read(file(bytes).path(), &mut |row| {
        if !row.is_none_yet() {
            rows.push(row);
        }
        Ok(())
    })?;
    Ok(rows)
}

fn read(bytes: &[u8]) -> Result<Vec<SheetRow>, SheetError> {
    read_with(Limits::default(), bytes)
}

fn text(cell: &Cell) -> &str {
    match cell {
        Cell::Text(text) | Cell::Number { shown: text, .. } => text,
        Cell::Fault(_) => "FAULT",
    }
}

fn texts(rows: &[SheetRow]) -> Vec<(u32, Vec<&str>)> {
    rows.iter().map(|row| (row.number, row.cells.iter().map(text).collect())).collect()
}

fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn csv_is_read_with_any_delimiter() {
    let rows =
        read("\u{feff}артикул;цена\r\n\r\nA-1;\"1 234,50\"\r\n\"A\n2\";\"=1;\"\"x\"\"\"\r\n'=A3;'\r\n".as_bytes())
            .unwrap();
    let expected = vec![
        (1, vec!["артикул", "цена"]),
        (3, vec!["A-1", "1 234,50"]),
        (4, vec!["A\n2", "=1;\"x\""]),
        (5, vec!["=A3", "'"]),
    ];
    assert_eq!(texts(&rows), expected);
    assert_eq!(texts(&read(b"sep=\t\na\tb\n").unwrap()), [(2, vec!["a", "b"])]);
}

#[test]
fn damaged_utf8_is_a_fault_of_its_cell() {
    let file = [b"article,name\nA-1,".as_slice(), "Кружка".as_bytes(), b"\xFF\nA-2,", "Чашка".as_bytes()].concat();
    assert_eq!(texts(&read(&file).unwrap())[1..], [(2, vec!["A-1", "FAULT"]), (3, vec!["A-2", "Чашка"])]);
}

#[test]
fn the_encodings_of_spreadsheet_programs_are_read() {
    let text = "артикул;название;цена\r\nA-1;Кружка «Ёж» № 5;12,50\r\n";
    let utf16 = |mark: u16, bytes: fn(u16) -> [u8; 2]| {
        std::iter::once(mark).chain(text.encode_utf16()).flat_map(bytes).collect::<Vec<u8>>()
    };
    let (windows, _, lost) = encoding_rs::WINDOWS_1251.encode(text);
    assert!(!lost);
    let files = [
        text.as_bytes().to_vec(),
        format!("\u{feff}{text}").into_bytes(),
        utf16(0xFEFF, u16::to_le_bytes),
        utf16(0xFEFF, u16::to_be_bytes),
        windows.into_owned(),
    ];
    for file in files {
        let rows = read(&file).unwrap();
        let expected = [(1, vec!["артикул", "название", "цена"]), (2, vec!["A-1", "Кружка «Ёж» № 5", "12,50"])];
        assert_eq!(texts(&rows), expected);
    }
    let (koi8, ..) = encoding_rs::KOI8_U.encode("артикул;название\nA-1;Большая кружка с ручкой и крышкой\n");
    assert_eq!(read(&koi8), Err(SheetError::Encoding));
}

#[test]
fn windows_1251_is_detected() {
    let padding = "A;Mug\n".repeat(50_000);
    let (file, ..) = encoding_rs::WINDOWS_1251.encode("article;name\nA-1;Кружка\n");
    let rows = read(&[file.as_ref(), padding.as_bytes()].concat()).unwrap();
    assert_eq!(texts(&rows)[1], (2, vec!["A-1", "Кружка"]));
    let (late, ..) = encoding_rs::WINDOWS_1251.encode("A-1;Кружка\n");
    let rows = read(&[b"article;name\n", padding.as_bytes(), &late].concat()).unwrap();
    assert_eq!(texts(&rows).last(), Some(&(50_002, vec!["A-1", "Кружка"])));
}

/// Returns the faulty rows, with the reasons.
fn faults(rows: &[SheetRow]) -> Vec<(u32, &str)> {
    rows.iter().filter_map(|row| Some((row.number, row.fault.as_deref()?))).collect()
}

#[test]
fn torn_rows_are_not_guessed() {
    let rows = read(b"article,name,price\nA-1,Mug,12,50\nA-2,Cup,1,,\nA-3,Bowl,3\n").unwrap();
    let reason = "has 4 cells under 3 headers; put texts with separators in quotes";
    assert_eq!((faults(&rows), rows.len()), (vec![(2, reason)], 4));
    let rows = read(b"article,name,price\nA-1,Big\nmug,12\nA-2,Cup,1\n").unwrap();
    assert_eq!(faults(&rows).iter().map(|(row, _)| *row).collect::<Vec<_>>(), [2, 3]);
    let rows = read(b"article,name,price\n\nA-1,\"Mug,12\nA-2,\"Cup\",1\nA-3,Bowl,3\n").unwrap();
    let reason = "has an unmatched quote; double each quote inside a quoted text";
    assert_eq!((faults(&rows), rows.len()), (vec![(3, reason)], 3));
    for open in ["A-1,\"Mug,12\nA-2,Cup,1\n", "A-1,Mug,\"12", "A-1,Mug,\"\n"] {
        assert_eq!(read(format!("article,name,price\n{open}").as_bytes()), Err(SheetError::OpenQuote(2)), "{open}");
    }
    let rows = read(b"article,name,price\n\"A,1\",\"a \"\"mug\"\"\n5\"\" wide\",12\nA-2,5\" cup,1\n").unwrap();
    assert_eq!(faults(&rows), []);
    assert_eq!(texts(&rows)[1..], [(2, vec!["A,1", "a \"mug\"\n5\" wide", "12"]), (3, vec!["A-2", "5\" cup", "1"])]);
}

#[test]
fn cells_of_a_workbook_are_what_people_see() {
    let mut book = Workbook::new();
    let format = |code: &str| Format::new().set_num_format(code);
    let sheet = book.add_worksheet();
    for (column, (value, code)) in (0..).zip([
        (46_154.0, "DD.MM.YYYY"),
        (0.5, "h:mm"),
        (1.5, "[h]:mm"),
        (12_345_678_905.0, "0000000000000"),
        (1_234.0, "00\\-0000"),
        (0.2, "0%"),
        (1.5, "0.00"),
        (1_250.5, "#,##0.00\" \u{20bd}\""),
        (104_600_000_000_123_456.0, "0"),
        (7.0, "General"),
    ]) {
        sheet.write_number_with_format(0, column, value, &format(code)).unwrap();
    }
    let rows = read(&book.save_to_buffer().unwrap()).unwrap();
    let number = |value: &str, shown: &str| Cell::Number { value: value.to_owned(), shown: shown.to_owned() };
    let text = |text: &str| Cell::Text(text.to_owned());
    let date = Cell::Fault("is a date or a time; format the cell as text and enter the value again".to_owned());
    let expected = [
        date.clone(),
        date.clone(),
        date,
        number("12345678905", "0012345678905"),
        number("1234", "00-1234"),
        text("20%"),
        number("1.5", "1.50"),
        text("1250.5"),
        Cell::Fault(
            "has more digits than a number cell can hold; format the cell as text and enter the value again".to_owned(),
        ),
        text("7"),
    ];
    assert_eq!(rows[0].cells, expected);
}

#[test]
fn merged_cells_have_one_value_all_over() {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    for (row, article) in (0..).zip(["article", "A-1", "A-2", "A-3", "", "A-5"]) {
        sheet.write_string(row, 0, article).unwrap();
    }
    sheet.write_string(0, 1, "category").unwrap();
    sheet.merge_range(1, 1, 4, 1, "Mugs", &Format::new()).unwrap();
    sheet.merge_range(2, 2, 3, 3, "both", &Format::new()).unwrap();
    sheet.merge_range(5, 1, 5, 2, "", &Format::new()).unwrap();
    let rows = read(&book.save_to_buffer().unwrap()).unwrap();
    let expected = vec![
        (1, vec!["article", "category"]),
        (2, vec!["A-1", "Mugs"]),
        (3, vec!["A-2", "Mugs", "both", "both"]),
        (4, vec!["A-3", "Mugs", "both", "both"]),
        (6, vec!["A-5"]),
    ];
    assert_eq!(texts(&rows).into_iter().filter(|(row, _)| *row != 5).collect::<Vec<_>>(), expected);
}

#[test]
fn parts_of_a_workbook_may_have_other_names() {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    sheet.write_string(0, 0, "article").unwrap();
    sheet.write_number_with_format(1, 0, 46_154.0, &Format::new().set_num_format("DD.MM.YYYY")).unwrap();
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(book.save_to_buffer().unwrap())).unwrap();
    let mut renamed = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).unwrap();
        let name = entry.name().unwrap().replace("workbook.xml", "book2.xml").replace("xl/s", "xl/my-s");
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        if name.contains("_rels/") {
            let list = String::from_utf8(content).unwrap();
            let list = list.replace("workbook.xml", "book2.xml").replace("\"sharedStrings", "\"my-sharedStrings");
            content = list.replace("\"styles", "\"/xl/my-styles").into_bytes();
        }
        renamed.start_file(name, SimpleFileOptions::default()).unwrap();
        renamed.write_all(&content).unwrap();
    }
    let rows = read(&renamed.finish().unwrap().into_inner()).unwrap();
    assert_eq!(texts(&rows), [(1, vec!["article"]), (2, vec!["FAULT"])]);
}

#[test]
fn a_workbook_is_read_by_its_first_visible_sheet() {
    let mut book = Workbook::new();
    book.add_worksheet().set_hidden(true).write_string(0, 0, "hidden").unwrap();
    let sheet = book.add_worksheet().set_active(true);
    sheet.write_string(0, 0, "article").unwrap();
    sheet.write_string(0, 1, "price").unwrap();
    sheet.write_number(2, 0, 4_600_000_000_017.0).unwrap();
    sheet.write_formula(2, 1, Formula::new("0.1+0.2").set_result("0.30000000000000004")).unwrap();
    sheet.merge_range(3, 0, 4, 1, "00123", &Format::new()).unwrap();
    sheet.write_formula(5, 1, Formula::new("1/0").set_result("#DIV/0!")).unwrap();
    sheet.write_boolean(6, 0, true).unwrap();
    book.add_worksheet().write_string(0, 0, "other").unwrap();
    let rows = read(&book.save_to_buffer().unwrap()).unwrap();
    let expected = vec![
        (1, vec!["article", "price"]),
        (3, vec!["4600000000017", "0.3"]),
        (4, vec!["00123", "00123"]),
        (6, vec!["", "FAULT"]),
        (7, vec!["true"]),
    ];
    assert_eq!(texts(&rows), expected);
}

#[test]
fn other_files_are_refused() {
    let docx = archive(&[("word/document.xml", b"<w/>")]);
    let hollow = archive(&[("xl/workbook.xml", b"<workbook/>")]);
    let half = &docx[..docx.len() / 2];
    let cases: [(&[u8], &str); 8] = [
        (b"{\"file\": 1}", "json"),
        (b"<html></html>", "html"),
        (b"%PDF-1.7", "pdf"),
        (b"\x00\x01\x02", "binary"),
        (b"a\x00b\x00", "utf-16 without a mark"),
        (b"PK\x03\x04", "cut"),
        (&docx, "docx"),
        (half, "half"),
    ];
    for (bytes, name) in cases {
        assert_eq!(read(bytes), Err(SheetError::NotASpreadsheet), "{name}");
    }
    assert!(read(&hollow).is_err());
    assert_eq!(read(b"\xD0\xCF\x11\xE0rest"), Err(SheetError::OldOrEncrypted));
    assert_eq!(read(b""), Ok(Vec::new()));
}

#[test]
fn oversized_archives_are_refused_before_unpacking() {
    let zeros = b"<c/>".repeat(4 << 20);
    let bomb = archive(&[("xl/workbook.xml", b"<workbook/>"), ("xl/worksheets/sheet1.xml", &zeros)]);
    assert!(bomb.len() < 100_000);
    assert_eq!(read(&bomb), Err(SheetError::TooLarge("its unpacked size")));

    // An archive that states wrong sizes.
    let mut lying = bomb.clone();
    let real = u32::try_from(zeros.len()).unwrap().to_le_bytes();
    while let Some(at) = lying.windows(4).position(|window| window == real) {
        lying[at..at + 4].copy_from_slice(&100_u32.to_le_bytes());
    }
    let tight = Limits { inflated_bytes: 1 << 20, ..Limits::default() };
    assert!(read(&lying).is_err());
    assert!(read_with(tight, &lying).is_err());

    let many: Vec<String> = (0..30).map(|n| format!("f{n}")).collect();
    let mut entries: Vec<(&str, &[u8])> = many.iter().map(|name| (name.as_str(), b"x".as_slice())).collect();
    entries.push(("xl/workbook.xml", b"<workbook/>"));
    let few = Limits { entries: 30, ..Limits::default() };
    assert!(matches!(read_with(few, &archive(&entries)), Err(SheetError::TooLarge(_))));
    let small = Limits { file_bytes: 10, ..Limits::default() };
    assert_eq!(read_with(small, b"article,price\n"), Err(SheetError::TooLarge("the file")));
}

#[test]
fn too_many_rows_and_columns_are_refused() {
    let wide = |columns: u16| {
        let mut book = Workbook::new();
        let sheet = book.add_worksheet();
        for column in 0..columns {
            sheet.write_string(0, column, "x").unwrap();
        }
        book.save_to_buffer().unwrap()
    };
    assert_eq!(read(&wide(200)).unwrap()[0].cells.len(), 200);
    assert_eq!(read(&wide(201)), Err(SheetError::TooManyColumns(200)));
    let line = vec!["x"; 201].join(",");
    assert_eq!(read(line.as_bytes()), Err(SheetError::TooManyColumns(200)));
    let padded = format!("a,b{}\n", ",".repeat(300));
    assert_eq!(read(padded.as_bytes()).unwrap()[0].cells.len(), 2);
    let few = || Limits { rows: 3, ..Limits::default() };
    assert_eq!(read_with(few(), b"a\n\n\nb\nc\n"), Err(SheetError::TooManyRows(3)));
    let mut book = Workbook::new();
    book.add_worksheet().write_string(3, 0, "x").unwrap();
    assert_eq!(read_with(few(), &book.save_to_buffer().unwrap()), Err(SheetError::TooManyRows(3)));
}

#[test]
fn written_files_read_back_unchanged() {
    let written = ["00123", "=1+1", "'=x", " padded ", "two\nlines", "a,b;\"c\"", "Ёлка", "_x0041_", "-5"];
    for format in [SheetFormat::Xlsx, SheetFormat::Csv] {
        let mut writer = Spreadsheets::default().open(format).unwrap();
        let header = [Content::Text("text".into()), Content::Text("number".into()), Content::Text("last".into())];
        writer.row(&header).unwrap();
        for text in written {
            writer.row(&[Content::Text(text.into()), Content::Empty, Content::Number("265.10".to_owned())]).unwrap();
        }
        let mut bytes = Vec::new();
        writer.finish().unwrap().read_to_end(&mut bytes).unwrap();
        let rows = read(&bytes).unwrap();
        assert_eq!(rows.len(), written.len() + 1);
        for (row, text) in texts(&rows)[1..].iter().zip(written) {
            assert_eq!(row.1[..2], [text, ""], "{format:?}");
            assert!(["265.1", "265.10"].contains(&row.1[2]));
        }
    }
    let mut writer = Spreadsheets::default().open(SheetFormat::Xlsx).unwrap();
    assert!(writer.row(&[Content::Text("x".repeat(32_768).into())]).is_err());
}

const TABLE: &str = "xl/sharedStrings.xml";

/// Returns a workbook with a modified table of texts.
fn with_table(texts: &[String], table: impl Fn(String) -> String) -> Vec<u8> {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    for (row, text) in (0..).zip(texts) {
        sheet.write_string(row, 0, text).unwrap();
        sheet.write_number(row, 1, f64::from(row)).unwrap();
        sheet.write_string(row, 2, "again").unwrap();
    }
    let packed = book.save_to_buffer().unwrap();
    let mut book = zip::ZipArchive::new(std::io::Cursor::new(packed)).unwrap();
    let names: Vec<String> = book.file_names().map(|name| name.unwrap().into_owned()).collect();
    let mut entries = Vec::new();
    for name in &names {
        let mut content = Vec::new();
        book.by_name(name).unwrap().read_to_end(&mut content).unwrap();
        if name == TABLE {
            content = table(String::from_utf8(content).unwrap()).into_bytes();
        }
        entries.push((name.as_str(), content));
    }
    let entries: Vec<(&str, &[u8])> = entries.iter().map(|(name, content)| (*name, content.as_slice())).collect();
    archive(&entries)
}

#[test]
fn texts_that_do_not_fit_into_memory_are_read_all_the_same() {
    // Incompressible texts, because a high ratio is refused.
    let noise = |n: u64| (0..60).map(move |k| format!("{:016x}", (n * 60 + k).wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    let texts: Vec<String> =
        (0..20_000).map(|n| format!(" {n} <&> \u{43a}\u{440} {}", noise(n).collect::<String>())).collect();
    let rows = read(&with_table(&texts, |table| table)).unwrap();
    assert_eq!(rows.len(), texts.len());
    for (number, row) in (0_u32..).zip(&rows) {
        let expected = [texts.get(usize::try_from(number).unwrap()).unwrap().as_str(), &number.to_string(), "again"];
        assert_eq!(row.cells.iter().map(text).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_false_table_size_allocates_no_memory() {
    let texts = ["one".to_owned(), "two".to_owned()];
    let lies = SheetError::TooLarge("the declared number of texts");
    for announced in ["uniqueCount=\"999999999999\"", "uniqueCount=\"99999999999999999999\""] {
        let lying = with_table(&texts, |table| table.replace("uniqueCount=\"3\"", announced));
        assert_eq!(read(&lying), Err(lies.clone()));
    }
    let missing = with_table(&texts, |_| "<sst uniqueCount=\"999999999999\"><si><t>one</t></si></sst>".to_owned());
    assert_eq!(read(&missing), Err(lies));
}

#[test]
fn long_texts_in_very_many_cells_are_bounded() {
    let noise =
        |n: u64| (0..1_200).map(move |k| format!("{:016x}", (n * 1_200 + k).wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    let long: Vec<String> = (0..1_000).map(|n| noise(n).collect()).collect();
    let texts: Vec<String> = long.iter().cycle().take(3_000).cloned().collect();
    let limits = Limits { inflated_bytes: 48 << 20, ..Limits::default() };
    let outcome = read_with(limits, &with_table(&texts, |table| table));
    assert_eq!(outcome, Err(SheetError::TooLarge("its unpacked size")));
}

/// Returns an archive with uncompressed files, which is fast.
fn stored(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in entries {
        zip.start_file(*name, options).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Returns a workbook of one sheet without a table of texts.
fn inline(cells: &str) -> Vec<u8> {
    let sheet = format!("<worksheet><sheetData><row r=\"1\">{cells}</row></sheetData></worksheet>");
    let relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let book = format!(
        "<workbook xmlns:r=\"{relations}\"><sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
    );
    let related = |id: &str, kind: &str, target: &str| {
        format!(
            "<Relationships><Relationship Id=\"{id}\" Type=\"{relations}/{kind}\" Target=\"{target}\"/></Relationships>"
        )
    };
    stored(&[
        ("_rels/.rels", related("r1", "officeDocument", "xl/workbook.xml").as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", related("r1", "worksheet", "worksheets/sheet1.xml").as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
    ])
}

fn inline_cell(place: &str, text: &str) -> String {
    format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
}

#[test]
fn a_cell_that_is_too_long_is_refused() {
    let long = "x".repeat((1 << 20) + 1);
    let refused = Err(SheetError::TooLarge("one of its cells"));
    assert_eq!(read(&inline(&inline_cell("A1", &long))), refused);
    let table = format!("<sst><si><r><t>{}</t></r><r><t>{}</t></r></si></sst>", &long[..600_000], &long[..600_000]);
    assert_eq!(read(&stored(&[("xl/workbook.xml", b"<workbook/>"), (TABLE, table.as_bytes())])), refused);
    assert_eq!(read(format!("article;name\nA-1;{long}{long}\n").as_bytes()), Err(SheetError::RowTooLong(2)));
    // Many cells that are longer only in total are accepted.
    let row =
        |number: usize| format!("</row><row r=\"{number}\">{}", inline_cell(&format!("A{number}"), &long[..200_000]));
    let rows: String = (2..12).map(row).collect();
    assert_eq!(read(&inline(&format!("{}{rows}", inline_cell("A1", "x")))).unwrap().len(), 11);
}

#[test]
fn a_long_text_is_a_fault_of_its_cell() {
    let long = "x".repeat((256 << 10) + 1);
    let of = |rows: &[SheetRow], row: usize| match &rows[row].cells[1] {
        Cell::Fault(reason) => reason.clone(),
        Cell::Text(text) | Cell::Number { shown: text, .. } => format!("{} bytes", text.len()),
    };
    for (text, expected) in [(&long[1..], "262144 bytes"), (&long, "must have at most 262144 bytes")] {
        let csv = read(format!("article;name\nA-1;{text}\nA-2;Mug\n").as_bytes()).unwrap();
        assert_eq!((of(&csv, 1).as_str(), csv.len()), (expected, 3));
        let cells = format!("{}{}", inline_cell("A1", "A-1"), inline_cell("B1", text));
        assert_eq!(of(&read(&inline(&cells)).unwrap(), 0), expected);
    }
}

#[test]
fn control_characters_are_faults_of_their_cells() {
    let padding = "A-0;Mug\n".repeat(2_000);
    let csv = format!("article;name\n{padding}A-1;Mu\0g\nA-2;\"a\tb\nc\"\nA-3;\u{9b}31m\n");
    let rows = read(csv.as_bytes()).unwrap();
    let cells: Vec<_> = rows[2_001..].iter().map(|row| row.cells[1].clone()).collect();
    let fault = |sign: &str| Cell::Fault(format!("must not contain control characters; there is a {sign}"));
    assert_eq!(cells, [fault("U+0000"), Cell::Text("a\tb\nc".to_owned()), fault("U+009B")]);
    let cells = [("A1", "Mu\u{1}g"), ("B1", "Mu&#2;g"), ("C1", "Mu_x0003_g"), ("D1", "fine")];
    let rows = read(&inline(&cells.map(|(place, text)| inline_cell(place, text)).concat())).unwrap();
    let expected = [fault("U+0001"), fault("U+0002"), fault("U+0003"), Cell::Text("fine".to_owned())];
    assert_eq!(rows[0].cells, expected);
}

#[test]
fn preparing_a_workbook_checks_for_cancellation() {
    // So many texts that they are inserted into the cells first.
    let many = "<si/>".repeat(720_000);
    let announced = "uniqueCount=\"720003\"";
    let book = with_table(&["one".to_owned(), "two".to_owned()], |table| {
        table.replace("uniqueCount=\"3\"", announced).replace("</sst>", &format!("{many}</sst>"))
    });
    let book = file(&book);
    let read = |most: i32| {
        let (mut asked, mut rows) = (0, 0);
        let outcome = Spreadsheets::default().read(book.path(), &mut |row| {
            asked += i32::from(row.is_none_yet());
            rows += i32::from(!row.is_none_yet());
            if asked == most { Err(SheetError::Interrupted) } else { Ok(()) }
        });
        (outcome, asked, rows)
    };
    let (outcome, asked, rows) = read(i32::MAX);
    assert_eq!((outcome, rows), (Ok(()), 2));
    assert!(asked >= 3, "{asked}");
    for most in [1, asked] {
        assert_eq!(read(most), (Err(SheetError::Interrupted), most, 0));
    }
}
