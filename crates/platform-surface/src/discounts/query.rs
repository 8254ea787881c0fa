//! Query parameters of discounts.

use deserr::Deserr;
use kontor_catalog::model::DiscountFilter;
use kontor_kernel::{PageRequest, Violations};
use utoipa::IntoParams;

use kontor_web::paging::{PageNumber, PageSize, page_of};
use kontor_web::wire::{self, InputErrors};

/// Filters and page of the list of discounts.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DiscountQuery {
    /// Part of the name or the promo code, in any case.
    #[deserr(default)]
    #[param(inline)]
    query: Option<wire::Name>,
    /// Current status.
    #[deserr(default)]
    #[param(inline)]
    status: Option<wire::DiscountState>,
    /// `1` returns only discounts with a promo code, `0` only those without.
    #[deserr(default)]
    #[param(value_type = Option<bool>)]
    has_code: Option<wire::Flag>,
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    /// 15 by default.
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

impl DiscountQuery {
    /// Returns the filter and the page.
    pub(super) fn checked(self) -> Result<(DiscountFilter, PageRequest), Violations> {
        let page = page_of(self.page.as_ref(), self.per_page.as_ref(), 15)?;
        let filter = DiscountFilter {
            query: self.query.map(|text| text.0),
            state: self.status.map(|state| state.0),
            has_code: self.has_code.map(|flag| flag.0),
        };
        Ok((filter, page))
    }
}
