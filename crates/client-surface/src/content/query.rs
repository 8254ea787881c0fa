//! Query parameters of content.

use deserr::Deserr;
use kontor_content::model::{PageFilter, PageOrder};
use kontor_kernel::{PageRequest, Violations};
use utoipa::IntoParams;

use kontor_web::paging::{PageNumber, PageSize, page_of};
use kontor_web::wire::{self, InputErrors};

/// Query parameters of `GET /api/counterparty/pages`.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PagesQuery {
    /// Filter by page type.
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    page_type_id: Option<wire::PageTypeId>,
    /// Words to search in title, description and content. Each word must match a part of a word.
    #[deserr(default)]
    #[param(value_type = Option<String>, min_length = 3, max_length = 255)]
    query: Option<wire::PageQueryText>,
    /// `date_asc`, `date_desc`, `popularity_asc` or `popularity_desc`. Newest first by default.
    #[deserr(default)]
    #[param(value_type = Option<String>)]
    order_by: Option<wire::PageOrder>,
    /// Ignored.
    #[expect(dead_code, reason = "it is checked and not used, as the contract says")]
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    application_id: Option<wire::ApplicationId>,
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    page: Option<PageNumber>,
    /// At most 100, 10 by default.
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    per_page: Option<PageSize>,
}

impl PagesQuery {
    /// Returns the filter, the order and the page.
    pub fn list(self) -> Result<(PageFilter, PageOrder, PageRequest), Violations> {
        let page = page_of(self.page.as_ref(), self.per_page.as_ref(), 10)?;
        let filter =
            PageFilter { page_type_id: self.page_type_id.map(|id| id.0), query: self.query.map(|query| query.0) };
        Ok((filter, self.order_by.map(|order| order.0).unwrap_or_default(), page))
    }
}
