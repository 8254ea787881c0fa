//! One record of every kind in a project, and a sound body for every endpoint that changes one.

use std::collections::HashMap;

use kontor::http::policy::Policy;
use reqwest::Method;
use serde_json::{Value, json};

use crate::shopfront::Shopfront;
use crate::support::send;

const AT: &str = "'2026-01-01 00:00:00'";

/// What foreigners reach for.
pub struct Records {
    /// Identifiers by the segment of the path that stands before them.
    ids: HashMap<&'static str, String>,
}

impl Records {
    /// Fills the project of the shop.
    pub async fn of(shop: &Shopfront) -> Self {
        let server = &shop.server;
        let item = shop.goods(10, 1000).await;
        let order = shop.order(&shop.pickup(item, 1)).await.expect(201);
        let owner = server.owner(&shop.project).await;
        let hooks = format!("/api/applications/{}/webhooks", shop.project.application_id);
        let hook = server.as_staff(&owner, Method::POST, &hooks).json(&json!({ "url": "http://127.0.0.1:9/x" }));
        let hook = send(hook).await.expect(201)["webhook"]["id"].clone();
        let brand = server
            .insert(format!(
                "INSERT INTO brands (project_id, name, name_key, created_at, updated_at) \
                 VALUES ({}, 'Brand', 'brand', {AT}, {AT}) RETURNING id",
                shop.project.id
            ))
            .await;
        let ids = [
            ("applications", shop.project.application_id.to_string()),
            ("branches", shop.project.branch_id.to_string()),
            ("brands", brand.to_string()),
            ("categories", shop.category.to_string()),
            ("nomenclatures", item.to_string()),
            ("orders", order["order"]["id"].to_string()),
            ("shops", shop.shop.to_string()),
            ("warehouses", shop.warehouse.to_string()),
            ("webhooks", hook.to_string()),
            // The webhook in front of it is foreign already.
            ("deliveries", "1".to_owned()),
        ];
        Self { ids: ids.into() }
    }

    /// The path of a row with the identifiers of this project.
    pub fn path(&self, policy: &Policy) -> String {
        let mut before = "";
        let segments = policy.path.split('/').map(|segment| {
            let own = if segment.starts_with('{') {
                let id = self.ids.get(before);
                id.unwrap_or_else(|| {
                    panic!("{}: tests/http/policies/records.rs has no record of `{before}`", policy.path)
                })
            } else {
                segment
            };
            before = segment;
            own
        });
        segments.collect::<Vec<_>>().join("/")
    }
}

/// A body that only the owner of the record can be refused for.
pub fn body(policy: &Policy) -> Value {
    match (policy.method.as_str(), policy.path) {
        ("POST", "/api/applications/{id}/brands") => json!({ "brand_id": 1 }),
        ("POST", "/api/applications/{id}/categories") => json!({ "category_id": 1 }),
        ("POST", "/api/applications/{application}/webhooks") => json!({ "url": "http://127.0.0.1:9/y" }),
        ("PUT", "/api/orders/{id}") => json!({ "status_id": 3 }),
        _ => json!({}),
    }
}
