//! Query parameters of reports.

use chrono::NaiveDate;
use deserr::Deserr;
use kontor_kernel::Violations;
use kontor_orders::reports::{ItemOrder, ReportPeriod, ReportStep};
use utoipa::IntoParams;

use kontor_web::wire::{self, InputErrors};

/// Query parameters of `GET /api/reports/orders`.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct OrderReportQuery {
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
    pub(super) fn period(&self, today: NaiveDate) -> Result<ReportPeriod, Violations> {
        let step = self.by.as_ref().map_or(ReportStep::Day, |step| step.0);
        period(self.from.as_ref(), self.to.as_ref(), today, step)
    }
}

/// Query parameters of `GET /api/reports/items`.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ItemReportQuery {
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
    pub(super) fn period_and_order(&self, today: NaiveDate) -> Result<(ReportPeriod, ItemOrder), Violations> {
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
