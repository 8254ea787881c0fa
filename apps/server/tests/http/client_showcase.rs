//! Storefront data besides the lists: sanitized HTML, dictionaries, slides, views by address.

use std::collections::BTreeSet;

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::support::{Answer, Project, TestServer, keys, send};

const CLIENT: &str = "/api/counterparty";

async fn client(fixture: &ProjectFixture, path: &str) -> Answer {
    send(fixture.server.as_app(&fixture.project, Method::GET, &format!("{CLIENT}/{path}"))).await
}

/// Creates a service of the project, which is shown without stock.
async fn engraving(fixture: &ProjectFixture, card: Value) -> i64 {
    let mut body = json!({ "name": "Engraving", "kind_id": 1, "price": "100.00" });
    body.as_object_mut().unwrap().extend(card.as_object().unwrap().clone());
    fixture.create("/api/nomenclatures", body).await
}

async fn ids(fixture: &ProjectFixture) -> BTreeSet<i64> {
    let list = client(fixture, "products").await.expect(200);
    list["products"]["data"].as_array().unwrap().iter().map(|product| product["id"].as_i64().unwrap()).collect()
}

database_tests! {
    async fn html_is_kept_for_staff_and_cleaned_for_customers(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let description = "<p onclick=\"steal()\">A <b>mug</b></p><script>steal()</script>\
            <a href=\"javascript:steal()\">x</a><svg onload=steal()></svg><style>p{}</style>";
        let characteristics = "<ul><li style=\"color:red\">0.3 l</li></ul>";
        let card = json!({ "description": description, "characteristics": characteristics });
        let id = engraving(&fixture, card).await;
        let kept = fixture.get(&format!("/api/nomenclatures/{id}")).await.expect(200);
        assert_eq!(kept["nomenclature"]["description"], description);
        assert_eq!(kept["nomenclature"]["characteristics"], characteristics);
        let clean = "<p>A <b>mug</b></p><a rel=\"noopener noreferrer nofollow\">x</a>";
        for _ in 0..2 {
            let product = client(&fixture, &format!("products/{id}")).await.expect(200)["product"].clone();
            assert_eq!(product["description"], clean);
            assert_eq!(product["characteristics"], "<ul><li>0.3 l</li></ul>");
        }
        let (_, bearer) = fixture.server.customer(&fixture.project).await;
        let path = format!("{CLIENT}/products/favourites/{id}");
        let product = send(fixture.server.as_customer(&fixture.project, &bearer, Method::GET, &path)).await.expect(200);
        assert_eq!(product["product"]["description"], clean);
        fixture.put(&format!("/api/nomenclatures/{id}"), json!({ "description": "<script>x</script>", "characteristics": "<p>new</p>" })).await.expect(200);
        let product = client(&fixture, &format!("products/{id}")).await.expect(200)["product"].clone();
        assert_eq!((&product["description"], &product["characteristics"]), (&json!(null), &json!("<p>new</p>")));
    }

    async fn goods_need_category_and_stock_services_neither_and_plans_an_assignment(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let category = fixture.create("/api/categories", json!({ "name": "Mugs" })).await;
        let warehouse = fixture.warehouse("Main").await;
        let goods = |name: &str, category: Option<i64>| json!({ "name": name, "kind_id": 2, "category_id": category });
        let complete = fixture.create("/api/nomenclatures", goods("complete", Some(category))).await;
        let bare = fixture.create("/api/nomenclatures", goods("without category", None)).await;
        let missing = fixture.create("/api/nomenclatures", goods("without stock", Some(category))).await;
        for item in [complete, bare] {
            let stock = json!({ "warehouse_id": warehouse, "nomenclature_id": item, "quantity": 3, "price": "5.00" });
            fixture.create("/api/inventories", stock).await;
        }
        let service = engraving(&fixture, json!({})).await;
        let plan = engraving(&fixture, json!({ "is_subscription": true, "billing_period_months": 1 })).await;
        assert_eq!(ids(&fixture).await, BTreeSet::from([complete, service]));
        for hidden in [bare, missing, plan] {
            client(&fixture, &format!("products/{hidden}")).await.expect(404);
        }
        // Another application of the branch, which the warehouse does not serve.
        let other_application = fixture.other_application().await;
        let application_ids = [fixture.project.application_id];
        fixture.put(&format!("/api/warehouses/{warehouse}"), json!({ "application_ids": application_ids })).await.expect(200);
        let shown = send(fixture.server.as_app(&other_application, Method::GET, "/api/counterparty/products")).await.expect(200);
        assert_eq!((&shown["products"]["total"], &shown["products"]["data"][0]["id"]), (&json!(1), &json!(service)));
        assert_eq!(ids(&fixture).await, BTreeSet::from([complete, service]));
    }

    async fn views_count_by_address_and_are_stored_together(db: TestDatabase) {
        let server = TestServer::start_with(db, |config| config.trusted_proxies = vec!["127.0.0.1".into()]).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        let fixture = ProjectFixture { server, project, owner };
        let id = engraving(&fixture, json!({})).await;
        let path = format!("{CLIENT}/products/{id}");
        let view = async |address: &str| {
            let request = fixture.server.as_app(&fixture.project, Method::GET, &path).header("X-Forwarded-For", address);
            send(request).await.expect(200)["product"]["views_count"].as_u64().unwrap()
        };
        assert_eq!((view("203.0.113.1").await, view("203.0.113.1").await, view("203.0.113.2").await), (1, 1, 2));
        assert_eq!((view("2001:db8::1").await, view("2001:db8::ffff").await, view("2001:db8:0:1::1").await), (3, 3, 4));
        fixture.server.clock.advance(599);
        assert_eq!(view("203.0.113.1").await, 4);
        fixture.server.clock.advance(1);
        assert_eq!((view("203.0.113.1").await, view("203.0.113.1").await), (5, 5));
        let db = fixture.server.stop().await;
        let server = TestServer::start(db).await;
        assert_eq!(server.insert(format!("SELECT views_count AS id FROM nomenclatures WHERE id = {id}")).await, 5);
        assert_eq!(server.insert(format!("SELECT popularity AS id FROM storefront_offers WHERE nomenclature_id = {id}")).await, 5);
    }

    async fn countries_tags_and_slides_have_their_scopes(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let other = fixture.server.project().await;
        let (p, application) = (fixture.project.id, fixture.project.application_id);
        fixture.server.execute(&format!(
            "INSERT INTO tags (project_id, name, photo, created_at) VALUES ({p}, 'New', 'https://a.example/n.png', '2026-01-01 00:00:00'), \
             ({}, 'Foreign', NULL, '2026-01-01 00:00:00')", other.id
        )).await;
        fixture.server.execute(&format!(
            "INSERT INTO slides (project_id, application_id, title, description, photo, link, position, is_active, created_at, updated_at) \
             VALUES ({p}, {application}, 'Sale', '<b onclick=x()>now</b>', 'https://a.example/s.png', '/sale', 1, TRUE, \
             '2026-01-01 00:00:00', '2026-01-01 00:00:00')"
        )).await;
        let tags = client(&fixture, "tags").await.expect(200);
        assert_eq!((&tags["tagsCount"], &tags["tags"][0]["name"]), (&json!(1), &json!("New")));
        assert_eq!(tags["tags"][0]["photo"]["url"], "https://a.example/n.png");
        assert_eq!(keys(&tags["tags"][0]), ["created_at", "id", "name", "photo"]);
        let slides = client(&fixture, "slides").await.expect(200);
        let slide = &slides["slides"][0];
        assert_eq!((&slides["slidesCount"], &slide["title"], &slide["link"]), (&json!(1), &json!("Sale"), &json!("/sale")));
        assert_eq!(slide["description"], "<b>now</b>");
        assert_eq!(keys(slide), ["created_at", "description", "id", "link", "photo", "position", "title"]);
        let elsewhere = send(fixture.server.as_app(&other, Method::GET, "/api/counterparty/slides")).await.expect(200);
        assert_eq!(elsewhere, json!({ "slides": [], "slidesCount": 0 }));
        let countries = client(&fixture, "countries").await.expect(200);
        assert_eq!(countries["countriesCount"], countries["countries"].as_array().unwrap().len());
        assert_eq!(keys(&countries["countries"][0]), ["created_at", "id", "name", "photo"]);
        let theirs = send(fixture.server.as_app(&other, Method::GET, "/api/counterparty/countries")).await.expect(200);
        assert_eq!(theirs, countries);
    }

    async fn two_applications_of_a_project_share_its_shops_alone(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let branch_id = fixture.create("/api/branches", json!({ "name": "Second" })).await;
        let body = json!({ "name": "Second", "branch_id": branch_id });
        let made = fixture.post("/api/applications", body).await.expect(201)["application"].clone();
        let (application_id, app_token) = (made["id"].as_i64().unwrap(), made["token"].as_str().unwrap().to_owned());
        let second = Project { branch_id, application_id, app_token, ..fixture.project.clone() };
        let both = [(&fixture.project, "First"), (&second, "Second")];
        for (project, name) in both {
            let (p, branch, application) = (project.id, project.branch_id, project.application_id);
            let path = format!("/api/applications/{application}");
            let category = fixture.create("/api/categories", json!({ "name": name })).await;
            fixture.post(&format!("{path}/categories"), json!({ "category_id": category })).await.expect(201);
            let brand = fixture.create("/api/brands", json!({ "name": name })).await;
            fixture.post(&format!("{path}/brands"), json!({ "brand_id": brand })).await.expect(201);
            for statement in [
                format!(
                    "INSERT INTO slides (project_id, application_id, title, position, is_active, created_at, \
                     updated_at) VALUES ({p}, {application}, '{name}', 1, TRUE, '2026-01-01 00:00:00', \
                     '2026-01-01 00:00:00')"
                ),
                format!(
                    "INSERT INTO shops (project_id, branch_id, name, address, is_active, created_at, updated_at) \
                     VALUES ({p}, {branch}, '{name}', 'Square 1', TRUE, '2026-01-01 00:00:00', '2026-01-01 00:00:00')"
                ),
            ] {
                fixture.server.execute(&statement).await;
            }
        }
        let mut shops = Vec::new();
        for (project, name) in both {
            let read = async |path: &str| {
                let request = fixture.server.as_app(project, Method::GET, &format!("{CLIENT}/{path}"));
                send(request).await.expect(200)[path].as_array().unwrap().clone()
            };
            for (path, field) in [("categories", "name"), ("brands", "name"), ("slides", "title")] {
                let shown = read(path).await;
                assert_eq!((shown.len(), &shown[0][field]), (1, &json!(name)), "{path}");
            }
            shops.push(read("shops").await);
        }
        assert_eq!(shops[0].len(), 2);
        assert_eq!(shops[0], shops[1]);
    }

    async fn the_dictionaries_are_those_of_their_own_endpoints(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (p, branch, application) = (fixture.project.id, fixture.project.branch_id, fixture.project.application_id);
        let category = fixture.create("/api/categories", json!({ "name": "Mugs" })).await;
        fixture.post(&format!("/api/applications/{application}/categories"), json!({ "category_id": category })).await.expect(201);
        let brand = fixture.create("/api/brands", json!({ "name": "Nord" })).await;
        fixture.post(&format!("/api/applications/{application}/brands"), json!({ "brand_id": brand })).await.expect(201);
        for statement in [
            format!("INSERT INTO tags (project_id, name, created_at) VALUES ({p}, 'New', '2026-01-01 00:00:00')"),
            format!("INSERT INTO delivery_types (project_id, id, name, price, is_active) VALUES ({p}, 1, 'Pickup', 0, TRUE)"),
            format!("INSERT INTO payment_types (project_id, name) VALUES ({p}, 'Cash')"),
            format!(
                "INSERT INTO shops (project_id, branch_id, name, address, is_active, created_at, updated_at) \
                 VALUES ({p}, {branch}, 'Shop', 'Square 1', TRUE, '2026-01-01 00:00:00', '2026-01-01 00:00:00')"
            ),
        ] {
            fixture.server.execute(&statement).await;
        }
        let before = fixture.server.db.database.statements();
        let all = client(&fixture, "dictionaries").await.expect(200);
        let spent = fixture.server.db.database.statements() - before;
        assert!(spent <= 8, "{spent} statements");
        let mut together = serde_json::Map::new();
        for path in ["categories", "brands", "countries", "tags", "delivery_types", "payment_types", "shops"] {
            let own = client(&fixture, path).await.expect(200);
            assert!(own.as_object().unwrap().values().all(|value| *value != json!([]) && *value != json!(0)), "{path}");
            together.extend(own.as_object().unwrap().clone());
        }
        assert_eq!(all, Value::Object(together));
    }
}
