//! The API description as generators and fuzzers need it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chrono::{DateTime, Utc};
use kontor::openapi::{description, pinned_text};
use kontor_adapter_messaging::HmacSigner;
use kontor_kernel::testing::CountingRandom;
use kontor_kernel::{ApplicationId, Money, OrderId, ProjectId, WebhookId};
use kontor_orders::model::PaidEvent;
use kontor_webhooks::model::{DeliveryRequest, EndpointUrl, Message, TestDelivery, WebhookSecret};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::support::sources;

pub fn api() -> Value {
    serde_json::from_str(&pinned_text(&description()).unwrap()).unwrap()
}

/// The operations below `paths` or `webhooks`, each with its name.
pub fn operations<'a>(api: &'a Value, below: &str) -> Vec<(String, &'a Value)> {
    let items = api[below].as_object().into_iter().flatten();
    let each = items.flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().iter().filter(|(key, _)| *key != "parameters");
        methods.map(move |(method, operation)| (format!("{} {path}", method.to_uppercase()), operation))
    });
    each.collect()
}

fn references<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
    match value {
        Value::Object(map) => {
            found.extend(map.get("$ref").and_then(Value::as_str));
            map.values().for_each(|inner| references(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| references(inner, found)),
        _ => {}
    }
}

fn responses(operation: &Value) -> &Map<String, Value> {
    operation["responses"].as_object().unwrap()
}

/// The fields of an object by name, those of its parts included.
fn properties<'a>(api: &'a Value, schema: &'a Value) -> BTreeMap<&'a str, &'a Value> {
    if let Some(reference) = schema["$ref"].as_str() {
        return properties(api, api.pointer(&reference[1..]).unwrap());
    }
    let parts = schema["allOf"].as_array().into_iter().flatten().flat_map(|part| properties(api, part));
    let own = schema["properties"].as_object().into_iter().flatten().map(|(name, schema)| (name.as_str(), schema));
    parts.chain(own).collect()
}

fn may_be_null(api: &Value, schema: &Value) -> bool {
    if let Some(reference) = schema["$ref"].as_str() {
        return may_be_null(api, api.pointer(&reference[1..]).unwrap());
    }
    let kinds = &schema["type"];
    let alternatives = ["oneOf", "anyOf"].into_iter().filter_map(|kind| schema[kind].as_array()).flatten();
    kinds == "null"
        || kinds.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "null"))
        || alternatives.into_iter().any(|schema| may_be_null(api, schema))
}

/// Fields that an update may empty although the record always shows a value.
const SHOWN_WHEN_EMPTY: [(&str, &str); 4] = [
    // As an empty text.
    ("PUT /api/orders/{id}", "address"),
    ("PUT /api/permissions/{id}", "description"),
    // As the time zone of the project.
    ("PUT /api/shops/{id}", "time_zone"),
    // As `false`, its default.
    ("PUT /api/shops/{id}/holidays/{holiday_id}", "is_yearly"),
];

/// An update takes `null` only where the record shows `null` then. A field that keeps its value at `null` would be described as
/// one that can be emptied.
#[test]
fn fields_that_an_update_may_empty_are_shown_as_empty() {
    let api = api();
    let (mut seen, mut wrong) = (0, Vec::new());
    for (name, operation) in operations(&api, "paths") {
        let content = &operation["requestBody"]["content"]["application/json"]["schema"];
        if !(name.starts_with("PUT ") || name.starts_with("PATCH ")) || content.is_null() {
            continue;
        }
        let answer = properties(&api, &responses(operation)["200"]["content"]["application/json"]["schema"]);
        let records = answer.values().flat_map(|record| properties(&api, record));
        let shown: BTreeMap<_, _> = records.collect();
        for (field, schema) in properties(&api, content) {
            if !may_be_null(&api, schema) || SHOWN_WHEN_EMPTY.contains(&(name.as_str(), field)) {
                continue;
            }
            seen += 1;
            let shown = shown.get(field).or_else(|| shown.get(field.trim_end_matches("_id")));
            if !shown.is_some_and(|shown| may_be_null(&api, shown)) {
                wrong.push(format!("{name}: {field}"));
            }
        }
    }
    assert!(seen > 50, "{seen}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// `true` if a body is described: every media type has a schema with content.
fn says_something(response: &Value) -> bool {
    let content = response["content"].as_object();
    content.is_some_and(|content| {
        let says = |media: &Value| media["schema"].as_object().is_some_and(|schema| !schema.is_empty());
        !content.is_empty() && content.values().all(says)
    })
}

#[test]
fn every_reference_resolves() {
    let api = api();
    let mut found = BTreeSet::new();
    references(&api, &mut found);
    let lost = |reference: &&&str| reference.strip_prefix('#').and_then(|pointer| api.pointer(pointer)).is_none();
    let lost: Vec<_> = found.iter().filter(lost).collect();
    assert!(lost.is_empty(), "{lost:?}");
    assert!(found.len() > 100, "{}", found.len());
}

/// Adds the paths of lists whose records have no named schema.
fn unnamed_records(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let is_unnamed = |items: &Value| items["type"] == "object" || items.get("properties").is_some();
            if map.get("type") != Some(&"object".into()) && map.get("items").is_some_and(is_unnamed) {
                found.push(path.to_owned());
            }
            map.iter().for_each(|(key, inner)| unnamed_records(inner, &format!("{path}/{key}"), found));
        }
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(place, inner)| unnamed_records(inner, &format!("{path}/{place}"), found));
        }
        _ => {}
    }
}

/// Rows of tables alone have no schema: their columns are those that were asked for.
#[test]
fn records_of_lists_have_names() {
    let mut found = Vec::new();
    unnamed_records(&api(), "", &mut found);
    assert_eq!(found, ["/components/schemas/TableAnswer/additionalProperties"]);
    let mut noticed = Vec::new();
    let list = serde_json::json!({ "data": { "type": "array", "items": { "type": "object", "properties": {} } } });
    unnamed_records(&list, "", &mut noticed);
    assert_eq!(noticed, ["/data"]);
}

#[test]
fn every_response_has_a_body() {
    let api = api();
    let empty: Vec<_> = operations(&api, "paths")
        .into_iter()
        .filter(|(_, operation)| responses(operation).contains_key("204"))
        .map(|(name, _)| name)
        .collect();
    assert!(empty.is_empty(), "{empty:?}");
}

/// Files are no examples: a request that uploads one and an answer that downloads one have none.
#[test]
fn every_operation_shows_a_request_and_an_answer() {
    const SHOWN: [&str; 3] = ["application/json", "application/x-www-form-urlencoded", "text/plain"];
    let api = api();
    let lacks = |content: &Value| {
        let kinds = SHOWN.iter().filter_map(|kind| content.get(*kind)).collect::<Vec<_>>();
        !kinds.is_empty() && kinds.iter().all(|kind| kind.get("example").is_none())
    };
    let operations = operations(&api, "paths");
    let without: Vec<_> = operations
        .iter()
        .filter(|(_, operation)| {
            let answers = responses(operation).values().filter(|answer| answer.get("content").is_some());
            lacks(&operation["requestBody"]["content"]) || answers.clone().all(|answer| lacks(&answer["content"]))
        })
        .map(|(name, _)| name)
        .collect();
    assert!(without.is_empty(), "{without:#?}");
}

/// Adds the required fields that an example lacks, each with its path.
fn lacking(api: &Value, schema: &Value, example: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        return lacking(api, api.pointer(&reference[1..]).unwrap(), example, path, found);
    }
    let alternatives = ["oneOf", "anyOf"].into_iter().filter_map(|kind| schema[kind].as_array()).flatten();
    let other_than_null: Vec<_> = alternatives.filter(|schema| schema["type"] != "null").collect();
    if let [only] = other_than_null[..] {
        lacking(api, only, example, path, found);
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        lacking(api, part, example, path, found);
    }
    if let Some(fields) = example.as_object() {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        found.extend(required.filter(|name| !fields.contains_key(*name)).map(|name| format!("{path}/{name}")));
        for (name, value) in fields {
            lacking(api, &schema["properties"][name], value, &format!("{path}/{name}"), found);
        }
    }
    for item in example.as_array().into_iter().flatten() {
        lacking(api, &schema["items"], item, path, found);
    }
}

/// A field that is left out of answers must not be described as required.
#[test]
fn examples_have_every_required_field() {
    let api = api();
    let (mut compared, mut found) = (0, Vec::new());
    for (name, operation) in operations(&api, "paths") {
        for (status, response) in responses(operation) {
            let content = &response["content"]["application/json"];
            if let Some(example) = content.get("example") {
                compared += 1;
                lacking(&api, &content["schema"], example, &format!("{name} {status}"), &mut found);
            }
        }
    }
    assert!(compared > 300, "{compared}");
    assert!(found.is_empty(), "{found:#?}");
}

/// The description makes each nullable field of an answer required. A field that is left out is therefore never nullable.
#[test]
fn left_out_fields_are_not_nullable() {
    let (mut seen, mut found) = (0, Vec::new());
    for package in ["client-surface", "platform-surface", "web"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates").join(package).join("src");
        for file in sources(&folder) {
            let text = std::fs::read_to_string(&file).unwrap();
            let lines: Vec<_> = text.lines().collect();
            let is_left_out = |at: usize| {
                let is_optional = lines[at].contains("required = false") && lines[at + 1].contains(": Option<");
                lines[at].contains("skip_serializing_if") || is_optional
            };
            for at in (0..lines.len()).filter(|at| is_left_out(*at)) {
                seen += 1;
                if !lines[at..=at + 1].iter().any(|line| line.contains("nullable = false")) {
                    found.push(format!("{}:{}", file.display(), at + 1));
                }
            }
        }
    }
    assert!(seen > 5, "{seen}");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn every_area_is_described_and_belongs_to_one_surface() {
    let api = api();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let described: Vec<_> = api["tags"].as_array().unwrap().iter().map(|tag| text(&tag["name"])).collect();
    assert!(api["tags"].as_array().unwrap().iter().all(|tag| text(&tag["description"]).ends_with('.')));
    let groups = api["x-tagGroups"].as_array().unwrap();
    let grouped: Vec<_> = groups.iter().flat_map(|group| group["tags"].as_array().unwrap()).map(text).collect();
    assert_eq!(described, grouped);
    let mut used = BTreeSet::new();
    for (name, operation) in operations(&api, "paths") {
        let tags: Vec<_> = operation["tags"].as_array().unwrap().iter().map(text).collect();
        assert_eq!(tags.len(), 1, "{name}");
        assert_eq!(
            tags[0].starts_with("Client: "),
            operation["operationId"].as_str().unwrap().starts_with("counterparty_")
        );
        used.extend(tags);
    }
    assert_eq!(used, described.into_iter().collect());
}

#[test]
fn operation_ids_are_unique_over_both_surfaces() {
    let api = api();
    let mut by_id: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, operation) in operations(&api, "paths").into_iter().chain(operations(&api, "webhooks")) {
        by_id.entry(operation["operationId"].as_str().unwrap()).or_default().push(name);
    }
    let shared: Vec<_> = by_id.iter().filter(|(_, names)| names.len() > 1).collect();
    assert!(shared.is_empty(), "{shared:#?}");
    for (id, names) in by_id {
        let client = names[0].contains(" /api/counterparty/") || names[0].ends_with(" /api/counterparty");
        assert_eq!(id.starts_with("counterparty_"), client, "{id}: {names:?}");
    }
}

#[test]
fn every_answer_is_described() {
    let api = api();
    for (name, operation) in operations(&api, "paths") {
        let responses = responses(operation);
        assert!(responses.keys().any(|status| status.starts_with('2')), "{name}: no success");
        for (status, response) in responses {
            assert!(response["description"].as_str().is_some_and(|text| !text.is_empty()), "{name}: {status} is mute");
            // What was kept is still so: there is no body.
            assert!(status == "304" || says_something(response), "{name}: the body of {status} is not described");
        }
    }
}

#[test]
fn refusals_follow_from_what_is_read() {
    let api = api();
    let mut missing = Vec::new();
    for (name, operation) in operations(&api, "paths") {
        let reads_body = operation.get("requestBody").is_some();
        let parameters = operation["parameters"].as_array();
        let placed = |place: &str| parameters.is_some_and(|list| list.iter().any(|one| one["in"] == place));
        let outside = name.contains(" /callbacks/");
        let mut wanted = Vec::new();
        if reads_body {
            wanted.extend(["400", "413"]);
        }
        if reads_body && !outside {
            wanted.extend(["415", "422"]);
        }
        if placed("query") {
            wanted.push("422");
        }
        if name.contains('{') {
            assert!(placed("path"), "{name}");
            wanted.push("404");
        }
        missing.extend(
            wanted
                .into_iter()
                .filter(|status| !responses(operation).contains_key(*status))
                .map(|status| format!("{name}: {status}")),
        );
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// A delivery of every event, as it is sent.
fn deliveries() -> [(&'static str, DeliveryRequest, Value); 2] {
    let event = PaidEvent {
        event_id: Uuid::from_u128(1),
        order_id: OrderId::new(41).unwrap(),
        application_id: ApplicationId::new(3).unwrap(),
        project_id: ProjectId::new(1).unwrap(),
        amount: "265.50".parse::<Money>().unwrap(),
        currency: "RUB".to_owned(),
        paid_at: DateTime::<Utc>::UNIX_EPOCH,
    };
    let test = TestDelivery {
        project_id: event.project_id,
        application_id: event.application_id,
        webhook_id: WebhookId::new(2).unwrap(),
        event_id: event.event_id,
        delivery_id: Uuid::from_u128(2),
        at: DateTime::<Utc>::UNIX_EPOCH,
    };
    let events = [(PaidEvent::TOPIC, event.payload().to_string()), (TestDelivery::EVENT, test.body())];
    events.map(|(name, body)| {
        let message = Message {
            event: name.to_owned(),
            event_id: test.event_id,
            delivery_id: test.delivery_id,
            body: body.clone(),
        };
        let url = EndpointUrl::parse("https://shop.example/hook").unwrap();
        let secret = WebhookSecret::generate(&CountingRandom::new());
        let request = DeliveryRequest::sign(message, url, &secret, DateTime::<Utc>::UNIX_EPOCH, &HmacSigner);
        (name, request, serde_json::from_str(&body).unwrap())
    })
}

/// Holds a value against a schema of objects and single values, as far as this description uses them.
fn holds(api: &Value, schema: &Value, value: &Value, path: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        return holds(api, api.pointer(&reference[1..]).unwrap(), value, path);
    }
    let kind = match value {
        Value::Object(_) => "object",
        Value::String(_) => "string",
        Value::Number(_) => "integer",
        other => panic!("{path}: {other}"),
    };
    assert_eq!(schema["type"], kind, "{path}");
    if let Some(fields) = value.as_object() {
        let described = schema["properties"].as_object().unwrap();
        assert_eq!(fields.keys().collect::<BTreeSet<_>>(), described.keys().collect(), "{path}");
        let required = schema["required"].as_array().unwrap();
        assert_eq!(required.len(), described.len(), "{path}: all fields are always sent");
        fields.iter().for_each(|(name, value)| holds(api, &described[name], value, &format!("{path}.{name}")));
    }
    if let Some(only) = schema["const"].as_str().or_else(|| schema["enum"].as_array().and_then(|all| all[0].as_str())) {
        assert_eq!(value, only, "{path}");
    }
}

#[test]
fn webhooks_are_described_as_they_are_sent() {
    let api = api();
    let described = operations(&api, "webhooks");
    let deliveries = deliveries();
    let sent: Vec<_> = deliveries.iter().map(|(event, ..)| format!("POST {event}")).collect();
    assert_eq!(described.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>(), sent);
    for ((_, operation), (_, request, body)) in described.into_iter().zip(&deliveries) {
        let parameters = operation["parameters"].as_array().unwrap();
        assert!(parameters.iter().all(|one| one["in"] == "header" && one["required"] == true), "{parameters:?}");
        let names: BTreeSet<_> = parameters.iter().map(|one| one["name"].as_str().unwrap()).collect();
        let sent: BTreeSet<_> =
            request.headers.iter().map(|(name, _)| *name).filter(|name| *name != "Content-Type").collect();
        assert_eq!(names, sent);
        for parameter in parameters {
            let value = request.header(parameter["name"].as_str().unwrap()).unwrap();
            let value = if parameter["schema"]["type"] == "integer" {
                Value::from(value.parse::<i64>().unwrap())
            } else {
                value.into()
            };
            holds(&api, &parameter["schema"], &value, parameter["name"].as_str().unwrap());
        }
        let content = &operation["requestBody"]["content"];
        assert_eq!(operation["requestBody"]["required"], true);
        holds(&api, &content[request.header("content-type").unwrap()]["schema"], body, "body");
        assert!(responses(operation).contains_key("2XX"));
    }
}
