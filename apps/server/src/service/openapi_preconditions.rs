//! Headers and errors of every endpoint with a versioned record.

use actix_web::http::Method;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::Type;
use utoipa::openapi::{ContentBuilder, ObjectBuilder, Ref, RefOr, Required, Response, ResponseBuilder};

use kontor_web::policy::Policy;
use kontor_web::preconditions::{accepts_if_match, accepts_if_none_match, creates_versioned, may_require_if_match};

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

fn refusal(description: &str) -> Response {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("NamedErrorBody"))).build();
    ResponseBuilder::new().description(description).content("application/json", content).build()
}

fn tell(response: &mut Response) {
    let tag = Ref::new(format!("#/components/headers/{TAG}"));
    response.headers.insert("ETag".to_owned(), RefOr::Ref(tag));
}

/// Adds headers and errors to the description of an endpoint whose policy names a versioned record.
pub fn complete(operation: &mut Operation, policy: &Policy) {
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
        responses.entry((*status).to_owned()).or_insert_with(|| refusal(description).into());
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
