//! Spreadsheets of items and stock.

use std::path::Path;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::Kind;
use kontor_catalog::ports::WarehouseRepository;
use kontor_catalog::spreadsheet::ports::{ItemSheetRepository, RowSink, SheetReader, StockSheetRepository};
use kontor_catalog::spreadsheet::{
    CardLine, CardSheet, Cell, Content, ImportError, ImportMode, ImportReport, RowProblems, SheetError, SheetRow,
    StockSheet,
};
use kontor_kernel::{Stamp, WarehouseId};

use crate::stock_fixture::{Item, StockFixture};

/// A sheet written in the test: one line per row, cells separated by `;`.
struct Grid(String);

impl SheetReader for Grid {
    fn read(&self, _file: &Path, sink: &mut RowSink<'_>) -> Result<(), SheetError> {
        for (number, line) in (1..).zip(self.0.lines()) {
            let cells = line.split(';').map(|text| Cell::Text(text.replace("\\n", "\n"))).collect();
            sink(SheetRow::new(number, cells))?;
        }
        Ok(())
    }
}

fn at() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000)
}

fn stamp(stock_fixture: &StockFixture<'_>) -> Stamp {
    Stamp::of_system(stock_fixture.project, at())
}

fn cards(text: &str) -> CardSheet {
    CardSheet::read(&Grid(text.to_owned()), Path::new(""), 100_000).unwrap()
}

pub async fn import(
    stock_fixture: &StockFixture<'_>,
    text: &str,
    mode: ImportMode,
) -> Result<ImportReport, ImportError> {
    ItemSheetRepository::import(&stock_fixture.db.database, stamp(stock_fixture), Arc::new(cards(text)), mode).await
}

pub async fn upload(
    stock_fixture: &StockFixture<'_>,
    text: &str,
    mode: ImportMode,
) -> Result<ImportReport, ImportError> {
    let sheet = StockSheet::read(&Grid(text.to_owned()), Path::new(""), 100_000).unwrap();
    stock_fixture.db.database.upload(stamp(stock_fixture), Arc::new(sheet), mode).await
}

pub fn counts(report: &ImportReport) -> [usize; 4] {
    [report.created, report.updated, report.unchanged, report.skipped]
}

pub fn reasons(problems: &RowProblems) -> Vec<(u32, &str)> {
    problems.kept().iter().map(|problem| (problem.row, problem.column)).collect()
}

pub fn refused(outcome: Result<ImportReport, ImportError>) -> RowProblems {
    match outcome {
        Err(ImportError::Rows(problems)) => problems,
        other => panic!("{other:?}"),
    }
}

/// The export as text, one line per row.
async fn export(stock_fixture: &StockFixture<'_>) -> String {
    let lines: Vec<CardLine> = stock_fixture.db.database.lines(stock_fixture.project, None, 500).await.unwrap();
    let text = |cells: Vec<Content<'_>>| {
        let cells: Vec<String> = cells
            .into_iter()
            .map(|cell| match cell {
                Content::Empty => String::new(),
                Content::Text(text) => text.replace('\n', "\\n"),
                Content::Number(number) => number,
            })
            .collect();
        cells.join(";")
    };
    let mut rows = vec![text(CardLine::header())];
    rows.extend(lines.iter().map(|line| text(line.cells())));
    rows.join("\n")
}

const FULL: &str = "Артикул;name;kind;Category;brand;price;description;pieces per pack;photos;is_subscription;billing_period_months;colour
MUG-01;Кружка;goods;Kitchen / Mugs;Nord;1 265,50;<b>x</b>\\ny;6;https://a/1 https://a/2;0;;red
SRV-1;Engraving;service;;NORD;900;;;;;;
PLAN-1;Club;service;kitchen;;99;;;;yes;12;
";

database_tests! {
    async fn the_tables_are_analyzed_after_an_import_of_many_rows(db: TestDatabase) {
        if db.kind == Kind::Sqlite {
            return;
        }
        let stock_fixture = StockFixture::open(&db).await;
        let rows: Vec<String> = (0..1_000).map(|number| format!("A-{number};Mug;All;5")).collect();
        let text = format!("article;name;category;price\n{}\n", rows.join("\n"));
        assert_eq!(counts(&import(&stock_fixture, &text, ImportMode::AllOrNothing).await.unwrap()), [1_000, 0, 0, 0]);
        let known = "SELECT CAST(reltuples AS BIGINT) AS number FROM pg_class WHERE relname = 'nomenclatures'";
        assert_eq!(stock_fixture.number(known.to_owned()).await, 1_000);
    }

    async fn goods_without_stock_in_any_warehouse_become_services(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        import(&stock_fixture, "article;name;kind;price\nMUG-01;Mug;goods;1", ImportMode::AllOrNothing).await.unwrap();
        upload(&stock_fixture, "article;warehouse;quantity;price\nMUG-01;W1;0;1", ImportMode::AllOrNothing).await.unwrap();
        let service = "article;kind\nMUG-01;service";
        assert_eq!(reasons(&refused(import(&stock_fixture, service, ImportMode::AllOrNothing).await)), [(2, "kind")]);
        let place = WarehouseId::new(stock_fixture.near).unwrap();
        WarehouseRepository::delete(&db.database, stamp(&stock_fixture), place).await.unwrap();
        assert_eq!(counts(&import(&stock_fixture, service, ImportMode::AllOrNothing).await.unwrap()), [0, 1, 0, 0]);
    }

    async fn an_export_that_is_imported_again_changes_nothing(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let report = import(&stock_fixture, FULL, ImportMode::AllOrNothing).await.unwrap();
        assert_eq!(counts(&report), [3, 0, 0, 0]);
        assert_eq!(report.ignored_columns, ["colour"]);
        assert_eq!(stock_fixture.number("SELECT count(*) AS number FROM categories".to_owned()).await, 2);
        assert_eq!(stock_fixture.number("SELECT count(*) AS number FROM brands".to_owned()).await, 1);
        assert_eq!(stock_fixture.offers().await.len(), 2, "the service in both applications");
        let without_article = stock_fixture.item(Item::goods("No article", stock_fixture.number("SELECT min(id) AS number FROM categories".to_owned()).await)).await;

        let first = export(&stock_fixture).await;
        assert!(first.contains("MUG-01;Кружка;goods;Kitchen / Mugs;Nord;;;;1265.50;<b>x</b>\\ny;"), "{first}");
        let again = import(&stock_fixture, &first, ImportMode::AllOrNothing).await.unwrap();
        assert_eq!(counts(&again), [0, 0, 4, 0]);
        assert_eq!(export(&stock_fixture).await, first);
        assert_eq!(stock_fixture.number("SELECT max(version) AS number FROM nomenclatures".to_owned()).await, 1);

        let renamed = first.replace("No article", "Still none").replace("https://a/1\\n", "").replace("Nord", "");
        let report = import(&stock_fixture, &renamed, ImportMode::AllOrNothing).await.unwrap();
        assert_eq!(counts(&report), [0, 3, 1, 0]);
        assert_eq!(export(&stock_fixture).await, renamed);
        assert_eq!(stock_fixture.number(format!("SELECT version AS number FROM nomenclatures WHERE id = {without_article}")).await, 2);
    }

    async fn a_column_that_is_missing_leaves_its_field_alone(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        import(&stock_fixture, FULL, ImportMode::AllOrNothing).await.unwrap();
        let before = export(&stock_fixture).await;
        let report = import(&stock_fixture, "article;price\nMUG-01;300\nSRV-1;\n", ImportMode::AllOrNothing).await.unwrap();
        assert_eq!(counts(&report), [0, 1, 1, 0]);
        assert_eq!(export(&stock_fixture).await, before.replace("1265.50", "300.00"));
    }

    async fn one_bad_row_keeps_everything_out_unless_the_good_ones_are_wanted(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let text = "article;name;category;brand;country;vat;price;billing_period_months\n\
            A;First;New;Brand;;;1;\n\
            B;;;;;;1;\n\
            ;Nameless;;;;;;\n\
            C;Third;;;Nowhere;Nothing;x;\n\
            D;Fourth;;;Nowhere;Nothing;1;\n\
            A;Again;;;;;;\n\
            E;Fifth;;;;;;3\n";
        let problems = refused(import(&stock_fixture, text, ImportMode::AllOrNothing).await);
        let expected = [(3, "name"), (4, "article"), (5, "price"), (6, "country"), (6, "vat"), (7, "article"), (8, "billing_period_months")];
        assert_eq!(reasons(&problems), expected);
        for table in ["nomenclatures", "categories", "brands"] {
            assert_eq!(stock_fixture.number(format!("SELECT count(*) AS number FROM {table}")).await, 0, "{table}");
        }
        let report = import(&stock_fixture, text, ImportMode::Partial).await.unwrap();
        assert_eq!(counts(&report), [1, 0, 0, 6]);
        assert_eq!(report.problems.total(), 7);
    }

    async fn projects_are_isolated(db: TestDatabase) {
        let (mine, other) = (StockFixture::open(&db).await, StockFixture::open(&db).await);
        import(&mine, FULL, ImportMode::AllOrNothing).await.unwrap();
        let report = import(&other, FULL, ImportMode::AllOrNothing).await.unwrap();
        assert_eq!(counts(&report), [3, 0, 0, 0]);
        let id = mine.number("SELECT min(id) AS number FROM nomenclatures".to_owned()).await;
        let foreign = format!("article;kontor_id;name\n;{id};Stolen\n");
        assert_eq!(reasons(&refused(import(&other, &foreign, ImportMode::AllOrNothing).await)), [(2, "kontor_id")]);
    }

    async fn goods_in_a_warehouse_stay_goods(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        import(&stock_fixture, FULL, ImportMode::AllOrNothing).await.unwrap();
        upload(&stock_fixture, "article;warehouse;quantity\nMUG-01;w1;3\n", ImportMode::AllOrNothing).await.unwrap();
        let outcome = import(&stock_fixture, "article;kind\nMUG-01;service\n", ImportMode::AllOrNothing).await;
        assert_eq!(reasons(&refused(outcome)), [(2, "kind")]);
    }

    async fn stock_is_created_changed_and_never_below_what_is_reserved(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        import(&stock_fixture, FULL, ImportMode::AllOrNothing).await.unwrap();
        let far = stock_fixture.far;
        let text = format!("артикул;склад;количество;цена\nMUG-01;W1;5;1 200,00\nMUG-01;{far};2;\n");
        let report = upload(&stock_fixture, &text, ImportMode::AllOrNothing).await.unwrap();
        assert_eq!(counts(&report), [2, 0, 0, 0]);
        let prices: Vec<i64> = stock_fixture.offers().await.into_iter().map(|offer| offer.2).collect();
        assert_eq!(prices, [120_000, 90_000, 126_550, 90_000], "the card price where the row names none");

        stock_fixture.run(format!("UPDATE inventories SET reserved = 2 WHERE warehouse_id = {far}")).await;
        let text = format!("article;warehouse;quantity;price\nMUG-01;{far};1;\nMUG-01;W1;4;\nSRV-1;W1;1;1\nNONE;W1;1;1\nMUG-01;W9;1;1\nMUG-01;w1;3;\n");
        let problems = refused(upload(&stock_fixture, &text, ImportMode::AllOrNothing).await);
        assert_eq!(reasons(&problems), [(2, "quantity"), (4, "article"), (5, "article"), (6, "warehouse"), (7, "article")]);
        let sum = "SELECT CAST(sum(quantity) AS BIGINT) AS number FROM inventories";
        assert_eq!(stock_fixture.number(sum.to_owned()).await, 7);
        let report = upload(&stock_fixture, &text, ImportMode::Partial).await.unwrap();
        assert_eq!(counts(&report), [0, 1, 0, 5]);
        assert_eq!(stock_fixture.number(sum.to_owned()).await, 6);
        let gone = upload(&stock_fixture, "article;warehouse;quantity\nMUG-01;W1;0\n", ImportMode::AllOrNothing).await.unwrap();
        assert_eq!(counts(&gone), [0, 1, 0, 0]);
        assert_eq!(stock_fixture.offers().await.len(), 2, "the service alone");
    }

    async fn tags_and_the_type_travel_with_the_card(db: TestDatabase) {
        let (mine, other) = (StockFixture::open(&db).await, StockFixture::open(&db).await);
        let tags = async |stock_fixture: &StockFixture<'_>| stock_fixture.number(format!("SELECT count(*) AS number FROM tags WHERE project_id = {}", stock_fixture.project)).await;
        mine.run(format!("INSERT INTO tags (project_id, name, created_at) VALUES ({}, 'Hit', '2026-01-01 00:00:00')", mine.project)).await;
        let text = "article;name;type;tags\nA;First;set;New|HIT\\nSale \\| 2|new\nB;Second;2;\nC;Third;;New\n";
        let predicted = ItemSheetRepository::check(&db.database, mine.project, Arc::new(cards(text))).await.unwrap();
        assert_eq!((counts(&predicted), tags(&mine).await), ([3, 0, 0, 0], 1));
        assert_eq!(counts(&import(&mine, text, ImportMode::AllOrNothing).await.unwrap()), [3, 0, 0, 0]);
        assert_eq!(tags(&mine).await, 3);
        let first = export(&mine).await;
        assert!(first.contains(";Set;Hit\\nNew\\nSale \\| 2;") && first.contains(";Own production;;"), "{first}");
        assert_eq!(counts(&import(&mine, &first, ImportMode::AllOrNothing).await.unwrap()), [0, 0, 3, 0]);

        assert_eq!(counts(&import(&other, &first, ImportMode::AllOrNothing).await.unwrap()), [3, 0, 0, 0]);
        let plain = |text: &str| text.lines().map(|row| row.rsplit_once(';').unwrap().0.to_owned()).collect::<Vec<_>>();
        assert_eq!(plain(&export(&other).await), plain(&first), "but for the numbers of the items");
        assert_eq!(tags(&other).await, 3);

        let report = import(&mine, "article;price\nA;5\nB;6\n", ImportMode::AllOrNothing).await.unwrap();
        assert_eq!(counts(&report), [0, 2, 0, 0]);
        assert_eq!(export(&mine).await.matches("Hit\\nNew").count(), 1, "missing columns keep");
        let report = import(&mine, "article;type;tags\nA;;\nB;own production;Late\nC;Material;New\n", ImportMode::AllOrNothing).await.unwrap();
        assert_eq!(counts(&report), [0, 3, 0, 0]);
        let last = plain(&export(&mine).await);
        let ends: Vec<&str> = last[1..].iter().map(|row| row.rsplit_once(";0;;").unwrap().1).collect();
        assert_eq!(ends, [";;", "Own production;Late;", "Material;New;"]);
        let reported = format!("SELECT count(*) AS number FROM histories WHERE project_id = {} AND changes LIKE '%\"tags\"%'", mine.project);
        assert_eq!(mine.number(reported).await, 2, "A lost its tags and B got one");
        let came = format!("SELECT count(*) AS number FROM histories WHERE project_id = {} AND resource = 'tags' AND deed = 'created'", mine.project);
        assert_eq!(mine.number(came).await, 3, "New, Sale | 2 and Late");

        let text = "article;name;type;tags\nA;First;Nothing;\nD;Fourth;;Never\nE;Fifth;;Good|a\u{7}b\n";
        assert_eq!(reasons(&refused(import(&mine, text, ImportMode::AllOrNothing).await)), [(2, "type"), (4, "tags")]);
        assert_eq!(tags(&mine).await, 4);
    }

    async fn tags_cost_the_same_statements_in_any_number(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let row = |n: u32, shift: u32| format!("A-{n};Item {n};Tag {}|Tag {}\n", (n + shift) % 90, n % 7);
        let rows = |from: u32, shift: u32| (from..from + 1_000).fold(String::new(), |text, n| text + &row(n, shift));
        let spent = async |text: String| {
            let before = db.statements();
            import(&stock_fixture, &text, ImportMode::AllOrNothing).await.unwrap();
            db.statements() - before
        };
        let without = spent(format!("article;name;colour\n{}", rows(0, 0))).await;
        let with = spent(format!("article;name;tags\n{}", rows(1_000, 0))).await;
        // The tags, their history entries, and their links to items.
        assert!(with <= without + 3, "{with} and {without} statements");
        let renamed = spent(format!("article;name\n{}", rows(0, 0).replace("Item", "Thing"))).await;
        let tagged = spent(format!("article;name;tags\n{}", rows(1_000, 1))).await;
        assert!(tagged <= renamed + 2, "{tagged} and {renamed} statements");
    }

    async fn a_name_that_several_records_have_names_none(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        import(&stock_fixture, FULL, ImportMode::AllOrNothing).await.unwrap();
        let (far, first, whole) = (stock_fixture.far, stock_fixture.number("SELECT min(id) AS number FROM categories".to_owned()).await, export(&stock_fixture).await);
        stock_fixture.run(format!("UPDATE warehouses SET name = 'w1' WHERE id = {far}")).await;
        let upload_to = async |name: &str| upload(&stock_fixture, &format!("article;warehouse;quantity\nMUG-01;{name};5\n"), ImportMode::AllOrNothing).await;
        let problems = refused(upload_to("W1").await);
        assert_eq!(reasons(&problems), [(2, "warehouse")]);
        assert!(problems.kept()[0].reason.contains("give the number"), "{problems:?}");
        assert_eq!(stock_fixture.number("SELECT count(*) AS number FROM inventories".to_owned()).await, 0);
        upload_to(&far.to_string()).await.unwrap();
        assert_eq!(stock_fixture.number("SELECT warehouse_id AS number FROM inventories".to_owned()).await, far);

        stock_fixture.category("mugs", Some(first)).await;
        let move_to = async |article: &str, path: &str| import(&stock_fixture, &format!("article;name;category\n{article};Name;{path}\n"), ImportMode::AllOrNothing).await;
        for (article, path) in [("NEW-1", "Kitchen / Mugs"), ("SRV-1", "kitchen / mugs"), ("NEW-1", "Kitchen / Mugs / Tall")] {
            let problems = refused(move_to(article, path).await);
            assert_eq!(reasons(&problems), [(2, "category")], "{article} {path}");
            assert!(problems.kept()[0].reason.contains("several categories"), "{problems:?}");
        }
        assert_eq!(stock_fixture.number("SELECT count(*) AS number FROM categories".to_owned()).await, 3);
        assert_eq!(counts(&move_to("NEW-1", "Kitchen").await.unwrap()), [1, 0, 0, 0]);
        let again = import(&stock_fixture, &whole, ImportMode::AllOrNothing).await.unwrap();
        assert_eq!(counts(&again), [0, 0, 3, 0], "who lies there stays there");
    }

    async fn quotes_in_reasons_can_be_stored(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let problems = refused(import(&stock_fixture, "article;name;photos\nA;Mug;ftp://a\0b\n", ImportMode::AllOrNothing).await);
        assert_eq!(reasons(&problems), [(2, "photos")]);
        assert!(!problems.kept()[0].reason.contains('\0'), "{problems:?}");
    }

    async fn thousands_of_rows_take_few_statements(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let row = |n: u32| format!("A-{n};Item {n};Root / Branch {};Brand {};{n};https://a/{n}", n % 20, n % 50);
        let rows: Vec<String> = (0..2_000).map(row).collect();
        let text = format!("article;name;category;brand;price;photos\n{}\n", rows.join("\n"));
        let before = db.statements();
        let report = import(&stock_fixture, &text, ImportMode::AllOrNothing).await.unwrap();
        assert_eq!(counts(&report), [2_000, 0, 0, 0]);
        let spent = db.statements() - before;
        assert!(spent < 140, "{spent} statements");
        let changed = text.replace("Item", "Thing");
        let before = db.statements();
        assert_eq!(counts(&import(&stock_fixture, &changed, ImportMode::AllOrNothing).await.unwrap()), [0, 2_000, 0, 0]);
        let spent = db.statements() - before;
        assert!(spent < 80, "{spent} statements");
    }
}
