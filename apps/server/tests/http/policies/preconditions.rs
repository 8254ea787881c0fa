//! Every endpoint of a record with a version supports `If-Match` and `If-None-Match`. Every editable record has a
//! version.

use std::collections::BTreeSet;

use kontor::policies;
use kontor_adapter_diesel::database_tests;
use kontor_web::policy::{Access, Policy};
use reqwest::{Method, RequestBuilder};
use serde_json::json;

use super::method;
use super::records::{Records, body};
use crate::project_fixture::ProjectFixture;
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, send};

/// Single records that need no version, with the reason.
const WITHOUT: [(&str, &str); 8] = [
    ("DELETE /api/agents/{agent}/tokens/{token}", "a token never changes, it ends"),
    ("PUT /api/shops/{id}/holidays/{holiday_id}", "a holiday of a day is replaced as a whole"),
    ("DELETE /api/shops/{id}/holidays/{holiday_id}", "a holiday of a day is replaced as a whole"),
    (
        "DELETE /api/branches/{branchId}/bank_requisites/{bankId}/integrations/{id}/parameters/{parameterId}",
        "a parameter never changes, it is removed and added anew",
    ),
    ("DELETE /api/files/{id}", "a file never changes"),
    ("DELETE /api/counterparty/products/favourites/{product_id}", "a favourite is there or not"),
    ("PATCH /api/counterparty/subscriptions/{id}", "of the terms that its customer agrees on the last count"),
    ("DELETE /api/counterparty/payment-methods/{id}", "a saved method never changes, it ends"),
];

fn name(policy: &Policy) -> String {
    format!("{} {}", policy.method, policy.path)
}

fn writes_one(policy: &Policy) -> bool {
    const SINGLE: [&str; 4] =
        ["/api/counterparty", "/api/project", "/api/project/delivery_prices", "/api/subscriptions/settings"];
    let one = policy.path.ends_with('}') || SINGLE.contains(&policy.path);
    one && ["PUT", "PATCH", "DELETE"].contains(&policy.method.as_str())
}

#[test]
fn no_editable_record_is_without_a_version() {
    let exempt: BTreeSet<&str> = WITHOUT.iter().map(|(name, _)| *name).collect();
    let (mut missing, mut used) = (Vec::new(), BTreeSet::new());
    for policy in policies::all() {
        let name = name(policy);
        if writes_one(policy) && policy.versioned.is_none() && !exempt.contains(name.as_str()) {
            missing.push(name.clone());
        }
        used.extend(exempt.get(name.as_str()).filter(|_| policy.versioned.is_none()).copied());
        // An editable record is read with its version, and all its rows name the same record.
        let is_post = |policy: &Policy| policy.method == actix_web::http::Method::POST;
        let alike = policies::all().filter(|other| other.path == policy.path && other.versioned.is_some());
        for other in alike.filter(|other| !is_post(policy) && !is_post(other)) {
            assert_eq!(policy.versioned, other.versioned, "{name}");
        }
        if let Some(record) = policy.versioned {
            // Parts of a record that share its version count as the record.
            let placeholders = policy.result_from.unwrap_or(policy.path).matches('{').count();
            let fits =
                record.numbers() == placeholders.max(1) || is_post(policy) && record.numbers() == placeholders + 1;
            assert!(fits, "{name}: numbers in the path");
        }
    }
    assert!(missing.is_empty(), "neither versioned nor exempt: {missing:?}");
    assert_eq!(used, exempt, "exemptions that nothing needs");
}

/// A project in which every kind of versioned record exists.
struct Scene {
    shop: ShopFixture,
    owner: String,
    records: Records,
}

impl Scene {
    async fn create_records(shop: ShopFixture) -> Self {
        let records = Records::of(&shop).await;
        let owner = shop.server.owner(&shop.project).await;
        let ShopFixture { server, project, .. } = shop;
        let fixture = ProjectFixture { server, project, owner };
        let (application, warehouse, customer) = (fixture.project.application_id, shop.warehouse, shop.customer);
        let brand: i64 = records.id("brands").parse().unwrap();
        let shown = format!("/api/applications/{application}");
        fixture.post(&format!("{shown}/brands"), json!({ "brand_id": brand })).await.expect(201);
        fixture.post(&format!("{shown}/categories"), json!({ "category_id": shop.category })).await.expect(201);
        let plan = fixture.plan("Plan", json!({})).await;
        let plans = format!("{shown}/subscription-nomenclatures");
        let plan = json!({ "nomenclature_id": plan, "plan_slug": "plan", "position": 1, "is_active": true });
        let answer = fixture.post(&plans, plan).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        let plan = fixture.server.insert("SELECT max(id) AS id FROM subscription_nomenclatures".to_owned()).await;
        let customer = format!("/api/counterparties/{customer}");
        let contact = json!({ "kind": "phone", "value": "79001234568" });
        fixture.post(&format!("{customer}/contacts"), contact).await.expect(201);
        let account = json!({ "bik": "044525225", "bank_name": "Bank", "account": "40702810938000000001" });
        fixture.post(&format!("{customer}/bank_requisites"), account).await.expect(201);
        let used = format!("/api/warehouses/{warehouse}/integrations/4");
        fixture.put(&used, json!({ "is_active": true })).await.expect(200);
        let shop_path = format!("/api/shops/{}", shop.shop);
        let hours = json!({ "weekday": 7, "opens_at": "09:00", "closes_at": "18:00" });
        let hours = fixture.create(&format!("{shop_path}/hours"), hours).await;
        let exception = fixture.create(&format!("{shop_path}/exceptions"), json!({ "date": "2026-12-30" })).await;
        let branch = format!("/api/branches/{}/bank_requisites", fixture.project.branch_id);
        let used = format!("{branch}/{}/integrations/1", records.id("branches/bank_requisites"));
        fixture.put(&used, json!({ "is_active": true })).await.expect(200);
        let ProjectFixture { server, project, owner } = fixture;
        let latest = async |table: &str| server.insert(format!("SELECT max(id) AS id FROM {table}")).await.to_string();
        let contact = latest("counterparty_contacts").await;
        let account = latest("counterparty_bank_requisites").await;
        let records = records
            .with("subscription-nomenclatures", plan.to_string())
            .with("contacts", contact)
            .with("bank_requisites", account)
            .with("hours", hours.to_string())
            .with("exceptions", exception.to_string());
        Self { shop: ShopFixture { server, project, ..shop }, owner, records }
    }

    fn request(&self, policy: &Policy) -> RequestBuilder {
        let (shop, path) = (&self.shop, self.records.path(policy));
        match policy.access {
            Access::Staff(_) => shop.server.as_staff(&self.owner, method(policy), &path),
            _ => shop.server.as_customer(&shop.project, &shop.bearer, method(policy), &path),
        }
    }

    async fn write(&self, policy: &Policy, if_match: Option<&str>) -> Answer {
        let request = self.request(policy).json(&body(policy));
        send(if_match.into_iter().fold(request, |request, tag| request.header("If-Match", tag))).await
    }
}

fn tag(answer: &Answer) -> String {
    answer.headers.get("etag").map(|tag| tag.to_str().unwrap().to_owned()).unwrap_or_default()
}

fn versioned(which: &[&str]) -> Vec<&'static Policy> {
    let rows = policies::all().filter(|policy| policy.versioned.is_some());
    rows.filter(|policy| which.contains(&policy.method.as_str())).collect()
}

database_tests! {
    async fn every_record_that_can_be_edited_is_shown_with_its_version(db: TestDatabase) {
        let scene = Scene::create_records(ShopFixture::open(db).await).await;
        let rows = versioned(&["GET"]);
        assert!(rows.len() >= 15, "{}", rows.len());
        for policy in rows {
            let name = name(policy);
            let read = send(scene.request(policy)).await;
            let shown = tag(&read);
            assert_eq!((read.status.as_u16(), shown.is_empty()), (200, false), "{name}: {}", read.text);
            assert!(!shown.starts_with("W/"), "{name}: {shown}");
            let ask = async |tag: &str| send(scene.request(policy).header("If-None-Match", tag)).await;
            for same in [shown.clone(), format!("W/{shown}"), format!("\"other\", {shown}"), "*".to_owned()] {
                let unchanged = ask(&same).await;
                assert_eq!((unchanged.status.as_u16(), unchanged.text.as_str()), (304, ""), "{name}: {same}");
                assert_eq!(tag(&unchanged), shown, "{name}");
                assert_eq!(unchanged.headers["cache-control"], read.headers["cache-control"], "{name}");
            }
            assert_eq!(ask("\"other\"").await.expect(200), read.json(), "{name}");
            let malformed = ask("other").await.expect(400);
            assert_eq!(malformed["error"]["code"], "precondition_malformed", "{name}");
        }
    }

    async fn every_record_that_can_be_edited_is_changed_by_its_version(db: TestDatabase) {
        let scene = Scene::create_records(ShopFixture::open(db).await).await;
        for policy in versioned(&["PUT", "PATCH"]) {
            let name = name(policy);
            let first = scene.write(policy, Some("*")).await;
            let before = tag(&first);
            assert_eq!((first.status.as_u16(), before.is_empty()), (200, false), "{name}: {}", first.text);
            let second = scene.write(policy, Some(&before)).await;
            assert_eq!(second.status, 200, "{name}: {before}: {}", second.text);
            let now = tag(&second);
            // A change of nothing may keep the version.
            if before.split('.').next() != now.split('.').next() {
                let stale = scene.write(policy, Some(&before)).await;
                assert_eq!(stale.expect(412)["error"]["code"], "precondition_failed", "{name}");
                let reported = tag(&stale);
                assert_eq!(scene.write(policy, Some(&reported)).await.status, 200, "{name}: {reported}");
            }
        }
        for policy in versioned(&["PUT", "PATCH", "DELETE"]) {
            let name = name(policy);
            for (tag, status) in [("\"brands-999999-1.0a\"", 412), ("\"999999\"", 412), ("W/\"1\"", 412), ("x", 400)] {
                let refused = scene.write(policy, Some(tag)).await;
                assert_eq!(refused.status, status, "{name} with {tag}: {}", refused.text);
                let (reported, next) = (&refused.json()["error"]["code"], &refused.json()["error"]["next_action"]);
                let expected = if status == 412 { ("precondition_failed", "restart") } else { ("precondition_malformed", "fix_input") };
                assert_eq!((reported, next), (&json!(expected.0), &json!(expected.1)), "{name} with {tag}");
            }
        }
    }

    async fn a_project_can_require_versions(db: TestDatabase) {
        let scene = Scene::create_records(ShopFixture::open(db).await).await;
        let project = scene.shop.project.id.try_into().unwrap();
        let require = async |required| {
            let database = &scene.shop.server.db.database;
            assert!(kontor_organization::ports::ProjectRepository::require_if_match(database, project, required).await.unwrap());
        };
        require(true).await;
        let rows = versioned(&["PUT", "PATCH", "DELETE"]);
        assert!(rows.len() >= 30, "{}", rows.len());
        for policy in rows {
            let refused = scene.write(policy, None).await;
            assert_eq!(refused.expect(428)["error"]["code"], "precondition_required", "{}", name(policy));
        }
        for policy in versioned(&["GET"]) {
            assert_eq!(send(scene.request(policy)).await.status, 200, "{}", name(policy));
        }
        let brand = versioned(&["PUT"]).into_iter().find(|policy| policy.path == "/api/brands/{id}").unwrap();
        scene.write(brand, Some("*")).await.expect(200);
        let outsider = scene.shop.server.owner(&scene.shop.server.project().await).await;
        let elsewhere = scene.shop.server.as_staff(&outsider, Method::PUT, &scene.records.path(brand));
        send(elsewhere.json(&json!({}))).await.expect(403);
        require(false).await;
        scene.write(brand, None).await.expect(200);
    }
}
