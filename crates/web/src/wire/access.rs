//! Wire form of permissions and related values.

use std::borrow::Cow;
use std::collections::BTreeSet;

use chrono::{DateTime, Datelike as _, Utc};
use deserr::{DeserializeError, Deserr, ErrorKind, IntoValue, Value, ValuePointerRef, take_cf_content};
use kontor_auth::model as auth;
use kontor_kernel as kernel;
use kontor_webhooks::model::EndpointUrl;
use utoipa::openapi::ObjectBuilder;
use utoipa::openapi::schema::{KnownFormat, SchemaFormat, SchemaType, Type};

use super::types::{YEARS, integer, string_schema, text};
use super::{In, InputErrors, Scalar, WireValue};

impl WireValue for kernel::Permission {
    fn from_scalar(scalar: Scalar) -> Result<Self, String> {
        text(scalar)?.parse().map_err(|_| "must be the id or the name of an existing permission".to_owned())
    }

    fn expected() -> Cow<'static, str> {
        Cow::Borrowed("must be the name of a permission")
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("SystemPermission")
    }

    fn schema() -> ObjectBuilder {
        string_schema().pattern(Some("^(view|create|edit)-[a-z]+$")).examples(["view-orders"])
    }
}

/// Permission by name.
pub type SystemPermission = In<kernel::Permission>;

impl WireValue for auth::PermissionRef {
    fn from_scalar(scalar: Scalar) -> Result<Self, String> {
        match scalar {
            Scalar::Text(name) if name.parse::<i64>().is_err() => {
                kernel::Permission::from_scalar(Scalar::Text(name)).map(Self::Name)
            }
            scalar => {
                let number = integer(scalar).map_err(|_| Self::expected().into_owned())?;
                kernel::PermissionId::new(number).map(Self::Id).map_err(|_| "must be at least 1".to_owned())
            }
        }
    }

    fn expected() -> Cow<'static, str> {
        Cow::Borrowed("must be the id or the name of a permission")
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("PermissionRef")
    }

    fn schema() -> ObjectBuilder {
        let types = SchemaType::from_iter([Type::Integer, Type::String]);
        ObjectBuilder::new().schema_type(types).examples([serde_json::json!(46), serde_json::json!("view-orders")])
    }
}

/// Permission by number or name.
pub type PermissionRef = In<auth::PermissionRef>;

/// One or more permissions, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPermissions(pub BTreeSet<kernel::Permission>);

impl Deserr<InputErrors> for SystemPermissions {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, InputErrors> {
        let names = Vec::<SystemPermission>::deserialize_from_value(value, location)?;
        if names.is_empty() {
            let msg = "must name at least one permission".to_owned();
            return Err(take_cf_content(InputErrors::error::<V>(None, ErrorKind::Unexpected { msg }, location)));
        }
        Ok(Self(names.into_iter().map(|name| name.0).collect()))
    }
}

impl WireValue for DateTime<Utc> {
    fn from_scalar(scalar: Scalar) -> Result<Self, String> {
        let moment = DateTime::parse_from_rfc3339(text(scalar)?.trim()).ok().map(|moment| moment.to_utc());
        moment.filter(|moment| YEARS.contains(&moment.year())).ok_or_else(|| Self::expected().into_owned())
    }

    fn expected() -> Cow<'static, str> {
        Cow::Borrowed("must be a date-time with a time zone, such as 2026-01-31T12:00:00Z")
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Moment")
    }

    fn schema() -> ObjectBuilder {
        string_schema().format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
    }
}

/// Time in ISO 8601 with its timezone.
pub type Moment = In<DateTime<Utc>>;

impl WireValue for EndpointUrl {
    fn from_scalar(scalar: Scalar) -> Result<Self, String> {
        let Scalar::Text(text) = scalar else { return Err(Self::expected().into_owned()) };
        Self::parse(&text).map_err(|error| error.to_string())
    }

    fn expected() -> Cow<'static, str> {
        Cow::Borrowed("must be an absolute https address")
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("EndpointUrl")
    }

    fn schema() -> ObjectBuilder {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::Custom("uri".to_owned())))
            .max_length(Some(2048))
            .examples(["https://shop.example/hooks/kontor"])
    }
}
