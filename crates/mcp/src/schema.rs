//! JSON Schemas of tools, made from the description of the API.

use serde_json::{Map, Value, json};

/// Maximum depth of an input schema, so that recursive types end.
const MAX_DEPTH: u32 = 6;
/// Longer descriptions of fields are left out: models pay for every word.
const MAX_DESCRIPTION: usize = 90;
/// Fields of lists that describe pages.
const PAGES: [&str; 3] = ["pagination", "links", "meta"];

/// Description of the API in JSON, as OpenAPI 3.1.
#[derive(Clone, Copy)]
pub struct Description<'a>(pub &'a Value);

/// Returns the entries of an object in a schema.
pub fn object_of<'a>(schema: &'a Map<String, Value>, name: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    schema.get(name).and_then(Value::as_object).into_iter().flatten()
}

/// Returns the texts of a list in a schema.
pub fn texts_of<'a>(schema: &'a Map<String, Value>, name: &str) -> impl Iterator<Item = &'a str> {
    schema.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

impl<'a> Description<'a> {
    /// Returns an operation.
    pub fn operation(self, method: &str, path: &str) -> Option<&'a Map<String, Value>> {
        self.0.get("paths")?.get(path)?.get(method.to_lowercase())?.as_object()
    }

    /// Returns the parameters of an operation, each with the target of its reference.
    pub fn parameters(self, operation: &'a Map<String, Value>) -> impl Iterator<Item = &'a Value> {
        let parameters = operation.get("parameters").and_then(Value::as_array).into_iter().flatten();
        parameters.map(move |parameter| {
            let reference = parameter.get("$ref").and_then(Value::as_str);
            reference.and_then(|reference| self.target(reference)).unwrap_or(parameter)
        })
    }

    fn target(self, reference: &str) -> Option<&'a Value> {
        self.0.pointer(reference.strip_prefix('#')?)
    }

    /// Returns a schema without references, `allOf` and alternatives to `null` at its root.
    pub fn flat(self, schema: &Value) -> Map<String, Value> {
        let mut schema = schema.as_object().cloned().unwrap_or_default();
        if let Some(Value::String(reference)) = schema.remove("$ref") {
            let mut target = self.target(&reference).map(|target| self.flat(target)).unwrap_or_default();
            target.extend(schema);
            return target;
        }
        if let Some(Value::Array(parts)) = schema.remove("allOf") {
            let (mut properties, mut required) = (Map::new(), Vec::new());
            for part in parts.iter().map(|part| self.flat(part)) {
                properties.extend(object_of(&part, "properties").map(|(name, value)| (name.clone(), value.clone())));
                required.extend(texts_of(&part, "required").map(Value::from));
            }
            schema.insert("type".to_owned(), json!("object"));
            schema.insert("properties".to_owned(), Value::Object(properties));
            schema.insert("required".to_owned(), Value::Array(required));
        }
        let alternatives = ["oneOf", "anyOf"].into_iter().find_map(|word| schema.get(word)?.as_array());
        let alternatives = alternatives.into_iter().flatten().map(|one| self.flat(one));
        let (null, mut others): (Vec<_>, Vec<_>) =
            alternatives.partition(|one| one.get("type") == Some(&json!("null")));
        if let (1, Some(one), true) = (null.len(), others.pop(), others.is_empty()) {
            let mut one = or_null(one);
            one.extend(schema.remove_entry("description"));
            return one;
        }
        schema
    }

    /// Returns the schema of an argument: complete, without what a model does not need.
    pub fn input(self, schema: &Value) -> Map<String, Value> {
        self.input_at(schema, 0)
    }

    fn input_at(self, schema: &Value, depth: u32) -> Map<String, Value> {
        let schema = self.flat(schema);
        let mut kept = Map::new();
        if depth > MAX_DEPTH {
            return kept;
        }
        for word in ["type", "enum", "pattern"] {
            kept.extend(schema.get(word).map(|value| (word.to_owned(), value.clone())));
        }
        if let Some(format @ ("date" | "date-time")) = schema.get("format").and_then(Value::as_str) {
            kept.insert("format".to_owned(), json!(format));
        }
        kept.extend(schema.get("description").and_then(Value::as_str).and_then(described));
        if let Some(items) = schema.get("items") {
            kept.insert("items".to_owned(), Value::Object(self.input_at(items, depth + 1)));
        }
        if schema.contains_key("properties") {
            let properties = object_of(&schema, "properties");
            let properties = properties.map(|(name, value)| (name.clone(), self.input_at(value, depth + 1).into()));
            kept.insert("properties".to_owned(), Value::Object(properties.collect()));
            kept.extend(schema.get("required").map(|names| ("required".to_owned(), names.clone())));
        }
        kept
    }

    /// Returns the outline of a response: its fields, and of its records the fields in `shows`. If `shows` names fields
    /// of the response itself, it has only these. Everything else in a response is allowed, too.
    pub fn outline(self, schema: &Value, shows: &[&str]) -> Map<String, Value> {
        let schema = self.flat(schema);
        let names_own = object_of(&schema, "properties").any(|(name, _)| shows.contains(&name.as_str()));
        let is_shown = |name: &str| if names_own { shows.contains(&name) } else { !PAGES.contains(&name) };
        let fields = object_of(&schema, "properties").filter(|(name, _)| is_shown(name));
        let properties: Map<String, Value> =
            fields.map(|(name, value)| (name.clone(), self.record(value, shows).into())).collect();
        let required: Vec<&str> = texts_of(&schema, "required").filter(|name| properties.contains_key(*name)).collect();
        let required = (!required.is_empty()).then(|| ("required".to_owned(), json!(required)));
        [("properties".to_owned(), Value::Object(properties))].into_iter().chain(required).collect()
    }

    /// Returns the outline of a record, or of a list of records.
    fn record(self, schema: &Value, shows: &[&str]) -> Map<String, Value> {
        let schema = self.flat(schema);
        let mut outline = kind(&schema);
        let items = schema.get("items").map(|items| self.flat(items));
        let fields = object_of(items.as_ref().unwrap_or(&schema), "properties");
        let fields = fields.filter(|(name, _)| shows.contains(&name.as_str()));
        let fields: Map<String, Value> =
            fields.map(|(name, value)| (name.clone(), kind(&self.flat(value)).into())).collect();
        match items {
            _ if fields.is_empty() => {}
            Some(_) => {
                outline.insert("items".to_owned(), json!({ "type": "object", "properties": fields }));
            }
            None => {
                outline.insert("properties".to_owned(), Value::Object(fields));
            }
        }
        outline
    }
}

/// Adds `null` to the values of a schema.
fn or_null(mut schema: Map<String, Value>) -> Map<String, Value> {
    if let Some(kinds) = schema.get_mut("type") {
        match kinds {
            Value::Array(kinds) => kinds.push(json!("null")),
            kind => *kind = json!([kind, "null"]),
        }
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.push(Value::Null);
    }
    schema
}

/// Returns the type of a schema, if it has one.
fn kind(schema: &Map<String, Value>) -> Map<String, Value> {
    schema.get("type").map(|kind| ("type".to_owned(), kind.clone())).into_iter().collect()
}

/// Returns the first sentence of a description as an entry of a schema, unless it is long.
pub fn described(text: &str) -> Option<(String, Value)> {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = words.find(". ").and_then(|end| words.get(..=end)).unwrap_or(&words);
    let is_short = !sentence.is_empty() && sentence.len() <= MAX_DESCRIPTION;
    is_short.then(|| ("description".to_owned(), json!(sentence)))
}
