use std::sync::Arc;

use kontor_kernel::{Permission, Resource, Staff, StoreError, Zone};

use super::{ItemOrder, ItemQuery, ItemSales, ReportPeriod, SalesReport};
use crate::ports::ReportReader;
use crate::{ReportError, ReportRefusal};

/// Maximum number of paid orders that a report by day or by hour sums up.
pub const MAX_ORDERS: u32 = 1_000_000;

/// Maximum number of paid orders whose lines a report sums up by item.
pub const MAX_ORDERS_BY_ITEM: u32 = 100_000;

/// Maximum number of items in a report.
pub const MAX_ITEMS: u32 = 50;

/// Sales figures for staff, computed when they are requested. Totals that each payment updates would be one row per
/// project and day for which all payments wait.
pub struct ReportService {
    /// Sums up orders.
    pub reports: Arc<dyn ReportReader>,
}

impl ReportService {
    /// Returns the sales of the employee's project by day or by hour.
    pub async fn orders(&self, staff: &Staff, period: ReportPeriod, zone: Zone) -> Result<SalesReport, ReportError> {
        staff.require(Permission::view(Resource::Statistics))?;
        let sums = self.reports.sales(staff.project_id, period.spans(zone), MAX_ORDERS).await?;
        let sums = sums.ok_or(ReportRefusal::TooManyOrders(MAX_ORDERS))?;
        SalesReport::of(period, &sums).ok_or_else(|| StoreError::corrupt("the sums of a report are too large").into())
    }

    /// Returns the best-selling items of the employee's project, at most [`MAX_ITEMS`].
    pub async fn items(
        &self,
        staff: &Staff,
        period: ReportPeriod,
        zone: Zone,
        order: ItemOrder,
    ) -> Result<Vec<ItemSales>, ReportError> {
        staff.require(Permission::view(Resource::Statistics))?;
        let (since, until) = period.bounds(zone);
        let query = ItemQuery { project_id: staff.project_id, since, until, order, limit: MAX_ITEMS };
        let items = self.reports.best_sellers(query, MAX_ORDERS_BY_ITEM).await?;
        Ok(items.ok_or(ReportRefusal::TooManyOrders(MAX_ORDERS_BY_ITEM))?)
    }
}
