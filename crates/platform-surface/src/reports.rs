//! Sales figures for charts.

use std::sync::Arc;

use actix_web::get;
use actix_web::web::Data;
use chrono::NaiveDate;
use deserr::Deserr;
use kontor_kernel::{Clock, Money, Violations, Word as _, Zone};
use kontor_orders::reports::{
    Bucket, ItemOrder, ItemSales, ReportPeriod, ReportService, ReportStep, Sales, SalesReport,
};
use kontor_organization::DictionaryService;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, answer, one};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{Query, Service, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(show_order_report).service(show_item_report);
}

/// Get the sales by day or by hour
///
/// An order counts at the time its money arrived, a refund at the time it succeeded. Days and hours are those of the
/// project's time zone. Every day of the period has a row; with `by=hour` every hour from 0 to 23, with the sums of all
/// days. At most 366 days, 31 with `by=hour`, and 1,000,000 paid orders.
#[utoipa::path(tag = "Reports", params(OrderReportQuery), responses((status = 200, body = OrderReportResponse)))]
#[get("/api/reports/orders")]
async fn show_order_report(
    staff: SignedInStaff,
    clock: Data<Arc<dyn Clock>>,
    dictionaries: Service<DictionaryService>,
    service: Service<ReportService>,
    query: Query<OrderReportQuery>,
) -> Answer<OrderReportResponse> {
    let zone = dictionaries.time_zone(staff.project_id).await?;
    let period = query.0.period(zone.local(clock.now()).date())?;
    let report = service.orders(&staff, period, zone).await?;
    answer(OrderReportRecord::of(period, zone, &report))
}

/// Get the best-selling items
///
/// At most 50 items of the orders whose money arrived in the period, in the project's time zone. Their returns are
/// included up to now. At most 366 days and 100,000 paid orders.
#[utoipa::path(tag = "Reports", params(ItemReportQuery), responses((status = 200, body = ItemReportResponse)))]
#[get("/api/reports/items")]
async fn show_item_report(
    staff: SignedInStaff,
    clock: Data<Arc<dyn Clock>>,
    dictionaries: Service<DictionaryService>,
    service: Service<ReportService>,
    query: Query<ItemReportQuery>,
) -> Answer<ItemReportResponse> {
    let zone = dictionaries.time_zone(staff.project_id).await?;
    let (period, order) = query.0.period_and_order(zone.local(clock.now()).date())?;
    let items = service.items(&staff, period, zone, order).await?;
    answer(ItemReportRecord::of(period, zone, items))
}

/// Query parameters of `GET /api/reports/orders`.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct OrderReportQuery {
    /// First day, in the project's time zone. By default 29 days before the last day.
    #[deserr(default)]
    #[param(inline)]
    from: Option<wire::Date>,
    /// Last day, in the project's time zone. By default today.
    #[deserr(default)]
    #[param(inline)]
    to: Option<wire::Date>,
    /// Rows: `day` (default) or `hour`.
    #[deserr(default)]
    #[param(inline)]
    by: Option<wire::ReportStep>,
}

impl OrderReportQuery {
    /// Returns the period of the report.
    fn period(&self, today: NaiveDate) -> Result<ReportPeriod, Violations> {
        let step = self.by.as_ref().map_or(ReportStep::Day, |step| step.0);
        period(self.from.as_ref(), self.to.as_ref(), today, step)
    }
}

/// Query parameters of `GET /api/reports/items`.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ItemReportQuery {
    /// First day, in the project's time zone. By default 29 days before the last day.
    #[deserr(default)]
    #[param(inline)]
    from: Option<wire::Date>,
    /// Last day, in the project's time zone. By default today.
    #[deserr(default)]
    #[param(inline)]
    to: Option<wire::Date>,
    /// `revenue` (default) or `quantity`, largest first.
    #[deserr(default)]
    #[param(inline)]
    order_by: Option<wire::ItemOrder>,
}

impl ItemReportQuery {
    /// Returns the period of the report, and the order of its items.
    fn period_and_order(&self, today: NaiveDate) -> Result<(ReportPeriod, ItemOrder), Violations> {
        let order = self.order_by.as_ref().map_or(ItemOrder::Revenue, |order| order.0);
        Ok((period(self.from.as_ref(), self.to.as_ref(), today, ReportStep::Day)?, order))
    }
}

fn period(
    from: Option<&wire::Date>,
    to: Option<&wire::Date>,
    today: NaiveDate,
    step: ReportStep,
) -> Result<ReportPeriod, Violations> {
    let period = ReportPeriod::requested(from.map(|day| day.0), to.map(|day| day.0), today, step);
    period.map_err(|refused| Violations::single("to", refused))
}

/// Sums of a day or an hour.
#[derive(Serialize, ToSchema)]
struct SalesRow {
    /// Day. `null` in a report by hour.
    date: Option<NaiveDate>,
    /// Hour of the day, 0 to 23. `null` in a report by day.
    hour: Option<u32>,
    /// Number of orders whose money arrived.
    orders: u64,
    /// Money that arrived for them, delivery included, decimal string.
    revenue: String,
    /// Average amount of an order, rounded down, decimal string. `null` without orders.
    average: Option<String>,
    /// Number of refunds that succeeded.
    refunds: u64,
    /// Money that they returned, decimal string.
    refunded: String,
}

impl SalesRow {
    fn of(bucket: Bucket, sales: Sales) -> Self {
        let (date, hour) = match bucket {
            Bucket::Day(date) => (Some(date), None),
            Bucket::Hour(hour) => (None, Some(hour)),
        };
        let SalesTotal { orders, revenue, average, refunds, refunded } = sales.into();
        Self { date, hour, orders, revenue, average, refunds, refunded }
    }
}

/// Sums of the whole period.
#[derive(Serialize, ToSchema)]
struct SalesTotal {
    orders: u64,
    /// Decimal string.
    revenue: String,
    /// Average amount of an order, rounded down, decimal string. `null` without orders.
    average: Option<String>,
    refunds: u64,
    /// Decimal string.
    refunded: String,
}

impl From<Sales> for SalesTotal {
    fn from(sales: Sales) -> Self {
        Self {
            orders: sales.orders,
            revenue: sales.revenue.to_string(),
            average: sales.average().as_ref().map(Money::to_string),
            refunds: sales.refunds,
            refunded: sales.refunded.to_string(),
        }
    }
}

/// Sales of a period.
#[derive(Serialize, ToSchema)]
struct OrderReportRecord {
    from: NaiveDate,
    to: NaiveDate,
    /// `day` or `hour`.
    by: &'static str,
    /// Time zone of the project (IANA).
    time_zone: &'static str,
    rows: Vec<SalesRow>,
    total: SalesTotal,
}

impl OrderReportRecord {
    fn of(period: ReportPeriod, zone: Zone, report: &SalesReport) -> Self {
        Self {
            from: period.first(),
            to: period.last(),
            by: period.step().word(),
            time_zone: zone.name(),
            rows: report.rows.iter().map(|(bucket, sales)| SalesRow::of(*bucket, *sales)).collect(),
            total: report.total.into(),
        }
    }
}

one!(OrderReportResponse { report: OrderReportRecord });

/// Sales of an item.
#[derive(Serialize, ToSchema)]
struct ItemSalesRecord {
    /// Id of the item.
    id: i64,
    /// Current name.
    name: String,
    article: Option<String>,
    /// Units sold, including those returned later.
    quantity: u64,
    /// Price of the lines after discounts, without delivery, decimal string.
    revenue: String,
    /// Units returned.
    returned: u64,
    /// Money refunded or requested as a refund, decimal string.
    refunded: String,
    /// Units sold per day and not returned, with two decimals, rounded down.
    sold_per_day: String,
    /// Units that can be sold now, in all warehouses. `null` without a stock level, as for services.
    available: Option<u64>,
    /// Whole days until `available` is sold at this rate. `null` without a stock level or sales.
    days_of_stock: Option<u64>,
}

impl ItemSalesRecord {
    fn of(sales: ItemSales, days: u32) -> Self {
        Self {
            sold_per_day: sales.sold_per_day(days),
            days_of_stock: sales.days_of_stock(days),
            id: sales.item.id.get(),
            name: sales.item.name,
            article: sales.article,
            quantity: sales.quantity,
            revenue: sales.revenue.to_string(),
            returned: sales.returned,
            refunded: sales.refunded.to_string(),
            available: sales.available,
        }
    }
}

/// Best-selling items of a period.
#[derive(Serialize, ToSchema)]
struct ItemReportRecord {
    from: NaiveDate,
    to: NaiveDate,
    /// Time zone of the project (IANA).
    time_zone: &'static str,
    items: Vec<ItemSalesRecord>,
}

impl ItemReportRecord {
    fn of(period: ReportPeriod, zone: Zone, items: Vec<ItemSales>) -> Self {
        Self {
            from: period.first(),
            to: period.last(),
            time_zone: zone.name(),
            items: items.into_iter().map(|sales| ItemSalesRecord::of(sales, period.days())).collect(),
        }
    }
}

one!(ItemReportResponse { report: ItemReportRecord });
