//! Wire form of values: one declaration per type defines its parsing, its error text and its OpenAPI schema.
//!
//! Request structs consist of these types and derive `Deserr`. Every wrong field is reported at once, by its dotted
//! path. A parsed value already has the domain's own validated type.

mod access;
mod input;
mod into_domain;
mod types;
mod words;

pub use access::*;
pub use input::{InputErrors, violations_of};
pub use into_domain::{IntoDomain, change_body, into_domain};
pub use types::*;
pub use words::*;

use std::borrow::Cow;

use deserr::{DeserializeError, Deserr, ErrorKind, IntoValue, Map as _, Value, ValuePointerRef, take_cf_content};
use kontor_kernel::{self as kernel, Edit, Reference};
use serde::Serialize;
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{ObjectBuilder, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// Single value from JSON or from a query string.
pub enum Scalar {
    /// `true` or `false`
    Flag(bool),
    /// Whole number in the range of `i64`.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(String),
}

/// Domain type with a single wire value.
pub trait WireValue: Sized {
    /// Parses the value, or returns its error.
    fn from_scalar(scalar: Scalar) -> Result<Self, String>;

    /// Returns the requirement on the field, for values of another shape.
    fn expected() -> Cow<'static, str>;

    /// Returns the member of the object that responses have in place of this value: `id` of `{"id": 3, "name":
    /// "Main"}`.
    fn member() -> Option<&'static str> {
        None
    }

    /// Returns the name of the schema.
    fn schema_name() -> Cow<'static, str>;

    /// Returns the schema.
    fn schema() -> ObjectBuilder;
}

/// Value of a domain type from a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct In<T>(pub T);

impl<T: WireValue> Deserr<InputErrors> for In<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, InputErrors> {
        let scalar = match value {
            Value::Boolean(flag) => Ok(Scalar::Flag(flag)),
            Value::Integer(number) => i64::try_from(number).map(Scalar::Integer).map_err(|_| "is too large".into()),
            Value::NegativeInteger(number) => Ok(Scalar::Integer(number)),
            Value::Float(number) => Ok(whole(number).map_or(Scalar::Float(number), Scalar::Integer)),
            Value::String(text) => Ok(Scalar::Text(text)),
            Value::Null => Err(Cow::Borrowed("is required")),
            Value::Map(mut read) => match T::member().and_then(|member| read.remove(member)) {
                Some(value) => return Self::deserialize_from_value(value.into_value(), location),
                None => Err(T::expected()),
            },
            Value::Sequence(_) => Err(T::expected()),
        };
        let parsed = scalar.map_err(Cow::into_owned).and_then(T::from_scalar);
        parsed
            .map(Self)
            .map_err(|msg| take_cf_content(InputErrors::error::<V>(None, ErrorKind::Unexpected { msg }, location)))
    }
}

/// Text that may also be sent as the record that responses have in its place; the record's name counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<T>(pub T);

impl<T: Deserr<InputErrors>> Deserr<InputErrors> for Named<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, InputErrors> {
        let text = match value {
            Value::Map(mut read) => match read.remove("name") {
                Some(name) => T::deserialize_from_value(name.into_value(), location),
                None => T::deserialize_from_value(Value::<V>::Map(read), location),
            },
            value => T::deserialize_from_value(value, location),
        };
        text.map(Self)
    }
}

/// Converts `2.0` to a whole number: some languages write all numbers so.
fn whole(number: f64) -> Option<i64> {
    format!("{number}").parse().ok().filter(|whole: &i64| whole.unsigned_abs() < 1 << 53)
}

impl<T: WireValue> PartialSchema for In<T> {
    fn schema() -> RefOr<Schema> {
        T::schema().into()
    }
}

impl<T: WireValue> ToSchema for In<T> {
    fn name() -> Cow<'static, str> {
        T::schema_name()
    }
}

/// Optional field of an update: absent keeps the stored value, `null` clears it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// The field was not sent.
    #[default]
    Keep,
    /// The field was sent as `null`.
    Clear,
    /// The field was sent with a value.
    Set(T),
}

impl<T: Deserr<InputErrors>> Deserr<InputErrors> for Patch<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, InputErrors> {
        Option::<T>::deserialize_from_value(value, location).map(|value| value.map_or(Self::Clear, Self::Set))
    }
}

/// Field of an update that cannot be cleared: absent keeps the stored value, and `null` is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NonNullPatch<T>(pub Option<T>);

impl<T> Default for NonNullPatch<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Deserr<InputErrors>> Deserr<InputErrors> for NonNullPatch<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, InputErrors> {
        T::deserialize_from_value(value, location).map(|value| Self(Some(value)))
    }
}

/// Filter with one value, `?field=v`, or several, `?field[]=v1&field[]=v2`. Absent is the empty list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Many<T>(pub Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: WireValue> Deserr<InputErrors> for Many<In<T>> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, InputErrors> {
        match value {
            Value::Sequence(_) => Vec::deserialize_from_value(value, location).map(Self),
            value => In::deserialize_from_value(value, location).map(|one| Self(vec![one])),
        }
    }
}

/// Optional reference for which `0` and `"0"` mean `null` (`false` does not). Operations that use it carry the
/// extension `x-zero-to-null`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZeroIsNull<T>(pub Option<T>);

impl<T> Default for ZeroIsNull<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: WireValue> Deserr<InputErrors> for ZeroIsNull<In<T>> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, InputErrors> {
        match value {
            Value::Null | Value::Integer(0) => Ok(Self(None)),
            Value::String(text) if text == "0" => Ok(Self(None)),
            value => In::deserialize_from_value(value, location).map(|value| Self(Some(value))),
        }
    }
}

impl<T> From<Patch<In<T>>> for Edit<Option<T>> {
    fn from(patch: Patch<In<T>>) -> Self {
        match patch {
            Patch::Keep => Self::Keep,
            Patch::Clear => Self::Set(None),
            Patch::Set(value) => Self::Set(Some(value.0)),
        }
    }
}

impl<T> From<Patch<ZeroIsNull<In<T>>>> for Edit<Option<T>> {
    fn from(patch: Patch<ZeroIsNull<In<T>>>) -> Self {
        match patch {
            Patch::Keep => Self::Keep,
            Patch::Clear => Self::Set(None),
            Patch::Set(value) => Self::Set(value.0.map(|value| value.0)),
        }
    }
}

impl<T> From<NonNullPatch<In<T>>> for Edit<T> {
    fn from(given: NonNullPatch<In<T>>) -> Self {
        given.0.map(|value| value.0).into()
    }
}

impl<T> From<NonNullPatch<Vec<In<T>>>> for Edit<Vec<T>> {
    fn from(given: NonNullPatch<Vec<In<T>>>) -> Self {
        given.0.map(|list| list.into_iter().map(|value| value.0).collect()).into()
    }
}

/// Photo. Photos given by URL have no id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PhotoRecord {
    id: Option<i64>,
    url: String,
}

impl From<kernel::PhotoUrl> for PhotoRecord {
    fn from(photo: kernel::PhotoUrl) -> Self {
        Self { id: None, url: photo.into() }
    }
}

impl From<&kernel::PhotoUrl> for PhotoRecord {
    fn from(photo: &kernel::PhotoUrl) -> Self {
        Self { id: None, url: photo.to_string() }
    }
}

/// Reference to another record, by id and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct NamedRecord {
    id: i64,
    name: String,
}

impl NamedRecord {
    /// Creates a reference.
    pub fn new(id: impl Into<i64>, name: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into() }
    }
}

impl<Id: Into<i64>> From<Reference<Id>> for NamedRecord {
    fn from(reference: Reference<Id>) -> Self {
        Self::new(reference.id, reference.name)
    }
}

impl<Id: Into<i64>> From<kernel::Named<Id>> for NamedRecord {
    fn from(named: kernel::Named<Id>) -> Self {
        Self::new(named.id, named.name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn zero_is_null_as_a_number_and_as_a_text() {
        let read = |value: Value| deserr::deserialize::<ZeroIsNull<BrandId>, _, InputErrors>(value);
        for none in [json!(0), json!("0"), json!(null)] {
            assert_eq!(read(none.clone()).ok().map(|read| read.0), Some(None), "{none}");
        }
        for seven in [json!(7), json!("7")] {
            let id = read(seven.clone()).ok().and_then(|read| read.0).map(|id| id.0.get());
            assert_eq!(id, Some(7), "{seven}");
        }
        for wrong in
            [json!(false), json!(true), json!(""), json!("00"), json!("-0"), json!(" 0"), json!(0.5), json!([0])]
        {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
