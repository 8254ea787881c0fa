use deserr::Deserr;
use kontor_kernel::{PageRequest, Violations};
use utoipa::IntoParams;

use kontor_web::paging::{PageNumber, PageSize, page_of};
use kontor_web::wire::{self, InputErrors};

/// Search and page of the list of plans.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PlanQuery {
    /// Words of the name and the article, or parts of them, in any order and case. Best matches first.
    #[deserr(default)]
    #[param(inline)]
    pub query: Option<wire::Name>,
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    /// 100 by default.
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

impl PlanQuery {
    /// Returns the requested page.
    pub fn page(&self) -> Result<PageRequest, Violations> {
        page_of(self.page.as_ref(), self.per_page.as_ref(), 100)
    }
}
