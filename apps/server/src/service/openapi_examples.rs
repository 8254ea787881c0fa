//! Examples in the description: requests that a test sends to the demo, and what the demo answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::{OpenApi, RefOr};

/// One request and its answer. `operation` is the method and the template, `path` what is sent. Words such as
/// `<redeem_token>` stand for values that no two runs have in common; every moment is told as the same one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Example {
    /// `POST /api/orders/{id}/nomenclatures`
    pub operation: String,
    /// `/api/orders/3/nomenclatures`
    pub path: String,
    /// `application`, `customer` or `staff`; `payer` is no call of the service: the customer pays what waits for them
    pub caller: String,
    /// The body that is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    /// What is answered.
    pub status: u16,
    /// The body of the answer.
    #[serde(default)]
    pub answer: Value,
}

/// The files that hold them, in the order in which they are played: later ones build on what earlier ones made.
pub const FILES: [(&str, &str); 4] = [
    ("client-orders", include_str!("../../examples/client-orders.json")),
    ("orders", include_str!("../../examples/orders.json")),
    ("customers", include_str!("../../examples/customers.json")),
    ("subscriptions", include_str!("../../examples/subscriptions.json")),
];

/// The examples of a file.
pub fn read(text: &str) -> Result<Vec<Example>, serde_json::Error> {
    serde_json::from_str(text)
}

/// Puts the first example of each operation and status into the description.
pub(super) fn illustrate(api: &mut OpenApi) {
    // A file that cannot be read shows nothing, and fails the test that plays it.
    for example in FILES.iter().flat_map(|(_, text)| read(text).unwrap_or_default()) {
        let Some((method, template)) = example.operation.split_once(' ') else { continue };
        let operation = api.paths.paths.get_mut(template).and_then(|item| operation_of(item, method));
        if let Some(operation) = operation {
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

const JSON: &str = "application/json";

fn show(operation: &mut Operation, example: Example) {
    if let (Some(RefOr::T(body)), Some(request)) = (operation.request_body.as_mut(), example.request)
        && let Some(RefOr::T(content)) = body.content.get_mut(JSON)
        && example.status < 300
    {
        content.example.get_or_insert(request);
    }
    let response = operation.responses.responses.get_mut(&example.status.to_string());
    if let Some(RefOr::T(response)) = response
        && let Some(RefOr::T(content)) = response.content.get_mut(JSON)
    {
        content.example.get_or_insert(example.answer);
    }
}
