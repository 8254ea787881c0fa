//! Branches as records: read, changed, deleted, their history and their table.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::json;

use crate::project_fixture::ProjectFixture;

pub const PATH: &str = "/api/branches";
const TABLE: &str = "/api/tables/branches";

database_tests! {
    async fn a_branch_is_read_and_changed(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = json!({
            "name": "Nord", "inn": "7707083893", "kpp": "770701001", "address": "Quay 1", "phone": "79001234567", "email": "a@b.ru",
        });
        let created = fixture.post(PATH, body.clone()).await.expect(201);
        for (field, value) in body.as_object().unwrap() {
            assert_eq!(&created["branch"][field], value, "{field}");
        }
        let path = format!("{PATH}/{}", created["branch"]["id"]);
        assert_eq!(fixture.get(&path).await.expect(200), created);
        let changed = fixture.put(&path, json!({ "name": "Sud", "kpp": null, "phone": null })).await.expect(200);
        let mut expected = created.clone();
        expected["branch"]["name"] = json!("Sud");
        expected["branch"]["kpp"] = json!(null);
        expected["branch"]["phone"] = json!(null);
        expected["branch"]["updated_at"] = changed["branch"]["updated_at"].clone();
        assert_eq!(changed, expected);
        fixture.put(&path, json!({})).await.expect(200);
        assert_eq!(fixture.get(PATH).await.expect(200)["branches"][1]["name"], "Sud");
    }

    async fn numbers_are_checked(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        for (inn, kpp, wrong) in [
            ("7707083894", "77070100", &["inn", "kpp"][..]), ("123", "7707az001", &["inn", "kpp"]),
            ("500100732258", "770701001", &["inn"]), ("500100732259", "770701001", &["kpp"]),
        ] {
            fixture.post(PATH, json!({ "name": "B", "inn": inn, "kpp": kpp })).await.expect_invalid(wrong);
        }
        let path = format!("{PATH}/{}", fixture.create(PATH, json!({ "name": "B", "inn": "500100732259" })).await);
        fixture.put(&path, json!({ "kpp": "770701001" })).await.expect_invalid(&["kpp"]);
        fixture.put(&path, json!({ "inn": "7707083893", "kpp": "770701001" })).await.expect(200);
        fixture.put(&path, json!({ "inn": "500100732259" })).await.expect_invalid(&["kpp"]);
        let bad = json!({ "name": null, "inn": "1", "kpp": "1", "address": "\u{0}", "phone": "x", "email": "x" });
        fixture.put(&path, bad).await.expect_invalid(&["name", "inn", "kpp", "address", "phone", "email"]);
        // Data stored before numbers were checked is kept and shown.
        let old = fixture.project.branch_id;
        fixture.server.execute(&format!("UPDATE branches SET inn = '7701234567', kpp = 'x' WHERE id = {old}")).await;
        let path = format!("{PATH}/{old}");
        let renamed = fixture.put(&path, json!({ "name": "Old" })).await.expect(200);
        assert_eq!((&renamed["branch"]["inn"], &renamed["branch"]["kpp"]), (&json!("7701234567"), &json!("x")));
    }

    async fn only_staff_of_the_project_with_the_permission_come_in(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("{PATH}/{}", fixture.project.branch_id);
        for absent in [format!("{PATH}/999999"), format!("{PATH}/x"), format!("{PATH}/0")] {
            fixture.get(&absent).await.expect(404);
            fixture.put(&absent, json!({})).await.expect(404);
            fixture.delete(&absent).await.expect(404);
            fixture.get(&format!("{absent}/history")).await.expect(404);
        }
        let history = format!("{path}/history");
        for (method, path) in [(Method::GET, &path), (Method::PUT, &path), (Method::DELETE, &path), (Method::GET, &history)] {
            fixture.as_outsider(method.clone(), path, json!({})).await.expect(403);
            let short = if method == Method::GET { "edit-branches" } else { "create-branches" };
            fixture.as_one_who_may(&[short], method, path, json!({})).await.expect(403);
        }
        fixture.as_one_who_may(&["view-branches"], Method::GET, TABLE, json!({})).await.expect(200);
        fixture.as_one_who_may(&["edit-branches"], Method::PUT, &path, json!({})).await.expect(200);
    }

    async fn only_a_branch_that_nothing_belongs_to_is_deleted(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        fixture.delete(&format!("{PATH}/{}", fixture.project.branch_id)).await.expect_invalid(&["id"]);
        let id = fixture.create(PATH, json!({ "name": "B" })).await;
        let path = format!("{PATH}/{id}");
        let department = fixture.create("/api/departments", json!({ "name": "D", "branch_id": id })).await;
        let account = json!({ "bik": "044525225", "bank_name": "Bank", "account": "40702810938000000001" });
        fixture.create(&format!("{path}/bank_requisites"), account).await;
        fixture.delete(&path).await.expect_invalid(&["id"]);
        assert_eq!(fixture.get(&format!("{path}/bank_requisites")).await.expect(200)["bankRequisitesCount"], 1);
        fixture.delete(&format!("/api/departments/{department}")).await.expect(200);
        let gone = fixture.delete(&path).await.expect(200);
        assert!(gone["message"].is_string());
        fixture.get(&path).await.expect(404);
        fixture.get(&format!("{path}/bank_requisites")).await.expect(404);
        fixture.delete(&path).await.expect(404);
        assert_eq!(fixture.get(PATH).await.expect(200)["branchesCount"], 1);
    }

    async fn a_branch_has_a_history(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("{PATH}/{}", fixture.create(PATH, json!({ "name": "A", "inn": "7707083893" })).await);
        fixture.put(&path, json!({ "name": "B", "inn": null, "address": "Quay 1" })).await.expect(200);
        fixture.put(&path, json!({ "name": "B" })).await.expect(200);
        let reported = fixture.get(&format!("{path}/history")).await.expect(200);
        assert_eq!((&reported["historiesCount"], &reported["histories"][1]["action"]), (&json!(2), &json!("created")));
        assert_eq!(reported["pagination"]["per_page"], 15);
        assert_eq!(reported["histories"][0]["changes"], json!([
            { "field": "name", "old": "A", "new": "B" },
            { "field": "inn", "old": "7707083893", "new": null },
            { "field": "address", "old": null, "new": "Quay 1" },
        ]));
        fixture.get(&format!("{path}/history?per_page=101&x=1")).await.expect_invalid(&["per_page", "x"]);
    }

    async fn the_table_is_searched_sorted_and_cut_into_pages(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let first = fixture.project.branch_id;
        let b = fixture.create(PATH, json!({ "name": "Яхта", "inn": "7707083893" })).await;
        let a = fixture.create(PATH, json!({ "name": "Ёлка" })).await;
        fixture.create_elsewhere(PATH, json!({ "name": "Ёлка", "inn": "7707083893" })).await;
        for (query, expected) in [
            ("", vec![first, b, a]), ("order_by=id_desc&per_page=2", vec![a, b]), ("per_page=2&page=2", vec![a]),
            ("query=ёлк", vec![a]), ("query=70838", vec![b]), ("query=%25", vec![]), ("page=99", vec![]),
            ("order_by=name_desc&query=а", vec![b, a]), ("date_to=2020-01-01", vec![]),
        ] {
            let table = fixture.get(&format!("{TABLE}?{query}")).await.expect(200);
            let ids: Vec<_> = table["branches"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect();
            assert_eq!(ids, expected, "{query}");
        }
        let table = fixture.get(TABLE).await.expect(200);
        assert_eq!((&table["pagination"]["per_page"], &table["pagination"]["total"]), (&json!(15), &json!(3)));
        assert_eq!(table["branches"][1]["name"], json!({ "icon": null, "value": "Яхта", "link": format!("{PATH}/{b}") }));
        assert_eq!(table["branches"][1]["inn"], "7707083893");
        fixture.get(&format!("{TABLE}?page=0&order_by=inn_asc&colour=red&date_from=x")).await
            .expect_invalid(&["page", "order_by", "colour", "date_from"]);
        let (few, list) = (fixture.cost(TABLE).await, fixture.cost(PATH).await);
        for number in 0..11 {
            fixture.create(PATH, json!({ "name": number.to_string() })).await;
        }
        assert_eq!((fixture.cost(TABLE).await, fixture.cost(PATH).await), (few, list));
    }
}
