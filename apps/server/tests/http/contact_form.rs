//! Orders by visitors without a login, over HTTP.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::process::ProcessEnvironment;
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, TestServer, fields, send};

const PATH: &str = "/api/counterparty/contact_form";

impl ShopFixture {
    fn form(&self, item: i64, phone: &str) -> Value {
        json!({ "first_name": "Анна", "last_name": "Петрова", "middle_name": null, "phone": phone, "address": "Невский 1",
            "payment_type_id": self.payment_type, "products": [{ "id": item, "quantity": 2 }] })
    }

    async fn send_form(&self, form: &Value) -> Answer {
        send(self.server.as_app(&self.project, Method::POST, PATH).json(form)).await
    }
}

database_tests! {
    async fn a_form_makes_a_customer_and_an_order_by_courier(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(9, 26_550).await;
        let sent = shop.send_form(&shop.form(item, "+7 (900) 555-02-01")).await.expect(201);
        let order = &sent["order"];
        let own = shop.order(&shop.pickup(item, 1)).await.expect(201);
        let keys = |order: &Value| order.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(order), keys(&own["order"]), "the same shape");
        assert_eq!((&order["delivery_type"]["id"], &order["delivery_subtype"]["id"]), (&json!(2), &json!(2)));
        assert_eq!((&order["address"], &order["payment_type"]["id"]), (&json!("Невский 1"), &json!(shop.payment_type)));
        assert_eq!((&order["status"]["id"], &order["payment_link"], &order["redeem_token"]), (&json!(1), &json!(null), &json!(null)));
        assert_eq!(shop.reserved(item).await, 3);

        let owner = shop.server.owner(&shop.project).await;
        let path = format!("/api/orders/{}", order["id"]);
        let seen = send(shop.server.as_staff(&owner, Method::GET, &path)).await.expect(200)["order"].clone();
        assert_eq!(seen["comment"], json!("Петрова Анна"));
        let path = format!("/api/counterparties/{}", seen["counterparty"]["id"]);
        let customer = send(shop.server.as_staff(&owner, Method::GET, &path)).await.expect(200)["counterparty"].clone();
        assert_eq!((&customer["first_name"], &customer["phone_1"]), (&json!("Анна"), &json!("79005550201")));
        let found = send(shop.server.as_staff(&owner, Method::GET, "/api/tables/counterparties?query=Петрова")).await.expect(200);
        assert_eq!(found["pagination"]["total"], 1, "{found}");

        for (query, total) in [("петр анн", 1), ("900 555-02-01", 1), ("петр борис", 0)] {
            let found = shop.server.as_staff(&owner, Method::GET, "/api/tables/orders").query(&[("query", query)]);
            assert_eq!(send(found).await.expect(200)["pagination"]["total"], total, "{query}");
        }

        // A known phone gets the same response, and its customer does not change.
        let mut again = shop.form(item, "79005550201");
        again["first_name"] = json!("Ольга");
        let second = shop.send_form(&again).await.expect(201);
        assert_eq!(keys(&second["order"]), keys(order));
        let customer = send(shop.server.as_staff(&owner, Method::GET, &path)).await.expect(200)["counterparty"].clone();
        assert_eq!(customer["first_name"], json!("Анна"));
    }

    async fn everything_wrong_with_a_form_is_named_and_nothing_is_stored(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 1_000).await;
        let before = (shop.count("orders").await, shop.count("counterparties").await);
        let required = ["address", "first_name", "last_name", "payment_type_id", "phone", "products"];
        assert_eq!(fields(&shop.send_form(&json!({})).await.expect(422)), required);
        for field in required {
            let mut form = shop.form(item, "79005550301");
            form.as_object_mut().unwrap().remove(field);
            assert_eq!(fields(&shop.send_form(&form).await.expect(422)), [field]);
        }
        let wrong = json!({ "first_name": "", "last_name": 5, "middle_name": [], "phone": "x", "address": "", "payment_type_id": 0,
            "products": [{ "id": -1, "quantity": 0 }, { "id": item, "quantity": 1_000_000_000_000_i64 }] });
        assert_eq!(fields(&shop.send_form(&wrong).await.expect(422)), ["address", "first_name", "last_name", "middle_name",
            "payment_type_id", "phone", "products.0.id", "products.0.quantity", "products.1.quantity"]);
        let mut unknown = shop.form(99_999, "79005550301");
        unknown["payment_type_id"] = json!(99_999);
        assert_eq!(fields(&shop.send_form(&unknown).await.expect(422)), ["payment_type_id", "products.0.id"]);
        let mut long = shop.form(item, "79005550301");
        long["products"] = (1..=1_000).map(|id| json!({ "id": id, "quantity": 1 })).collect();
        assert_eq!(fields(&shop.send_form(&long).await.expect(422)), ["products"]);
        long.as_object_mut().unwrap().remove("address");
        assert_eq!(fields(&shop.send_form(&long).await.expect(422)), ["address", "products"]);
        long["products"] = json!([{ "id": item, "quantity": 1 }, { "id": item, "quantity": 2 }]);
        assert_eq!(fields(&shop.send_form(&long).await.expect(422)), ["address", "products.1.id"]);
        assert_eq!((shop.count("orders").await, shop.count("counterparties").await), before);
        assert_eq!(shop.reserved(item).await, 0);
    }

    async fn unconfirmed_orders_of_a_phone_reserve_a_bounded_number_of_pieces(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(500, 100).await;
        let form = |quantity: i64| {
            let mut form = shop.form(item, "79005550701");
            form["products"][0]["quantity"] = json!(quantity);
            form
        };
        let refused = shop.send_form(&form(101)).await.expect(422);
        assert_eq!((fields(&refused), shop.reserved(item).await), (vec!["products"], 0));
        let sent = shop.send_form(&form(100)).await.expect(201)["order"].clone();
        let owner = shop.server.owner(&shop.project).await;
        let path = format!("/api/orders/{}", sent["id"]);
        let waiting = send(shop.server.as_staff(&owner, Method::GET, &path)).await.expect(200);
        assert!(waiting["order"]["reserved_until"].is_string(), "{waiting}");
        assert_eq!(fields(&shop.send_form(&form(1)).await.expect(422)), ["products"]);
        let own = shop.order(&shop.pickup(item, 101)).await.expect(201);
        let own = format!("/api/orders/{}", own["order"]["id"]);
        let own = send(shop.server.as_staff(&owner, Method::GET, &own)).await.expect(200);
        assert_eq!((&own["order"]["reserved_until"], shop.reserved(item).await), (&json!(null), 201));

        let confirmed = shop.server.as_staff(&owner, Method::PUT, &path).json(&json!({ "status_id": 3 }));
        assert_eq!(send(confirmed).await.expect(200)["order"]["reserved_until"], json!(null));
        shop.send_form(&form(1)).await.expect(201);
    }

    async fn an_operator_sets_the_bounds(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let project = environment.create_project("owner")["project_id"].to_string();
        let run = |project: &str, settings: &[&str]| {
            let command = ["project", "contact-orders", "--json", "--project", project];
            environment.command(&[&command[..], settings].concat()).output().unwrap()
        };
        let shown = |settings: &[&str]| -> Value { serde_json::from_slice(&run(&project, settings).stdout).unwrap() };
        let reported = |pieces: u32, value: &str, hours: u32| {
            json!({ "project_id": project.parse::<i64>().unwrap(), "max_pieces": pieces, "max_value": value, "hold_hours": hours })
        };
        assert_eq!(shown(&[]), reported(100, "100000.00", 72));
        assert_eq!(shown(&["--max-pieces", "5"]), reported(5, "100000.00", 72));
        assert_eq!(shown(&["--max-value", "99.5", "--hold-hours", "1"]), reported(5, "99.50", 1));
        assert_eq!(shown(&[]), reported(5, "99.50", 1));
        for (project, wrong, why) in [
            (&*project, ["--hold-hours", "0"], "--hold-hours must be"),
            (&*project, ["--max-value", "1.234"], "--max-value must"),
            ("999", ["--max-pieces", "5"], "project 999 not found"),
        ] {
            let refused = run(project, &wrong);
            assert!(!refused.status.success() && String::from_utf8(refused.stderr).unwrap().contains(why), "{wrong:?}");
        }
    }

    async fn forms_are_limited_by_phone_and_by_address(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let gone = shop.goods(0, 1_000).await;
        for _ in 0..5 {
            shop.send_form(&shop.form(gone, "79005550401")).await.expect(422);
        }
        shop.send_form(&shop.form(gone, "+7 900 555 04 01")).await.expect(429);
        for n in 0..14 {
            shop.send_form(&shop.form(gone, &format!("790055505{n:02}"))).await.expect(422);
        }
        shop.send_form(&shop.form(gone, "79005550599")).await.expect(429);
    }

    async fn a_phone_is_limited_over_all_addresses(db: TestDatabase) {
        let server = TestServer::start_with(db, |config| config.trusted_proxies = vec!["127.0.0.1".into()]).await;
        let project = server.project().await;
        let send_form = async |phone: &str, address: &str| {
            let form = json!({ "first_name": "Анна", "last_name": "Петрова", "phone": phone, "address": "Невский 1",
                "payment_type_id": 1, "products": [{ "id": 1, "quantity": 1 }] });
            let request = server.as_app(&project, Method::POST, PATH).header("X-Forwarded-For", address);
            send(request.json(&form)).await
        };
        for host in 1..=5 {
            send_form("79005550601", &format!("203.0.113.{host}")).await.expect(422);
        }
        send_form("79005550601", "203.0.113.6").await.expect(429);
        send_form("79005550602", "203.0.113.6").await.expect(422);
    }
}
