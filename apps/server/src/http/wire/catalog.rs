//! The wire form of the catalogue's own types.

use std::borrow::Cow;

use deserr::{DeserializeError, Deserr, ErrorKind, IntoValue, Value, ValuePointerRef, take_cf_content};
use kontor_catalog::model as catalog;
use utoipa::openapi::ObjectBuilder;

use super::types::{PhotoUrl, integer, integer_schema};
use super::{In, InputErrors, Scalar, WireValue};

/// The photos of a card, by address.
#[derive(Debug, Clone)]
pub struct Gallery(pub catalog::Gallery);

impl Deserr<InputErrors> for Gallery {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, InputErrors> {
        let photos: Vec<PhotoUrl> = Vec::deserialize_from_value(value, location)?;
        catalog::Gallery::new(photos.into_iter().map(|photo| photo.0).collect()).map(Self).map_err(|error| {
            take_cf_content(InputErrors::error::<V>(None, ErrorKind::Unexpected { msg: error.to_string() }, location))
        })
    }
}

macro_rules! wire_numbers {
    ($($(#[$doc:meta])+ $name:ident = $parse:expr, $schema:expr;)+) => {$(
        impl WireValue for catalog::$name {
            fn from_scalar(scalar: Scalar) -> Result<Self, String> {
                integer(scalar).and_then(|number| $parse(number).map_err(|error| error.to_string()))
            }

            fn expected() -> Cow<'static, str> {
                Cow::Borrowed("must be a whole number")
            }

            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed(stringify!($name))
            }

            fn schema() -> ObjectBuilder {
                $schema
            }
        }

        $(#[$doc])+
        pub type $name = In<catalog::$name>;
    )+};
}

wire_numbers! {
    /// The number staff know a category by.
    CategoryCode = catalog::CategoryCode::new,
        integer_schema().minimum(Some(1)).maximum(Some(catalog::CategoryCode::LARGEST));
    /// Months between two charges.
    BillingPeriod = catalog::BillingPeriod::months,
        integer_schema().minimum(Some(1)).maximum(Some(36));
    /// Where a plan stands among those of its application.
    PlanPosition = catalog::PlanPosition::new,
        integer_schema().minimum(Some(0)).maximum(Some(catalog::PlanPosition::LAST));
    /// `1` service, `2` goods.
    NomenclatureKind = catalog::NomenclatureKind::try_from,
        integer_schema().enum_values(Some([1, 2]));
}
