//! Which discounts are asked for.

use deserr::Deserr;
use kontor_catalog::model::DiscountFilter;
use kontor_kernel::{PageRequest, Violations};
use utoipa::IntoParams;

use crate::http::paging::{PageNumber, PageSize, page_of};
use crate::http::wire::{self, InputErrors};

/// Filters and page of the list of discounts.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DiscountQuery {
    /// Part of the name or of the promo code, in any case.
    #[deserr(default)]
    #[param(inline)]
    query: Option<wire::Name>,
    /// What they are now.
    #[deserr(default)]
    #[param(inline)]
    status: Option<wire::DiscountState>,
    /// With a promo code, or without.
    #[deserr(default)]
    #[param(value_type = Option<bool>)]
    has_code: Option<wire::Flag>,
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    /// 15 unless told.
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

impl DiscountQuery {
    /// The filter and the page.
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
