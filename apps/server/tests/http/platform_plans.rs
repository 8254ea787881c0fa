//! Subscription plans of an application, chosen by staff.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;

fn path_of(application: i64) -> String {
    format!("/api/applications/{application}/subscription-nomenclatures")
}

fn path(fixture: &ProjectFixture) -> String {
    path_of(fixture.project.application_id)
}

async fn assign(fixture: &ProjectFixture, body: Value) -> Value {
    fixture.post(&path(fixture), body).await.expect(201)["assignment"].clone()
}

/// Returns the application's catalog of plans with this query string.
async fn catalog(fixture: &ProjectFixture, query: &str) -> Value {
    fixture.get(&format!("{}/catalog?{query}", path(fixture))).await.expect(200)
}

fn names(catalog: &Value) -> Vec<&str> {
    let plans = catalog["subscriptionNomenclatures"].as_array().unwrap();
    plans.iter().map(|plan| plan["name"].as_str().unwrap()).collect()
}

database_tests! {
    async fn a_plan_is_chosen_changed_and_taken_away(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let category = fixture.create("/api/categories", json!({ "name": "Clubs" })).await;
        let gold = fixture.plan("Gold", json!({
            "article": "G-1", "category_id": category, "photos": ["https://a.example/1.png"],
        })).await;
        fixture.create("/api/nomenclatures", json!({ "name": "Engraving", "kind_id": 1, "price": 1 })).await;
        let mut expected = json!({
            "id": gold, "article": "G-1", "name": "Gold", "price": "490.00", "currency": "RUB", "billing_period_months": 1,
            "category": { "id": category, "name": "Clubs" },
            "photos": [{ "id": null, "url": "https://a.example/1.png" }], "assignment": null,
        });
        let shown = catalog(&fixture, "").await;
        assert_eq!((&shown["subscriptionNomenclatures"], &shown["subscriptionNomenclaturesCount"]), (&json!([expected]), &json!(1)));
        assert_eq!((&shown["pagination"]["total"], &shown["pagination"]["per_page"]), (&json!(1), &json!(100)));

        let assigned = assign(&fixture, json!({ "nomenclature_id": gold })).await;
        let fields = (&assigned["application_id"], &assigned["nomenclature_id"], &assigned["position"], &assigned["is_active"]);
        assert_eq!(fields, (&json!(fixture.project.application_id), &json!(gold), &json!(1), &json!(true)));
        assert_eq!(assigned["plan_slug"], format!("plan-{gold}"));
        assert!(assigned["created_at"].is_string() && assigned["created_at"] == assigned["updated_at"]);
        expected["assignment"] = assigned.clone();
        assert_eq!(catalog(&fixture, "").await["subscriptionNomenclatures"], json!([expected]));

        let other = json!({ "nomenclature_id": gold, "plan_slug": "other", "position": 9, "is_active": false });
        let again = fixture.post(&path(&fixture), other).await.expect(200);
        assert_eq!(again["assignment"], assigned, "nothing changes then");

        let one = format!("{}/{}", path(&fixture), assigned["id"]);
        assert_eq!(fixture.get(&one).await.expect(200), json!({ "assignment": assigned }));
        let mut changed = assigned.clone();
        for (field, value) in [("plan_slug", json!("gold")), ("position", json!(0)), ("is_active", json!(false))] {
            changed[field] = value.clone();
            let answer = fixture.patch(&one, json!({ field: value })).await.expect(200);
            changed["updated_at"] = answer["assignment"]["updated_at"].clone();
            assert_eq!(answer, json!({ "assignment": changed }));
            assert_eq!(fixture.get(&one).await.expect(200), answer);
        }
        let kept = fixture.patch(&one, json!({})).await.expect(200)["assignment"].clone();
        assert_eq!((&kept["plan_slug"], &kept["position"], &kept["is_active"]), (&json!("gold"), &json!(0), &json!(false)));

        assert!(fixture.delete(&one).await.expect(200)["message"].is_string());
        expected["assignment"] = json!(null);
        assert_eq!(catalog(&fixture, "").await["subscriptionNomenclatures"], json!([expected]));
        fixture.delete(&one).await.expect(404);
        fixture.get(&one).await.expect(404);
        fixture.patch(&one, json!({ "is_active": true })).await.expect(404);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (gold, silver) = (fixture.plan("Gold", json!({})).await, fixture.plan("Silver", json!({})).await);
        let post = async |body: Value| fixture.post(&path(&fixture), body).await;
        post(json!({})).await.expect_invalid(&["nomenclature_id"]);
        let wrong = json!({ "nomenclature_id": "x", "plan_slug": "Gold Plan", "position": -1, "is_active": "maybe" });
        post(wrong).await.expect_invalid(&["nomenclature_id", "plan_slug", "position", "is_active"]);
        for slug in [json!("-a"), json!("a-"), json!("a".repeat(65)), json!(7), json!(["a"])] {
            post(json!({ "nomenclature_id": gold, "plan_slug": slug })).await.expect_invalid(&["plan_slug"]);
        }
        let service = fixture.create("/api/nomenclatures", json!({ "name": "Engraving", "kind_id": 1, "price": 1 })).await;
        let foreign = json!({ "name": "F", "kind_id": 1, "price": 1, "is_subscription": true, "billing_period_months": 1 });
        let foreign = fixture.create_elsewhere("/api/nomenclatures", foreign).await;
        for item in [service, foreign, 999_999] {
            post(json!({ "nomenclature_id": item })).await.expect_invalid(&["nomenclature_id"]);
        }

        // The slug that another plan gets by default.
        let taken = json!({ "nomenclature_id": gold, "plan_slug": format!("plan-{silver}") });
        let assigned = assign(&fixture, taken).await;
        post(json!({ "nomenclature_id": silver })).await.expect_invalid(&["plan_slug"]);
        post(json!({ "nomenclature_id": silver, "plan_slug": assigned["plan_slug"] })).await.expect_invalid(&["plan_slug"]);
        let second = assign(&fixture, json!({ "nomenclature_id": silver, "plan_slug": "silver" })).await;
        let one = format!("{}/{}", path(&fixture), second["id"]);
        fixture.patch(&one, json!({ "plan_slug": assigned["plan_slug"], "position": 7 })).await.expect_invalid(&["plan_slug"]);
        let nothing = json!({ "plan_slug": null, "position": null, "is_active": null });
        fixture.patch(&one, nothing).await.expect_invalid(&["plan_slug", "position", "is_active"]);
        fixture.patch(&one, json!({ "position": 1_000_000_001 })).await.expect_invalid(&["position"]);
        let shown = catalog(&fixture, "query=Silver").await;
        assert_eq!(shown["subscriptionNomenclatures"][0]["assignment"], second, "a refused change changes nothing");
        // In another application the slug is free.
        let other_application = fixture.other_application().await;
        fixture.create(&path_of(other_application.application_id), json!({ "nomenclature_id": silver, "plan_slug": assigned["plan_slug"] })).await;
    }

    async fn assignments_belong_to_their_application(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let other_application = fixture.other_application().await;
        let gold = fixture.plan("Gold", json!({})).await;
        let theirs = fixture.create(&path_of(other_application.application_id), json!({ "nomenclature_id": gold })).await;
        assert_eq!(catalog(&fixture, "").await["subscriptionNomenclatures"][0]["assignment"], Value::Null);
        for absent in [
            format!("{}/{theirs}", path(&fixture)), format!("{}/999999", path(&fixture)), format!("{}/x", path(&fixture)),
            format!("{}/{theirs}", path_of(999_999)),
        ] {
            fixture.get(&absent).await.expect(404);
            fixture.patch(&absent, json!({ "is_active": false })).await.expect(404);
            fixture.delete(&absent).await.expect(404);
        }
        fixture.get(&format!("{}/catalog", path_of(999_999))).await.expect(404);
        fixture.post(&path_of(999_999), json!({ "nomenclature_id": gold })).await.expect(404);

        let (all, one) = (path_of(other_application.application_id), format!("{}/{theirs}", path_of(other_application.application_id)));
        let catalog = format!("{all}/catalog");
        let body = json!({ "nomenclature_id": gold });
        let calls = [
            (Method::GET, &catalog), (Method::GET, &one), (Method::POST, &all), (Method::PATCH, &one), (Method::DELETE, &one),
        ];
        for (method, path) in calls {
            fixture.as_outsider(method.clone(), path, body.clone()).await.expect(403);
            let (may, may_not) =
                if method == Method::GET { ("view-applications", "edit-nomenclatures") } else { ("edit-applications", "view-applications") };
            fixture.as_one_who_may(&[may_not], method.clone(), path, body.clone()).await.expect(403);
            fixture.as_one_who_may(&[may], method, path, body.clone()).await.expect(200);
        }
    }

    async fn the_catalogue_is_searched_and_paged_at_one_cost(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        fixture.create("/api/nomenclatures", json!({ "name": "Golden ring", "kind_id": 1, "price": 1 })).await;
        let mut ids = Vec::new();
        for (name, article) in [("Club Gold", "C-1"), ("Gold", "G-2"), ("Silver", "GOLD")] {
            ids.push(fixture.plan(name, json!({ "article": article })).await);
        }
        let first = fixture.cost(&format!("{}/catalog", path(&fixture))).await;
        let found = fixture.cost(&format!("{}/catalog?query=gold", path(&fixture))).await;
        for id in ids {
            assign(&fixture, json!({ "nomenclature_id": id })).await;
        }
        for number in 0..9 {
            fixture.plan(&format!("Plan {number}"), json!({})).await;
        }
        assert_eq!(fixture.cost(&format!("{}/catalog", path(&fixture))).await, first);
        assert_eq!(fixture.cost(&format!("{}/catalog?query=gold", path(&fixture))).await, found);

        assert_eq!(names(&catalog(&fixture, "query=gold").await), ["Silver", "Gold", "Club Gold"], "the best first");
        assert_eq!(names(&catalog(&fixture, "query=club+gol").await), ["Club Gold"]);
        assert!(names(&catalog(&fixture, "query=ring").await).is_empty(), "only plans are found");
        let page = catalog(&fixture, "page=2&per_page=2").await;
        assert_eq!((names(&page), &page["subscriptionNomenclaturesCount"]), (vec!["Silver", "Plan 0"], &json!(12)));
        let place = (&page["pagination"]["from"], &page["pagination"]["to"], &page["pagination"]["last_page"]);
        assert_eq!(place, (&json!(3), &json!(4), &json!(6)));
        assert!(names(&catalog(&fixture, "page=99").await).is_empty());
        let wrong = format!("{}/catalog?page=0&per_page=101&query=&is_active=1", path(&fixture));
        fixture.get(&wrong).await.expect_invalid(&["page", "per_page", "query", "is_active"]);
    }

    async fn an_application_has_a_limited_number_of_plans(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (project, application) = (fixture.project.id, fixture.project.application_id);
        fixture.server.execute(&format!(
            "INSERT INTO nomenclatures (project_id, name, name_key, kind_id, price, is_subscription, billing_period_months, \
             wholesale, pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at) \
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) \
             SELECT {project}, 'P', 'p', 1, 100, TRUE, 1, FALSE, 1, 1, 0, 1, created_at, created_at FROM n, projects \
             WHERE id = {project}"
        )).await;
        fixture.server.execute(&format!(
            "INSERT INTO subscription_nomenclatures (project_id, application_id, nomenclature_id, plan_slug, position, is_active, \
             created_at, updated_at) SELECT {project}, {application}, id, 'plan-' || id, 1000000000, FALSE, created_at, created_at \
             FROM nomenclatures WHERE project_id = {project}"
        )).await;
        let known = catalog(&fixture, "per_page=1").await["subscriptionNomenclatures"][0].clone();
        let last = fixture.plan("Last", json!({})).await;
        fixture.post(&path(&fixture), json!({ "nomenclature_id": last })).await.expect_invalid(&["application"]);
        fixture.post(&path(&fixture), json!({ "nomenclature_id": known["id"] })).await.expect(200);
        // An item that is no longer a plan does not occupy a position.
        fixture.put(&format!("/api/nomenclatures/{}", known["id"]), json!({ "is_subscription": false })).await.expect(200);
        let assigned = assign(&fixture, json!({ "nomenclature_id": last })).await;
        assert_eq!(assigned["position"], 1_000_000_000, "there is no place beyond the last");
        let one = format!("{}/{}", path(&fixture), assigned["id"]);
        fixture.delete(&one).await.expect(200);
        assign(&fixture, json!({ "nomenclature_id": last })).await;
    }
}
