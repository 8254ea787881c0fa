//! Query parameters of upcoming charges.

use chrono::{DateTime, TimeDelta, Utc};
use deserr::Deserr;
use kontor_kernel::{PageRequest, Violations};
use utoipa::IntoParams;

use kontor_web::paging::{PageNumber, PageSize, page_of};
use kontor_web::wire::{self, InputErrors};

/// Query parameters of `GET /api/subscriptions/upcoming`.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct UpcomingQuery {
    /// Charges before this time. By default, the next 30 days.
    #[deserr(default)]
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<wire::Moment>,
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    /// 15 by default.
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

impl UpcomingQuery {
    /// Returns the time before which charges are listed.
    pub(super) fn until(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        self.until.as_ref().map_or_else(|| now + TimeDelta::days(30), |until| until.0)
    }

    /// Returns the requested page.
    pub(super) fn page(&self) -> Result<PageRequest, Violations> {
        page_of(self.page.as_ref(), self.per_page.as_ref(), 15)
    }
}
