//! Parts of the API description that follow from the policies and the declarations, so that no handler has to repeat
//! them: ids of operations and of their paths, errors of access and of input, `Idempotency-Key`, headers of versioned
//! records, and required fields of responses.
//!
//! An empty field is sent as `null` and never left out, so every nullable field of a response is required. A field that
//! may be absent is declared without `null`.

use std::collections::BTreeSet;

use actix_web::http::Method;
use serde_json::{Value, json};
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{AnyOfBuilder, KnownFormat, SchemaFormat, Type};
use utoipa::openapi::{ContentBuilder, ObjectBuilder, Ref, RefOr, Required, Response, ResponseBuilder};

use crate::idempotency::accepts_keys;
use crate::path::is_below;
use crate::policy::{Access, Policy};
use crate::preconditions::{accepts_if_match, accepts_if_none_match, creates_versioned, may_require_if_match};

const MESSAGE: &str = "Message";
const ERRORS: &str = "ValidationErrors";
const NAMED: &str = "NamedErrorBody";

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
        complete_key(operation);
    }
    complete_preconditions(operation, policy);
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
        let schema = if policy.structured { NAMED } else { MESSAGE };
        implied.push(("401", "A credential is missing, invalid or expired.", schema));
    }
    if policy.method != Method::GET && matches!(policy.access, Access::Customer | Access::CustomerOnly) {
        let schema = if policy.structured { NAMED } else { MESSAGE };
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

/// Name of the parameter among the components.
pub const PARAMETER: &str = "IdempotencyKey";

/// Returns the request header `Idempotency-Key`.
pub fn parameter() -> Parameter {
    let key = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(255))
        .pattern(Some("^[!-~]+$"));
    ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "Makes the write safe to repeat. A repeated request with the same key within 48 hours returns the stored \
             response with `Idempotent-Replayed: true` and changes nothing. `Idempotency-Key-Expires` is the time when \
             the key expires.",
        ))
        .schema(Some(key))
        .build()
}

fn schema(name: &str) -> RefOr<utoipa::openapi::Schema> {
    Ref::from_schema_name(name).into()
}

fn is_of_fields(schema: Option<&RefOr<utoipa::openapi::Schema>>) -> bool {
    matches!(schema, Some(RefOr::Ref(reference)) if reference.ref_location.ends_with(ERRORS))
}

/// Adds the header and the errors to the description of a write.
fn complete_key(operation: &mut Operation) {
    let header = RefOr::Ref(Ref::new(format!("#/components/parameters/{PARAMETER}")));
    operation.parameters.get_or_insert_default().push(header);
    let refusals = [
        ("400", "The `Idempotency-Key` is malformed or sent more than once."),
        ("409", "A request with the same key is in progress, or its response is lost."),
        ("422", "The `Idempotency-Key` was used with a different body."),
    ];
    for (status, description) in refusals {
        let responses = &mut operation.responses.responses;
        let response = responses.entry(status.to_owned()).or_insert_with(|| refusal(description, NAMED));
        let RefOr::T(response) = response else { continue };
        // Validation errors and a key reused with another body have the same status, but different bodies.
        for content in response.content.values_mut() {
            if let RefOr::T(content) = content
                && is_of_fields(content.schema.as_ref())
            {
                let either = AnyOfBuilder::new().item(schema(ERRORS)).item(schema(NAMED)).build();
                content.schema = Some(RefOr::T(utoipa::openapi::Schema::AnyOf(either)));
            }
        }
    }
}

/// Component name of the parameter of writes.
pub const IF_MATCH: &str = "IfMatch";
/// Component name of the parameter of reads.
pub const IF_NONE_MATCH: &str = "IfNoneMatch";
/// Component name of the response header.
pub const TAG: &str = "ETag";

fn header(name: &str, description: &str) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .build()
}

/// Returns the request header of a write.
pub fn if_match() -> Parameter {
    let text = "One or more `ETag` values. The record is changed only if its current version is one of them. The \
                quoted `version` of a table row is also accepted; `*` matches any version. A project can require this \
                header.";
    header("If-Match", text)
}

/// Returns the request header of a read.
pub fn if_none_match() -> Parameter {
    header("If-None-Match", "`ETag` of a cached response. If it still matches, the response is `304`.")
}

/// Returns the response header.
pub fn tag() -> Header {
    let text = ObjectBuilder::new().schema_type(Type::String);
    HeaderBuilder::new().schema(Some(text)).description(Some("Version of the record as returned.")).build()
}

fn tell(response: &mut Response) {
    let tag = Ref::new(format!("#/components/headers/{TAG}"));
    response.headers.insert("ETag".to_owned(), RefOr::Ref(tag));
}

/// Adds headers and errors to the description of an endpoint whose policy names a versioned record.
fn complete_preconditions(operation: &mut Operation, policy: &Policy) {
    const READ_RESPONSES: &[(&str, &str)] = &[("400", "The `If-None-Match` header is malformed.")];
    const WRITE_RESPONSES: &[(&str, &str)] = &[
        ("400", "The `If-Match` header is malformed."),
        (
            "412",
            "The record has a different version. `current` has the version, and the author and time of the last \
            change.",
        ),
        ("428", "The project requires the `If-Match` header."),
    ];
    const ACTING_RESPONSES: &[(&str, &str)] = WRITE_RESPONSES.split_at(2).0;
    let (name, more) = match policy {
        policy if accepts_if_none_match(policy) => (Some(IF_NONE_MATCH), READ_RESPONSES),
        policy if may_require_if_match(policy) => (Some(IF_MATCH), WRITE_RESPONSES),
        policy if accepts_if_match(policy) => (Some(IF_MATCH), ACTING_RESPONSES),
        policy if creates_versioned(policy) => (None, &[][..]),
        _ => return,
    };
    if let Some(name) = name {
        let parameter = RefOr::Ref(Ref::new(format!("#/components/parameters/{name}")));
        operation.parameters.get_or_insert_default().push(parameter);
    }
    let responses = &mut operation.responses.responses;
    for (status, description) in more {
        responses.entry((*status).to_owned()).or_insert_with(|| refusal(description, NAMED));
    }
    if policy.method == Method::GET {
        let unchanged = ResponseBuilder::new().description("The cached response is still valid.").build();
        responses.insert("304".to_owned(), unchanged.into());
    }
    for (status, response) in responses {
        let tells = status == "304" || status == "412" || status.starts_with('2') && policy.method != Method::DELETE;
        if let (true, RefOr::T(response)) = (tells, response) {
            tell(response);
        }
    }
}

const SCHEMAS: &str = "#/components/schemas/";

/// Marks the required fields in the whole description. Schemas of requests stay unchanged: an absent field keeps its
/// value.
pub fn require_fields(document: &mut Value) {
    let asked = of_requests(document);
    let schemas = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut);
    for (name, schema) in schemas.into_iter().flatten() {
        if !asked.contains(name) {
            require(schema);
        }
    }
}

fn require(schema: &mut Value) {
    if let Some(parts) = schema.get_mut("allOf").and_then(Value::as_array_mut) {
        parts.iter_mut().for_each(require);
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let nullable = properties.iter().filter(|(_, property)| admits_null(property)).map(|(name, _)| name.clone());
    let mut required: BTreeSet<String> = nullable.collect();
    required.extend(schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
}

fn admits_null(schema: &Value) -> bool {
    let null = |kind: &Value| kind == "null";
    let types = schema.get("type");
    types.is_some_and(|kind| null(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(null)))
        || ["oneOf", "anyOf"].into_iter().any(|of| schema[of].as_array().is_some_and(|of| of.iter().any(admits_null)))
}

/// Returns the names of the schemas that callers send, or that webhook receivers get.
fn of_requests(document: &Value) -> BTreeSet<String> {
    let operations = document["paths"].as_object().into_iter().flatten().filter_map(|(_, path)| path.as_object());
    let mut sent = BTreeSet::new();
    for operation in operations.flat_map(|path| path.values()) {
        add_referred(&operation["requestBody"], &mut sent);
        add_referred(&operation["parameters"], &mut sent);
    }
    add_referred(&document["webhooks"], &mut sent);
    let mut known = BTreeSet::new();
    while let Some(name) = sent.pop_first() {
        let schema = document.pointer("/components/schemas").and_then(|schemas| schemas.get(&name));
        if let (true, Some(schema)) = (known.insert(name), schema) {
            add_referred(schema, &mut sent);
        }
    }
    known
}

fn add_referred(part: &Value, names: &mut BTreeSet<String>) {
    match part {
        Value::Object(fields) => {
            let name = fields.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix(SCHEMAS));
            names.extend(name.map(str::to_owned));
            fields.values().for_each(|part| add_referred(part, names));
        }
        Value::Array(parts) => parts.iter().for_each(|part| add_referred(part, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn answers_carry_every_field_that_may_be_null_and_requests_may_leave_it_out() {
        let nullable = json!({
            "properties": {
                "a": { "type": "string" },
                "b": { "type": ["string", "null"] },
                "c": { "oneOf": [{ "type": "null" }, { "$ref": "#/components/schemas/Sent" }] },
            },
            "required": ["a"],
            "type": "object",
        });
        let body = |name: &str| json!({ "application/json": { "schema": { "$ref": format!("{SCHEMAS}{name}") } } });
        let mut document = json!({
            "paths": { "/x": { "post": {
                "requestBody": { "content": body("Asked") },
                "responses": { "200": { "description": "", "content": body("Answered") } },
            } } },
            "components": { "schemas": {
                "Asked": { "type": "object", "properties": { "inner": { "$ref": "#/components/schemas/Sent" } } },
                "Sent": nullable,
                "Answered": nullable,
                "Both": { "allOf": [{ "$ref": "#/components/schemas/Answered" }, nullable] },
            } },
        });
        require_fields(&mut document);
        let schemas = &document["components"]["schemas"];
        assert_eq!(schemas["Answered"]["required"], json!(["a", "b", "c"]));
        assert_eq!(schemas["Both"]["allOf"][1]["required"], json!(["a", "b", "c"]));
        assert_eq!(schemas["Sent"]["required"], json!(["a"]));
    }
}
