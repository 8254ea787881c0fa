//! Request bodies in the shape of records: an object replaces its id, an empty text replaces `null`.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::{Map, Value};
use utoipa::PartialSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;

/// Replaces blank texts by `null`.
pub fn blank_to_null(value: &mut Value) {
    match value {
        Value::String(text) if text.trim().is_empty() => *value = Value::Null,
        Value::Array(values) => values.iter_mut().for_each(blank_to_null),
        Value::Object(fields) => fields.values_mut().for_each(blank_to_null),
        _ => {}
    }
}

/// Field names of request bodies, by type. Cached, because building a schema costs more than reading a cart.
static FIELDS: RwLock<BTreeMap<TypeId, Arc<BTreeSet<String>>>> = RwLock::new(BTreeMap::new());

fn fields_of<T: PartialSchema + 'static>() -> Arc<BTreeSet<String>> {
    let known = FIELDS.read().unwrap_or_else(PoisonError::into_inner).get(&TypeId::of::<T>()).cloned();
    known.unwrap_or_else(|| {
        let fields = match T::schema() {
            RefOr::T(Schema::Object(schema)) => schema.properties.into_keys().collect(),
            _ => BTreeSet::new(),
        };
        let fields = Arc::new(fields);
        FIELDS.write().unwrap_or_else(PoisonError::into_inner).insert(TypeId::of::<T>(), Arc::clone(&fields));
        fields
    })
}

/// Adds `branch_id` for `branch: {"id": 3}`, and `tag_ids` for `tags: [{"id": 3}]`. A field that is already present
/// wins.
pub fn ids_of_objects<T: PartialSchema + 'static>(body: &mut Value) {
    let Value::Object(body) = body else { return };
    if !body.values().any(is_record_or_null) {
        return;
    }
    let fields = fields_of::<T>();
    let mut added = Map::new();
    for (field, value) in body.iter().filter(|(field, value)| is_record_or_null(value) && !fields.contains(*field)) {
        if let Some(target) = id_field(field, value).filter(|target| fields.contains(target))
            && !body.contains_key(&target)
        {
            added.insert(target, value.clone());
        }
    }
    body.extend(added);
}

/// Returns `true` for records, lists of records, and `null`.
fn is_record_or_null(value: &Value) -> bool {
    match value {
        Value::Null | Value::Object(_) => true,
        Value::Array(values) => values.iter().all(Value::is_object),
        _ => false,
    }
}

/// Returns the name of the id field that corresponds to a record field.
fn id_field(field: &str, value: &Value) -> Option<String> {
    if value.is_array() { Some(format!("{}_ids", field.strip_suffix('s')?)) } else { Some(format!("{field}_id")) }
}

#[cfg(test)]
mod tests {
    use deserr::Deserr;
    use serde_json::json;
    use utoipa::ToSchema;

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

    #[test]
    fn records_stand_for_their_ids() {
        let record = json!({ "id": 3, "name": "A" });
        for (body, added) in [
            (json!({ "branch": record }), json!({ "branch_id": record })),
            (json!({ "branch": null }), json!({ "branch_id": null })),
            (json!({ "branch": record, "branch_id": 4 }), json!({})),
            (json!({ "tags": [record] }), json!({ "tag_ids": [record] })),
            (json!({ "tags": [] }), json!({ "tag_ids": [] })),
            (json!({ "city": null, "country": record }), json!({})),
        ] {
            let (mut read, mut expected) = (body.clone(), body);
            ids_of_objects::<Fields>(&mut read);
            expected.as_object_mut().unwrap().extend(added.as_object().unwrap().clone());
            assert_eq!(read, expected);
        }
    }

    #[test]
    fn texts_of_blanks_are_none() {
        let mut body = json!({ "a": " \u{a0}", "b": [{ "c": "" }], "d": " x " });
        blank_to_null(&mut body);
        assert_eq!(body, json!({ "a": null, "b": [{ "c": null }], "d": " x " }));
    }
}
