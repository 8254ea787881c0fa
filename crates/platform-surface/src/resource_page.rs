//! Lists with links to adjacent pages: `{data, links, meta}`.

use actix_web::HttpRequest;
use kontor_kernel::Page;
use serde::Serialize;
use utoipa::ToSchema;

/// URLs of other pages. They keep the rest of the query string.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PageLinks {
    first: String,
    last: String,
    /// `null` on the first page.
    prev: Option<String>,
    /// `null` on the last page.
    next: Option<String>,
}

/// Position of the page in its list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PageMeta {
    current_page: u32,
    /// Number of the first record, from 1; `null` if the page is empty.
    from: Option<u64>,
    last_page: u64,
    /// URL of the list without a query string.
    path: String,
    per_page: u32,
    /// Number of the last record; `null` if the page is empty.
    to: Option<u64>,
    total: u64,
}

/// URL of a list and the rest of its query string.
pub struct ListAddress {
    path: String,
    rest: String,
}

impl ListAddress {
    /// Combines `public_url` with the path and the query string of a request.
    pub fn of(request: &HttpRequest, public_url: &str) -> Self {
        let others = form_urlencoded::parse(request.query_string().as_bytes()).filter(|(key, _)| key != "page");
        let rest = form_urlencoded::Serializer::new(String::new()).extend_pairs(others).finish();
        Self { path: format!("{}{}", public_url.trim_end_matches('/'), request.path()), rest }
    }

    fn page(&self, number: u64) -> String {
        let separator = if self.rest.is_empty() { "" } else { "&" };
        format!("{}?{}{separator}page={number}", self.path, self.rest)
    }

    /// Returns the links of a page.
    pub fn links<T>(&self, page: &Page<T>) -> PageLinks {
        let (current, last) = (u64::from(page.request.page()), page.last_page());
        PageLinks {
            first: self.page(1),
            last: self.page(last),
            // Beyond the end of the list, the previous page is the last page.
            prev: (current > 1).then(|| self.page((current - 1).min(last))),
            next: (current < last).then(|| self.page(current + 1)),
        }
    }

    /// Returns the position of a page.
    pub fn meta<T>(&self, page: &Page<T>) -> PageMeta {
        PageMeta {
            current_page: page.request.page(),
            from: page.from(),
            last_page: page.last_page(),
            path: self.path.clone(),
            per_page: page.request.per_page(),
            to: page.to(),
            total: page.total,
        }
    }
}
