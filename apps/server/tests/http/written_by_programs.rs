//! Requests as various programs write them: equivalent forms are read the same, and the rest is refused.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, send};

impl ShopFixture {
    async fn calculate(&self, body: impl Into<Vec<u8>>, headers: &[(&str, &str)]) -> Answer {
        let request = self.server.as_app(&self.project, Method::POST, "/api/counterparty/orders/precalculate");
        let request = request.header("Content-Type", "application/json").body(body.into());
        send(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
    }
}

database_tests! {
    async fn bodies_of_all_programs_are_read(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(9, 100).await;
        let body = |quantity: &str| format!(r#"{{"products": [{{"id": {item}, "quantity": {quantity}}}]}}"#);
        shop.calculate(format!("\u{feff}{}", body("2")), &[]).await.expect(200);
        shop.calculate(body("2.0"), &[]).await.expect(200);
        shop.calculate(body("2.5"), &[]).await.expect_invalid(&["products.0.quantity"]);
        for encoding in ["gzip", "br", "identity, gzip"] {
            let answer = shop.calculate(body("2"), &[("Content-Encoding", encoding)]).await.expect(415);
            assert!(answer["message"].as_str().unwrap().contains("Content-Encoding"), "{answer}");
        }
        shop.calculate(body("2"), &[("Content-Encoding", "identity")]).await.expect(200);
    }

    async fn lists_in_query_strings_may_be_numbered(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let ids = [fixture.goods("Mug").await, fixture.goods("Cup").await];
        let found = async |query: String| {
            let listed = fixture.get(&format!("/api/nomenclatures?{query}")).await.expect(200);
            listed["nomenclaturesCount"].clone()
        };
        let category = fixture.create("/api/categories", json!({ "name": "Cups" })).await;
        fixture.put(&format!("/api/nomenclatures/{}", ids[1]), json!({ "category_id": category })).await.expect(200);
        for query in ["category_id[]", "category_id[0]", "category_id%5B0%5D"] {
            assert_eq!(found(format!("{query}={category}")).await, 1, "{query}");
        }
        fixture.get(&format!("/api/nomenclatures?category_id[0]={category}&category_id[0]=2")).await.expect_invalid(&["category_id[0]"]);
    }

    async fn head_has_the_response_of_get_without_a_body(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        fixture.goods("Mug").await;
        let ask = |method: Method, path: &str| fixture.server.as_staff(&fixture.owner, method, path).send();
        for path in ["/api/nomenclatures", "/openapi.json", "/healthz", "/api/nomenclatures/99", "/nowhere"] {
            let (get, head) = (ask(Method::GET, path).await.unwrap(), ask(Method::HEAD, path).await.unwrap());
            assert_eq!(get.status(), head.status(), "{path}");
            for name in ["content-type", "content-length", "etag"] {
                assert_eq!(get.headers().get(name), head.headers().get(name), "{path} {name}");
            }
            assert!(head.bytes().await.unwrap().is_empty(), "{path}");
        }
        assert_eq!(ask(Method::HEAD, "/api/login").await.unwrap().status(), 405);
    }

    async fn dates_have_one_form(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let shop = fixture.create("/api/shops", json!({ "name": "Main", "address": "Nevsky 1", "branch_id": fixture.project.branch_id })).await;
        let path = format!("/api/shops/{shop}/holidays");
        for date in ["26-11-25", "2026-5-17", "+2026-05-17", "2026-05-17 ", "20260517", "2026-02-30"] {
            fixture.post(&path, json!({ "date": date })).await.expect_invalid(&["date"]);
        }
        fixture.post(&path, json!({ "date": "2026-05-17" })).await.expect(201);
    }

    async fn a_task_can_be_sent_back_as_it_was_read(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = json!({ "title": "Call", "deadline": "2035-01-01T00:00:00Z" });
        let path = format!("/api/tasks/{}", fixture.create("/api/tasks", body).await);
        fixture.server.execute("UPDATE tasks SET deadline = '2026-01-01 00:00:00'").await;
        let task = fixture.get(&path).await.expect(200)["task"].clone();
        let again = json!({ "title": "Call again", "deadline": task["deadline"] });
        assert_eq!(fixture.put(&path, again).await.expect(200)["task"]["deadline"], task["deadline"]);
        fixture.put(&path, json!({ "deadline": "2026-01-02T00:00:00Z" })).await.expect_invalid(&["deadline"]);
    }

    async fn promo_codes_ignore_case_and_blanks(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(9, 1_000).await;
        shop.promo("CASEM10").await;
        let owner = shop.server.owner(&shop.project).await;
        let body = |code: &str| json!({
            "name": "Again", "code": code, "type": "percent", "value": "10.00",
        });
        for code in ["CASEM10", " CaseM10 "] {
            let again = shop.server.as_staff(&owner, Method::POST, "/api/discounts").json(&body(code));
            send(again).await.expect_invalid(&["code"]);
        }
        let mut answers: Vec<Value> = Vec::new();
        for code in ["casem10", "CASEM10", "CASEM10 "] {
            let cart = json!({ "products": [{ "id": item, "quantity": 1 }], "promo_code": code });
            answers.push(shop.precalculate(cart).await.expect(200));
        }
        assert!(answers[0]["discount_error"].is_null(), "{}", answers[0]);
        assert!(answers.iter().all(|answer| answer == &answers[0]), "{answers:?}");
    }
}
