//! Rows of exports: tenant isolation and pages.

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::stock_fixture::{Item, StockFixture};
use kontor_catalog::bulk::ports::ExportSource;
use kontor_catalog::bulk::{ExportCursor, ExportKind, ExportScope};
use kontor_catalog::spreadsheet::Content;

const AT: &str = "'2026-03-01 21:30:00'";

/// Every row, in pages of two.
async fn rows(stock_fixture: &StockFixture<'_>, scope: ExportScope) -> Vec<Vec<String>> {
    let source: &dyn ExportSource = &stock_fixture.db.database;
    let (mut all, mut after) = (Vec::new(), ExportCursor::default());
    loop {
        let before = stock_fixture.db.statements();
        let page = source.rows(stock_fixture.project, scope, after, 2).await.unwrap();
        assert!(stock_fixture.db.statements() - before <= 2, "a page takes a statement or two");
        assert!(page.len() <= 2 && page.iter().all(|row| row.at > after));
        let Some(last) = page.last() else { break };
        after = last.at;
        let shown = |cell: Content<'static>| match cell {
            Content::Empty => String::new(),
            Content::Text(text) => text.into_owned(),
            Content::Number(number) => number,
        };
        let width = source.header(scope.kind).len();
        all.extend(page.into_iter().map(|row| {
            assert_eq!(row.cells.len(), width);
            row.cells.into_iter().map(shown).collect::<Vec<_>>()
        }));
    }
    assert_eq!(source.total(stock_fixture.project, scope).await.unwrap(), u64::try_from(all.len()).unwrap());
    all
}

async fn customer(stock_fixture: &StockFixture<'_>) -> i64 {
    stock_fixture
        .number(format!(
            "INSERT INTO counterparties (project_id, is_company, first_name, last_name, phone_1, email, created_at, updated_at) \
             VALUES ({}, FALSE, 'Anna', 'Karenina', '79005550001', 'anna@example.com', {AT}, {AT}) RETURNING id AS number",
            stock_fixture.project
        ))
        .await
}

/// An order with this many lines of an item, created at a given time.
async fn order(stock_fixture: &StockFixture<'_>, customer: i64, item: i64, lines: u32, made: &str) -> i64 {
    let p = stock_fixture.project;
    let order = stock_fixture
        .number(format!(
            "INSERT INTO orders (project_id, counterparty_id, status_id, original_price, product_discount, promo_discount, \
             final_price, delivery_type_id, delivery_price, phone, paid_at, captured, refunded, version, created_at, updated_at) \
             VALUES ({p}, {customer}, 2, 20000, 1000, 500, 18500, 1, 30000, '79005550002', {AT}, 48500, 100, 1, '{made}', '{made}') \
             RETURNING id AS number"
        ))
        .await;
    for line in 1..=lines {
        stock_fixture
            .run(format!(
                "INSERT INTO reservations (project_id, order_id, nomenclature_id, name, quantity, unit_price, product_discount, \
                 promo_discount, total, is_ticket, state, created_at, updated_at) VALUES ({p}, {order}, {item}, 'Line {line}', 2, \
                 10000, 1000, 500, 18500, FALSE, 'held', {AT}, {AT})"
            ))
            .await;
    }
    order
}

database_tests! {
    async fn stock_names_items_and_warehouses_as_an_upload_finds_them(db: TestDatabase) {
        let (stock_fixture, other) = (StockFixture::open(&db).await, StockFixture::open(&db).await);
        let all = stock_fixture.category("All", None).await;
        let mug = stock_fixture.item(Item { article: Some("M-1"), ..Item::goods("Mug", all) }).await;
        let cup = stock_fixture.item(Item::goods("Cup", all)).await;
        let theirs = other.item(Item::goods("Theirs", other.category("All", None).await)).await;
        stock_fixture.stock(stock_fixture.near, mug, 5, 12_550).await;
        other.stock(other.near, theirs, 5, 100).await;
        stock_fixture.stock(stock_fixture.far, cup, 7, 100).await;
        stock_fixture.stock(stock_fixture.far, mug, 9, 100).await;
        stock_fixture.stock(stock_fixture.near, cup, 1, 100).await;
        stock_fixture.run(format!("UPDATE inventories SET reserved = 2 WHERE nomenclature_id = {mug}")).await;
        stock_fixture.run(format!("UPDATE inventories SET price = NULL WHERE warehouse_id = {} AND nomenclature_id = {cup}", stock_fixture.far)).await;
        stock_fixture.run(format!("UPDATE inventories SET deleted_at = {AT} WHERE warehouse_id = {} AND nomenclature_id = {cup}", stock_fixture.near)).await;
        // Another warehouse has the name of the second one.
        stock_fixture.run(format!("UPDATE warehouses SET name = 'w2' WHERE id = {}", stock_fixture.another_warehouse(stock_fixture.first).await)).await;
        let far = stock_fixture.far;
        let expected = [
            format!("M-1;W1;5;125.50;Mug;2;3;{mug}"),
            format!(";{far};7;;Cup;0;7;{cup}"),
            format!("M-1;{far};9;1.00;Mug;2;7;{mug}"),
        ];
        let found = rows(&stock_fixture, ExportKind::Stock.into()).await;
        assert_eq!(found.iter().map(|row| row.join(";")).collect::<Vec<_>>(), expected);
        assert_eq!(rows(&other, ExportKind::Stock.into()).await.len(), 1);
    }

    async fn orders_have_a_row_per_line_and_days_of_the_project(db: TestDatabase) {
        let (stock_fixture, other) = (StockFixture::open(&db).await, StockFixture::open(&db).await);
        let item = stock_fixture.item(Item { article: Some("M-1"), ..Item::goods("Mug", stock_fixture.category("All", None).await) }).await;
        let anna = customer(&stock_fixture).await;
        // Half past midnight in Moscow.
        let late = order(&stock_fixture, anna, item, 5, "2026-03-01 21:30:00").await;
        let theirs = other.item(Item::goods("Mug", other.category("All", None).await)).await;
        order(&other, customer(&other).await, theirs, 1, "2026-03-01 21:30:00").await;
        let next = order(&stock_fixture, anna, item, 1, "2026-03-02 21:00:00").await;
        let found = rows(&stock_fixture, ExportKind::Orders.into()).await;
        assert_eq!(found.iter().map(|row| row[0].clone()).collect::<Vec<_>>(), [vec![late.to_string(); 5], vec![next.to_string()]].concat());
        assert_eq!(found.iter().map(|row| row[11].as_str()).collect::<Vec<_>>(), ["Line 1", "Line 2", "Line 3", "Line 4", "Line 5", "Line 1"]);
        let header = ExportSource::header(&db.database, ExportKind::Orders);
        let first: Vec<String> = header.iter().zip(&found[0]).map(|(title, cell)| format!("{title}={cell}")).collect();
        let status = &found[0][2];
        let expected = format!(
            "order_id={late} created_at=2026-03-02T00:30:00+03:00 status={status} payment_state=partially_refunded \
             paid_at=2026-03-02T00:30:00+03:00 counterparty_id={anna} counterparty_name=Karenina Anna phone=79005550002 \
             email=anna@example.com nomenclature_id={item} article=M-1 name=Line 1 quantity=2 price=100.00 \
             product_discount_amount=10.00 promo_discount_amount=5.00 total=185.00 refunded_quantity=0 refunded_amount=0.00 \
             final_price=185.00 delivery_price=300.00 amount_due=485.00"
        );
        assert_eq!(first.join(" "), expected);

        let days = |from: Option<&str>, to: Option<&str>| ExportScope {
            kind: ExportKind::Orders,
            created_from: from.map(|day| day.parse().unwrap()),
            created_to: to.map(|day| day.parse().unwrap()),
        };
        for (from, to, lines) in [
            (Some("2026-03-02"), Some("2026-03-02"), 5),
            (Some("2026-03-02"), None, 6),
            (Some("2026-03-03"), None, 1),
            (None, Some("2026-03-01"), 0),
            (None, Some("9999-12-31"), 6),
        ] {
            assert_eq!(rows(&stock_fixture, days(from, to)).await.len(), lines, "{from:?} {to:?}");
        }
    }

    async fn customers_but_deleted_ones_are_exported(db: TestDatabase) {
        let (stock_fixture, other) = (StockFixture::open(&db).await, StockFixture::open(&db).await);
        let anna = customer(&stock_fixture).await;
        let gone = customer(&stock_fixture).await;
        customer(&other).await;
        let item = stock_fixture.item(Item::goods("Mug", stock_fixture.category("All", None).await)).await;
        order(&stock_fixture, anna, item, 1, "2026-03-01 21:30:00").await;
        let company = customer(&stock_fixture).await;
        stock_fixture.run(format!("UPDATE counterparties SET deleted_at = {AT} WHERE id = {gone}")).await;
        stock_fixture
            .run(format!(
                "UPDATE counterparties SET is_company = TRUE, name = '=Nord', inn = '7707083893', kpp = '770701001', \
                 first_name = NULL, last_name = NULL, birthday = '1990-05-04' WHERE id = {company}"
            ))
            .await;
        let found = rows(&stock_fixture, ExportKind::Customers.into()).await;
        assert_eq!(found.len(), 2);
        let (person, firm) = (&found[0], &found[1]);
        assert_eq!(person[0], anna.to_string());
        assert_eq!(person[2..].join(";"), ";;;Karenina;Anna;;;;79005550001;;anna@example.com;1;2026-03-02T00:30:00+03:00");
        assert_eq!(firm[0], company.to_string());
        assert_eq!(firm[2..].join(";"), "=Nord;7707083893;770701001;;;;1990-05-04;;79005550001;;anna@example.com;0;2026-03-02T00:30:00+03:00");
        assert!(person[1] != firm[1] && !firm[1].is_empty(), "{} {}", person[1], firm[1]);
    }
}
