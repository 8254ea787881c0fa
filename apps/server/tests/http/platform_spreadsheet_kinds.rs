//! Spreadsheets from various programs: a value is read as intended, or the row is refused.

use kontor_adapter_diesel::database_tests;
use rust_xlsxwriter::{Format, Workbook, Worksheet};
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;

const IMPORT: &str = "/api/nomenclatures/import";
const UPLOAD: &str = "/api/inventories/upload";

fn book(fill: impl FnOnce(&mut Worksheet)) -> Vec<u8> {
    let mut book = Workbook::new();
    fill(book.add_worksheet());
    book.save_to_buffer().unwrap()
}

fn cell(sheet: &mut Worksheet, row: u32, column: u16, value: f64, format: &str) {
    sheet.write_number_with_format(row, column, value, &Format::new().set_num_format(format)).unwrap();
}

fn words(sheet: &mut Worksheet, row: u32, texts: &[&str]) {
    for (column, text) in (0..).zip(texts) {
        sheet.write_string(row, column, *text).unwrap();
    }
}

impl ProjectFixture {
    /// Returns the rows and columns for which an upload is refused as a whole.
    async fn refused_cells(&self, path: &str, file: impl Into<Vec<u8>>) -> Vec<(u64, String)> {
        let answer = self.upload(path, file.into(), &[]).await.expect(422);
        let place = |row: &Value| (row["row"].as_u64().unwrap(), row["column"].as_str().unwrap().to_owned());
        answer["rows"].as_array().unwrap().iter().map(place).collect()
    }

    /// Imports a file that has no faults.
    async fn imported(&self, file: impl Into<Vec<u8>>) -> Value {
        self.upload(IMPORT, file.into(), &[]).await.expect(200)
    }

    async fn cards(&self) -> Vec<Value> {
        let listed = self.get("/api/nomenclatures?order_by=id_asc&per_page=100").await.expect(200);
        listed["nomenclatures"].as_array().unwrap().clone()
    }

    async fn stock(&self) -> (Value, Value) {
        let listed = self.get("/api/inventories").await.expect(200);
        let stock = &listed["inventories"][0];
        (stock["quantity"].clone(), stock["price"].clone())
    }
}

fn place(row: u64, column: &str) -> (u64, String) {
    (row, column.to_owned())
}

database_tests! {
    async fn cells_of_workbooks_are_read_by_what_they_mean(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let file = book(|sheet| {
            words(sheet, 0, &["article", "name", "price", "vat"]);
            words(sheet, 1, &["A-1", "A date for a price"]);
            cell(sheet, 1, 2, 46_154.0, "DD.MM.YYYY");
            words(sheet, 2, &["", "A date for an article"]);
            cell(sheet, 2, 0, 46_054.0, "D.MMM");
            words(sheet, 3, &["", "More digits than a cell keeps"]);
            cell(sheet, 3, 0, 104_600_000_000_123_456.0, "General");
            words(sheet, 4, &["A-4", "A rate for a price"]);
            cell(sheet, 4, 2, 0.2, "0%");
        });
        let expected = [place(2, "price"), place(3, "article"), place(4, "article"), place(5, "price")];
        assert_eq!(fixture.refused_cells(IMPORT, file).await, expected);
        assert_eq!(fixture.refused_cells(IMPORT, "article;name\n4,60708E+12;Barcode\n").await, [place(2, "article")]);
        let file = book(|sheet| {
            words(sheet, 0, &["article", "name", "price", "vat"]);
            words(sheet, 1, &["", "Zeros"]);
            cell(sheet, 1, 0, 12_345_678_905.0, "0000000000000");
            cell(sheet, 1, 2, 12.5, "#,##0.00\" \u{20bd}\"");
            cell(sheet, 1, 3, 0.2, "0%");
        });
        fixture.imported(file).await;
        let item = &fixture.cards().await[0];
        let found = (&item["article"], &item["price"], &item["vat"]["name"]);
        assert_eq!(found, (&json!("0012345678905"), &json!("12.50"), &json!("20%")), "{item}");
    }

    async fn stock_stays_as_it_was_when_a_cell_is_not_clear(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let warehouse = fixture.warehouse("Main").await;
        fixture.imported("article;name;price\nA-1;Mug;5\n").await;
        fixture.upload(UPLOAD, format!("article;warehouse;quantity\nA-1;{warehouse};7\n").into_bytes(), &[]).await.expect(200);
        let file = book(|sheet| {
            words(sheet, 0, &["article", "warehouse", "quantity", "price"]);
            words(sheet, 1, &["A-1", "Main"]);
            cell(sheet, 1, 2, 46_154.0, "D.MMM");
            cell(sheet, 1, 3, 46_154.0, "DD.MM.YYYY");
        });
        assert_eq!(fixture.refused_cells(UPLOAD, file).await, [place(2, "quantity"), place(2, "price")]);
        let head = "article,warehouse,quantity,price\n";
        for row in ["A-1,Main,3,1,250.00\n", "A-1,Main,99,90,3\n"] {
            assert_eq!(fixture.refused_cells(UPLOAD, format!("{head}{row}")).await, [place(2, "*")], "{row}");
        }
        // With comma-separated cells a comma may separate thousands; with semicolons it is the decimal separator.
        let unclear = format!("{head}A-1,Main,\"5,000\",\"1,000\"\n");
        assert_eq!(fixture.refused_cells(UPLOAD, unclear).await, [place(2, "quantity"), place(2, "price")]);
        assert_eq!(fixture.stock().await, (json!(7), json!("5.00")));
        let clear = "article;warehouse;quantity;price;;\nA-1;Main;5,000;1 250,50 ₽;;\n";
        assert_eq!(fixture.upload(UPLOAD, clear.as_bytes().to_vec(), &[]).await.expect(200)["updated"], 1);
        assert_eq!(fixture.stock().await, (json!(5), json!("1250.50")));
    }

    async fn torn_rows_are_refused_and_write_nothing(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        for (rows, faulty) in [
            ("A-1,Mug,service,12,50\n", vec![2]),
            ("A-1,Big\nmug,service,12\nA-2,Cup,service,1\n", vec![2, 3]),
            ("A-1,\"Mug,service,12\nA-2,\"Cup\",service,1\n", vec![2]),
        ] {
            let found = fixture.refused_cells(IMPORT, format!("article,name,kind,price\n{rows}")).await;
            assert_eq!(found, faulty.into_iter().map(|row| place(row, "*")).collect::<Vec<_>>(), "{rows}");
        }
        let open = "article;name;description\nA-1;Mug;\"open\nA-2;Cup;x\n";
        let answer = fixture.upload(IMPORT, open.as_bytes().to_vec(), &[("partial", "1")]).await.expect(422);
        assert_eq!(answer["errors"]["file"][0], "has an unclosed quote in row 2");
        let koi8 = b"article;name\nA-1;\xe2\xcf\xcc\xd8\xdb\xc1\xd1 \xcb\xd2\xd5\xd6\xcb\xc1 \xd3 \xd2\xd5\xde\xcb\xcf\xca\n".to_vec();
        let answer = fixture.upload(IMPORT, koi8, &[]).await.expect(422);
        assert!(answer["errors"]["file"][0].as_str().unwrap().contains("UTF-8, UTF-16 or Windows-1251"), "{answer}");
        assert_eq!(fixture.cards().await.len(), 0);
    }

    async fn merged_cells_count_for_all_their_rows(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        fixture.imported("article;name;category\nA-1;a;Old\nA-2;b;Old\nA-3;c;Old\n").await;
        let file = book(|sheet| {
            words(sheet, 0, &["article", "category"]);
            for (row, article) in (1..).zip(["A-1", "A-2", "A-3"]) {
                words(sheet, row, &[article]);
            }
            sheet.merge_range(1, 1, 3, 1, "New", &Format::new()).unwrap();
        });
        assert_eq!(fixture.imported(file).await["updated"], 3);
        for item in fixture.cards().await {
            assert_eq!(item["category"]["name"], "New", "{item}");
        }
    }

    async fn numbers_of_other_programs_find_no_item(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let id = fixture.goods("Mug").await;
        let before = fixture.cards().await;
        for header in ["Номер", "№", "id", "ID"] {
            let file = format!("{header};Артикул;Наименование\n{id};;Cup\n");
            assert_eq!(fixture.refused_cells(IMPORT, file).await, [place(2, "article")], "{header}");
        }
        // A brand's name is not the number of another brand, and a tax rate is not the number of a record.
        fixture.imported("article;name;brand;vat\nA-1;Cup;Nord;\nA-2;Bowl;1;20\n").await;
        let items = fixture.cards().await;
        assert_eq!((&items[0], &items[2]["brand"]["name"], &items[2]["vat"]["name"]), (&before[0], &json!("1"), &json!("20%")));
        assert_eq!(fixture.refused_cells(IMPORT, "article;name;vat\nA-4;Jug;4\n").await, [place(2, "vat")]);
        fixture.imported(format!("kontor_id;article;name\n{id};;Stoneware mug\n")).await;
        assert_eq!(fixture.cards().await[0]["name"], "Stoneware mug");
    }

    async fn texts_that_look_alike_are_one(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let twins = "article,name\nG-1,a\nG-1\u{200b},b\n\u{feff}G-1,c\nG\u{ad}-1,d\nG-1\u{a0},e\n";
        let expected: Vec<_> = (3..=6).map(|row| place(row, "article")).collect();
        assert_eq!(fixture.refused_cells(IMPORT, twins).await, expected);
        let names = ["Чайный дом", "Чаи\u{306}ныи\u{306} дом", "Чайный дом\u{200b}", "Чайный\u{a0}дом"];
        let rows: Vec<String> = (1..).zip(names).map(|(row, name)| format!("A-{row},x,{name},{name}\n")).collect();
        fixture.imported(format!("article,name,category,brand\n{}", rows.concat())).await;
        for list in ["categories", "brands"] {
            let listed = fixture.get(&format!("/api/{list}")).await.expect(200);
            assert_eq!(listed[list].as_array().unwrap().len(), 1, "{listed}");
        }
        assert_eq!(fixture.refused_cells(IMPORT, "article,name\nA-9,\u{200b}\u{ad}\n").await, [place(2, "name")]);
        fixture.post("/api/nomenclatures", json!({ "name": "b", "kind_id": 2, "article": "A\u{200b}-1" })).await.expect_invalid(&["article"]);
    }

    async fn price_lists_are_read_as_people_write_them(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let list = "Артикул;Наименование;Вид;Цена;Ед. изм.;Страна;НДС;Фото;Теги\n\
            A-1;Кружка;товар;1 250,50 ₽;шт;Китай;Без НДС;https://a.example/1.jpg, https://a.example/2.jpg;Хит, 2,5 л\n\
            A-2;Чашка;товар;100;шт.;Россия;20%;https://a.example/1.jpg;\n\
            A-3;Крупа;товар;100;кг;;НДС 10%;;\n";
        let utf16: Vec<u8> = std::iter::once(0xFEFF).chain(list.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        fixture.imported(utf16).await;
        let items = fixture.cards().await;
        let first = &items[0];
        let found = (&first["price"], &first["country"]["name"], &first["vat"]["name"]);
        assert_eq!(found, (&json!("1250.50"), &json!("China"), &json!("No VAT")), "{first}");
        assert_eq!(first["photos"].as_array().unwrap().len(), 2, "{first}");
        let units: Vec<_> = items.iter().map(|item| item["storage_unit"]["name"].as_str().unwrap()).collect();
        assert_eq!(units, ["Piece", "Piece", "Kilogram"]);
        let windows = b"\xc0\xf0\xf2\xe8\xea\xf3\xeb;\xcd\xe0\xe8\xec\xe5\xed\xee\xe2\xe0\xed\xe8\xe5\nA-4;\xc1\xeb\xfe\xe4\xf6\xe5\n".to_vec();
        fixture.imported(windows).await;
        assert_eq!(fixture.cards().await[3]["name"], "Блюдце");
    }

    async fn no_cell_of_an_export_begins_a_formula(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let texts = [("кошка;=1+1;хвост", "first\n=1+1\nlast"), ("＝1+1", "a\t@b\r\n- c"), ("'=1", "x;\"=1\"")];
        for (number, (name, description)) in (1..).zip(texts) {
            let body = json!({ "name": name, "kind_id": 1, "price": "1", "article": format!("J-{number}"), "description": description });
            fixture.create("/api/nomenclatures", body).await;
        }
        let before = fixture.cards().await;
        let (_, file) = fixture.export("?format=csv").await;
        for delimiter in [b',', b';', b'\t'] {
            let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(&*file);
            for record in reader.records().map(Result::unwrap) {
                for cell in &record {
                    let cell = cell.trim_start_matches([' ', '"']);
                    assert!(!cell.starts_with(['=', '+', '-', '@', '＝']), "{record:?}");
                }
            }
        }
        assert_eq!(fixture.imported(file).await["unchanged"], 3);
        assert_eq!(fixture.cards().await, before);
    }
}
