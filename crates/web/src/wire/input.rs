//! Collection of all errors in a request.

use std::convert::Infallible;
use std::ops::ControlFlow;

use deserr::{DeserializeError, Deserr, ErrorKind, IntoValue, MergeWithError, ValueKind, ValuePointerRef};
use kontor_kernel::Violations;

/// Errors found while a request is read. Reading continues after each, so that all are reported together.
#[derive(Debug, Default)]
pub struct InputErrors(Violations);

/// Reads a value, or reports every wrong field.
pub fn violations_of<T: Deserr<InputErrors>>(value: serde_json::Value) -> Result<T, Violations> {
    deserr::deserialize::<T, _, InputErrors>(value).map_err(|errors| errors.0)
}

impl From<Violations> for InputErrors {
    fn from(violations: Violations) -> Self {
        Self(violations)
    }
}

impl From<InputErrors> for Violations {
    fn from(errors: InputErrors) -> Self {
        errors.0
    }
}

fn path(location: ValuePointerRef<'_>, last: Option<&str>) -> String {
    let mut parts = Vec::from_iter(last.map(str::to_owned));
    let mut at = location;
    loop {
        at = match at {
            ValuePointerRef::Origin => break,
            ValuePointerRef::Key { key, prev } => {
                parts.push(key.to_owned());
                *prev
            }
            ValuePointerRef::Index { index, prev } => {
                parts.push(index.to_string());
                *prev
            }
        };
    }
    parts.reverse();
    if parts.is_empty() { "body".to_owned() } else { parts.join(".") }
}

fn kind_name(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Null => "null",
        ValueKind::Boolean => "true or false",
        ValueKind::Integer => "a whole number of at least 0",
        ValueKind::NegativeInteger => "a whole number",
        ValueKind::Float => "a number",
        ValueKind::String => "a string",
        ValueKind::Sequence => "an array",
        ValueKind::Map => "an object",
    }
}

impl DeserializeError for InputErrors {
    fn error<V: IntoValue>(
        collected: Option<Self>,
        error: ErrorKind<'_, V>,
        location: ValuePointerRef<'_>,
    ) -> ControlFlow<Self, Self> {
        let mut all = collected.unwrap_or_default();
        match error {
            ErrorKind::MissingField { field } => all.0.add(path(location, Some(field)), "is required"),
            ErrorKind::IncorrectValueKind { accepted, actual } => {
                let accepted: Vec<_> = accepted.iter().map(|kind| kind_name(*kind)).collect();
                let missing = matches!(actual, deserr::Value::Null);
                let message =
                    if missing { "is required".to_owned() } else { format!("must be {}", accepted.join(" or ")) };
                all.0.add(path(location, None), message);
            }
            ErrorKind::UnknownKey { key, .. } => all.0.add(path(location, Some(key)), "is not supported"),
            ErrorKind::UnknownValue { accepted, .. } => {
                all.0.add(path(location, None), format!("must be one of {}", accepted.join(", ")));
            }
            ErrorKind::BadSequenceLen { expected, .. } => {
                all.0.add(path(location, None), format!("must have {expected} elements"));
            }
            ErrorKind::Unexpected { msg } => all.0.add(path(location, None), msg),
        }
        ControlFlow::Continue(all)
    }
}

impl MergeWithError<InputErrors> for InputErrors {
    fn merge(collected: Option<Self>, other: Self, _: ValuePointerRef<'_>) -> ControlFlow<Self, Self> {
        let mut all = collected.unwrap_or_default();
        all.0.merge(other.0);
        ControlFlow::Continue(all)
    }
}

impl MergeWithError<Infallible> for InputErrors {
    fn merge(_: Option<Self>, other: Infallible, _: ValuePointerRef<'_>) -> ControlFlow<Self, Self> {
        match other {}
    }
}
