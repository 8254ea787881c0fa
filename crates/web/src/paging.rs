//! Wire form of pagination.

use std::borrow::Cow;

use deserr::Deserr;
use kontor_kernel::{Page, PageError, PageRequest, Violations};
use serde::Serialize;
use utoipa::openapi::ObjectBuilder;
use utoipa::{IntoParams, ToSchema};

use super::wire::{self, InputErrors, Scalar, WireValue};

/// Page number, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number(i64);

/// Number of records on a page: 1 to `MOST`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size<const MOST: u32>(i64);

/// `page`, validated together with the other fields of a query string.
pub type PageNumber = wire::In<Number>;
/// `per_page` up to 100 records, validated together with the other fields of a query string.
pub type PageSize = wire::In<Size<100>>;

macro_rules! wire_bounds {
    ($(($($generics:tt)*) $type:ty = $check:expr, $name:expr, $most:expr;)+) => {$(
        impl<$($generics)*> WireValue for $type {
            fn from_scalar(scalar: Scalar) -> Result<Self, String> {
                let number = i64::from_scalar(scalar)?;
                $check(number).map(|_| Self(number)).map_err(|error: PageError| error.to_string())
            }

            fn expected() -> Cow<'static, str> {
                i64::expected()
            }

            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn schema() -> ObjectBuilder {
                i64::schema().minimum(Some(1)).maximum(Some($most))
            }
        }
    )+};
}

wire_bounds! {
    () Number = PageRequest::page_number, "PageNumber", 1_000_000_000;
    (const MOST: u32) Size<MOST> = |size| PageRequest::page_size(size, MOST), format!("PageSize{MOST}"), MOST;
}

/// Returns the page that validated fields request.
pub fn page_of<const MOST: u32>(
    page: Option<&PageNumber>,
    size: Option<&wire::In<Size<MOST>>>,
    default_size: i64,
) -> Result<PageRequest, Violations> {
    let size = size.map_or(default_size, |size| size.0.0);
    PageRequest::new(page.map_or(1, |page| page.0.0), size, MOST).map_err(|error| Violations::single("per_page", error))
}

/// Page of a list without filters.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    /// Default 15.
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

impl PageQuery {
    /// Returns the requested page.
    pub fn page(&self) -> Result<PageRequest, Violations> {
        page_of(self.page.as_ref(), self.per_page.as_ref(), 15)
    }
}

/// Position of a page in its list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Pagination {
    total: u64,
    per_page: u32,
    current_page: u32,
    last_page: u64,
    from: Option<u64>,
    to: Option<u64>,
}

impl<T> From<&Page<T>> for Pagination {
    fn from(page: &Page<T>) -> Self {
        Self {
            total: page.total,
            per_page: page.request.per_page(),
            current_page: page.request.page(),
            last_page: page.last_page(),
            from: page.from(),
            to: page.to(),
        }
    }
}

/// Page of the client surface: the records and their counts, `paginated!(ProductPage [ProductRecord]);`. It converts
/// from a page of any type that converts into the record. Each has its own type, so that the API description names the
/// record.
#[macro_export]
macro_rules! paginated {
    ($(#[$meta:meta])* $visibility:vis $name:ident [$record:ty]) => {
        $(#[$meta])*
        #[derive(serde::Serialize, utoipa::ToSchema)]
        $visibility struct $name {
            current_page: u32,
            data: Vec<$record>,
            per_page: u32,
            total: u64,
            last_page: u64,
        }

        impl<T: Into<$record>> From<kontor_kernel::Page<T>> for $name {
            fn from(page: kontor_kernel::Page<T>) -> Self {
                Self {
                    current_page: page.request.page(),
                    per_page: page.request.per_page(),
                    total: page.total,
                    last_page: page.last_page(),
                    data: page.items.into_iter().map(Into::into).collect(),
                }
            }
        }
    };
}
pub use crate::paginated;
