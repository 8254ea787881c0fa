//! The API description: pinned, and consistent with its conventions.

use kontor::openapi::{description, pinned_text};
use kontor::openapi_examples::PINNED;
use kontor::policies;
use kontor_web::policy::Access;
use serde_json::{Value, json};

fn api() -> Value {
    serde_json::from_str(&pinned_text(&description()).unwrap()).unwrap()
}

fn operations(api: &Value) -> Vec<(String, Value)> {
    let paths = api["paths"].as_object().unwrap().iter();
    paths
        .flat_map(|(path, item)| {
            let operations = item.as_object().unwrap().iter().filter(|(key, _)| *key != "parameters");
            operations.map(move |(method, operation)| (format!("{} {path}", method.to_uppercase()), operation.clone()))
        })
        .collect()
}

fn walk(value: &Value, visit: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(map) => {
            visit(map);
            map.values().for_each(|inner| walk(inner, visit));
        }
        Value::Array(items) => items.iter().for_each(|inner| walk(inner, visit)),
        _ => {}
    }
}

#[test]
fn the_pinned_description_is_up_to_date() {
    let current = pinned_text(&description()).unwrap();
    assert!(PINNED == current, "docs/openapi.json differs: run `target/debug/kontor openapi --out docs/openapi.json`");
}

#[test]
fn its_server_is_the_host_root() {
    let api = api();
    assert!(api["openapi"].as_str().unwrap().starts_with("3.1"));
    assert_eq!(api["servers"], serde_json::json!([{ "url": "/" }]));
    for (operation, _) in operations(&api) {
        let path = operation.split(' ').nth(1).unwrap();
        assert!(path.starts_with("/api/") || path.starts_with("/callbacks/"), "{operation}");
        assert!(!path.contains("/v1"), "{operation}");
    }
}

#[test]
fn client_operations_name_the_app_token_and_others_never_do() {
    for (operation, declared) in operations(&api()) {
        let requirements = declared["security"].as_array().cloned().unwrap_or_default();
        let names: Vec<String> =
            requirements.iter().flat_map(|one| one.as_object().unwrap().keys().cloned().collect::<Vec<_>>()).collect();
        let path = operation.split(' ').nth(1).unwrap();
        let client = path == "/api/counterparty" || path.starts_with("/api/counterparty/");
        if names == ["backend"] {
            assert_eq!(operation, "POST /api/counterparty/auth/introspect");
            continue;
        }
        assert_eq!(client, names.iter().any(|name| name == "app_token"), "{operation}: {names:?}");
        assert!(!client || !names.iter().any(|name| name == "staff"), "{operation}");
    }
}

#[test]
fn credentials_sent_together_are_one_requirement() {
    let api = api();
    for policy in policies::all() {
        let method = policy.method.as_str().to_lowercase();
        let declared = &api["paths"][policy.path][&method]["security"];
        let together = json!({ "app_token": [], "customer": [] });
        let expected = match policy.access {
            Access::Public => Value::Null,
            Access::App => json!([{ "app_token": [] }]),
            Access::Visitor => json!([{ "app_token": [] }, together]),
            Access::Customer => json!([together]),
            Access::CustomerOnly => json!([{ "customer": [] }, together]),
            Access::Staff(_) => json!([{ "staff": [] }]),
            Access::Backend => json!([{ "backend": [] }]),
        };
        assert_eq!(*declared, expected, "{method} {}", policy.path);
    }
}

#[test]
fn dictionary_ids_are_no_enums_and_name_a_list() {
    let api = api();
    let paths = api["paths"].as_object().unwrap();
    let mut named = 0;
    walk(&api, &mut |map| {
        if let Some(dictionary) = map.get("x-service-dictionary").and_then(Value::as_str) {
            named += 1;
            assert!(!map.contains_key("enum"), "{map:?}");
            assert!(paths.contains_key(dictionary) || dictionary.ends_with("countries"), "{dictionary} is no list");
        }
    });
    assert!(named > 0);
}

#[test]
fn no_number_of_a_record_is_an_enum() {
    let api = api();
    let is_enum = |schema: &Value| {
        let reference = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        let meant = reference.and_then(|pointer| api.pointer(pointer)).unwrap_or(schema);
        meant["enum"].is_array() || meant["items"]["enum"].is_array()
    };
    let is_id = |name: &str| name.trim_end_matches("[]").trim_end_matches('s').ends_with("_id") || name == "id";
    let mut seen = 0;
    walk(&api, &mut |map| {
        for (name, schema) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let schemas = schema["oneOf"].as_array().map_or_else(|| vec![schema], |all| all.iter().collect());
            seen += usize::from(is_id(name));
            assert!(!is_id(name) || !schemas.into_iter().any(is_enum), "{name}: {schema}");
        }
        if let (Some(name), Some(schema)) = (map.get("name").and_then(Value::as_str), map.get("schema")) {
            seen += usize::from(is_id(name));
            assert!(!is_id(name) || !is_enum(schema), "{name}: {schema}");
        }
    });
    assert!(seen > 200, "{seen}");
}

#[test]
fn examples_carry_no_secrets() {
    let text = pinned_text(&description()).unwrap();
    let random = |word: &str| {
        word.len() >= 24
            && word.bytes().any(|byte| byte.is_ascii_digit())
            && word.bytes().any(|byte| byte.is_ascii_uppercase())
            && word.bytes().any(|byte| byte.is_ascii_lowercase())
    };
    let found: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| random(word)).collect();
    assert!(found.is_empty(), "{found:?}");
}
