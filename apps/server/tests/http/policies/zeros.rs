//! `0` means `null` in the fields for which the description says so, and is refused in all others.

use std::collections::BTreeSet;

use kontor::openapi::description;
use kontor::policies;
use kontor_adapter_diesel::database_tests;
use kontor_web::policy::{Access, Policy};
use serde_json::{Value, json};

use super::method;
use super::records::Records;
use crate::shop_fixture::ShopFixture;
use crate::support::send;

fn is_integer(schema: &Value) -> bool {
    let kind = &schema["type"];
    kind == "integer" || kind.as_array().is_some_and(|kinds| kinds.contains(&json!("integer")))
}

/// Collects the fields of a body that refer to records: `parent_id`, `items.*.screen_id`.
fn find_references(api: &Value, schema: &Value, path: &str, found: &mut BTreeSet<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        find_references(api, api.pointer(&name[1..]).unwrap(), path, found);
    }
    let refers = path.ends_with("_id") || path.rsplit('.').next() == Some("id");
    if refers && is_integer(schema) {
        found.insert(path.to_owned());
    }
    for kind in ["allOf", "anyOf", "oneOf"] {
        for alternative in schema[kind].as_array().into_iter().flatten() {
            find_references(api, alternative, path, found);
        }
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        find_references(api, property, &path, found);
    }
    if schema["items"].is_object() {
        find_references(api, &schema["items"], &format!("{path}.*"), found);
    }
}

/// Returns a body with this value only.
fn body(path: &str, value: &Value) -> Value {
    let around = |inner: Value, part: &str| if part == "*" { json!([inner]) } else { json!({ part: inner }) };
    path.rsplit('.').fold(value.clone(), around)
}

/// Returns the fields that refer to records, and those among them described as accepting `0` for `null`.
fn fields(api: &Value, policy: &Policy) -> (BTreeSet<String>, BTreeSet<String>) {
    let operation = &api["paths"][policy.path][policy.method.as_str().to_lowercase()];
    let mut all = BTreeSet::new();
    find_references(api, &operation["requestBody"]["content"]["application/json"]["schema"], "", &mut all);
    let marked = operation["x-zero-to-null"].as_array().into_iter().flatten();
    (all, marked.map(|field| field.as_str().unwrap().to_owned()).collect())
}

database_tests! {
    async fn zero_is_null_where_the_description_says_so_and_nowhere_else(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let records = Records::of(&shop).await;
        let owner = shop.server.owner(&shop.project).await;
        let api = serde_json::to_value(description()).unwrap();
        let (mut converting, mut wrong) = (0, Vec::new());
        for policy in policies::all() {
            let (all, marked) = fields(&api, policy);
            assert!(marked.is_subset(&all), "{} {}: {marked:?} among {all:?}", policy.method, policy.path);
            converting += marked.len();
            for field in &all {
                for value in [json!(0), json!("0"), json!(false)] {
                    let path = records.path(policy);
                    let request = match policy.access {
                        Access::Staff(_) => shop.server.as_staff(&owner, method(policy), &path),
                        _ => shop.server.as_customer(&shop.project, &shop.bearer, method(policy), &path),
                    };
                    let answer = send(request.json(&body(field, &value))).await;
                    let is_refused = answer.json()["errors"][field.replace('*', "0")].is_array();
                    let is_null = marked.contains(field) && value != json!(false);
                    if is_refused == is_null || !(answer.status == 422 || answer.status.is_success()) {
                        let (verb, status, text) = (&policy.method, answer.status, &answer.text);
                        wrong.push(format!("{verb} {path} with {field}: {value}: {status} {text}"));
                    }
                }
            }
        }
        assert!(converting > 0);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
