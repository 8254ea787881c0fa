use deserr::Deserr;
use kontor_kernel::{PageRequest, Violations};
use utoipa::IntoParams;

use crate::http::paging::{PageNumber, PageSize, page_of};
use crate::http::wire::{self, InputErrors};

/// What is looked for among the plans.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PlanQuery {
    /// Words of the name and the article in any order and case, or parts of them. The best comes first.
    #[deserr(default)]
    #[param(inline)]
    pub query: Option<wire::Name>,
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    /// 100 unless told.
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

impl PlanQuery {
    /// The page asked for.
    pub fn page(&self) -> Result<PageRequest, Violations> {
        page_of(self.page.as_ref(), self.per_page.as_ref(), 100)
    }
}
