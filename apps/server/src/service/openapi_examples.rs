//! Examples in the description: requests that a test sends to the demo, and its responses.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::{OpenApi, RefOr};

/// Request and its response. Placeholders such as `<redeem_token>` replace values that differ in each run. All times
/// are replaced by the same one, and lists are cut to their first records.
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
    /// Body of the response.
    #[serde(default)]
    pub answer: Value,
}

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

/// Adds the first example of each operation and status to the description.
pub(super) fn illustrate(api: &mut OpenApi) {
    let mut named = BTreeSet::new();
    // A file that cannot be parsed adds no examples, and fails the test that runs it.
    for example in FILES.iter().flat_map(|(_, text)| read(text).unwrap_or_default()) {
        let Some((method, template)) = example.operation.split_once(' ') else { continue };
        let operation = api.paths.paths.get_mut(template).and_then(|item| operation_of(item, method));
        if let Some(operation) = operation {
            if example.status < 300 && named.insert(example.operation.clone()) {
                add_parameter_examples(operation, template, &example.path);
            }
            show(operation, example);
        }
    }
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

fn show(operation: &mut Operation, example: Example) {
    let request = match (example.request, &example.form) {
        (Some(body), _) => Some((JSON, body)),
        (None, Some(form)) => Some((FORM, json!(form))),
        (None, None) => None,
    };
    if let (Some(RefOr::T(body)), Some((media, request))) = (operation.request_body.as_mut(), request)
        && let Some(RefOr::T(content)) = body.content.get_mut(media)
        && example.status < 300
    {
        content.example.get_or_insert(request);
    }
    let response = operation.responses.responses.get_mut(&example.status.to_string());
    let Some(RefOr::T(response)) = response else { return };
    if let Some(RefOr::T(content)) = response.content.get_mut(JSON) {
        content.example.get_or_insert(example.answer);
    } else if let Some((_, RefOr::T(content))) =
        response.content.iter_mut().find(|(media, _)| media.starts_with("text/"))
    {
        let text = example.answer.as_str().map_or_else(|| example.answer.to_string(), ToOwned::to_owned);
        content.example.get_or_insert(json!(text));
    }
}
