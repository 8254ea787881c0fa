//! Examples in the description: requests that a test sends to the demo, and the responses that it records.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::{OpenApi, RefOr};

/// Request. Placeholders such as `<redeem_token>` replace values that differ in each run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Example {
    /// Operation, such as `POST /api/orders/{id}/nomenclatures`.
    pub operation: String,
    /// Path, such as `/api/orders/3/nomenclatures`.
    pub path: String,
    /// `application_without_customer`, `application`, `customer`, `staff`, `backend` or the name of a kept token. Two more do not call the
    /// service and give no examples: `outside` calls the sandbox, and with `payer` the customer pays the open payments.
    pub caller: String,
    /// Body of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    /// Form fields sent instead of a body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<BTreeMap<String, String>>,
    /// File sent instead of a body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload: Option<Upload>,
    /// Values of the response by JSON pointer. Later requests refer to them as `<name>`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keep: BTreeMap<String, String>,
    /// Expected values by JSON pointer. The request is repeated until the response has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub until: BTreeMap<String, Value>,
    /// Status of the response.
    pub status: u16,
}

/// Bodies of responses by operation and status. All times are replaced by the same one, and lists are cut to their
/// first records.
pub type Responses = BTreeMap<(String, u16), Value>;

/// File, and the fields sent with it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Upload {
    /// File name.
    pub file: String,
    /// Text of the file.
    pub content: String,
    /// Other fields.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
}

/// Committed description, with the recorded responses. The service answers with it; a test compares it with the code.
pub const PINNED: &str = include_str!("../../../../docs/openapi.json");

/// Example files in the order in which they run: later ones depend on the records of earlier ones.
pub const FILES: [(&str, &str); 9] = [
    ("client-orders", include_str!("../../examples/client-orders.json")),
    ("orders", include_str!("../../examples/orders.json")),
    ("customers", include_str!("../../examples/customers.json")),
    ("subscriptions", include_str!("../../examples/subscriptions.json")),
    ("catalogue", include_str!("../../examples/catalogue.json")),
    ("content", include_str!("../../examples/content.json")),
    ("organization", include_str!("../../examples/organization.json")),
    ("access", include_str!("../../examples/access.json")),
    ("client", include_str!("../../examples/client.json")),
];

/// Parses the examples of a file.
pub fn read(text: &str) -> Result<Vec<Example>, serde_json::Error> {
    serde_json::from_str(text)
}

/// Returns the examples of all files. A file that cannot be parsed has none, and fails the test that runs it.
pub(super) fn all() -> Vec<Example> {
    FILES.iter().flat_map(|(_, text)| read(text).unwrap_or_default()).collect()
}

/// Returns the responses in the committed description.
pub(super) fn recorded() -> &'static Responses {
    static RECORDED: OnceLock<Responses> = OnceLock::new();
    RECORDED.get_or_init(|| responses(&serde_json::from_str(PINNED).unwrap_or_default()))
}

fn responses(api: &Value) -> Responses {
    let fields = |value: Option<&Value>| value.and_then(Value::as_object).cloned().unwrap_or_default();
    let mut found = Responses::new();
    for (path, item) in fields(api.get("paths")) {
        for (method, operation) in fields(Some(&item)) {
            for (status, response) in fields(operation.get("responses")) {
                let contents = fields(response.get("content"));
                let body = contents.into_iter().find_map(|(_, content)| content.get("example").cloned());
                if let (Ok(status), Some(body)) = (status.parse(), body) {
                    found.insert((format!("{} {path}", method.to_uppercase()), status), body);
                }
            }
        }
    }
    found
}

/// Adds the first request of each operation to the description, and its responses.
pub(super) fn illustrate(api: &mut OpenApi, examples: &[Example], responses: &Responses) {
    let mut named = BTreeSet::new();
    for example in examples.iter().filter(|example| example.status < 300) {
        if let Some((operation, template)) = find(api, &example.operation)
            && named.insert(&example.operation)
        {
            add_parameter_examples(operation, template, &example.path);
            show_request(operation, example);
        }
    }
    for ((operation, status), body) in responses {
        if let Some((operation, _)) = find(api, operation) {
            show_response(operation, *status, body);
        }
    }
}

/// Finds an operation such as `GET /api/orders/{id}`, and returns it with its path.
fn find<'a, 'b>(api: &'a mut OpenApi, operation: &'b str) -> Option<(&'a mut Operation, &'b str)> {
    let (method, template) = operation.split_once(' ')?;
    let operation = operation_of(api.paths.paths.get_mut(template)?, method)?;
    Some((operation, template))
}

fn operation_of<'a>(item: &'a mut PathItem, method: &str) -> Option<&'a mut Operation> {
    match method {
        "GET" => item.get.as_mut(),
        "POST" => item.post.as_mut(),
        "PUT" => item.put.as_mut(),
        "PATCH" => item.patch.as_mut(),
        "DELETE" => item.delete.as_mut(),
        _ => None,
    }
}

/// Adds the ids in the path of an example as parameter examples. Values that differ in each run are left out.
fn add_parameter_examples(operation: &mut Operation, template: &str, path: &str) {
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    for (place, segment) in template.split('/').zip(path.split('/')) {
        let Some(name) = place.strip_prefix('{').and_then(|name| name.strip_suffix('}')) else { continue };
        if segment.starts_with('<') {
            continue;
        }
        let named = |parameter: &&mut RefOr<Parameter>| matches!(parameter, RefOr::T(known) if known.name == name && known.parameter_in == ParameterIn::Path);
        let parameter = operation.parameters.iter_mut().flatten().find(named);
        if let Some(RefOr::T(parameter)) = parameter {
            let record = segment.parse::<i64>().map_or_else(|_| json!(segment), |id| json!(id));
            *parameter = ParameterBuilder::from(parameter.clone()).example(Some(record)).build();
        }
    }
}

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

fn show_request(operation: &mut Operation, example: &Example) {
    let (media, request) = match (&example.request, &example.form) {
        (Some(body), _) => (JSON, body.clone()),
        (None, Some(form)) => (FORM, json!(form)),
        (None, None) => return,
    };
    if let Some(RefOr::T(body)) = operation.request_body.as_mut()
        && let Some(RefOr::T(content)) = body.content.get_mut(media)
    {
        content.example.get_or_insert(request);
    }
}

fn show_response(operation: &mut Operation, status: u16, body: &Value) {
    let response = operation.responses.responses.get_mut(&status.to_string());
    let Some(RefOr::T(response)) = response else { return };
    if let Some(RefOr::T(content)) = response.content.get_mut(JSON) {
        content.example.get_or_insert_with(|| body.clone());
    } else if let Some((_, RefOr::T(content))) =
        response.content.iter_mut().find(|(media, _)| media.starts_with("text/"))
    {
        let text = body.as_str().map_or_else(|| body.to_string(), ToOwned::to_owned);
        content.example.get_or_insert(json!(text));
    }
}
