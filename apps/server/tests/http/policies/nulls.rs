//! `null` is refused with the name of the field unless the description allows it, and nothing changes.

use std::collections::BTreeMap;

use kontor::openapi::description;
use kontor::policies;
use kontor_adapter_diesel::database_tests;
use kontor_web::policy::{Access, Policy};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::method;
use super::records::Records;
use crate::shop_fixture::ShopFixture;
use crate::support::send;

fn resolved<'a>(api: &'a Value, schema: &'a Value) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|name| name.strip_prefix('#'));
    name.map_or(schema, |name| resolved(api, api.pointer(name).unwrap()))
}

fn admits_null(api: &Value, schema: &Value) -> bool {
    let schema = resolved(api, schema);
    let kinds = &schema["type"];
    let named = kinds == "null" || kinds.as_array().is_some_and(|kinds| kinds.contains(&json!("null")));
    let among = |kind: &str| {
        schema[kind].as_array().is_some_and(|schemas| schemas.iter().any(|schema| admits_null(api, schema)))
    };
    named || among("oneOf") || among("anyOf")
}

/// Collects the fields of a body, such as `items.*.screen_id`, with `true` if they may be `null`.
fn fields(api: &Value, schema: &Value, path: &str, found: &mut BTreeMap<String, bool>) {
    let schema = resolved(api, schema);
    for kind in ["allOf", "anyOf", "oneOf"] {
        for part in schema[kind].as_array().into_iter().flatten() {
            fields(api, part, path, found);
        }
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        found.insert(path.clone(), admits_null(api, property));
        fields(api, property, &path, found);
    }
    if schema["items"].is_object() {
        fields(api, &schema["items"], &format!("{path}.*"), found);
    }
}

fn fields_of(api: &Value, policy: &Policy) -> BTreeMap<String, bool> {
    let operation = &api["paths"][policy.path][policy.method.as_str().to_lowercase()];
    let mut found = BTreeMap::new();
    fields(api, &operation["requestBody"]["content"]["application/json"]["schema"], "", &mut found);
    found
}

/// Returns a body with this field only, as `null`.
fn with_null(path: &str) -> Value {
    let around = |inner: Value, part: &str| if part == "*" { json!([inner]) } else { json!({ part: inner }) };
    path.rsplit('.').fold(Value::Null, around)
}

struct Scene {
    shop: ShopFixture,
    records: Records,
    owner: String,
}

impl Scene {
    fn request(&self, policy: &Policy, method: Method) -> RequestBuilder {
        let (server, path) = (&self.shop.server, self.records.path(policy));
        match policy.access {
            Access::Staff(_) => server.as_staff(&self.owner, method, &path),
            Access::Public => server.request(method, &path),
            _ => server.as_customer(&self.shop.project, &self.shop.bearer, method, &path),
        }
    }

    /// Returns the `GET` response of the same path, if there is one.
    async fn shown(&self, policy: &Policy) -> Option<String> {
        let read = policies::all().find(|other| other.path == policy.path && other.method == "GET")?;
        Some(send(self.request(read, Method::GET)).await.text)
    }
}

database_tests! {
    async fn null_is_refused_where_a_field_cannot_be_empty(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let records = Records::of(&shop).await.with("miniapps", "max".to_owned());
        let owner = shop.server.owner(&shop.project).await;
        let scene = Scene { shop, records, owner };
        let api = serde_json::to_value(description()).unwrap();
        let (mut asked, mut wrong) = (0, Vec::new());
        for policy in policies::all() {
            let name = format!("{} {}", policy.method, policy.path);
            let (nullable, strict): (Vec<_>, Vec<_>) = fields_of(&api, policy).into_iter().partition(|(_, nullable)| *nullable);
            let ask = async |field: &str| {
                let answer = send(scene.request(policy, method(policy)).json(&with_null(field))).await;
                let faults = answer.json()["errors"][field.replace('*', "0")].clone();
                (answer, faults)
            };
            if strict.is_empty() && nullable.is_empty() {
                continue;
            }
            let before = scene.shown(policy).await;
            for (field, _) in &strict {
                asked += 1;
                let (answer, faults) = ask(field).await;
                if answer.status != 422 || !faults.is_array() {
                    wrong.push(format!("{name} with {field}: {} {}", answer.status, answer.text));
                }
            }
            if scene.shown(policy).await != before {
                wrong.push(format!("{name}: something changed"));
            }
            // A nullable field set to null must not be reported as missing.
            for (field, _) in nullable.iter().filter(|_| policy.method == "PUT" || policy.method == "PATCH") {
                asked += 1;
                let (answer, faults) = ask(field).await;
                if answer.status.as_u16() >= 500 || faults == json!(["is required"]) {
                    wrong.push(format!("{name} with the nullable {field}: {} {}", answer.status, answer.text));
                }
            }
        }
        assert!(asked > 150, "{asked}");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
