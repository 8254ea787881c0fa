//! Which stock is asked for.

use deserr::Deserr;
use kontor_catalog::model::InventoryFilter;
use kontor_kernel::{PageRequest, Violations};
use utoipa::IntoParams;

use crate::http::paging::{PageNumber, PageSize, page_of};
use crate::http::wire::{self, InputErrors, Many};

/// Filters, order and page of a list of stock.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct InventoryQuery {
    /// Part of the name or of the article of the item, in any case.
    #[deserr(default)]
    query: Option<wire::Name>,
    #[deserr(default)]
    #[param(value_type = Option<Vec<i64>>)]
    warehouse_id: Many<wire::WarehouseId>,
    #[deserr(default)]
    #[param(value_type = Option<Vec<i64>>)]
    nomenclature_id: Many<wire::NomenclatureId>,
    /// Created on this day (UTC) or later.
    #[deserr(default)]
    date_from: Option<wire::Date>,
    /// Created on this day (UTC) or earlier.
    #[deserr(default)]
    date_to: Option<wire::Date>,
    #[deserr(default)]
    order_by: Option<wire::InventoryOrder>,
    #[deserr(default)]
    page: Option<PageNumber>,
    #[deserr(default)]
    per_page: Option<PageSize>,
}

impl InventoryQuery {
    /// The page asked for.
    pub(super) fn page(&self, default_per_page: i64) -> Result<PageRequest, Violations> {
        page_of(self.page.as_ref(), self.per_page.as_ref(), default_per_page)
    }
}

impl From<InventoryQuery> for InventoryFilter {
    fn from(query: InventoryQuery) -> Self {
        Self {
            query: query.query.map(|text| text.0),
            warehouse_ids: query.warehouse_id.0.into_iter().map(|id| id.0).collect(),
            nomenclature_ids: query.nomenclature_id.0.into_iter().map(|id| id.0).collect(),
            created_from: query.date_from.map(|day| day.0),
            created_to: query.date_to.map(|day| day.0),
            order: query.order_by.map(|order| order.0).unwrap_or_default(),
        }
    }
}
