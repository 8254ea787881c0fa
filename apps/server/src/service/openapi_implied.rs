//! Parts of an operation that follow from its declaration, so that no handler has to repeat them: its id, the ids in
//! its path, and the errors that follow from its access and its input.

use actix_web::http::Method;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{KnownFormat, SchemaFormat, Type};
use utoipa::openapi::{ContentBuilder, ObjectBuilder, Ref, RefOr, Required, Response, ResponseBuilder};

use super::{openapi_keys, openapi_preconditions};
use kontor_web::idempotency::accepts_keys;
use kontor_web::policy::{Access, Policy};
use kontor_web::routes::is_below;

const MESSAGE: &str = "Message";
const ERRORS: &str = "ValidationErrors";

/// Completes the description of an operation. Declarations of the handler stay.
pub fn complete(operation: &mut Operation, policy: &Policy) {
    if is_below(policy.path, "/api/counterparty") {
        operation.operation_id = operation.operation_id.take().map(|id| format!("counterparty_{id}"));
    }
    let numbers: Vec<_> = placeholders(policy.path).filter(|name| !is_declared(operation, name)).map(number).collect();
    if !numbers.is_empty() {
        let declared = operation.parameters.take().unwrap_or_default();
        operation.parameters = Some(numbers.into_iter().chain(declared).collect());
    }
    for (status, response) in &mut operation.responses.responses {
        if let RefOr::T(response) = response {
            fill(status, response);
        }
    }
    for (status, description, schema) in implied(operation, policy) {
        operation.responses.responses.entry(status.to_owned()).or_insert_with(|| refusal(description, schema));
    }
    if accepts_keys(policy) {
        openapi_keys::complete(operation);
    }
    openapi_preconditions::complete(operation, policy);
}

fn placeholders(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

fn is_declared(operation: &Operation, name: &str) -> bool {
    let parameters = operation.parameters.iter().flatten();
    parameters.into_iter().any(|parameter| {
        matches!(parameter, RefOr::T(Parameter { name: declared, parameter_in: ParameterIn::Path, .. }) if declared == name)
    })
}

/// Returns a path parameter as a record id, the default if a handler declares nothing else.
fn number(name: &str) -> RefOr<Parameter> {
    let number =
        ObjectBuilder::new().schema_type(Type::Integer).format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)));
    let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path).required(Required::True);
    parameter.schema(Some(number)).build().into()
}

/// Fills in the usual description of a response, and the usual body of an error, if they are not declared.
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
    // Callbacks of outside services accept any content type, and report no wrong fields.
    let checked_body = body && !is_below(policy.path, "/callbacks");
    let mut implied = Vec::new();
    if body {
        implied.push(("400", "The body is not valid.", MESSAGE));
        implied.push(("413", "The body is too large.", MESSAGE));
    }
    if checked_body {
        implied.push(("415", "The content type is not supported.", MESSAGE));
    }
    if checked_body || query {
        implied.push(("422", "Validation failed. `errors` lists every invalid field.", ERRORS));
    }
    if policy.access != Access::Public {
        let schema = if policy.structured { "NamedErrorBody" } else { MESSAGE };
        implied.push(("401", "A credential is missing, invalid or expired.", schema));
    }
    if policy.method != Method::GET && matches!(policy.access, Access::Customer | Access::CustomerOnly) {
        let schema = if policy.structured { "NamedErrorBody" } else { MESSAGE };
        implied.push(("429", "Too many writes by the customer. Retry after `Retry-After` seconds.", schema));
    }
    if matches!(policy.access, Access::Staff(_)) {
        implied.push(("403", "The caller lacks the permission, or the record belongs to another project.", MESSAGE));
    }
    if policy.path.contains('{') {
        implied.push(("404", "The record does not exist, or the caller has no access to it.", MESSAGE));
    } else if matches!(policy.access, Access::Customer | Access::CustomerOnly) {
        implied.push(("404", "The customer is signed in to another application.", MESSAGE));
    }
    implied
}

fn content(schema: &str) -> utoipa::openapi::Content {
    ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build()
}

fn refusal(description: &str, schema: &str) -> RefOr<Response> {
    ResponseBuilder::new().description(description).content("application/json", content(schema)).build().into()
}
