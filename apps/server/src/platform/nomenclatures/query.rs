//! Which items are asked for.

use deserr::Deserr;
use kontor_catalog::model::NomenclatureFilter;
use kontor_kernel::{PageRequest, Violations};
use utoipa::IntoParams;

use crate::http::paging::{PageNumber, PageSize, page_of};
use crate::http::wire::{self, InputErrors, Many};

/// Filters, order and page of a list of items.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct NomenclatureQuery {
    /// Part of the name or of the article, in any case.
    #[deserr(default)]
    query: Option<wire::Name>,
    #[deserr(default)]
    #[param(value_type = Option<Vec<i64>>)]
    category_id: Many<wire::CategoryId>,
    #[deserr(default)]
    #[param(value_type = Option<Vec<i64>>)]
    brand_id: Many<wire::BrandId>,
    #[deserr(default)]
    #[param(value_type = Option<Vec<i64>>)]
    kind_id: Many<wire::NomenclatureKind>,
    /// Created on this day (UTC) or later.
    #[deserr(default)]
    date_from: Option<wire::Date>,
    /// Created on this day (UTC) or earlier.
    #[deserr(default)]
    date_to: Option<wire::Date>,
    #[deserr(default)]
    order_by: Option<wire::NomenclatureOrder>,
    #[deserr(default)]
    page: Option<PageNumber>,
    #[deserr(default)]
    per_page: Option<PageSize>,
}

impl NomenclatureQuery {
    /// The page asked for.
    pub(super) fn page(&self, default_per_page: i64) -> Result<PageRequest, Violations> {
        page_of(self.page.as_ref(), self.per_page.as_ref(), default_per_page)
    }
}

impl From<NomenclatureQuery> for NomenclatureFilter {
    fn from(query: NomenclatureQuery) -> Self {
        Self {
            query: query.query.map(|text| text.0),
            category_ids: query.category_id.0.into_iter().map(|id| id.0).collect(),
            brand_ids: query.brand_id.0.into_iter().map(|id| id.0).collect(),
            kinds: query.kind_id.0.into_iter().map(|kind| kind.0).collect(),
            created_from: query.date_from.map(|day| day.0),
            created_to: query.date_to.map(|day| day.0),
            order: query.order_by.map(|order| order.0).unwrap_or_default(),
        }
    }
}
