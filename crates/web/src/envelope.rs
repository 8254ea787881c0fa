//! Response types of handlers, and the envelopes around records.

use actix_web::http::StatusCode;
use actix_web::web::Json;

use super::ApiError;

/// `200` with a body, or an error.
pub type Answer<T> = Result<Json<T>, ApiError>;

/// `201` with a body, or an error.
pub type Created<T> = Result<(Json<T>, StatusCode), ApiError>;

/// Returns a `200` response.
pub fn answer<T>(body: impl Into<T>) -> Answer<T> {
    Ok(Json(body.into()))
}

/// Returns a `201` response.
pub fn created<T>(body: impl Into<T>) -> Created<T> {
    Ok((Json(body.into()), StatusCode::CREATED))
}

/// Envelope of one record: `one!(BrandResponse { brand: BrandRecord });` serializes as `{"brand": {...}}`. It converts from
/// every type that converts into the record.
#[macro_export]
macro_rules! one {
    ($(#[$meta:meta])* $visibility:vis $name:ident { $key:ident: $record:ty }) => {
        $(#[$meta])*
        #[derive(serde::Serialize, utoipa::ToSchema)]
        #[serde(rename_all = "camelCase")]
        $visibility struct $name {
            $key: $record,
        }

        impl<T: Into<$record>> From<T> for $name {
            fn from(record: T) -> Self {
                Self { $key: record.into() }
            }
        }
    };
}
pub use crate::one;

/// Envelope of a list of records:
/// - `list!(PlanList { data: [PlanRecord] });` for a complete list without the count, from a `Vec`;
/// - `list!(BrandList { brands: [BrandRecord], brands_count });` for a complete list, from a `Vec`;
/// - `list!(OrderList { orders: [OrderRecord], orders_count of all });` for a page with the total count, from a `Page`;
/// - `list!(JobList { jobs: [JobRecord], jobs_count of all, pagination });` for a page that also describes its
///   position.
#[macro_export]
macro_rules! list {
    ($(#[$meta:meta])* $visibility:vis $name:ident { $key:ident: [$record:ty] $(, $count:ident)? }) => {
        $(#[$meta])*
        #[derive(serde::Serialize, utoipa::ToSchema)]
        #[serde(rename_all = "camelCase")]
        $visibility struct $name {
            $key: Vec<$record>,
            $($count: usize,)?
        }

        impl<T: Into<$record>> From<Vec<T>> for $name {
            fn from(records: Vec<T>) -> Self {
                Self { $($count: records.len(),)? $key: records.into_iter().map(Into::into).collect() }
            }
        }
    };
    ($(#[$meta:meta])* $visibility:vis $name:ident { $key:ident: [$record:ty], $count:ident of all $(, $pages:ident)? }) => {
        $(#[$meta])*
        #[derive(serde::Serialize, utoipa::ToSchema)]
        #[serde(rename_all = "camelCase")]
        $visibility struct $name {
            $key: Vec<$record>,
            $count: u64,
            $($pages: $crate::paging::Pagination,)?
        }

        impl<T: Into<$record>> From<kontor_kernel::Page<T>> for $name {
            fn from(page: kontor_kernel::Page<T>) -> Self {
                Self {
                    $count: page.total,
                    $($pages: (&page).into(),)?
                    $key: page.items.into_iter().map(Into::into).collect(),
                }
            }
        }
    };
}
pub use crate::list;
