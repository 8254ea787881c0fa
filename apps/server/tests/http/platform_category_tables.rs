//! Categories and brands as tables.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::office::Office;

const TABLE: &str = "/api/tables/categories";

fn names(rows: &Value) -> Vec<&str> {
    rows.as_array().unwrap().iter().map(|row| row["name"]["value"].as_str().unwrap()).collect()
}

database_tests! {
    async fn categories_are_listed_whole_and_below_each_other(db: TestDatabase) {
        let office = Office::open(db).await;
        let root = office.create("/api/categories", json!({ "name": "Ёлки", "code": 50, "photo": "https://cdn.example/a.jpg" })).await;
        for name in ["Игрушки", "ель"] {
            office.create("/api/categories", json!({ "name": name, "parent_id": root })).await;
        }
        office.create_elsewhere("/api/categories", json!({ "name": "Foreign" })).await;
        let table = office.get(TABLE).await.expect(200);
        assert_eq!(names(&table["categories"]), ["Ёлки", "Игрушки", "ель"]);
        let row = &table["categories"][0];
        let below = format!("{TABLE}/{root}");
        assert_eq!(row["name"], json!({ "icon": "https://cdn.example/a.jpg", "value": "Ёлки", "link": below }));
        assert_eq!((&row["code"], &row["parent"]), (&json!(50), &Value::Null));
        assert_eq!(table["categories"][1]["parent"], "Ёлки");
        assert_eq!(table["pagination"], json!({
            "total": 3, "per_page": 15, "current_page": 1, "last_page": 1, "from": 1, "to": 3,
        }));
        for (query, expected) in [
            ("order_by=name_asc", vec!["Ёлки", "ель", "Игрушки"]),
            ("order_by=code_desc", vec!["ель", "Игрушки", "Ёлки"]),
            ("query=%D0%81%D0%BB", vec!["Ёлки"]),
            (&format!("parent_id={root}"), vec!["Игрушки", "ель"]),
            ("per_page=1&page=2", vec!["Игрушки"]),
            ("page=9", vec![]),
        ] {
            assert_eq!(names(&office.get(&format!("{TABLE}?{query}")).await.expect(200)["categories"]), expected, "{query}");
        }
        let children = office.get(&format!("{below}?order_by=name_desc")).await.expect(200);
        assert_eq!(names(&children["categories"]), ["Игрушки", "ель"]);
        assert_eq!(children["pagination"]["total"], 2);
        for absent in ["999999", "x"] {
            office.get(&format!("{TABLE}/{absent}")).await.expect(404);
        }
        office.as_stranger(Method::GET, &below, json!({})).await.expect(403);
        office.as_one_who_may(&["edit-categories"], Method::GET, &below, json!({})).await.expect(403);
        let few = (office.cost(TABLE).await, office.cost(&below).await);
        for number in 0..14 {
            office.create("/api/categories", json!({ "name": format!("C{number}"), "parent_id": root })).await;
        }
        assert_eq!((office.cost(TABLE).await, office.cost(&below).await), few);
    }

    async fn what_an_application_shows_is_a_table_in_its_order(db: TestDatabase) {
        let office = Office::open(db).await;
        for (resource, field, backwards) in [
            ("categories", "category_id", "position_desc"), ("brands", "brand_id", "priority_asc"),
        ] {
            let path = format!("/api/applications/{}/{resource}", office.project.application_id);
            let table = format!("/api/tables/applications/{}/{resource}", office.project.application_id);
            for name in ["B", "C", "A"] {
                let id = office.create(&format!("/api/{resource}"), json!({ "name": name })).await;
                office.create(&path, json!({ field: id })).await;
            }
            office.create(&format!("/api/{resource}"), json!({ "name": "Unshown" })).await;
            let last = office.get(&path).await.expect(200)[resource][2]["id"].clone();
            office.post(&format!("{path}/{last}/up"), json!({})).await.expect(200);
            let shown = office.get(&table).await.expect(200);
            assert_eq!(names(&shown[resource]), ["B", "A", "C"]);
            assert_eq!(shown["pagination"]["total"], 3);
            for (query, expected) in [
                (format!("order_by={backwards}").as_str(), vec!["C", "A", "B"]), ("order_by=name_asc", vec!["A", "B", "C"]), ("query=b", vec!["B"]),
                ("per_page=2&page=2", vec!["C"]),
            ] {
                assert_eq!(names(&office.get(&format!("{table}?{query}")).await.expect(200)[resource]), expected, "{query}");
            }
            office.get(&format!("{table}?page=0&per_page=101&order_by=price_asc&x=1")).await
                .expect_invalid(&["page", "per_page", "order_by", "x"]);
            office.get(&format!("/api/tables/applications/999999/{resource}")).await.expect(404);
            office.as_stranger(Method::GET, &table, json!({})).await.expect(403);
            office.as_one_who_may(&[&format!("view-{resource}")], Method::GET, &table, json!({})).await.expect(403);
            office.as_one_who_may(&["view-applications"], Method::GET, &table, json!({})).await.expect(200);
        }
    }
}
