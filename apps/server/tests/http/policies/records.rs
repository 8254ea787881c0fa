//! One record of every kind in a project, and a valid body for every endpoint that changes one.

use std::collections::HashMap;

use kontor_kernel::{Permission, Resource};
use kontor_web::policy::{Access, Policy};
use reqwest::Method;
use serde_json::{Value, json};

use crate::shop_fixture::ShopFixture;
use crate::support::{TestServer, send};

const AT: &str = "'2026-01-01 00:00:00'";

/// Records of another project for isolation tests.
pub struct Records {
    /// Identifiers by the preceding segment of the path; `branches/integrations` where the meaning depends on the
    /// beginning of the path.
    ids: HashMap<&'static str, String>,
}

/// Creates an access request that the project reviews.
async fn access_request(server: &TestServer, owner: &str) -> String {
    let asked = json!({ "name": "Bot", "reason": "to help", "permissions": ["view-orders"] });
    let asked = send(server.request(Method::POST, "/api/agent-access-requests").json(&asked)).await.expect(201);
    let asked = asked["publicId"].as_str().unwrap().to_owned();
    let taken = format!("/api/agent-access-requests/{asked}/review");
    send(server.as_staff(owner, Method::POST, &taken)).await.expect(200);
    asked
}

/// Call of an agent.
async fn agent_action(server: &TestServer, project: i64) -> String {
    let public_id = format!("0198c0de-0000-7000-8000-{project:012}");
    let insert = format!(
        "INSERT INTO agent_actions (public_id, project_id, agent_id, token_id, channel, operation, target, class, \
         arguments_hash, policy_version, needs_approval, state, proposed_at, expires_at, keep_until, attempts) \
         VALUES ('{public_id}', {project}, (SELECT MIN(id) FROM users WHERE project_id = {project}), 1, 'api', \
         'POST /api/brands', '/api/brands', 'write', 'hash', 1, true, 'proposed', {AT}, {AT}, {AT}, 0)"
    );
    server.execute(&insert).await;
    public_id
}

impl Records {
    /// Fills the project of the shop.
    pub async fn of(shop: &ShopFixture) -> Self {
        let server = &shop.server;
        let item = shop.goods(10, 1000).await;
        let order = shop.order(&shop.pickup(item, 1)).await.expect(201);
        let owner = server.owner(&shop.project).await;
        let hooks = format!("/api/applications/{}/webhooks", shop.project.application_id);
        let hook = server.as_staff(&owner, Method::POST, &hooks).json(&json!({ "url": "http://127.0.0.1:9/x" }));
        let hook = send(hook).await.expect(201)["webhook"]["id"].clone();
        send(server.as_staff(&owner, Method::POST, &format!("{hooks}/{hook}/test"))).await.expect(201);
        let brand = server
            .insert(format!(
                "INSERT INTO brands (project_id, name, name_key, created_at, updated_at) \
                 VALUES ({}, 'Brand', 'brand', {AT}, {AT}) RETURNING id",
                shop.project.id
            ))
            .await;
        let file = server
            .insert(format!(
                "INSERT INTO files (project_id, file_type_id, state, file_key, name, mime_type, size, sha256, creator_id, \
                 created_at) VALUES ({}, 3, 'ready', '{}', 'a.pdf', 'application/pdf', 1, '{}', \
                 (SELECT MIN(id) FROM users WHERE project_id = {}), {AT}) RETURNING id",
                shop.project.id,
                "a".repeat(40),
                "0".repeat(64),
                shop.project.id
            ))
            .await;
        let create = async |path: &str, body: Value, key: &str| {
            let created = send(server.as_staff(&owner, Method::POST, path).json(&body)).await.expect(201);
            created[key]["id"].to_string()
        };
        let inventory = format!("SELECT id FROM inventories WHERE nomenclature_id = {item}");
        let inventory = server.insert(inventory).await;
        let job = server
            .insert(format!(
                "INSERT INTO jobs (project_id, kind, state, phase, dry_run, partial, file_bytes, done_rows, checkpoint, \
                 created_count, updated_count, unchanged_count, skipped_count, problems_count, ignored_columns, tries, \
                 created_at, finished_at) VALUES ({}, 'nomenclatures_import', 'succeeded', 'writing', FALSE, FALSE, 0, 0, 0, \
                 0, 0, 0, 0, 0, '[]', 0, {AT}, {AT}) RETURNING id",
                shop.project.id
            ))
            .await;
        let subscription = shop.past_subscription(item).await;
        let employee = format!("SELECT MIN(id) AS id FROM users WHERE project_id = {}", shop.project.id);
        let permission = json!({ "name": "view-reports", "screen_id": 1 });
        let shown = format!("/api/applications/{}", shop.project.application_id);
        let block = json!({ "name": "Block", "block_type_id": 1 });
        let accounts = format!("/api/branches/{}/bank_requisites", shop.project.branch_id);
        let ids = [
            ("blocks", create(&format!("{shown}/blocks"), block, "block").await),
            ("menu_items", create(&format!("{shown}/menu_items"), json!({ "name": "Item" }), "menuItem").await),
            ("slides", create(&format!("{shown}/slides"), json!({ "title": "Slide" }), "slide").await),
            // The preceding shop belongs to the other project already.
            ("hours", "1".to_owned()),
            ("holidays", "1".to_owned()),
            ("exceptions", "1".to_owned()),
            ("users", server.insert(employee).await.to_string()),
            ("tasks", create("/api/tasks", json!({ "title": "Task" }), "task").await),
            ("payment_types", create("/api/payment_types", json!({ "name": "Cheque" }), "paymentType").await),
            ("pages", create("/api/pages", json!({ "title": "Page" }), "page").await),
            ("agents", create("/api/agents", json!({ "name": "Agent" }), "agent").await),
            ("agent-access-requests", access_request(server, &owner).await),
            ("agent-actions", agent_action(server, shop.project.id).await),
            // The preceding agent belongs to the other project already.
            ("tokens", "1".to_owned()),
            (
                "discounts",
                create("/api/discounts", json!({ "name": "Sale", "type": "percent", "value": 5 }), "discount").await,
            ),
            ("promotions", create("/api/promotions", json!({ "name": "Weeks" }), "promotion").await),
            ("departments", create("/api/departments", json!({ "name": "Sales" }), "department").await),
            ("permissions", create("/api/permissions", permission, "permission").await),
            ("roles", create("/api/roles", json!({ "name": "Clerk" }), "role").await),
            ("applications", shop.project.application_id.to_string()),
            ("branches", shop.project.branch_id.to_string()),
            ("brands", brand.to_string()),
            ("categories", shop.category.to_string()),
            ("counterparties", shop.customer.to_string()),
            // The preceding customer belongs to the other project already.
            ("bank_requisites", "1".to_owned()),
            ("branches/bank_requisites", create(&accounts, account(), "bankRequisite").await),
            ("branches/integrations", "1".to_owned()),
            ("contacts", "1".to_owned()),
            ("files", file.to_string()),
            ("jobs", job.to_string()),
            ("nomenclatures", item.to_string()),
            ("orders", order["order"]["id"].to_string()),
            ("shops", shop.shop.to_string()),
            ("warehouses", shop.warehouse.to_string()),
            ("inventories", inventory.to_string()),
            // The preceding warehouse belongs to the other project already; alone they belong to no project.
            ("integrations", "4".to_owned()),
            ("parameters", "1".to_owned()),
            ("subscriptions", subscription.to_string()),
            ("webhooks", hook.to_string()),
            // The preceding application belongs to the other project already.
            ("subscription-nomenclatures", "1".to_owned()),
            // The preceding webhook belongs to the other project already.
            ("deliveries", "1".to_owned()),
        ];
        Self { ids: ids.into() }
    }

    /// Returns the identifier of the record after this segment of a path.
    pub fn id(&self, before: &str) -> &str {
        &self.ids[before]
    }

    /// Replaces the identifier of a record.
    pub fn with(mut self, before: &'static str, id: String) -> Self {
        self.ids.insert(before, id);
        self
    }

    /// Returns the path of a row with the identifiers of this project.
    pub fn path(&self, policy: &Policy) -> String {
        let mut before = "";
        let root = policy.path.split('/').nth(2).unwrap_or_default();
        let segments = policy.path.split('/').map(|segment| {
            let own = if segment.starts_with('{') {
                let id = self.ids.get(format!("{root}/{before}").as_str()).or_else(|| self.ids.get(before));
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

/// Returns `true` if the records of the row belong to no project.
pub fn is_shared(policy: &Policy) -> bool {
    const DICTIONARIES: &[Permission] = &[Permission::view(Resource::Dictionaries)];
    policy.access == Access::Staff(DICTIONARIES)
        || policy.path.starts_with("/api/screens/")
        || policy.path.starts_with("/api/integrations/")
}

fn account() -> Value {
    json!({ "bik": "044525225", "bank_name": "Bank", "account": "40702810938000000001" })
}

/// Returns a body that can be refused only because of the owner of the record.
pub fn body(policy: &Policy) -> Value {
    match (policy.method.as_str(), policy.path) {
        ("POST", "/api/agents/{agent}/tokens") => json!({ "name": "Token" }),
        ("POST", "/api/applications/{id}/brands") => json!({ "brand_id": 1 }),
        ("POST", "/api/applications/{id}/categories") => json!({ "category_id": 1 }),
        ("POST", "/api/applications/{application}/subscription-nomenclatures") => json!({ "nomenclature_id": 1 }),
        ("POST" | "PUT", "/api/shops/{id}/hours" | "/api/shops/{id}/hours/{hour_id}") => {
            json!({ "weekday": 1, "opens_at": "09:00", "closes_at": "18:00" })
        }
        (
            "POST" | "PUT",
            "/api/shops/{id}/holidays"
            | "/api/shops/{id}/holidays/{holiday_id}"
            | "/api/shops/{id}/exceptions"
            | "/api/shops/{id}/exceptions/{exception_id}",
        ) => json!({ "date": "2026-12-31" }),
        ("POST", "/api/users/{id}/create_menu_from_user_items") => json!({ "name": "Menu" }),
        ("PUT", "/api/applications/{id}/payment_types") => json!({ "payment_type_ids": [] }),
        ("POST", "/api/applications/{id}/blocks") => json!({ "name": "Block", "block_type_id": 1 }),
        ("POST", "/api/applications/{id}/slides") => json!({ "title": "Slide" }),
        ("POST", "/api/applications/{id}/menu_items") => json!({ "name": "Item" }),
        ("POST", "/api/applications/{application}/webhooks") => json!({ "url": "http://127.0.0.1:9/y" }),
        (
            "PUT",
            "/api/warehouses/{id}/integrations/{integration_id}"
            | "/api/branches/{branchId}/bank_requisites/{bankId}/integrations/{integrationsId}",
        ) => json!({ "is_active": true }),
        (
            "POST",
            "/api/warehouses/{id}/integrations/{integration_id}/parameters"
            | "/api/branches/{branchId}/bank_requisites/{bankId}/integrations/{id}/parameters",
        ) => {
            json!({ "key": "token", "value": "x" })
        }
        ("POST", "/api/orders/{id}/nomenclatures") => json!({ "nomenclature_id": 1, "quantity": 1 }),
        ("POST", "/api/orders/{id}/request-refund") => json!({ "everything": true, "reason": "late", "restock": true }),
        ("POST", "/api/orders/{id}/record-payment") => json!({ "method": "cash" }),
        ("PUT", "/api/counterparties/{id}") => json!({ "is_company": false }),
        ("POST", "/api/counterparties/{id}/contacts") => json!({ "kind": "phone", "value": "79001234567" }),
        ("POST", "/api/counterparties/{id}/bank_requisites" | "/api/branches/{id}/bank_requisites") => account(),
        ("PUT", "/api/project/delivery_prices") => json!({ "delivery_prices": [] }),
        ("PUT", "/api/orders/{id}") => json!({ "status_id": 3 }),
        ("POST", "/api/subscriptions/{id}/pause") => json!({ "until": "2999-01-01T00:00:00Z" }),
        ("POST", "/api/subscriptions/{id}/billing-day") => json!({ "day": 1 }),
        _ => json!({}),
    }
}
