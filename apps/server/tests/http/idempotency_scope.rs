//! Scope of an `Idempotency-Key`: no caller gets a response of another token, application or caller.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::json;

use crate::keyed::{assert_replays, is_replayed, keyed, until_stored};
use crate::office::Office;
use crate::shopfront::Shopfront;
use crate::support::{Project, send};

database_tests! {
    async fn a_weaker_token_is_not_told_the_secret_that_a_stronger_one_was_told(db: TestDatabase) {
        let office = Office::open(db).await;
        let agent = async |permissions: &[&str]| {
            let id = office.create("/api/agents", json!({ "name": "Bot", "permissions": permissions })).await;
            format!("/api/agents/{id}/tokens")
        };
        let maker = agent(&["edit-agents", "view-orders"]).await;
        let target = agent(&["view-orders"]).await;
        let token = async |abilities: &[&str]| {
            let issued = office.post(&maker, json!({ "name": "T", "abilities": abilities })).await.expect(201);
            issued["access_token"]["value"].as_str().unwrap().to_owned()
        };
        let (strong, weak) = (token(&["edit-agents", "view-orders"]).await, token(&["edit-agents"]).await);
        let issue = async |bearer: &str| {
            send(keyed(office.server.as_staff(bearer, Method::POST, &target), "k").json(&json!({ "name": "T" }))).await
        };
        let first = issue(&strong).await;
        assert!(first.expect(201)["access_token"]["value"].is_string());
        for _ in 0..2 {
            let refused = issue(&weak).await;
            refused.expect(403);
            assert!(!is_replayed(&refused));
            assert_replays(&first, &issue(&strong).await);
            until_stored(&office.server).await;
        }
    }

    async fn an_application_is_not_told_the_order_of_another_one(db: TestDatabase) {
        let shop = Shopfront::open(db).await;
        let item = shop.goods(5, 100).await;
        let twin = json!({ "name": "Twin", "branch_id": shop.project.branch_id });
        let twin = shop.clerk(Method::POST, "/api/applications", &twin).await.expect(201)["application"].clone();
        let (application_id, app_token) = (twin["id"].as_i64().unwrap(), twin["token"].as_str().unwrap().to_owned());
        let link = "INSERT INTO warehouse_applications (warehouse_id, application_id) VALUES";
        shop.server.execute(&format!("{link} ({}, {application_id})", shop.warehouse)).await;
        let twin = Project { application_id, app_token, ..shop.project.clone() };
        let there = shop.server.token(&twin, "counterparty", shop.customer, Some(application_id)).await;
        let again = shop.server.token(&shop.project, "counterparty", shop.customer, Some(shop.project.application_id)).await;
        let order = async |project: &Project, bearer: &str| {
            let path = "/api/counterparty/orders";
            send(keyed(shop.server.as_customer(project, bearer, Method::POST, path), "k").json(&shop.pickup(item, 1))).await
        };
        let first = order(&shop.project, &shop.bearer).await;
        let (elsewhere, anew) = (order(&twin, &there).await, order(&shop.project, &again).await);
        let numbers = [&first, &elsewhere, &anew].map(|answer| answer.expect(201)["order"]["id"].to_string());
        assert_eq!(std::collections::BTreeSet::from(numbers).len(), 3);
        assert_replays(&first, &order(&shop.project, &shop.bearer).await);
        assert_replays(&elsewhere, &order(&twin, &there).await);
    }
}
