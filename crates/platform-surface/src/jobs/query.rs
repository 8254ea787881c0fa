//! Query parameters of jobs.

use deserr::Deserr;
use kontor_catalog::bulk::JobFilter;
use kontor_kernel::{PageRequest, Violations};
use utoipa::IntoParams;

use kontor_web::paging::{PageNumber, PageSize, page_of};
use kontor_web::wire::{self, InputErrors, Many};

/// Filters and page of the list of jobs.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct JobQuery {
    /// `nomenclatures_import`, `inventories_upload`, `inventories_export`, `orders_export` or `counterparties_export`.
    /// A single value may be sent without brackets.
    #[deserr(default)]
    #[param(rename = "kind[]", value_type = Option<Vec<String>>)]
    kind: Many<wire::JobKind>,
    /// `queued`, `running`, `succeeded`, `failed` or `canceled`. A single value may be sent without brackets.
    #[deserr(default)]
    #[param(rename = "status[]", value_type = Option<Vec<String>>)]
    status: Many<wire::JobState>,
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    /// 15 by default.
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

impl JobQuery {
    /// Returns the requested page.
    pub(super) fn page(&self) -> Result<PageRequest, Violations> {
        page_of(self.page.as_ref(), self.per_page.as_ref(), 15)
    }
}

impl From<JobQuery> for JobFilter {
    fn from(query: JobQuery) -> Self {
        Self {
            kinds: query.kind.0.into_iter().map(|kind| kind.0).collect(),
            states: query.status.0.into_iter().map(|state| state.0).collect(),
        }
    }
}
