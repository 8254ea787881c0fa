//! Query parameters of discounts.

use deserr::Deserr;
use kontor_kernel::listing::{Comparison, Condition, FilterValue, Sort};
use kontor_kernel::{Listing, Violations, Word as _};
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
    /// Returns the requested listing.
    pub(super) fn listing(self) -> Result<Listing, Violations> {
        let page = page_of(self.page.as_ref(), self.per_page.as_ref(), 15)?;
        let mut listing = Listing::unfiltered(Sort::descending("id"), page);
        listing.text = self.query.map(|text| text.0);
        let state = self.status.map(|state| ("status", FilterValue::Text(state.0.word().to_owned())));
        let code = self.has_code.map(|flag| ("has_code", FilterValue::Flag(flag.0)));
        for (field, value) in state.into_iter().chain(code) {
            listing.conditions.push(Condition { field, comparison: Comparison::AnyOf(vec![value]) });
        }
        Ok(listing)
    }
}
