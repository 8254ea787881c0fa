//! The main flow over HTTP: import, login, cart, order, payment at the acquirer, webhook, staff.

use std::time::Duration;

use kontor::cli::demo::{Demo, DemoArguments};
use kontor::cli::project;
use kontor::config::Config;
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{database_tests, tests_with};
use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::customer_client::ApplicationClient;
use crate::owner_client::OwnerClient;
use crate::support::{TestServer, send};

const CARDS: &str = "article;name;category;price;description\n\
    A-1;Стол обеденный;Мебель / Столы;;<p>Дуб</p>\n\
    A-2;Стул;Мебель / Стулья;;\n\
    A-3;Полка;Мебель;;\n";
const STOCK: &str = "article;warehouse;quantity;price\nA-1;Main;2;12500,50\nA-2;Main;40;3100\nA-3;Main;0;900\n";

/// A service with its sandbox and a project.
struct ServiceFixture {
    demo: Demo,
    owner_client: OwnerClient,
    _folder: tempfile::TempDir,
    _db: TestDatabase,
}

fn address(db: &TestDatabase) -> String {
    match db.url() {
        kontor_adapter_diesel::DatabaseUrl::Postgres(url) => url,
        file @ kontor_adapter_diesel::DatabaseUrl::Sqlite(_) => file.to_string(),
    }
}

impl ServiceFixture {
    async fn open(db: TestDatabase) -> Self {
        TestServer::prepare();
        let folder = tempfile::tempdir().unwrap();
        let arguments = DemoArguments {
            bind: "127.0.0.1:0".parse().ok(),
            sandbox_bind: "127.0.0.1:0".parse().unwrap(),
            data: folder.path().to_owned(),
            database: Some(address(&db)),
        };
        let demo = Demo::start(&arguments, None).await.unwrap();
        let config = Config::default();
        let project = project::create(&config, &db.database, "Второй", "second", "second@example.com").await.unwrap();
        let http = Client::builder().no_proxy().timeout(Duration::from_mins(1)).build().unwrap();
        let (url, sandbox) = (demo.file.base_url.clone(), demo.file.sandbox_url.clone());
        let front = ApplicationClient { http, url, sandbox, app_token: project.app_token.clone() };
        let owner_client = OwnerClient::behind(front, serde_json::to_value(project).unwrap()).await;
        Self { demo, owner_client, _folder: folder, _db: db }
    }
}

database_tests! {
    async fn a_catalogue_is_imported_sold_paid_and_announced(db: TestDatabase) {
        let fixture = ServiceFixture::open(db).await;
        fixture.owner_client.import_catalog(CARDS, STOCK).await;
        let hook = fixture.owner_client.hook().await;

        let table = fixture.owner_client.product("СТОЛ").await;
        assert_eq!((table["name"].as_str(), table["price"].as_str()), (Some("Стол обеденный"), Some("12500.50")));
        assert_eq!(fixture.owner_client.product("полка").await, Value::Null, "goods without stock are not shown");
        let id = table["id"].as_i64().unwrap();

        let cart = json!({ "products": [{ "id": id, "quantity": 2 }] });
        let calculated = send(fixture.owner_client.front.request(Method::POST, "/api/counterparty/orders/precalculate").json(&cart)).await;
        assert_eq!(calculated.expect(200)["final_price"], json!(25001.0));

        let anna = fixture.owner_client.front.sign_in("79005550001").await;
        let again = json!({ "phone": "79005550001", "password": anna.code });
        let again = fixture.owner_client.front.request(Method::POST, "/api/counterparty/login").json(&again);
        send(again).await.expect(400);
        let placed = anna.order(id, 2, true).await.expect(201)["order"].clone();
        let order = placed["id"].as_i64().unwrap();
        assert_eq!(placed["status"]["id"], 2);
        assert!(placed["payment_link"].as_str().unwrap().starts_with(&fixture.owner_client.front.sandbox));
        assert_eq!(fixture.owner_client.product("стол").await, Value::Null, "the last pieces are reserved");

        let payment = fixture.owner_client.front.payment_of(order).await;
        assert_eq!(payment["amount"]["value"], "25001.00");
        fixture.owner_client.front.pay(order).await;
        let paid = anna.wait_for_status(order, 22).await;
        assert_eq!(paid["final_price"], json!(25001.0));

        assert_eq!(hook.order_of(&fixture.owner_client.first_received(&hook).await), order);

        let seen = send(fixture.owner_client.request(Method::GET, &format!("/api/orders/{order}"))).await.expect(200);
        assert_eq!((&seen["order"]["status"]["id"], seen["order"]["reservations"].as_array().unwrap().len()), (&json!(22), 1));
        let table = send(fixture.owner_client.request(Method::GET, "/api/tables/orders")).await.expect(200);
        assert_eq!(table["pagination"]["total"], 1);
        fixture.demo.stop().await;
    }

    async fn returning_from_the_payment_page_proves_nothing(db: TestDatabase) {
        let fixture = ServiceFixture::open(db).await;
        fixture.owner_client.import_catalog(CARDS, STOCK).await;
        let id = fixture.owner_client.product("стул").await["id"].as_i64().unwrap();
        let boris = fixture.owner_client.front.sign_in("79005550002").await;
        let order = boris.order(id, 1, true).await.expect(201)["order"]["id"].as_i64().unwrap();
        // A forged notification says it was paid; the acquirer has no such payment.
        let payment = fixture.owner_client.front.payment_of(order).await;
        let forged = json!({ "type": "notification", "event": "payment.succeeded",
            "object": { "id": payment["id"], "status": "succeeded", "paid": true } });
        let path = format!("{}/callbacks/acquirer", fixture.owner_client.front.url);
        send(fixture.owner_client.front.http.post(path).json(&forged)).await.expect(200);
        boris.wait_for_status(order, 2).await;

        let declined = format!("{}/control/payments/{}", fixture.owner_client.front.sandbox, payment["id"].as_str().unwrap());
        send(fixture.owner_client.front.http.post(declined).json(&json!({ "outcome": "decline" }))).await.expect(200);
        boris.wait_for_status(order, 6).await;
        assert_eq!(fixture.owner_client.product("стул").await["quantity"], 40, "the pieces are free again");
        fixture.demo.stop().await;
    }
}

/// The tour that the demo prints, run by a shell unchanged.
async fn the_printed_tour_works_as_it_stands() {
    let fixture = ServiceFixture::open(TestDatabase::fresh(Kind::Sqlite)).await;
    let script = kontor::cli::demo::tour(&fixture.demo.file);
    let output = tokio::process::Command::new("sh").arg("-c").arg(script).output().await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("curl: not found"), "{errors}");
    assert!(text.contains("\"promo_discount_amount\":3.2"), "{text}");
    assert!(text.contains("\"status\":{\"id\":22"), "{text}");
    assert!(text.contains("order.paid"), "{text}");
    assert!(text.contains("\"pagination\""), "{text}");
    let answers: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let reported = |pointer: &str| {
        answers
            .iter()
            .rev()
            .find_map(|answer| answer.pointer(pointer))
            .unwrap_or_else(|| panic!("no {pointer}: {text}"))
    };
    let payments = answers.iter().find(|answer| answer.pointer("/data/0/period") == Some(&json!(2)));
    assert_eq!(payments.unwrap()["total"], 2, "two payments of the subscription: {text}");
    assert_eq!(reported("/page/content"), "<p>FTGFOP and others.</p>");
    assert_eq!(reported("/menuItems/children/0/url"), "/how-tea-is-graded");
    assert_eq!(reported("/shop/hours").as_array().unwrap().len(), 7, "{text}");
    assert!(reported("/shop/next_change_at").is_string(), "{text}");
    assert_eq!(reported("/tasks/0/title/value"), "Call about the broken mug");
    fixture.demo.stop().await;
}

/// A second start changes nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_later_start_of_the_demo_is_quick_and_keeps_everything() {
    TestServer::prepare();
    let folder = tempfile::tempdir().unwrap();
    let arguments = DemoArguments {
        bind: "127.0.0.1:0".parse().ok(),
        sandbox_bind: "127.0.0.1:0".parse().unwrap(),
        data: folder.path().join("shop"),
        database: None,
    };
    let first = Demo::start(&arguments, None).await.unwrap();
    let (project, token) = (first.file.project_id, first.file.app_token.clone());
    first.stop().await;
    let second = Demo::start(&arguments, None).await.unwrap();
    assert_eq!((second.file.project_id, &second.file.app_token), (project, &token));
    let products = format!("{}/api/counterparty/products", second.file.base_url);
    let listed = send(Client::new().get(products).header("Token", &token)).await.expect(200);
    assert_eq!(listed["products"]["total"], 30);
    second.stop().await;
}

tests_with!(curl: the_printed_tour_works_as_it_stands);
