//! Sales figures for charts.

mod query;
mod record;

use std::sync::Arc;

use actix_web::get;
use actix_web::web::Data;
use kontor_kernel::Clock;
use kontor_orders::reports::ReportService;
use kontor_organization::DictionaryService;
use utoipa_actix_web::service_config::ServiceConfig;

use self::query::{ItemReportQuery, OrderReportQuery};
use self::record::{ItemReportRecord, ItemReportResponse, OrderReportRecord, OrderReportResponse};
use kontor_web::envelope::{Answer, answer};
use kontor_web::{Query, SignedInStaff};

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
    dictionaries: Data<DictionaryService>,
    service: Data<ReportService>,
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
    dictionaries: Data<DictionaryService>,
    service: Data<ReportService>,
    query: Query<ItemReportQuery>,
) -> Answer<ItemReportResponse> {
    let zone = dictionaries.time_zone(staff.project_id).await?;
    let (period, order) = query.0.period_and_order(zone.local(clock.now()).date())?;
    let items = service.items(&staff, period, zone, order).await?;
    answer(ItemReportRecord::of(period, zone, items))
}
