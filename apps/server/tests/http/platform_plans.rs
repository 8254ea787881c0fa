//! Subscription plans of an application, chosen by staff.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::office::Office;

fn path_of(application: i64) -> String {
    format!("/api/applications/{application}/subscription-nomenclatures")
}

fn path(office: &Office) -> String {
    path_of(office.project.application_id)
}

async fn assign(office: &Office, body: Value) -> Value {
    office.post(&path(office), body).await.expect(201)["assignment"].clone()
}

/// Returns the application's catalog of plans with this query string.
async fn catalog(office: &Office, query: &str) -> Value {
    office.get(&format!("{}/catalog?{query}", path(office))).await.expect(200)
}

fn names(catalog: &Value) -> Vec<&str> {
    let plans = catalog["subscriptionNomenclatures"].as_array().unwrap();
    plans.iter().map(|plan| plan["name"].as_str().unwrap()).collect()
}

database_tests! {
    async fn a_plan_is_chosen_changed_and_taken_away(db: TestDatabase) {
        let office = Office::open(db).await;
        let category = office.create("/api/categories", json!({ "name": "Clubs" })).await;
        let gold = office.plan("Gold", json!({
            "article": "G-1", "category_id": category, "photos": ["https://a.example/1.png"],
        })).await;
        office.create("/api/nomenclatures", json!({ "name": "Engraving", "kind_id": 1, "price": 1 })).await;
        let mut expected = json!({
            "id": gold, "article": "G-1", "name": "Gold", "price": "490.00", "currency": "RUB", "billing_period_months": 1,
            "category": { "id": category, "name": "Clubs" },
            "photos": [{ "id": null, "url": "https://a.example/1.png" }], "assignment": null,
        });
        let shown = catalog(&office, "").await;
        assert_eq!((&shown["subscriptionNomenclatures"], &shown["subscriptionNomenclaturesCount"]), (&json!([expected]), &json!(1)));
        assert_eq!((&shown["pagination"]["total"], &shown["pagination"]["per_page"]), (&json!(1), &json!(100)));

        let assigned = assign(&office, json!({ "nomenclature_id": gold })).await;
        let fields = (&assigned["application_id"], &assigned["nomenclature_id"], &assigned["position"], &assigned["is_active"]);
        assert_eq!(fields, (&json!(office.project.application_id), &json!(gold), &json!(1), &json!(true)));
        assert_eq!(assigned["plan_slug"], format!("plan-{gold}"));
        assert!(assigned["created_at"].is_string() && assigned["created_at"] == assigned["updated_at"]);
        expected["assignment"] = assigned.clone();
        assert_eq!(catalog(&office, "").await["subscriptionNomenclatures"], json!([expected]));

        let other = json!({ "nomenclature_id": gold, "plan_slug": "other", "position": 9, "is_active": false });
        let again = office.post(&path(&office), other).await.expect(200);
        assert_eq!(again["assignment"], assigned, "nothing changes then");

        let one = format!("{}/{}", path(&office), assigned["id"]);
        assert_eq!(office.get(&one).await.expect(200), json!({ "assignment": assigned }));
        let mut changed = assigned.clone();
        for (field, value) in [("plan_slug", json!("gold")), ("position", json!(0)), ("is_active", json!(false))] {
            changed[field] = value.clone();
            let answer = office.patch(&one, json!({ field: value })).await.expect(200);
            changed["updated_at"] = answer["assignment"]["updated_at"].clone();
            assert_eq!(answer, json!({ "assignment": changed }));
            assert_eq!(office.get(&one).await.expect(200), answer);
        }
        let kept = office.patch(&one, json!({})).await.expect(200)["assignment"].clone();
        assert_eq!((&kept["plan_slug"], &kept["position"], &kept["is_active"]), (&json!("gold"), &json!(0), &json!(false)));

        assert!(office.delete(&one).await.expect(200)["message"].is_string());
        expected["assignment"] = json!(null);
        assert_eq!(catalog(&office, "").await["subscriptionNomenclatures"], json!([expected]));
        office.delete(&one).await.expect(404);
        office.get(&one).await.expect(404);
        office.patch(&one, json!({ "is_active": true })).await.expect(404);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let office = Office::open(db).await;
        let (gold, silver) = (office.plan("Gold", json!({})).await, office.plan("Silver", json!({})).await);
        let post = async |body: Value| office.post(&path(&office), body).await;
        post(json!({})).await.expect_invalid(&["nomenclature_id"]);
        let wrong = json!({ "nomenclature_id": "x", "plan_slug": "Gold Plan", "position": -1, "is_active": "maybe" });
        post(wrong).await.expect_invalid(&["nomenclature_id", "plan_slug", "position", "is_active"]);
        for slug in [json!("-a"), json!("a-"), json!("a".repeat(65)), json!(7), json!(["a"])] {
            post(json!({ "nomenclature_id": gold, "plan_slug": slug })).await.expect_invalid(&["plan_slug"]);
        }
        let service = office.create("/api/nomenclatures", json!({ "name": "Engraving", "kind_id": 1, "price": 1 })).await;
        let foreign = json!({ "name": "F", "kind_id": 1, "price": 1, "is_subscription": true, "billing_period_months": 1 });
        let foreign = office.create_elsewhere("/api/nomenclatures", foreign).await;
        for item in [service, foreign, 999_999] {
            post(json!({ "nomenclature_id": item })).await.expect_invalid(&["nomenclature_id"]);
        }

        // The slug that another plan gets by default.
        let taken = json!({ "nomenclature_id": gold, "plan_slug": format!("plan-{silver}") });
        let assigned = assign(&office, taken).await;
        post(json!({ "nomenclature_id": silver })).await.expect_invalid(&["plan_slug"]);
        post(json!({ "nomenclature_id": silver, "plan_slug": assigned["plan_slug"] })).await.expect_invalid(&["plan_slug"]);
        let second = assign(&office, json!({ "nomenclature_id": silver, "plan_slug": "silver" })).await;
        let one = format!("{}/{}", path(&office), second["id"]);
        office.patch(&one, json!({ "plan_slug": assigned["plan_slug"], "position": 7 })).await.expect_invalid(&["plan_slug"]);
        let nothing = json!({ "plan_slug": null, "position": null, "is_active": null });
        office.patch(&one, nothing).await.expect_invalid(&["plan_slug", "position", "is_active"]);
        office.patch(&one, json!({ "position": 1_000_000_001 })).await.expect_invalid(&["position"]);
        let shown = catalog(&office, "query=Silver").await;
        assert_eq!(shown["subscriptionNomenclatures"][0]["assignment"], second, "a refused change changes nothing");
        // In another application the slug is free.
        let twin = office.twin().await;
        office.create(&path_of(twin.application_id), json!({ "nomenclature_id": silver, "plan_slug": assigned["plan_slug"] })).await;
    }

    async fn assignments_belong_to_their_application(db: TestDatabase) {
        let office = Office::open(db).await;
        let twin = office.twin().await;
        let gold = office.plan("Gold", json!({})).await;
        let theirs = office.create(&path_of(twin.application_id), json!({ "nomenclature_id": gold })).await;
        assert_eq!(catalog(&office, "").await["subscriptionNomenclatures"][0]["assignment"], Value::Null);
        for absent in [
            format!("{}/{theirs}", path(&office)), format!("{}/999999", path(&office)), format!("{}/x", path(&office)),
            format!("{}/{theirs}", path_of(999_999)),
        ] {
            office.get(&absent).await.expect(404);
            office.patch(&absent, json!({ "is_active": false })).await.expect(404);
            office.delete(&absent).await.expect(404);
        }
        office.get(&format!("{}/catalog", path_of(999_999))).await.expect(404);
        office.post(&path_of(999_999), json!({ "nomenclature_id": gold })).await.expect(404);

        let (all, one) = (path_of(twin.application_id), format!("{}/{theirs}", path_of(twin.application_id)));
        let catalog = format!("{all}/catalog");
        let body = json!({ "nomenclature_id": gold });
        let calls = [
            (Method::GET, &catalog), (Method::GET, &one), (Method::POST, &all), (Method::PATCH, &one), (Method::DELETE, &one),
        ];
        for (method, path) in calls {
            office.as_stranger(method.clone(), path, body.clone()).await.expect(403);
            let (may, may_not) =
                if method == Method::GET { ("view-applications", "edit-nomenclatures") } else { ("edit-applications", "view-applications") };
            office.as_one_who_may(&[may_not], method.clone(), path, body.clone()).await.expect(403);
            office.as_one_who_may(&[may], method, path, body.clone()).await.expect(200);
        }
    }

    async fn the_catalogue_is_searched_and_paged_at_one_cost(db: TestDatabase) {
        let office = Office::open(db).await;
        office.create("/api/nomenclatures", json!({ "name": "Golden ring", "kind_id": 1, "price": 1 })).await;
        let mut ids = Vec::new();
        for (name, article) in [("Club Gold", "C-1"), ("Gold", "G-2"), ("Silver", "GOLD")] {
            ids.push(office.plan(name, json!({ "article": article })).await);
        }
        let first = office.cost(&format!("{}/catalog", path(&office))).await;
        let found = office.cost(&format!("{}/catalog?query=gold", path(&office))).await;
        for id in ids {
            assign(&office, json!({ "nomenclature_id": id })).await;
        }
        for number in 0..9 {
            office.plan(&format!("Plan {number}"), json!({})).await;
        }
        assert_eq!(office.cost(&format!("{}/catalog", path(&office))).await, first);
        assert_eq!(office.cost(&format!("{}/catalog?query=gold", path(&office))).await, found);

        assert_eq!(names(&catalog(&office, "query=gold").await), ["Silver", "Gold", "Club Gold"], "the best first");
        assert_eq!(names(&catalog(&office, "query=club+gol").await), ["Club Gold"]);
        assert!(names(&catalog(&office, "query=ring").await).is_empty(), "only plans are found");
        let page = catalog(&office, "page=2&per_page=2").await;
        assert_eq!((names(&page), &page["subscriptionNomenclaturesCount"]), (vec!["Silver", "Plan 0"], &json!(12)));
        let place = (&page["pagination"]["from"], &page["pagination"]["to"], &page["pagination"]["last_page"]);
        assert_eq!(place, (&json!(3), &json!(4), &json!(6)));
        assert!(names(&catalog(&office, "page=99").await).is_empty());
        let wrong = format!("{}/catalog?page=0&per_page=101&query=&is_active=1", path(&office));
        office.get(&wrong).await.expect_invalid(&["page", "per_page", "query", "is_active"]);
    }

    async fn an_application_has_a_limited_number_of_plans(db: TestDatabase) {
        let office = Office::open(db).await;
        let (project, application) = (office.project.id, office.project.application_id);
        office.server.execute(&format!(
            "INSERT INTO nomenclatures (project_id, name, name_key, kind_id, price, is_subscription, billing_period_months, \
             wholesale, pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at) \
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) \
             SELECT {project}, 'P', 'p', 1, 100, TRUE, 1, FALSE, 1, 1, 0, 1, created_at, created_at FROM n, projects \
             WHERE id = {project}"
        )).await;
        office.server.execute(&format!(
            "INSERT INTO subscription_nomenclatures (project_id, application_id, nomenclature_id, plan_slug, position, is_active, \
             created_at, updated_at) SELECT {project}, {application}, id, 'plan-' || id, 1000000000, FALSE, created_at, created_at \
             FROM nomenclatures WHERE project_id = {project}"
        )).await;
        let known = catalog(&office, "per_page=1").await["subscriptionNomenclatures"][0].clone();
        let last = office.plan("Last", json!({})).await;
        office.post(&path(&office), json!({ "nomenclature_id": last })).await.expect_invalid(&["application"]);
        office.post(&path(&office), json!({ "nomenclature_id": known["id"] })).await.expect(200);
        // An item that is no longer a plan does not occupy a position.
        office.put(&format!("/api/nomenclatures/{}", known["id"]), json!({ "is_subscription": false })).await.expect(200);
        let assigned = assign(&office, json!({ "nomenclature_id": last })).await;
        assert_eq!(assigned["position"], 1_000_000_000, "there is no place beyond the last");
        let one = format!("{}/{}", path(&office), assigned["id"]);
        office.delete(&one).await.expect(200);
        assign(&office, json!({ "nomenclature_id": last })).await;
    }
}
