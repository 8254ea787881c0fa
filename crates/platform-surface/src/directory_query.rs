//! Query parameters of employee lists.

use deserr::Deserr;
use kontor_auth::model::EmployeeFilter;
use kontor_kernel::{PageRequest, Violations};
use utoipa::IntoParams;

use kontor_web::paging::{PageNumber, PageSize, page_of};
use kontor_web::wire::{self, InputErrors};

/// Search and page of a list of employees.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct EmployeeQuery {
    /// Words of the names, the login, the phone or the e-mail address, in any case and order.
    #[deserr(default)]
    #[param(inline)]
    query: Option<wire::Name>,
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

impl EmployeeQuery {
    /// Returns the filter and the page.
    pub(super) fn checked(self) -> Result<(EmployeeFilter, PageRequest), Violations> {
        let page = page_of(self.page.as_ref(), self.per_page.as_ref(), 100)?;
        Ok((EmployeeFilter { query: self.query.map(|query| query.0), active: false }, page))
    }
}
