//! One category or brand of the assortment: read, moved, removed; and the effect on the storefront.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::support::send;

/// Both kinds of record: the plural, the key of one record, the field with its id.
const KINDS: [(&str, &str, &str); 2] = [("categories", "category", "category_id"), ("brands", "brand", "brand_id")];

/// Returns the path of an application's list, and the records it shows.
async fn shelf(fixture: &ProjectFixture, resource: &str, field: &str, names: &[&str]) -> (String, Vec<i64>) {
    let path = format!("/api/applications/{}/{resource}", fixture.project.application_id);
    let mut ids = Vec::new();
    for name in names {
        let id = fixture.create(&format!("/api/{resource}"), json!({ "name": name })).await;
        ids.push(fixture.create(&path, json!({ field: id })).await);
    }
    (path, ids)
}

fn names(list: &Value) -> String {
    list.as_array().unwrap().iter().map(|record| record["name"].as_str().unwrap()).collect()
}

/// Returns what customers see.
async fn seen(fixture: &ProjectFixture, resource: &str) -> String {
    let path = format!("/api/counterparty/{resource}");
    names(&send(fixture.server.as_app(&fixture.project, Method::GET, &path)).await.expect(200)[resource])
}

database_tests! {
    async fn records_move_and_customers_see_the_new_order(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        for (resource, key, field) in KINDS {
            let (path, ids) = shelf(&fixture, resource, field, &["A", "B", "C"]).await;
            for (one, action, expected) in [
                (1, "up", "BAC"), (1, "up", "BAC"), (0, "down", "BCA"), (0, "down", "BCA"), (2, "up", "CBA"),
            ] {
                let moved = fixture.post(&format!("{path}/{}/{action}", ids[one]), json!({})).await.expect(200);
                assert_eq!(moved[key]["id"], ids[one]);
                assert_eq!(names(&fixture.get(&path).await.expect(200)[resource]), expected);
                assert_eq!(seen(&fixture, resource).await, expected);
            }
            let one = fixture.get(&format!("{path}/{}", ids[0])).await.expect(200);
            assert_eq!(one[key], fixture.get(&format!("/api/{resource}")).await.expect(200)[resource][0]);
            let gone = send(fixture.server.as_staff(&fixture.owner, Method::DELETE, &format!("{path}/{}", ids[1]))).await.expect(200);
            assert!(gone["message"].is_string());
            assert_eq!(seen(&fixture, resource).await, "CA");
            let unshown = format!("{path}/{}", ids[1]);
            fixture.get(&unshown).await.expect(404);
            fixture.post(&format!("{unshown}/up"), json!({})).await.expect(404);
            send(fixture.server.as_staff(&fixture.owner, Method::DELETE, &unshown)).await.expect(404);
            assert_eq!(fixture.create(&path, json!({ field: ids[1] })).await, ids[1]);
            assert_eq!(seen(&fixture, resource).await, "CAB", "what is shown again comes last");
            // Three were added, three moves changed a position, one was removed and added again.
            let reported = format!("SELECT count(*) AS id FROM histories WHERE resource = 'applications' AND user_id IS NOT NULL \
                AND changes LIKE '%\"{resource}\"%'");
            assert_eq!(fixture.server.insert(reported).await, 8);
        }
    }

    async fn only_staff_of_the_project_move_what_it_shows(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        for (resource, _, field) in KINDS {
            let (path, ids) = shelf(&fixture, resource, field, &["A", "B"]).await;
            let foreign = fixture.create_elsewhere(&format!("/api/{resource}"), json!({ "name": "A" })).await;
            for absent in [format!("{path}/{foreign}"), format!("{path}/999999"), format!("{path}/x"),
                format!("/api/applications/999999/{resource}/{}", ids[0])] {
                fixture.get(&absent).await.expect(404);
                send(fixture.server.as_staff(&fixture.owner, Method::DELETE, &absent)).await.expect(404);
                for action in ["up", "down"] {
                    fixture.post(&format!("{absent}/{action}"), json!({})).await.expect(404);
                }
            }
            let own = format!("{path}/{}", ids[0]);
            fixture.post(&format!("{own}/sideways"), json!({})).await.expect(404);
            fixture.as_outsider(Method::GET, &own, json!({})).await.expect(403);
            fixture.as_outsider(Method::DELETE, &own, json!({})).await.expect(403);
            fixture.as_outsider(Method::POST, &format!("{own}/down"), json!({})).await.expect(403);
            fixture.as_one_who_may(&["view-applications"], Method::GET, &own, json!({})).await.expect(200);
            fixture.as_one_who_may(&["view-applications"], Method::POST, &format!("{own}/down"), json!({})).await.expect(403);
            fixture.as_one_who_may(&["edit-applications"], Method::POST, &format!("{own}/down"), json!({})).await.expect(200);
            assert_eq!(seen(&fixture, resource).await, "BA");
        }
    }

    async fn a_category_that_moves_or_is_renamed_takes_its_goods_along(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (path, roots) = shelf(&fixture, "categories", "category_id", &["A", "B"]).await;
        let mugs = fixture.create("/api/categories", json!({ "name": "Mugs", "parent_id": roots[0] })).await;
        let item = fixture.create("/api/nomenclatures", json!({ "name": "Mug", "kind_id": 2, "category_id": mugs })).await;
        let stock = json!({ "warehouse_id": fixture.warehouse("W").await, "nomenclature_id": item, "quantity": 3, "price": "5.00" });
        fixture.create("/api/inventories", stock).await;
        let client = async |path: &str| {
            send(fixture.server.as_app(&fixture.project, Method::GET, &format!("/api/counterparty/{path}"))).await.expect(200)
        };
        let below = async |parent: i64| names(&client(&format!("categories?parent_id={parent}")).await["categories"]);
        assert_eq!((below(roots[0]).await, below(roots[1]).await), ("Mugs".to_owned(), String::new()));

        let change = json!({ "name": "Cups", "parent_id": roots[1] });
        fixture.put(&format!("/api/categories/{mugs}"), change).await.expect(200);
        assert_eq!((below(roots[0]).await, below(roots[1]).await), (String::new(), "Cups".to_owned()));
        let shown = client(&format!("products?category_id={mugs}")).await;
        assert_eq!((&shown["products"]["total"], &shown["products"]["data"][0]["category"]["name"]), (&json!(1), &json!("Cups")));
        let card = client(&format!("products/{item}")).await;
        assert!(card.to_string().contains("Cups") && !card.to_string().contains("Mugs"), "{card}");

        send(fixture.server.as_staff(&fixture.owner, Method::DELETE, &format!("{path}/{}", roots[1]))).await.expect(200);
        assert_eq!((seen(&fixture, "categories").await, below(roots[1]).await), ("A".to_owned(), String::new()));
        fixture.put(&format!("/api/categories/{mugs}"), json!({ "parent_id": roots[0] })).await.expect(200);
        assert_eq!(below(roots[0]).await, "Cups");
    }
}
