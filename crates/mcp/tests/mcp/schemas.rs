//! Schemas: small, equal to the API, and true of its recorded examples.

use std::collections::BTreeSet;

use kontor_auth::model::ToolClass;
use kontor_mcp::Mcp;
use kontor_mcp::tools::{Class, GROUPS};
use kontor_platform_surface::{POLICIES, agent_tools};
use serde_json::{Value, json};

use crate::script::{Client, Script, agent, description, owner, server};

/// Returns the reasons why a value does not fit a schema. It knows the words that the schemas of tools use.
fn misfits(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().map(|kind| kind.as_str().unwrap()).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    let is_a = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is_a(kind)) {
        wrong.push(format!("{at} is no {kinds:?}: {value}"));
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        wrong.push(format!("{at} is none of {words:?}"));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.get(name.as_str().unwrap()).is_none() {
            wrong.push(format!("{at}.{name} is missing"));
        }
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(name) {
            wrong.extend(misfits(field, value, &format!("{at}.{name}")));
        }
    }
    if let (true, Some(values)) = (schema["items"].is_object(), value.as_array()) {
        wrong.extend(values.iter().flat_map(|value| misfits(&schema["items"], value, &format!("{at}[]"))));
    }
    if let Some(alternatives) = schema["anyOf"].as_array()
        && !alternatives.iter().any(|one| misfits(one, value, at).is_empty())
    {
        wrong.push(format!("{at} fits no alternative: {value}"));
    }
    wrong
}

#[test]
fn misfits_are_found() {
    let schema = json!({
        "type": "object", "required": ["a"],
        "properties": { "a": { "type": ["integer", "null"] }, "b": { "type": "array", "items": { "enum": ["x"] } } },
    });
    assert_eq!(misfits(&schema, &json!({ "a": null, "b": ["x"], "c": 1 }), ""), Vec::<String>::new());
    for wrong in [json!({}), json!([]), json!({ "a": "1" }), json!({ "a": 1, "b": ["y"] }), json!({ "a": 1, "b": {} })]
    {
        assert!(!misfits(&schema, &wrong, "").is_empty(), "{wrong}");
    }
    let either = json!({ "anyOf": [schema, { "required": ["z"] }] });
    assert!(misfits(&either, &json!({ "z": 1 }), "").is_empty() && !misfits(&either, &json!({}), "").is_empty());
}

/// Successful responses of an operation that have a recorded example.
fn examples<'a>(api: &'a Value, operation: &str) -> Vec<&'a Value> {
    let (method, path) = operation.split_once(' ').unwrap();
    let responses = api["paths"][path][method.to_lowercase()]["responses"].as_object().unwrap();
    let successes = responses.iter().filter(|(status, _)| status.starts_with('2'));
    successes.filter_map(|(_, response)| response["content"]["application/json"].get("example")).collect()
}

#[test]
fn every_tool_takes_its_example_and_its_results_fit_its_schema() {
    let (api, server) = (description(), server());
    for offer in server.offers() {
        let name = offer.tool.name;
        let example: Value = serde_json::from_str(offer.tool.example).unwrap();
        assert_eq!(misfits(&offer.listed["inputSchema"], &example, name), Vec::<String>::new());
        let request = offer.arguments.request(example.as_object().unwrap()).unwrap();
        assert!(!request.path.contains('{'), "{name}: {}", request.path);
        let recorded = examples(&api, offer.tool.operation);
        assert!(!recorded.is_empty(), "{name} has no recorded response");
        for response in recorded {
            assert_eq!(misfits(&offer.listed["outputSchema"], response, name), Vec::<String>::new());
        }
        if offer.tool.class != Class::Read {
            assert!(offer.listed["inputSchema"]["properties"].get("dry_run").is_some(), "{name}");
        }
        let listed = &offer.listed["outputSchema"].to_string();
        assert!(offer.tool.shows.iter().all(|field| listed.contains(&format!("\"{field}\""))), "{name}: {listed}");
    }
}

#[test]
fn classes_are_those_of_the_policy_for_agents() {
    let operations = agent_tools();
    for tool in GROUPS.iter().flat_map(|(_, tools)| *tools) {
        let (method, path) = tool.operation.split_once(' ').unwrap();
        let known = operations.iter().find(|operation| operation.method == method && operation.path == path);
        let class = match known.map(|operation| operation.class) {
            None | Some(ToolClass::Read) => Class::Read,
            Some(ToolClass::Write) => Class::Write,
            Some(ToolClass::Money) => Class::Money,
            Some(ToolClass::Destructive) => Class::Destructive,
        };
        assert_eq!(tool.class, class, "{}", tool.name);
        assert!(known.is_some() || method == "GET", "{}", tool.name);
    }
}

#[test]
fn tools_are_few_and_unique() {
    let names: Vec<&str> = GROUPS.iter().flat_map(|(_, tools)| *tools).map(|tool| tool.name).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    assert!(names.len() <= 40, "{}", names.len());
    assert!(GROUPS.iter().all(|(_, tools)| !tools.is_empty()));
}

#[actix_web::test]
async fn the_list_of_tools_is_short_enough_for_a_model() {
    let (server, owner) = (server(), owner());
    let reply = Client::new(&server, &owner).ask("tools/list", json!({}), &Script::default()).await;
    let bytes = reply.body.unwrap().to_string().len();
    // About four bytes are a token: 8,000 tokens.
    assert!(bytes <= 32_000, "{bytes}");
}

#[actix_web::test]
async fn the_list_has_what_the_token_may_do() {
    let (server, api) = (server(), description());
    // The description names the permissions of every operation.
    let needs = |operation: &str| -> Vec<String> {
        let (method, path) = operation.split_once(' ').unwrap();
        let names = api["paths"][path][method.to_lowercase()]["x-permissions"].as_array().unwrap();
        names.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let sets: [&[&str]; 4] = [
        &[],
        &["view-orders"],
        &["view-orders", "edit-orders", "edit-tasks", "view-inventories"],
        &["create-nomenclatures", "edit-nomenclatures"],
    ];
    for granted in sets {
        let covers = |name: &String| {
            let by_edit = name.strip_prefix("create-").map(|resource| format!("edit-{resource}"));
            granted.contains(&name.as_str()) || by_edit.is_some_and(|edit| granted.contains(&edit.as_str()))
        };
        let tools = GROUPS.iter().flat_map(|(_, tools)| *tools);
        let expected: Vec<&str> =
            tools.filter(|tool| needs(tool.operation).iter().all(covers)).map(|tool| tool.name).collect();
        let staff = agent(granted);
        assert_eq!(Client::new(&server, &staff).tools().await, expected, "{granted:?}");
    }
}

#[test]
fn a_tool_that_does_not_fit_the_api_prevents_the_start() {
    assert!(Mcp::new(&description(), POLICIES).is_ok());
    let without = |pointer: &str, field: &str| {
        let mut api = description();
        api.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(field).unwrap();
        Mcp::new(&api, POLICIES).err().map(|error| error.to_string())
    };
    let refund = without("/components/schemas/RefundRequest/properties", "restock").unwrap();
    assert_eq!(refund, "the tool refund_order: the operation has no field restock");
    assert!(without("/paths", "/api/orders").unwrap().contains("not described"));
    let mut api = description();
    api["components"]["schemas"]["NewTask"]["required"] = json!(["title", "colour"]);
    let missing = Mcp::new(&api, POLICIES).err().map(|error| error.to_string());
    assert_eq!(missing.unwrap(), "the tool create_task: the operation requires colour");
    let unknown = Mcp::new(&description(), POLICIES.iter().filter(|policy| policy.path != "/api/tasks"));
    assert!(unknown.err().unwrap().to_string().contains("no such operation"));
}
