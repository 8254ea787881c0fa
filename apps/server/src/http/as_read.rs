//! Bodies in the form in which records are read: an object in the place of its id, an empty text in the place of `null`.

use kontor_kernel::Violations;
use serde_json::{Map, Value};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;

/// Replaces texts without a visible character by `null`.
pub fn blank_to_null(value: &mut Value) {
    match value {
        Value::String(text) if text.trim().is_empty() => *value = Value::Null,
        Value::Array(values) => values.iter_mut().for_each(blank_to_null),
        Value::Object(fields) => fields.values_mut().for_each(blank_to_null),
        _ => {}
    }
}

/// Adds `branch_id` where the body has `branch: {"id": 3}` instead, and `tag_ids` where it has `tags: [{"id": 3}]`. A field
/// that is there counts; without one, an object that has no `id` is refused.
pub fn ids_of_objects(body: &mut Value, schema: impl FnOnce() -> RefOr<Schema>) -> Violations {
    let mut violations = Violations::default();
    let Value::Object(body) = body else { return violations };
    if !body.values().any(may_be_read) {
        return violations;
    }
    let RefOr::T(Schema::Object(schema)) = schema() else { return violations };
    let mut added = Map::new();
    for (field, value) in body.iter().filter(|(field, value)| may_be_read(value) && !is_known(&schema, field)) {
        let Some(target) = id_field(field, value).filter(|target| is_known(&schema, target)) else { continue };
        if body.contains_key(&target) {
            continue;
        }
        match id_in(value) {
            Some(id) => drop(added.insert(target, id)),
            None => violations.add(field, format!("must have an `id`; or send `{target}`")),
        }
    }
    body.extend(added);
    violations
}

fn is_known(schema: &utoipa::openapi::Object, field: &str) -> bool {
    schema.properties.contains_key(field)
}

/// Returns `true` for records, lists of records, and records that are not there.
fn may_be_read(value: &Value) -> bool {
    match value {
        Value::Null | Value::Object(_) => true,
        Value::Array(values) => values.first().is_some_and(Value::is_object),
        _ => false,
    }
}

/// The field of a body that takes the ids of what is read in this one.
fn id_field(field: &str, value: &Value) -> Option<String> {
    if value.is_array() { Some(format!("{}_ids", field.strip_suffix('s')?)) } else { Some(format!("{field}_id")) }
}

fn id_in(value: &Value) -> Option<Value> {
    match value {
        Value::Null => Some(Value::Null),
        Value::Array(values) => values.iter().map(id_in).collect::<Option<Vec<Value>>>().map(Value::Array),
        value => value.get("id").cloned(),
    }
}

#[cfg(test)]
mod tests {
    use deserr::Deserr;
    use serde_json::json;
    use utoipa::{PartialSchema, ToSchema};

    use super::*;

    #[derive(Deserr, ToSchema)]
    #[expect(dead_code, reason = "its fields are what the schema is made of")]
    struct Fields {
        name: String,
        branch_id: Option<i64>,
        tag_ids: Vec<i64>,
        city: String,
        city_id: Option<i64>,
    }

    fn read(mut body: Value) -> Result<Value, Value> {
        let violations = ids_of_objects(&mut body, Fields::schema);
        violations
            .into_result()
            .map(|()| body)
            .map_err(|violations| json!(violations.fields().keys().collect::<Vec<_>>()))
    }

    #[test]
    fn records_give_their_ids() {
        for (body, added) in [
            (json!({ "branch": { "id": 3, "name": "A" } }), json!({ "branch_id": 3 })),
            (json!({ "branch": null }), json!({ "branch_id": null })),
            (json!({ "branch": { "id": 3 }, "branch_id": 4 }), json!({ "branch_id": 4 })),
            (json!({ "tags": [{ "id": 3 }, { "id": 5 }] }), json!({ "tag_ids": [3, 5] })),
            (json!({ "city": null, "country": { "id": 1 } }), json!({})),
        ] {
            let mut expected = body.clone();
            expected.as_object_mut().unwrap().extend(added.as_object().unwrap().clone());
            assert_eq!(read(body), Ok(expected));
        }
        assert_eq!(read(json!({ "branch": { "name": "A" }, "tags": [{}] })), Err(json!(["branch", "tags"])));
    }

    #[test]
    fn texts_of_blanks_are_none() {
        let mut body = json!({ "a": " \u{a0}", "b": [{ "c": "" }], "d": " x " });
        blank_to_null(&mut body);
        assert_eq!(body, json!({ "a": null, "b": [{ "c": null }], "d": " x " }));
    }
}
