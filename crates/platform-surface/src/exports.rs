//! Exports of stock, orders and customers, each run as a job.

use actix_web::{HttpResponse, post};
use deserr::Deserr;
use kontor_catalog::bulk::{BulkService, ExportKind, ExportScope};
use kontor_catalog::spreadsheet::ports::SheetFormat;
use kontor_kernel::Violations;
use utoipa::IntoParams;

use super::jobs::{JobResponse, queued};
use crate::sheets::{ExportQuery, SheetFormatName, format_of};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Query, Service, SignedInStaff};

/// Export stock
///
/// Starts a job. The file has one row per item and warehouse. It can be uploaded again; unchanged rows have no effect.
///
/// Columns: `article`, `warehouse`, `quantity`, `price`, `name`, `reserved`, `available`, `kontor_id`. `warehouse` is
/// the name, or the id if several warehouses share the name.
#[utoipa::path(
    tag = "Stock",
    params(ExportQuery),
    responses(
        (status = 202, description = "The export is queued.", body = JobResponse),
        (status = 409, description = "Too many jobs of the project are queued."),
    ),
)]
#[post("/api/inventories/export")]
pub(super) async fn export_inventories(
    staff: SignedInStaff,
    service: Service<BulkService>,
    query: Query<ExportQuery>,
) -> Result<HttpResponse, ApiError> {
    Ok(queued(service.export(&staff, ExportKind::Stock.into(), query.0.format()?).await?))
}

/// Export customers
///
/// Starts a job. Deleted customers are not included.
///
/// Columns: `id`, `type`, `name`, `inn`, `kpp`, `last_name`, `first_name`, `middle_name`, `birthday`, `address`,
/// `phone_1`, `phone_2`, `email`, `orders_count`, `created_at`.
#[utoipa::path(
    tag = "Customers",
    params(ExportQuery),
    responses(
        (status = 202, description = "The export is queued.", body = JobResponse),
        (status = 409, description = "Too many jobs of the project are queued."),
    ),
)]
#[post("/api/counterparties/export")]
pub(super) async fn export_counterparties(
    staff: SignedInStaff,
    service: Service<BulkService>,
    query: Query<ExportQuery>,
) -> Result<HttpResponse, ApiError> {
    Ok(queued(service.export(&staff, ExportKind::Customers.into(), query.0.format()?).await?))
}

/// Export orders
///
/// Starts a job. The file has one row per order line.
///
/// Columns: `order_id`, `created_at`, `status`, `payment_state`, `paid_at`, `counterparty_id`, `counterparty_name`,
/// `phone`, `email`, `nomenclature_id`, `article`, `name`, `quantity`, `price`, `product_discount_amount`,
/// `promo_discount_amount`, `total`, `refunded_quantity`, `refunded_amount`, `final_price`, `delivery_price`,
/// `amount_due`. The last three are totals of the order, repeated in each of its rows.
#[utoipa::path(
    tag = "Orders",
    params(OrderExportQuery),
    responses(
        (status = 202, description = "The export is queued.", body = JobResponse),
        (status = 409, description = "Too many jobs of the project are queued."),
    ),
)]
#[post("/api/orders/export")]
pub(super) async fn export_orders(
    staff: SignedInStaff,
    service: Service<BulkService>,
    query: Query<OrderExportQuery>,
) -> Result<HttpResponse, ApiError> {
    let (scope, format) = query.0.parse()?;
    Ok(queued(service.export(&staff, scope, format).await?))
}

/// File format, and the creation dates of the orders to export.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct OrderExportQuery {
    /// `xlsx` or `csv`.
    #[deserr(default)]
    #[param(value_type = Option<String>)]
    format: Option<SheetFormatName>,
    /// First creation day to export, in the project's time zone.
    #[deserr(default)]
    #[param(inline)]
    created_from: Option<wire::Date>,
    /// Last creation day to export, in the project's time zone.
    #[deserr(default)]
    #[param(inline)]
    created_to: Option<wire::Date>,
}

impl OrderExportQuery {
    /// Returns the scope and the format of the export, or all violations.
    fn parse(&self) -> Result<(ExportScope, SheetFormat), Violations> {
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
