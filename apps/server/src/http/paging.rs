//! Pages on the wire.

use kontor_kernel::{Page, PageRequest, Violations};
use serde::Serialize;
use utoipa::ToSchema;

use super::wire;

/// The page that a query string asks for; both fields are checked together.
pub fn page_request(
    page: Option<&wire::Integer>,
    per_page: Option<&wire::Integer>,
    default_per_page: i64,
    most: u32,
) -> Result<PageRequest, Violations> {
    let (page, per_page) = (page.map_or(1, |page| page.0), per_page.map_or(default_per_page, |size| size.0));
    let mut violations = Violations::default();
    violations.check("page", PageRequest::page_number(page));
    violations.check("per_page", PageRequest::page_size(per_page, most));
    violations.into_result()?;
    PageRequest::new(page, per_page, most).map_err(|error| Violations::one("page", error))
}

/// Where a page lies in its list.
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

/// A page of the client surface: the records with the numbers beside them.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Paginator<T> {
    current_page: u32,
    data: Vec<T>,
    per_page: u32,
    total: u64,
    last_page: u64,
}

impl<T> From<Page<T>> for Paginator<T> {
    fn from(page: Page<T>) -> Self {
        Self {
            current_page: page.request.page(),
            per_page: page.request.per_page(),
            total: page.total,
            last_page: page.last_page(),
            data: page.items,
        }
    }
}
