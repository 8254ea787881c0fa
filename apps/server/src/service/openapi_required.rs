//! Required fields of responses. An empty field is sent as `null` and never left out, so every nullable field of a
//! response is required. A field that may be absent is declared without `null`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

const SCHEMAS: &str = "#/components/schemas/";

/// Marks the required fields in the whole description. Schemas of requests stay unchanged: an absent field keeps its
/// value.
pub fn complete(document: &mut Value) {
    let asked = of_requests(document);
    let schemas = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut);
    for (name, schema) in schemas.into_iter().flatten() {
        if !asked.contains(name) {
            require(schema);
        }
    }
}

fn require(schema: &mut Value) {
    if let Some(parts) = schema.get_mut("allOf").and_then(Value::as_array_mut) {
        parts.iter_mut().for_each(require);
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let nullable = properties.iter().filter(|(_, property)| admits_null(property)).map(|(name, _)| name.clone());
    let mut required: BTreeSet<String> = nullable.collect();
    required.extend(schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
}

fn admits_null(schema: &Value) -> bool {
    let null = |kind: &Value| kind == "null";
    let types = schema.get("type");
    types.is_some_and(|kind| null(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(null)))
        || ["oneOf", "anyOf"].into_iter().any(|of| schema[of].as_array().is_some_and(|of| of.iter().any(admits_null)))
}

/// Returns the names of the schemas that callers send, or that webhook receivers get.
fn of_requests(document: &Value) -> BTreeSet<String> {
    let operations = document["paths"].as_object().into_iter().flatten().filter_map(|(_, path)| path.as_object());
    let mut sent = BTreeSet::new();
    for operation in operations.flat_map(|path| path.values()) {
        add_referred(&operation["requestBody"], &mut sent);
        add_referred(&operation["parameters"], &mut sent);
    }
    add_referred(&document["webhooks"], &mut sent);
    let mut known = BTreeSet::new();
    while let Some(name) = sent.pop_first() {
        let schema = document.pointer("/components/schemas").and_then(|schemas| schemas.get(&name));
        if let (true, Some(schema)) = (known.insert(name), schema) {
            add_referred(schema, &mut sent);
        }
    }
    known
}

fn add_referred(part: &Value, names: &mut BTreeSet<String>) {
    match part {
        Value::Object(fields) => {
            let name = fields.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix(SCHEMAS));
            names.extend(name.map(str::to_owned));
            fields.values().for_each(|part| add_referred(part, names));
        }
        Value::Array(parts) => parts.iter().for_each(|part| add_referred(part, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answers_carry_every_field_that_may_be_null_and_requests_may_leave_it_out() {
        let nullable = json!({
            "properties": {
                "a": { "type": "string" },
                "b": { "type": ["string", "null"] },
                "c": { "oneOf": [{ "type": "null" }, { "$ref": "#/components/schemas/Sent" }] },
            },
            "required": ["a"],
            "type": "object",
        });
        let body = |name: &str| json!({ "application/json": { "schema": { "$ref": format!("{SCHEMAS}{name}") } } });
        let mut document = json!({
            "paths": { "/x": { "post": {
                "requestBody": { "content": body("Asked") },
                "responses": { "200": { "description": "", "content": body("Answered") } },
            } } },
            "components": { "schemas": {
                "Asked": { "type": "object", "properties": { "inner": { "$ref": "#/components/schemas/Sent" } } },
                "Sent": nullable,
                "Answered": nullable,
                "Both": { "allOf": [{ "$ref": "#/components/schemas/Answered" }, nullable] },
            } },
        });
        complete(&mut document);
        let schemas = &document["components"]["schemas"];
        assert_eq!(schemas["Answered"]["required"], json!(["a", "b", "c"]));
        assert_eq!(schemas["Both"]["allOf"][1]["required"], json!(["a", "b", "c"]));
        assert_eq!(schemas["Sent"]["required"], json!(["a"]));
    }
}
