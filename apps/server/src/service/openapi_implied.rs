//! What an operation's declaration implies, so that no handler has to repeat it: its id, and the refusals that follow
//! from who may call it and from what it reads.

use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};

use crate::http::policy::{Access, Policy};
use crate::http::routes::lies_below;

const MESSAGE: &str = "Message";
const ERRORS: &str = "ValidationErrors";

/// Completes the description of an operation. What is declared at the handler stays.
pub fn complete(operation: &mut Operation, policy: &Policy) {
    if lies_below(policy.path, "/api/counterparty") {
        operation.operation_id = operation.operation_id.take().map(|id| format!("counterparty_{id}"));
    }
    for (status, response) in &mut operation.responses.responses {
        if let RefOr::T(response) = response {
            fill(status, response);
        }
    }
    for (status, description, schema) in implied(operation, policy) {
        operation.responses.responses.entry(status.to_owned()).or_insert_with(|| refusal(description, schema));
    }
}

/// A declared answer may leave out its description, a refusal its body: it is the usual one.
fn fill(status: &str, response: &mut Response) {
    if response.description.is_empty() {
        let usual = match status {
            "201" => "Created.",
            "202" => "Accepted; the outcome is not known yet.",
            _ => "Done.",
        };
        usual.clone_into(&mut response.description);
    }
    if response.content.is_empty() && !status.starts_with('2') {
        let schema = if status == "422" { ERRORS } else { MESSAGE };
        response.content.insert("application/json".to_owned(), content(schema).into());
    }
}

fn implied(operation: &Operation, policy: &Policy) -> Vec<(&'static str, &'static str, &'static str)> {
    let parameters = operation.parameters.iter().flatten();
    let query = parameters
        .filter_map(|parameter| match parameter {
            RefOr::T(parameter) => Some(&parameter.parameter_in),
            RefOr::Ref(_) => None,
        })
        .any(|place| *place == ParameterIn::Query);
    let body = operation.request_body.is_some();
    // Outside services are read whatever they call their body, and name no fields.
    let checked_body = body && !lies_below(policy.path, "/callbacks");
    let mut implied = Vec::new();
    if body {
        implied.push(("400", "The body cannot be read.", MESSAGE));
        implied.push(("413", "The body is too large.", MESSAGE));
    }
    if checked_body {
        implied.push(("415", "The body is of another content type.", MESSAGE));
    }
    if checked_body || query {
        implied.push(("422", "Fields are wrong; all of them are named.", ERRORS));
    }
    if policy.access != Access::Public {
        let schema = if policy.structured { "NamedErrorBody" } else { MESSAGE };
        implied.push(("401", "A credential is missing, expired or unsuitable.", schema));
    }
    if matches!(policy.access, Access::Staff(_)) {
        implied.push(("403", "The permission is missing, or the record is another project's.", MESSAGE));
    }
    if policy.path.contains('{') {
        implied.push(("404", "There is no such record, or it is hidden from the caller.", MESSAGE));
    } else if matches!(policy.access, Access::Customer | Access::CustomerAlone) {
        implied.push(("404", "The customer signed in to another application.", MESSAGE));
    }
    implied
}

fn content(schema: &str) -> utoipa::openapi::Content {
    ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build()
}

fn refusal(description: &str, schema: &str) -> RefOr<Response> {
    ResponseBuilder::new().description(description).content("application/json", content(schema)).build().into()
}
