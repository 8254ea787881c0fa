//! Wire form of numbers and lists that belong to one domain.

use std::borrow::Cow;

use deserr::{DeserializeError, Deserr, ErrorKind, IntoValue, Value, ValuePointerRef, take_cf_content};
use kontor_catalog::model as catalog;
use kontor_content::model as content;
use kontor_organization::model as organization;
use utoipa::openapi::ObjectBuilder;

use super::types::{PhotoUrl, integer, integer_schema, listed_at};
use super::{In, InputErrors, Scalar, WireValue};

/// Photos of an item, by URL.
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
    ($($(#[$doc:meta])+ $name:ident = $type:ty, $parse:expr, $schema:expr;)+) => {$(
        impl WireValue for $type {
            fn from_scalar(scalar: Scalar) -> Result<Self, String> {
                integer(scalar).and_then(|number| $parse(number).map_err(|error| error.to_string()))
            }

            fn expected() -> Cow<'static, str> {
                Cow::Borrowed("must be a whole number")
            }

            fn member() -> Option<&'static str> {
                Some("id")
            }

            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed(stringify!($name))
            }

            fn schema() -> ObjectBuilder {
                $schema
            }
        }

        $(#[$doc])+
        pub type $name = In<$type>;
    )+};
}

wire_numbers! {
    /// Number by which staff identify a category.
    CategoryCode = catalog::CategoryCode, catalog::CategoryCode::new,
        integer_schema().minimum(Some(1)).maximum(Some(catalog::CategoryCode::MAX_CODE));
    /// Months between two charges.
    BillingPeriod = catalog::BillingPeriod, catalog::BillingPeriod::months,
        integer_schema().minimum(Some(1)).maximum(Some(36));
    /// Position of a plan among those of its application.
    PlanPosition = catalog::PlanPosition, catalog::PlanPosition::new,
        integer_schema().minimum(Some(0)).maximum(Some(catalog::PlanPosition::LAST));
    /// Number by which an application identifies a block or a menu item.
    PartCode = content::PartCode, content::PartCode::new,
        integer_schema().minimum(Some(1)).maximum(Some(content::PartCode::MAX_CODE));
    /// `1` new, `2` in progress, `3` done, `4` canceled.
    TaskStatusId = organization::TaskStatus, |id| organization::TaskStatus::from_id(id).ok_or("must be 1, 2, 3 or 4"),
        listed_at(integer_schema().minimum(Some(1)), "/api/task_statuses");
    /// `1` employment contract, `2` avatar, `3` order file.
    FileTypeId = content::FileType, content::FileType::from_id,
        listed_at(integer_schema().minimum(Some(1)), "/api/file_types");
    /// Maximum number of units.
    PieceLimit = organization::PieceLimit, organization::PieceLimit::new,
        integer_schema().minimum(Some(0)).maximum(Some(organization::PieceLimit::MAX));
    /// Hours of a reservation.
    HoldHours = organization::HoldHours, organization::HoldHours::new,
        integer_schema().minimum(Some(1)).maximum(Some(organization::HoldHours::MAX));
    /// `1` Monday to `7` Sunday.
    Weekday = organization::Weekday, organization::Weekday::new,
        integer_schema().minimum(Some(1)).maximum(Some(7));
    /// `1` service, `2` goods.
    NomenclatureKind = catalog::NomenclatureKind, catalog::NomenclatureKind::try_from,
        listed_at(integer_schema().minimum(Some(1)), "/api/nomenclature_kinds");
}
