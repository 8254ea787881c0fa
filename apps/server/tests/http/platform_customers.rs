//! Customers, managed by staff.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::shop_fixture::ShopFixture;
use crate::support::send;

pub const PATH: &str = "/api/counterparties";

pub fn person(name: &str) -> Value {
    json!({ "is_company": false, "first_name": name, "last_name": "Kern", "birthday": "1990-02-03" })
}

pub fn company(name: &str) -> Value {
    json!({ "is_company": true, "name": name, "inn": "7707083893", "kpp": "770701001" })
}

fn with(mut body: Value, more: Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

const TABLE: &str = "/api/tables/counterparties";

fn numbers(table: &Value) -> Vec<i64> {
    table["counterparties"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect()
}

database_tests! {
    async fn a_person_is_created_read_and_changed(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let manager = fixture.own_number().await;
        let body = with(person("  Анна 🌸 "), json!({
            "middle_name": "Petrovna", "address": "Elbe Street 5", "phone_1": "8 (900) 123-45-67",
            "phone_2": 79_007_654_321_i64, "email": "Anna@X.ru", "inn": "500100732259", "manager_id": manager,
        }));
        let created = fixture.post(PATH, body).await.expect(201);
        let customer = &created["counterparty"];
        for (field, value) in [
            ("first_name", "Анна 🌸"), ("last_name", "Kern"), ("middle_name", "Petrovna"), ("birthday", "1990-02-03"),
            ("address", "Elbe Street 5"), ("phone_1", "79001234567"), ("phone_2", "79007654321"), ("email", "anna@x.ru"),
            ("inn", "500100732259"),
        ] {
            assert_eq!(customer[field], value, "{field}");
        }
        assert_eq!(customer["type"]["id"], 1);
        assert_eq!((&customer["manager"]["id"], &customer["manager"]["name"]), (&json!(manager), &json!("Anna Kern")));
        for field in ["name", "kpp", "avatar"] {
            assert_eq!(customer[field], Value::Null, "{field}");
        }
        assert_eq!(customer["orders_count"], 0);
        assert!(customer.get("is_company").is_none(), "{customer}");
        let path = format!("{PATH}/{}", customer["id"]);
        assert_eq!(fixture.get(&path).await.expect(200), created);
        let listed = fixture.get(PATH).await.expect(200);
        assert_eq!((&listed["counterparties"][0], &listed["counterpartiesCount"]), (customer, &json!(1)));

        fixture.server.clock.advance(5);
        let change = json!({ "is_company": false, "last_name": "Nord", "birthday": null, "manager_id": null });
        let changed = fixture.put(&path, change).await.expect(200);
        let mut expected = created.clone();
        expected["counterparty"]["last_name"] = json!("Nord");
        expected["counterparty"]["birthday"] = json!(null);
        expected["counterparty"]["manager"] = json!(null);
        expected["counterparty"]["updated_at"] = changed["counterparty"]["updated_at"].clone();
        assert_eq!(changed, expected);
        assert_ne!(changed["counterparty"]["updated_at"], created["counterparty"]["updated_at"]);
    }

    async fn a_company_has_its_numbers_and_may_turn_out_to_be_a_person(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let created = fixture.post(PATH, company("Nord")).await.expect(201)["counterparty"].clone();
        assert_eq!((&created["name"], &created["inn"], &created["kpp"]), (&json!("Nord"), &json!("7707083893"), &json!("770701001")));
        assert_eq!(created["type"]["id"], 2);
        let path = format!("{PATH}/{}", created["id"]);
        fixture.put(&path, json!({ "is_company": true, "name": null })).await.expect_invalid(&["name"]);
        // An entrepreneur has no code.
        let entrepreneur = json!({ "is_company": true, "inn": "500100732259" });
        fixture.put(&path, entrepreneur.clone()).await.expect_invalid(&["kpp"]);
        fixture.put(&path, with(entrepreneur, json!({ "kpp": null }))).await.expect(200);
        let person = fixture.put(&path, json!({ "is_company": false, "first_name": "Anna" })).await.expect(200);
        let person = &person["counterparty"];
        assert_eq!((&person["type"]["id"], &person["name"], &person["inn"]), (&json!(1), &json!(null), &json!("500100732259")));
        fixture.put(&path, json!({ "is_company": true })).await.expect_invalid(&["name"]);
        fixture.put(&path, json!({ "is_company": true, "name": "Anna & Co" })).await.expect(200);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let fields = [
            "is_company", "name", "inn", "kpp", "first_name", "last_name", "middle_name", "birthday", "address", "phone_1",
            "phone_2", "email", "manager_id",
        ];
        let long = "я".repeat(5_000);
        let bad = json!({
            "is_company": "perhaps", "name": long, "inn": "7707083894", "kpp": "1", "first_name": "\u{0}", "last_name": [],
            "middle_name": "a\nb", "birthday": "2026-02-30", "address": long, "phone_1": "call me", "phone_2": true,
            "email": "a@x.ru\nBcc: b@x.ru", "manager_id": 0,
        });
        fixture.post(PATH, bad.clone()).await.expect_invalid(&fields);
        let path = format!("{PATH}/{}", fixture.create(PATH, person("Anna")).await);
        fixture.put(&path, bad).await.expect_invalid(&fields);
        let shapes = fields.iter().map(|field| ((*field).to_owned(), json!({ "a": [1] }))).collect::<serde_json::Map<_, _>>();
        fixture.put(&path, Value::Object(shapes.clone())).await.expect_invalid(&fields);
        fixture.post(PATH, Value::Object(shapes)).await.expect_invalid(&fields);
        for body in [json!({}), json!({ "is_company": null })] {
            fixture.post(PATH, body.clone()).await.expect_invalid(&["is_company"]);
            fixture.put(&path, body).await.expect_invalid(&["is_company"]);
        }
        for body in [json!([]), json!("x"), json!(7)] {
            fixture.post(PATH, body.clone()).await.expect(422);
            fixture.put(&path, body).await.expect(422);
        }
        fixture.post(PATH, json!({ "is_company": false })).await.expect_invalid(&["first_name"]);
        fixture.post(PATH, json!({ "is_company": true })).await.expect_invalid(&["name"]);
        let mixed = json!({ "is_company": false, "name": "Nord", "inn": "7707083893", "kpp": "770701001", "birthday": "1899-12-31" });
        fixture.post(PATH, mixed).await.expect_invalid(&["birthday", "first_name", "inn", "kpp", "name"]);
        for manager in [json!(999_999), json!(1_000_000_000_000_i64), json!(i64::MAX)] {
            let body = with(person("Boris"), json!({ "manager_id": manager }));
            fixture.post(PATH, body.clone()).await.expect_invalid(&["manager_id"]);
            fixture.put(&path, body).await.expect_invalid(&["manager_id"]);
        }
        let foreign_customer = fixture.as_outsider(Method::GET, "/api/user", json!({})).await.expect(200)["user"]["id"].clone();
        let agent = fixture.create("/api/agents", json!({ "name": "Bot" })).await;
        for manager in [foreign_customer, json!(agent)] {
            let body = with(person("Boris"), json!({ "manager_id": manager }));
            fixture.post(PATH, body).await.expect_invalid(&["manager_id"]);
        }
        assert_eq!(fixture.get(PATH).await.expect(200)["counterpartiesCount"], 1, "nothing is half written");
    }

    async fn only_staff_of_the_project_with_the_permission_come_in(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("{PATH}/{}", fixture.create(PATH, person("Anna")).await);
        let history = format!("{path}/history");
        for absent in ["999999", "1000000000000", "99999999999999999999", "0", "-1", "x"] {
            let absent = format!("{PATH}/{absent}");
            fixture.get(&absent).await.expect(404);
            fixture.get(&format!("{absent}/history")).await.expect(404);
            fixture.put(&absent, person("A")).await.expect(404);
            fixture.delete(&absent).await.expect(404);
        }
        for (method, path) in [(Method::GET, &path), (Method::PUT, &path), (Method::DELETE, &path), (Method::GET, &history)] {
            fixture.as_outsider(method, path, person("Eva")).await.expect(403);
        }
        let may = async |permission: &str, method: Method, path: &str| {
            fixture.as_one_who_may(&[permission], method, path, person("Eva")).await.status.as_u16()
        };
        assert_eq!(may("view-counterparties", Method::GET, &path).await, 200);
        assert_eq!(may("view-counterparties", Method::PUT, &path).await, 403);
        assert_eq!(may("create-counterparties", Method::POST, PATH).await, 201);
        assert_eq!(may("create-counterparties", Method::PUT, &path).await, 403);
        assert_eq!(may("edit-counterparties", Method::GET, &path).await, 403);
        assert_eq!(may("edit-counterparties", Method::PUT, &path).await, 200);
        assert_eq!(may("view-counterparties", Method::DELETE, &path).await, 403);
        assert_eq!(may("edit-counterparties", Method::DELETE, &path).await, 200);
    }

    async fn the_history_is_complete_with_authors(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let id = fixture.create(PATH, person("Anna")).await;
        let path = format!("{PATH}/{id}");
        for number in 0..17 {
            fixture.put(&path, json!({ "is_company": false, "address": format!("Quay {number}") })).await.expect(200);
        }
        // A change of nothing adds no history entry.
        fixture.put(&path, json!({ "is_company": false, "address": "Quay 16" })).await.expect(200);
        let contact = fixture.create(&format!("{path}/contacts"), json!({ "kind": "email", "value": "a@x.ru" })).await;
        fixture.put(&format!("{path}/contacts/{contact}"), json!({ "value": "b@x.ru" })).await.expect(200);
        let reported = fixture.get(&format!("{path}/history")).await.expect(200);
        let lines = reported["histories"].as_array().unwrap();
        assert_eq!((lines.len(), &reported["historiesCount"]), (20, &json!(20)));
        assert!(reported.get("pagination").is_none());
        assert!(lines.iter().all(|line| line["dateTime"].is_string() && line["user"]["name"] == "Anna Kern"), "{reported}");
        assert_eq!(lines[19]["action"], "created");
        assert_eq!(lines[2]["changes"], json!([{ "field": "address", "old": "Quay 15", "new": "Quay 16" }]));
        assert_eq!(lines[1]["changes"], json!([
            { "field": format!("contacts.{contact}.kind"), "old": null, "new": "email" },
            { "field": format!("contacts.{contact}.value"), "old": null, "new": "a@x.ru" },
        ]));
        assert_eq!(lines[0]["changes"], json!([
            { "field": format!("contacts.{contact}.value"), "old": "a@x.ru", "new": "b@x.ru" },
        ]));
    }

    async fn staff_delete_a_customer_without_an_open_payment(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 100).await;
        let order = shop.order(&shop.online(item)).await.expect(201)["order"]["id"].as_i64().unwrap();
        let owner = shop.server.owner(&shop.project).await;
        let path = format!("{PATH}/{}", shop.customer);
        let call = async |method: Method, path: &str| send(shop.server.as_staff(&owner, method, path)).await;
        let named = json!({ "is_company": false, "last_name": "Zaborowski", "email": "zab@x.ru", "inn": "500100732259" });
        send(shop.server.as_staff(&owner, Method::PUT, &path).json(&named)).await.expect(200);
        let contact = json!({ "kind": "telegram", "value": "zaborowski" });
        send(shop.server.as_staff(&owner, Method::POST, &format!("{path}/contacts")).json(&contact)).await.expect(201);
        let account = json!({
            "bik": "044525225", "bank_name": "Zaborowski Bank", "account": "40702810938000000001",
            "correspondent_account": "30101810400000000225",
        });
        send(shop.server.as_staff(&owner, Method::POST, &format!("{path}/bank_requisites")).json(&account)).await.expect(201);

        let refused = call(Method::DELETE, &path).await.expect(409);
        assert_eq!((&refused["error"]["code"], &refused["error"]["next_action"]), (&json!("counterparty_payment_open"), &json!("wait")));
        let kept = call(Method::GET, &path).await.expect(200);
        assert_eq!((&kept["counterparty"]["last_name"], &kept["counterparty"]["orders_count"]), (&json!("Zaborowski"), &json!(1)));
        shop.pays("succeed").await;
        shop.until(order, 22).await;
        assert!(call(Method::DELETE, &path).await.expect(200)["message"].is_string());

        for gone in [path.clone(), format!("{path}/history"), format!("{path}/contacts"), format!("{path}/bank_requisites")] {
            call(Method::GET, &gone).await.expect(404);
        }
        call(Method::DELETE, &path).await.expect(404);
        let late = send(shop.server.as_staff(&owner, Method::PUT, &path).json(&person("Back"))).await;
        late.expect(404);
        send(shop.server.as_staff(&owner, Method::POST, &format!("{path}/contacts")).json(&contact)).await.expect(404);
        send(shop.server.as_customer(&shop.project, &shop.bearer, Method::GET, "/api/counterparty")).await.expect(401);
        assert_eq!(call(Method::GET, &format!("{PATH}?query=Zaborowski")).await.expect(200)["counterpartiesCount"], 0);
        assert_eq!(call(Method::GET, PATH).await.expect(200)["counterpartiesCount"], 0);
        let kept = call(Method::GET, &format!("/api/orders/{order}")).await.expect(200);
        assert_eq!(kept["order"]["status"]["id"], 22, "orders stay");

        let lines = format!("SELECT count(*) AS id FROM histories WHERE resource = 'counterparties' AND resource_id = {}", shop.customer);
        assert_eq!(shop.server.insert(lines).await, 4, "what happened stays, and that they left");
        for trace in ["zab", "9001234567", "Ivan", "500100732259", "40702810938000000001"] {
            let anywhere = [
                "SELECT lower(coalesce(first_name, '') || coalesce(last_name, '') || coalesce(phone_1, '') || coalesce(email, '') \
                 || coalesce(inn, '') || coalesce(search_text, '')) AS said FROM counterparties",
                "SELECT lower(changes) AS said FROM histories",
                "SELECT lower(value) AS said FROM counterparty_contacts",
                "SELECT lower(bank_name || account) AS said FROM counterparty_bank_requisites",
                "SELECT contact AS said FROM login_contacts",
            ];
            for table in anywhere {
                let found = format!("SELECT count(*) AS id FROM ({table}) t WHERE said LIKE '%{}%'", trace.to_lowercase());
                assert_eq!(shop.server.insert(found).await, 0, "{trace} in {table}");
            }
        }
    }

    async fn a_deleted_company_keeps_only_name_and_numbers(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = with(company("Nord"), json!({ "first_name": "Anna", "phone_1": "79001234567" }));
        let id = fixture.create(PATH, body).await;
        fixture.delete(&format!("{PATH}/{id}")).await.expect(200);
        let kept = "SELECT count(*) AS id FROM counterparties WHERE name = 'Nord' AND inn IS NOT NULL AND phone_1 IS NULL \
                    AND first_name IS NULL AND search_text = ''";
        assert_eq!(fixture.server.insert(kept.to_owned()).await, 1);
        let reported = "SELECT count(*) AS id FROM histories WHERE changes LIKE '%Nord%' AND changes NOT LIKE '%Anna%'";
        assert_eq!(fixture.server.insert(reported.to_owned()).await, 2);
    }

    async fn the_table_is_filtered_sorted_searched_and_cut_into_pages(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let manager = fixture.own_number().await;
        let mut body = person("Ёлка");
        body["last_name"] = json!("Иванова");
        body["phone_1"] = json!("79001234567");
        let a = fixture.create(PATH, body).await;
        let mut body = company("Nord-West 24");
        body["manager_id"] = json!(manager);
        body["email"] = json!("sales@nord-west.ru");
        let b = fixture.create(PATH, body).await;
        fixture.server.clock.advance(3 * 86_400);
        let c = fixture.create(PATH, json!({ "is_company": false, "first_name": "Anna" })).await;
        fixture.create(&format!("{PATH}/{c}/contacts"), json!({ "kind": "phone", "value": "79995550101" })).await;
        fixture.create_elsewhere(PATH, person("Анна")).await;
        let day = kontor_kernel::Clock::now(&*fixture.server.clock).date_naive();
        for (query, expected) in [
            ("", vec![c, b, a]),
            ("order_by=id_asc", vec![a, b, c]),
            ("order_by=name_asc", vec![c, b, a]),
            ("order_by=name_desc", vec![a, b, c]),
            ("order_by=created_at_asc&per_page=2", vec![a, b]),
            ("per_page=2&page=2", vec![a]),
            ("page=99", vec![]),
            ("is_company=true", vec![b]),
            ("is_company=false", vec![c, a]),
            (&format!("manager_id={manager}"), vec![b]),
            (&format!("manager_id[]={manager}&manager_id[]=999999"), vec![b]),
            ("manager_id=1000000000000", vec![]),
            (&format!("date_from={day}"), vec![c]),
            ("date_to=2020-01-01", vec![]),
            ("query=иванова", vec![a]),
            ("query=елка%20иван", vec![a]),
            ("query=%2B7%20(900)%20123-45-67", vec![a]),
            ("query=89001234567", vec![a]),
            ("query=1234567", vec![a]),
            ("query=nord%20west", vec![b]),
            ("query=7707083893", vec![b]),
            ("query=sales@nord-west.ru", vec![b]),
            ("query=79995550101", vec![c]),
            (&format!("query=%23{b}"), vec![b]),
            ("query=nobody", vec![]),
            ("query=%25%27%22*", vec![]),
            ("query=an&is_company=false&order_by=name_asc", vec![c]),
        ] {
            let table = fixture.get(&format!("{TABLE}?{query}")).await.expect(200);
            assert_eq!(numbers(&table), expected, "{query}");
            let listed = fixture.get(&format!("{PATH}?{query}")).await.expect(200);
            assert_eq!(numbers(&listed), expected, "{query}");
        }
        let table = fixture.get(TABLE).await.expect(200);
        assert_eq!(table["pagination"]["per_page"], 15);
        let row = &table["counterparties"][1];
        assert_eq!(row["name"], json!({ "icon": null, "value": "Nord-West 24", "link": format!("/api/counterparties/{b}") }));
        assert_eq!((&row["type"], &row["inn"], &row["manager"]), (&json!("Company"), &json!("7707083893"), &json!("Anna Kern")));
        assert_eq!(table["counterparties"][2]["name"]["value"], "Иванова Ёлка");
        fixture.get(&format!("{TABLE}?page=0&order_by=phone_asc&manager_id=x&is_company=perhaps&colour=red&query=")).await
            .expect_invalid(&["page", "order_by", "manager_id", "is_company", "colour", "query"]);
    }

    async fn a_list_costs_the_same_at_any_length(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        fixture.create(PATH, person("Anna")).await;
        for path in [TABLE, PATH, &format!("{TABLE}?query=kern&order_by=name_asc")] {
            let few = fixture.cost(path).await;
            for _ in 0..6 {
                fixture.create(PATH, person("Eva")).await;
            }
            assert_eq!(fixture.cost(path).await, few, "{path}");
        }
    }
}
