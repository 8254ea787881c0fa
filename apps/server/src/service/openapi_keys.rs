//! Parameter and errors of every write that accepts an `Idempotency-Key`.

use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{AnyOfBuilder, Type};
use utoipa::openapi::{ContentBuilder, ObjectBuilder, Ref, RefOr, Required, ResponseBuilder};

/// Name of the parameter among the components.
pub const PARAMETER: &str = "IdempotencyKey";

const NAMED: &str = "NamedErrorBody";
const ERRORS: &str = "ValidationErrors";

/// Returns the request header.
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
pub fn complete(operation: &mut Operation) {
    let header = RefOr::Ref(Ref::new(format!("#/components/parameters/{PARAMETER}")));
    operation.parameters.get_or_insert_default().push(header);
    let refusals = [
        ("400", "The `Idempotency-Key` is malformed or sent more than once."),
        ("409", "A request with the same key is in progress, or its response is lost."),
        ("422", "The `Idempotency-Key` was used with a different body."),
    ];
    for (status, description) in refusals {
        let response = operation.responses.responses.entry(status.to_owned()).or_insert_with(|| {
            let content = ContentBuilder::new().schema(Some(schema(NAMED))).build();
            ResponseBuilder::new().description(description).content("application/json", content).build().into()
        });
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
