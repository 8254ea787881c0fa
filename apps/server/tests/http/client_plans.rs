//! Subscription plans as customers see them: only those assigned to their application.

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::response_cache::watched;
use crate::support::{Project, send};

async fn open(db: TestDatabase) -> ProjectFixture {
    let fixture = ProjectFixture::open(db).await;
    // From here on responses are cached: each test has read the same paths before.
    watched(&fixture.server.db.database).await;
    fixture
}

async fn client(fixture: &ProjectFixture, project: &Project, path: &str) -> Value {
    let path = format!("/api/counterparty/{path}");
    send(fixture.server.as_app(project, Method::GET, &path)).await.expect(200)["data"].clone()
}

fn path(fixture: &ProjectFixture) -> String {
    format!("/api/applications/{}/subscription-nomenclatures", fixture.project.application_id)
}

/// Returns the identifier of a new assignment.
async fn assign(fixture: &ProjectFixture, body: Value) -> i64 {
    fixture.create(&path(fixture), body).await
}

/// Returns the names that all three lists show, in order.
async fn shown(fixture: &ProjectFixture, project: &Project) -> Vec<String> {
    let names = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|plan| plan["name"].as_str().unwrap().to_owned()).collect()
    };
    let plans = names(&client(fixture, project, "subscription-plans").await);
    let catalog = names(&client(fixture, project, "subscription-catalog").await);
    let groups = client(fixture, project, "subscription-catalog/grouped").await;
    let mut grouped: Vec<String> = groups.as_array().unwrap().iter().flat_map(|group| names(&group["plans"])).collect();
    assert_eq!(plans, catalog);
    grouped.sort_unstable();
    let mut sorted = plans.clone();
    sorted.sort_unstable();
    assert_eq!(grouped, sorted);
    plans
}

database_tests! {
    async fn a_plan_is_shown_where_it_was_assigned(db: TestDatabase) {
        let fixture = open(db).await;
        let (other_application, outsider) = (fixture.other_application().await, fixture.server.project().await);
        let category = fixture.create("/api/categories", json!({ "name": "Clubs" })).await;
        let gold = fixture.plan("Gold", json!({
            "article": "G-1", "price": "4900.00", "billing_period_months": 12, "category_id": category,
            "description": "<p onclick=\"x()\">All <b>year</b></p><script>x()</script>",
            "photos": ["https://a.example/1.png", "https://a.example/2.png"],
        })).await;
        for project in [&fixture.project, &other_application, &outsider] {
            assert!(shown(&fixture, project).await.is_empty());
        }
        let id = assign(&fixture, json!({ "nomenclature_id": gold, "plan_slug": "gold-yearly" })).await;
        assert_eq!(shown(&fixture, &fixture.project).await, ["Gold"]);
        for project in [&other_application, &outsider] {
            assert!(shown(&fixture, project).await.is_empty());
        }
        let mut plan = json!({
            "id": id, "plan_slug": "gold-yearly", "nomenclature_id": gold, "name": "Gold", "amount": "4900.00",
            "currency": "RUB", "billing_period_months": 12,
        });
        assert_eq!(client(&fixture, &fixture.project, "subscription-plans").await, json!([plan]));
        let more = json!({
            "article": "G-1", "description": "<p>All <b>year</b></p>", "characteristics": "",
            "photos": [{ "id": null, "url": "https://a.example/1.png" }, { "id": null, "url": "https://a.example/2.png" }],
            "category": { "id": category, "name": "Clubs" },
        });
        plan.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(client(&fixture, &fixture.project, "subscription-catalog").await, json!([plan]));
        let groups = client(&fixture, &fixture.project, "subscription-catalog/grouped").await;
        assert_eq!(groups, json!([{ "category": plan["category"], "plans": [plan] }]));
    }

    async fn a_plan_is_no_product_and_lies_in_no_cart(db: TestDatabase) {
        let fixture = open(db).await;
        let plan = fixture.plan("Gold", json!({})).await;
        assign(&fixture, json!({ "nomenclature_id": plan })).await;
        assert_eq!(shown(&fixture, &fixture.project).await, ["Gold"]);
        let get = |path: String| fixture.server.as_app(&fixture.project, Method::GET, &path);
        let products = send(get("/api/counterparty/products".to_owned())).await.expect(200);
        assert_eq!(products["products"]["total"], 0);
        send(get(format!("/api/counterparty/products/{plan}"))).await.expect(404);
        let cart = json!({ "products": [{ "id": plan, "quantity": 1 }] });
        let path = "/api/counterparty/orders/precalculate";
        let refused = send(fixture.server.as_app(&fixture.project, Method::POST, path).json(&cart)).await;
        refused.expect_invalid(&["products.0.id"]);
    }

    async fn plans_stand_by_position_and_in_groups(db: TestDatabase) {
        let fixture = open(db).await;
        let (clubs, courses) = (
            fixture.create("/api/categories", json!({ "name": "Clubs" })).await,
            fixture.create("/api/categories", json!({ "name": "Courses" })).await,
        );
        let mut ids = Vec::new();
        for (name, category) in [("A", courses), ("B", 0), ("C", clubs), ("D", courses), ("E", 0)] {
            let plan = fixture.plan(name, json!({ "category_id": category })).await;
            ids.push(assign(&fixture, json!({ "nomenclature_id": plan })).await);
        }
        assert_eq!(shown(&fixture, &fixture.project).await, ["A", "B", "C", "D", "E"]);
        for (one, position) in [(4, 0), (3, 2)] {
            fixture.patch(&format!("{}/{}", path(&fixture), ids[one]), json!({ "position": position })).await.expect(200);
        }
        // B and D have the same position.
        assert_eq!(shown(&fixture, &fixture.project).await, ["E", "A", "B", "D", "C"]);
        let groups = client(&fixture, &fixture.project, "subscription-catalog/grouped").await;
        let reported: Vec<(Option<&str>, String)> = groups.as_array().unwrap().iter().map(|group| {
            let plans = group["plans"].as_array().unwrap().iter().map(|plan| plan["name"].as_str().unwrap()).collect();
            (group["category"]["name"].as_str(), plans)
        }).collect();
        let expected = [(None, "EB"), (Some("Courses"), "AD"), (Some("Clubs"), "C")];
        assert_eq!(reported, expected.map(|(category, plans)| (category, plans.to_owned())));
    }

    async fn every_change_is_seen_at_once(db: TestDatabase) {
        let fixture = open(db).await;
        let category = fixture.create("/api/categories", json!({ "name": "Clubs" })).await;
        let plan = fixture.plan("Gold", json!({ "category_id": category })).await;
        let card = format!("/api/nomenclatures/{plan}");
        let id = assign(&fixture, json!({ "nomenclature_id": plan, "is_active": false })).await;
        let one = format!("{}/{id}", path(&fixture));
        assert!(shown(&fixture, &fixture.project).await.is_empty());
        for (active, expected) in [(true, 1), (false, 0), (true, 1)] {
            fixture.patch(&one, json!({ "is_active": active })).await.expect(200);
            assert_eq!(shown(&fixture, &fixture.project).await.len(), expected, "{active}");
        }

        let reported = async || client(&fixture, &fixture.project, "subscription-catalog").await[0].clone();
        fixture.patch(&one, json!({ "plan_slug": "gold" })).await.expect(200);
        assert_eq!(reported().await["plan_slug"], "gold");
        for (change, field, expected) in [
            (json!({ "price": "500.00" }), "amount", json!("500.00")),
            (json!({ "name": "Silver" }), "name", json!("Silver")),
            (json!({ "billing_period_months": 3 }), "billing_period_months", json!(3)),
            (json!({ "photos": ["https://a.example/3.png"] }), "photos", json!([{ "id": null, "url": "https://a.example/3.png" }])),
            (json!({ "description": "<i>new</i>" }), "description", json!("<i>new</i>")),
            (json!({ "characteristics": "<ul><li style=\"x\">1</li></ul>" }), "characteristics", json!("<ul><li>1</li></ul>")),
        ] {
            fixture.put(&card, change).await.expect(200);
            assert_eq!(reported().await[field], expected, "{field}");
        }
        fixture.put(&format!("/api/categories/{category}"), json!({ "name": "Unions" })).await.expect(200);
        assert_eq!(reported().await["category"]["name"], "Unions");
        fixture.put(&card, json!({ "category_id": 0 })).await.expect(200);
        assert_eq!(reported().await["category"], Value::Null);

        // An item that is no longer a plan is a service for sale. Its assignment waits until it is a plan again.
        let products = async || {
            let path = "/api/counterparty/products";
            send(fixture.server.as_app(&fixture.project, Method::GET, path)).await.expect(200)["products"]["total"].clone()
        };
        fixture.put(&card, json!({ "is_subscription": false })).await.expect(200);
        assert!(shown(&fixture, &fixture.project).await.is_empty());
        assert_eq!(products().await, 1);
        fixture.put(&card, json!({ "is_subscription": true, "billing_period_months": 6 })).await.expect(200);
        assert_eq!(shown(&fixture, &fixture.project).await, ["Silver"]);
        assert_eq!((products().await, reported().await["id"].clone()), (json!(0), json!(id)));

        fixture.delete(&one).await.expect(200);
        assert!(shown(&fixture, &fixture.project).await.is_empty());
        let again = assign(&fixture, json!({ "nomenclature_id": plan })).await;
        assert_eq!((reported().await["id"].clone(), reported().await["plan_slug"].clone()), (json!(again), json!(format!("plan-{plan}"))));
    }
}
