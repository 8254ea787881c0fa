//! The API description: pinned, and true to its conventions.

use kontor::openapi::{description, pinned_text};
use serde_json::Value;

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
    let pinned = include_str!("../../../../docs/openapi.json");
    let current = pinned_text(&description()).unwrap();
    assert!(pinned == current, "docs/openapi.json differs: run `target/debug/kontor openapi --out docs/openapi.json`");
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
