//! Sales figures for charts: orders by day or by hour, and best-selling items.
//!
//! An order counts at the time its money arrived, a refund at the time it succeeded. Days and hours are those of the
//! project's time zone.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeDelta, Utc};
use kontor_kernel::{Money, NomenclatureId, Permission, ProjectId, Resource, Staff, StoreError, Zone};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::model::Named;
use crate::ports::ReportReader;
use crate::{ReportError, ReportRefusal};

/// Rows of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ReportStep {
    /// A row for each day.
    Day,
    /// A row for each hour of the day, with the sums of all days.
    Hour,
}

impl ReportStep {
    /// Returns the maximum number of days of a report.
    pub const fn max_days(self) -> u32 {
        match self {
            Self::Day => 366,
            Self::Hour => 31,
        }
    }
}

/// Reasons why two days are not the period of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReportPeriodError {
    /// The last day precedes the first.
    #[error("must not be before from")]
    Backwards,
    /// The period has more days than this.
    #[error("must be chosen so that the period has at most {0} days")]
    TooLong(u32),
}

/// Period of a report: days of the project's time zone, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportPeriod {
    first: NaiveDate,
    last: NaiveDate,
    step: ReportStep,
}

/// Part of a period that belongs to one row of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Index of the row.
    pub row: u32,
    /// Start, inclusive.
    pub since: DateTime<Utc>,
    /// End, exclusive.
    pub until: DateTime<Utc>,
}

impl ReportPeriod {
    /// Returns the requested period, if it is one. By default it ends today and has 30 days.
    pub fn requested(
        first: Option<NaiveDate>,
        last: Option<NaiveDate>,
        today: NaiveDate,
        step: ReportStep,
    ) -> Result<Self, ReportPeriodError> {
        let last = last.unwrap_or(today);
        let first = first.or_else(|| last.checked_sub_days(Days::new(29)));
        Self::new(first.unwrap_or(last), last, step)
    }

    /// Checks the order and the number of the days.
    pub fn new(first: NaiveDate, last: NaiveDate, step: ReportStep) -> Result<Self, ReportPeriodError> {
        let period = Self { first, last, step };
        if last < first {
            Err(ReportPeriodError::Backwards)
        } else if period.days() > step.max_days() {
            Err(ReportPeriodError::TooLong(step.max_days()))
        } else {
            Ok(period)
        }
    }

    /// Returns the first day.
    pub const fn first(self) -> NaiveDate {
        self.first
    }

    /// Returns the last day.
    pub const fn last(self) -> NaiveDate {
        self.last
    }

    /// Returns the rows of the report.
    pub const fn step(self) -> ReportStep {
        self.step
    }

    /// Returns the number of days.
    pub fn days(self) -> u32 {
        u32::try_from((self.last - self.first).num_days()).map_or(u32::MAX, |days| days.saturating_add(1))
    }

    fn each_day(self) -> impl Iterator<Item = NaiveDate> {
        self.first.iter_days().take_while(move |day| *day <= self.last)
    }

    /// Returns the start of the period and its end, exclusive.
    pub fn bounds(self, zone: Zone) -> (DateTime<Utc>, DateTime<Utc>) {
        (at(self.first, 0, zone), at(self.last, 24, zone))
    }

    /// Returns the parts of the period in the order of time. They leave nothing out. An hour that clocks skip is empty,
    /// and one that they repeat is twice as long.
    pub fn spans(self, zone: Zone) -> Vec<Span> {
        match self.step {
            ReportStep::Day => (0..)
                .zip(self.each_day())
                .map(|(row, day)| Span { row, since: at(day, 0, zone), until: at(day, 24, zone) })
                .collect(),
            ReportStep::Hour => self
                .each_day()
                .flat_map(|day| (0..24).map(move |hour| (day, hour)))
                .map(|(day, hour)| Span { row: hour, since: at(day, hour, zone), until: at(day, hour + 1, zone) })
                .collect(),
        }
    }

    fn buckets(self) -> Vec<Bucket> {
        match self.step {
            ReportStep::Day => self.each_day().map(Bucket::Day).collect(),
            ReportStep::Hour => (0..24).map(Bucket::Hour).collect(),
        }
    }
}

/// Returns the instant at which clocks show this hour of a day, or the midnight after it for hour 24.
fn at(day: NaiveDate, hour: u32, zone: Zone) -> DateTime<Utc> {
    zone.first_at(day.and_time(NaiveTime::MIN) + TimeDelta::hours(hour.into()))
}

/// Day or hour of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bucket {
    /// Day.
    Day(NaiveDate),
    /// Hour of the day, 0 to 23.
    Hour(u32),
}

/// Sums over orders and refunds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sales {
    /// Number of orders whose money arrived.
    pub orders: u64,
    /// Money that arrived for them, delivery included.
    pub revenue: Money,
    /// Number of refunds that succeeded.
    pub refunds: u64,
    /// Money that they returned.
    pub refunded: Money,
}

impl Sales {
    /// Returns the average amount of an order, rounded down to a whole minor unit; `None` without orders.
    pub fn average(self) -> Option<Money> {
        let orders = i64::try_from(self.orders).ok()?;
        Money::from_minor(self.revenue.minor().checked_div(orders)?).ok()
    }

    fn plus(self, other: Self) -> Option<Self> {
        Some(Self {
            orders: self.orders.checked_add(other.orders)?,
            revenue: self.revenue.checked_add(other.revenue)?,
            refunds: self.refunds.checked_add(other.refunds)?,
            refunded: self.refunded.checked_add(other.refunded)?,
        })
    }
}

/// Sales of a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SalesReport {
    /// Every day or hour in order, also those without sales.
    pub rows: Vec<(Bucket, Sales)>,
    /// Sum of the rows.
    pub total: Sales,
}

impl SalesReport {
    /// Adds the sums of spans to the rows of the period. `None` if a sum overflows.
    pub fn of(period: ReportPeriod, sums: &[(u32, Sales)]) -> Option<Self> {
        let mut by_row: BTreeMap<u32, Sales> = BTreeMap::new();
        for (row, sales) in sums {
            let sum = by_row.entry(*row).or_default();
            *sum = sum.plus(*sales)?;
        }
        let total = by_row.values().try_fold(Sales::default(), |total, sales| total.plus(*sales))?;
        let rows = (0..).zip(period.buckets());
        let rows = rows.map(|(row, bucket)| (bucket, by_row.get(&row).copied().unwrap_or_default())).collect();
        Some(Self { rows, total })
    }
}

/// Order of the best-selling items, largest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ItemOrder {
    /// By revenue.
    Revenue,
    /// By number of units.
    Quantity,
}

/// Query for the best-selling items of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemQuery {
    /// Project.
    pub project_id: ProjectId,
    /// Start of the period, inclusive.
    pub since: DateTime<Utc>,
    /// End of the period, exclusive.
    pub until: DateTime<Utc>,
    /// Order of the items.
    pub order: ItemOrder,
    /// Maximum number of items.
    pub limit: u32,
}

/// Sales of an item: its lines in the orders that were paid in a period, with all their returns so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemSales {
    /// Item, with its current name.
    pub item: Named<NomenclatureId>,
    /// Article.
    pub article: Option<String>,
    /// Units sold, including those returned later.
    pub quantity: u64,
    /// Price of the lines after discounts, without delivery.
    pub revenue: Money,
    /// Units returned.
    pub returned: u64,
    /// Money refunded or requested as a refund.
    pub refunded: Money,
    /// Units that can be sold now, in all warehouses; `None` without a stock level.
    pub available: Option<u64>,
}

impl ItemSales {
    fn kept(&self) -> u64 {
        self.quantity.saturating_sub(self.returned)
    }

    /// Returns the units sold per day of a period and not returned, with two decimals, rounded down.
    pub fn sold_per_day(&self, days: u32) -> String {
        let hundredths = self.kept().saturating_mul(100).checked_div(days.into()).unwrap_or_default();
        format!("{}.{:02}", hundredths / 100, hundredths % 100)
    }

    /// Returns the number of whole days until the stock is sold at the rate of a period; `None` without stock level or
    /// sales.
    pub fn days_of_stock(&self, days: u32) -> Option<u64> {
        self.available?.saturating_mul(days.into()).checked_div(self.kept())
    }
}

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
