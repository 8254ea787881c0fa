//! Sales figures for charts: orders by day or by hour, and best-selling items.
//!
//! An order counts at the time its money arrived, a refund at the time it succeeded. Days and hours are those of the
//! project's time zone.

mod model;
mod service;
#[cfg(test)]
mod tests;

pub use model::{
    Bucket, ItemOrder, ItemQuery, ItemSales, ReportPeriod, ReportPeriodError, ReportStep, Sales, SalesReport, Span,
};
pub use service::{MAX_ITEMS, MAX_ORDERS, MAX_ORDERS_BY_ITEM, ReportService};
