//! Exports of stock, orders and customers: each becomes a job.

use actix_web::web::Data;
use actix_web::{HttpResponse, post};
use deserr::Deserr;
use kontor_catalog::bulk::{BulkService, ExportKind, ExportScope};
use kontor_catalog::spreadsheet::ports::SheetFormat;
use kontor_kernel::Violations;
use utoipa::IntoParams;

use super::jobs::{OneJob, queued};
use crate::http::sheets::{ExportQuery, SheetFormatName, format_of};
use crate::http::wire::{self, InputErrors};
use crate::http::{ApiError, Query, SignedInStaff};

/// Starts an export of the stock of the project, one row per item and warehouse. Uploaded again the file changes nothing.
#[utoipa::path(
    tag = "Stock",
    params(ExportQuery),
    responses(
        (status = 202, description = "The export is queued.", body = OneJob),
        (status = 409, description = "Too many jobs of the project wait."),
    ),
)]
#[post("/api/inventories/export")]
pub(super) async fn export_inventories(
    staff: SignedInStaff,
    service: Data<BulkService>,
    query: Query<ExportQuery>,
) -> Result<HttpResponse, ApiError> {
    Ok(queued(service.export(&staff, ExportKind::Stock.into(), query.0.format()?).await?))
}

/// Starts an export of the customers of the project. Deleted customers are left out.
#[utoipa::path(
    tag = "Customers",
    params(ExportQuery),
    responses(
        (status = 202, description = "The export is queued.", body = OneJob),
        (status = 409, description = "Too many jobs of the project wait."),
    ),
)]
#[post("/api/counterparties/export")]
pub(super) async fn export_counterparties(
    staff: SignedInStaff,
    service: Data<BulkService>,
    query: Query<ExportQuery>,
) -> Result<HttpResponse, ApiError> {
    Ok(queued(service.export(&staff, ExportKind::Customers.into(), query.0.format()?).await?))
}

/// The file of an export of orders, and the days on which its orders were made.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct OrderExportQuery {
    /// `xlsx` or `csv`.
    #[deserr(default)]
    #[param(value_type = Option<String>)]
    format: Option<SheetFormatName>,
    /// Orders made on this day of the project's time zone or later.
    #[deserr(default)]
    #[param(inline)]
    created_from: Option<wire::Date>,
    /// Orders made on this day of the project's time zone or earlier.
    #[deserr(default)]
    #[param(inline)]
    created_to: Option<wire::Date>,
}

impl OrderExportQuery {
    /// The orders and the format asked for, or everything that is wrong.
    fn asked(&self) -> Result<(ExportScope, SheetFormat), Violations> {
        let day = |day: Option<&wire::Date>| day.map(|day| day.0);
        let (created_from, created_to) = (day(self.created_from.as_ref()), day(self.created_to.as_ref()));
        let mut wrong = Violations::default();
        let format = wrong.check("format", format_of(self.format.as_ref()));
        if created_from.zip(created_to).is_some_and(|(from, to)| to < from) {
            wrong.add("created_to", "must not be before created_from");
        }
        wrong.into_result()?;
        Ok((ExportScope { kind: ExportKind::Orders, created_from, created_to }, format.unwrap_or_default()))
    }
}

/// Starts an export of the orders of the project, one row per line.
#[utoipa::path(
    tag = "Orders",
    params(OrderExportQuery),
    responses(
        (status = 202, description = "The export is queued.", body = OneJob),
        (status = 409, description = "Too many jobs of the project wait."),
    ),
)]
#[post("/api/orders/export")]
pub(super) async fn export_orders(
    staff: SignedInStaff,
    service: Data<BulkService>,
    query: Query<OrderExportQuery>,
) -> Result<HttpResponse, ApiError> {
    let (scope, format) = query.0.asked()?;
    Ok(queued(service.export(&staff, scope, format).await?))
}
