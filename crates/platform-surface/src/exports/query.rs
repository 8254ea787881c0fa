//! Query parameters of order exports.

use deserr::Deserr;
use kontor_catalog::bulk::{ExportKind, ExportScope};
use kontor_catalog::spreadsheet::ports::SheetFormat;
use kontor_kernel::Violations;
use utoipa::IntoParams;

use crate::sheets::{SheetFormatName, format_of};
use kontor_web::wire::{self, InputErrors};

/// File format, and the creation dates of the orders to export.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct OrderExportQuery {
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
    pub(super) fn parse(&self) -> Result<(ExportScope, SheetFormat), Violations> {
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
