//! Which agents are asked for.

use deserr::Deserr;
use kontor_kernel::{PageRequest, Violations};
use utoipa::IntoParams;

use crate::http::paging::{PageNumber, PageSize, page_of};
use crate::http::wire::InputErrors;

/// The page of a list of agents.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct AgentQuery {
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

impl AgentQuery {
    /// The page asked for.
    pub(super) fn page(&self, default_per_page: i64) -> Result<PageRequest, Violations> {
        page_of(self.page.as_ref(), self.per_page.as_ref(), default_per_page)
    }
}
