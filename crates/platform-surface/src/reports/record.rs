//! Records of reports.

use chrono::NaiveDate;
use kontor_kernel::{Money, Word as _, Zone};
use kontor_orders::reports::{Bucket, ItemSales, ReportPeriod, Sales, SalesReport};
use serde::Serialize;
use utoipa::ToSchema;

use kontor_web::envelope::one;

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
pub(super) struct OrderReportRecord {
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
    pub(super) fn of(period: ReportPeriod, zone: Zone, report: &SalesReport) -> Self {
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

one!(pub(super) OrderReportResponse { report: OrderReportRecord });

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
pub(super) struct ItemReportRecord {
    from: NaiveDate,
    to: NaiveDate,
    /// Time zone of the project (IANA).
    time_zone: &'static str,
    items: Vec<ItemSalesRecord>,
}

impl ItemReportRecord {
    pub(super) fn of(period: ReportPeriod, zone: Zone, items: Vec<ItemSales>) -> Self {
        Self {
            from: period.first(),
            to: period.last(),
            time_zone: zone.name(),
            items: items.into_iter().map(|sales| ItemSalesRecord::of(sales, period.days())).collect(),
        }
    }
}

one!(pub(super) ItemReportResponse { report: ItemReportRecord });
