//! Common properties of reads: JSON responses, and times with a time zone.

use std::collections::BTreeSet;

use kontor::policies;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_web::policy::Policy;
use reqwest::Method;
use serde_json::{Value, json};

use super::is_staff;
use super::records::{self, Records};
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, send};

const AT: &str = "'2026-01-01 00:00:00'";

/// Reads that return a spreadsheet.
const SHEETS: [&str; 2] = ["/api/jobs/{id}/errors", "/api/jobs/{id}/file"];

/// Times of day, which have no time zone of their own.
const HOURS: [&str; 2] = ["opens_at", "closes_at"];

/// Reads that return at least one time in a project with one record of every kind.
const TELLING: [&str; 27] = [
    "/api/applications/{id}/blocks",
    "/api/applications/{id}/blocks/{block_id}",
    "/api/block_types",
    "/api/block_types/{id}",
    "/api/counterparties",
    "/api/counterparty/blocks/id/{identifier}",
    "/api/counterparty/blocks/{code}",
    "/api/counterparty/countries",
    "/api/counterparty/dictionaries",
    "/api/counterparty/orders",
    "/api/counterparty/page_types",
    "/api/counterparty/pages",
    "/api/counterparty/pages/{slug}",
    "/api/counterparty/shops",
    "/api/counterparty/slides",
    "/api/counterparty/tags",
    "/api/countries",
    "/api/files/{id}",
    "/api/order_statuses",
    "/api/orders",
    "/api/page_tags",
    "/api/pages/{id}",
    "/api/settings",
    "/api/tables/applications/{id}/blocks",
    "/api/tables/orders",
    "/api/tables/pages",
    "/api/tags",
];

/// Returns the path of the first entry of a dictionary.
fn first(policy: &Policy) -> String {
    let segments = policy.path.split('/').map(|segment| if segment.starts_with('{') { "1" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

/// Creates a record of every kind. Returns the identifiers, including those that customers use.
async fn create_records(shop: &ShopFixture) -> Records {
    let (project, application) = (shop.project.id, shop.project.application_id);
    for statement in [
        format!("INSERT INTO tags (project_id, name, created_at) VALUES ({project}, 'New', {AT})"),
        format!(
            "INSERT INTO slides (project_id, application_id, title, position, is_active, created_at, updated_at) \
             VALUES ({project}, {application}, 'Sale', 1, TRUE, {AT}, {AT})"
        ),
    ] {
        shop.server.execute(&statement).await;
    }
    let records = Records::of(shop).await;
    shop.server.db.database.rebuild_offers().await.unwrap();
    let shown = format!("/api/applications/{application}");
    let block = json!({ "name": "Banner", "block_type_id": 1, "code": 777 });
    shop.employee(Method::POST, &format!("{shown}/blocks"), &block).await.expect(201);
    let menu = json!({ "name": "Menu", "slug": "navpanel" });
    shop.employee(Method::POST, &format!("{shown}/menu_items"), &menu).await.expect(201);
    let page = format!("/api/pages/{}", records.id("pages"));
    shop.employee(Method::PUT, &page, &json!({ "tags": ["Tag"] })).await.expect(200);
    let item = records.id("nomenclatures").to_owned();
    records
        .with("products", item.clone())
        .with("favourites", item)
        .with("counterparty/blocks", "777".to_owned())
        .with("id", "banner".to_owned())
        .with("counterparty/pages", "page".to_owned())
        .with("menus", "navpanel".to_owned())
        .with("delivery_types", "2".to_owned())
        .with("subtypes", "1".to_owned())
}

/// Returns the responses of all JSON reads.
async fn reads(db: TestDatabase) -> Vec<(&'static str, Answer)> {
    let shop = ShopFixture::open(db).await;
    let records = create_records(&shop).await;
    let owner = shop.server.owner(&shop.project).await;
    let mut answers = Vec::new();
    for policy in policies::all().filter(|policy| policy.method == "GET" && !SHEETS.contains(&policy.path)) {
        let path = if records::is_shared(policy) { first(policy) } else { records.path(policy) };
        let request = if is_staff(policy) {
            shop.server.as_staff(&owner, Method::GET, &path)
        } else {
            shop.server.as_customer(&shop.project, &shop.bearer, Method::GET, &path)
        };
        answers.push((policy.path, send(request).await));
    }
    answers
}

/// Collects every time in a response, with the name of its field.
fn moments<'a>(value: &'a Value, found: &mut Vec<(&'a str, &'a Value)>) {
    match value {
        Value::Array(items) => {
            for item in items {
                moments(item, found);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                if name.ends_with("_at") && !HOURS.contains(&name.as_str()) && !field.is_null() {
                    found.push((name.as_str(), field));
                }
                moments(field, found);
            }
        }
        _ => {}
    }
}

/// Returns `true` for ISO 8601 with an offset or `Z`.
fn has_a_zone(moment: &Value) -> bool {
    moment.as_str().is_some_and(|text| {
        text.as_bytes().get(10) == Some(&b'T') && chrono::DateTime::parse_from_rfc3339(text).is_ok()
    })
}

database_tests! {
    async fn every_read_answers_in_json(db: TestDatabase) {
        let mut found = 0;
        for (path, answer) in reads(db).await {
            let media = answer.headers.get("content-type").and_then(|media| media.to_str().ok());
            assert_eq!(media, Some("application/json"), "{path}: {} {}", answer.status, answer.text);
            assert!(answer.json().is_object(), "{path}: {}", answer.text);
            found += u32::from(answer.status == 200);
        }
        assert!(found > 150, "{found}");
    }

    async fn every_time_has_its_zone(db: TestDatabase) {
        let (mut telling, mut wrong) = (BTreeSet::new(), Vec::new());
        for (path, answer) in reads(db).await {
            let body = answer.json();
            let mut found = Vec::new();
            moments(&body, &mut found);
            if !found.is_empty() {
                telling.insert(path);
            }
            let bare = found.into_iter().filter(|(_, moment)| !has_a_zone(moment));
            wrong.extend(bare.map(|(name, moment)| format!("{path}: {name} is {moment}")));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let silent: Vec<&str> = TELLING.into_iter().filter(|path| !telling.contains(path)).collect();
        assert!(silent.is_empty(), "nothing to look at in {silent:?}");
    }
}
