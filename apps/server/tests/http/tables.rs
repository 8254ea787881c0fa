//! Every table accepts all parameters in its description, and no others.

use kontor::openapi::description;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::platform_files::PDF;
use crate::project_fixture::ProjectFixture;
use crate::shop_fixture::ShopFixture;
use crate::support::send;

/// Returns the paths of all tables with the parameters of their query strings.
fn tables() -> Vec<(String, Vec<Value>)> {
    let description = serde_json::to_value(description()).unwrap();
    let paths = description["paths"].as_object().unwrap();
    let tables = paths.iter().filter(|(path, _)| path.starts_with("/api/tables/"));
    tables
        .map(|(path, item)| {
            let parameters = item["get"]["parameters"].as_array().cloned().unwrap_or_default();
            (path.clone(), parameters.into_iter().filter(|one| one["in"] == "query").collect())
        })
        .collect()
}

/// Returns a value that a parameter accepts.
fn value(schema: &Value) -> String {
    if let Some(items) = schema.get("items") {
        return value(items);
    }
    if let Some(values) = schema["enum"].as_array() {
        return values[0].as_str().map_or_else(|| values[0].to_string(), str::to_owned);
    }
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("boolean"), _) => "true".to_owned(),
        (Some("string"), Some("date")) => "2026-01-31".to_owned(),
        _ => "1".to_owned(),
    }
}

/// Creates a project with two rows for nearly every table. Returns an order, and a category that has children.
async fn furnished(db: TestDatabase) -> (ProjectFixture, i64, i64) {
    let shop = ShopFixture::open(db).await;
    let mut order = 0;
    for price in [100, 200] {
        let item = shop.goods(5, price).await;
        order = shop.order(&shop.pickup(item, 1)).await.expect(201)["order"]["id"].as_i64().unwrap();
        shop.past_subscription(item).await;
    }
    let ShopFixture { server, project, category, .. } = shop;
    let owner = server.owner(&project).await;
    let fixture = ProjectFixture { server, project, owner };
    let shown = format!("/api/applications/{}", fixture.project.application_id);
    fixture.create(&format!("{shown}/categories"), json!({ "category_id": category })).await;
    let hooks = format!("{shown}/webhooks");
    let hook = fixture.create(&hooks, json!({ "url": "http://127.0.0.1:9/x" })).await;
    for number in 1..=2 {
        fixture.post(&format!("{hooks}/{hook}/test"), json!({})).await.expect(201);
        let sale = json!({ "name": format!("Sale {number}"), "type": "percent", "value": 5 });
        fixture.create("/api/discounts", sale).await;
        let brand = fixture.create("/api/brands", json!({ "name": format!("Nord {number}") })).await;
        fixture.create(&format!("{shown}/brands"), json!({ "brand_id": brand })).await;
        let below = json!({ "name": format!("Small {number}"), "parent_id": category });
        let below = fixture.create("/api/categories", below).await;
        fixture.create(&format!("{shown}/categories"), json!({ "category_id": below })).await;
        let file = Part::bytes(PDF.to_vec()).file_name(format!("{number}.pdf"));
        let path = format!("/api/orders/{order}/files");
        let added =
            fixture.server.as_staff(&fixture.owner, Method::POST, &path).multipart(Form::new().part("file", file));
        send(added).await.expect(201);
        fixture.create("/api/tasks", json!({ "title": format!("Call back {number}") })).await;
        fixture.create("/api/pages", json!({ "title": format!("About us {number}") })).await;
        fixture
            .create(&format!("{shown}/blocks"), json!({ "name": format!("Banner {number}"), "block_type_id": 1 }))
            .await;
        fixture.create(&format!("{shown}/menu_items"), json!({ "name": format!("Catalogue {number}") })).await;
        fixture.create(&format!("{shown}/slides"), json!({ "title": format!("Sale {number}") })).await;
        let agent = json!({ "name": format!("Clerk {number}"), "permissions": ["view-orders"] });
        fixture.create("/api/agents", agent).await;
        fixture.warehouse(&format!("Attic {number}")).await;
    }
    (fixture, order, category)
}

/// Returns the identifiers of the records of a list or a table.
fn numbers(list: &Value) -> Vec<i64> {
    let records =
        list.as_object().unwrap().iter().find(|(key, value)| value.is_array() && *key != "columns").unwrap().1;
    let number = |record: &Value| record["id"].as_i64().or_else(|| record["id"]["value"].as_i64()).unwrap();
    records.as_array().unwrap().iter().map(number).collect()
}

database_tests! {
    async fn every_table_answers_what_it_says_it_can_be_asked(db: TestDatabase) {
        let (fixture, order, category) = furnished(db).await;
        let tables = tables();
        assert!(tables.len() >= 4, "{tables:?}");
        for (path, parameters) in tables {
            // A table below a record: the first part of the path names the application, a category or an order.
            let id = if path.contains("/applications/") {
                fixture.project.application_id
            } else if path.contains("/categories/") {
                category
            } else {
                order
            };
            let path = path.replace("{id}", &id.to_string());
            let key = path.rsplit('/').find(|segment| segment.parse::<i64>().is_err()).unwrap().to_owned();
            let plain = fixture.get(&path).await.expect(200);
            assert!(plain[&key].is_array(), "{path}: {plain}");
            assert_eq!(plain["pagination"]["per_page"], 15, "{path}");
            for (order, column) in (1..).zip(plain["columns"].as_array().unwrap()) {
                assert_eq!(column["order"], order, "{path}");
            }
            let mut all = Vec::new();
            for parameter in &parameters {
                let name = parameter["name"].as_str().unwrap();
                let values = match parameter["schema"]["enum"].as_array() {
                    Some(values) => values.iter().map(|value| value.as_str().unwrap().to_owned()).collect(),
                    None => vec![value(&parameter["schema"])],
                };
                for value in &values {
                    fixture.get(&format!("{path}?{name}={value}")).await.expect(200);
                }
                all.push(format!("{name}={}", values[0]));
            }
            fixture.get(&format!("{path}?{}", all.join("&"))).await.expect(200);
            fixture.get(&format!("{path}?colour=red&page=0")).await.expect_invalid(&["colour", "page"]);
        }
    }

    async fn every_list_is_sorted_as_asked(db: TestDatabase) {
        let (fixture, order, category) = furnished(db).await;
        let description = serde_json::to_value(description()).unwrap();
        let (mut sorted, mut short) = (0, Vec::new());
        for (path, item) in description["paths"].as_object().unwrap() {
            let parameters = item["get"]["parameters"].as_array().cloned().unwrap_or_default();
            let orders = parameters.iter().find(|one| one["name"] == "order_by").map(|one| &one["schema"]["enum"]);
            let Some(orders) = orders.and_then(Value::as_array) else { continue };
            let id = match path.as_str() {
                path if path.contains("/applications/") => fixture.project.application_id,
                path if path.contains("/categories/") => category,
                _ => order,
            };
            let list = path.replace("{id}", &id.to_string());
            for order in orders.iter().filter_map(|order| order.as_str()?.strip_suffix("_asc")) {
                let up = numbers(&fixture.get(&format!("{list}?order_by={order}_asc")).await.expect(200));
                let mut down = numbers(&fixture.get(&format!("{list}?order_by={order}_desc")).await.expect(200));
                down.reverse();
                assert_eq!(up, down, "{list} by {order}");
                if up.len() < 2 {
                    short.push(path.as_str());
                } else if order == "id" {
                    assert!(up.is_sorted(), "{list}: {up:?}");
                }
                sorted += 1;
            }
        }
        short.dedup();
        // One customer, one branch, one shop, and an order of one line.
        let expected = ["/api/counterparties", "/api/shops", "/api/tables/branches", "/api/tables/counterparties",
            "/api/tables/orders/{id}/nomenclatures", "/api/tables/shops"];
        assert_eq!(short, expected);
        assert!(sorted > 100, "{sorted}");
    }

    async fn a_column_has_an_icon_where_its_cells_are_objects(db: TestDatabase) {
        let (fixture, order, category) = furnished(db).await;
        for (path, _) in tables() {
            let id = match path.as_str() {
                path if path.contains("/applications/") => fixture.project.application_id,
                path if path.contains("/categories/") => category,
                _ => order,
            };
            let path = path.replace("{id}", &id.to_string());
            let key = path.rsplit('/').find(|segment| segment.parse::<i64>().is_err()).unwrap().to_owned();
            let table = fixture.get(&path).await.expect(200);
            let rows = table[&key].as_array().unwrap();
            assert!(!rows.is_empty(), "{path} has no row to look at: make one in `furnished`");
            for row in rows {
                let versions = usize::from(row.get("version").is_some());
                let columns = table["columns"].as_array().unwrap().len();
                assert_eq!(row.as_object().unwrap().len(), columns + versions, "{path}: {row}");
                for column in table["columns"].as_array().unwrap() {
                    let cell = &row[column["key"].as_str().unwrap()];
                    assert_eq!(cell.is_object(), column["has_icon"] == true, "{path}: {column}: {cell}");
                    let Some(cell) = cell.as_object() else { continue };
                    let reported: Vec<&str> = cell.keys().map(String::as_str).filter(|key| *key != "url").collect();
                    assert!(reported.contains(&"icon") && reported.contains(&"value"), "{path}: {cell:?}");
                }
            }
        }
    }
}
