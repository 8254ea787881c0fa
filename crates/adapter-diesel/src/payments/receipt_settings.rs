//! Receipt settings of projects.

use async_trait::async_trait;
use diesel::prelude::*;
use kontor_kernel::{ProjectId, StoreError};
use kontor_payments::model::{ReceiptTerms, TaxSystem, VatCode};
use kontor_payments::ports::ReceiptSettings;

use crate::database::{Abort, AnyConnection, Database, found};
use crate::schema::{projects, receipt_settings};

fn code(stored: i32) -> Result<u8, StoreError> {
    u8::try_from(stored).map_err(StoreError::corrupt)
}

/// Reads a `vat_code`.
pub(crate) fn vat(stored: i32) -> Result<VatCode, StoreError> {
    VatCode::new(code(stored)?).map_err(StoreError::corrupt)
}

/// Reads `tax_system_code` and `default_vat_code`.
pub(crate) fn terms(tax_system: Option<i32>, default_vat: i32) -> Result<ReceiptTerms, StoreError> {
    let system = |system: i32| TaxSystem::new(code(system)?).map_err(StoreError::corrupt);
    Ok(ReceiptTerms { tax_system: tax_system.map(system).transpose()?, default_vat: vat(default_vat)? })
}

fn load(connection: &mut AnyConnection, project: i64) -> Result<Option<ReceiptTerms>, Abort<StoreError>> {
    let row: Option<(Option<i32>, i32)> = receipt_settings::table
        .find(project)
        .select((receipt_settings::tax_system_code, receipt_settings::default_vat_code))
        .first(connection)
        .optional()?;
    Ok(row.map(|(tax_system, vat)| terms(tax_system, vat)).transpose()?)
}

#[async_trait]
impl ReceiptSettings for Database {
    async fn receipt_terms(&self, project: ProjectId) -> Result<Option<ReceiptTerms>, StoreError> {
        self.read(move |connection| load(connection, project.get())).await
    }

    async fn set_receipt_terms(&self, project: ProjectId, terms: Option<ReceiptTerms>) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let project = project.get();
            if !found!(connection, projects::table.find(project))? {
                return Ok(false);
            }
            diesel::delete(receipt_settings::table.find(project)).execute(connection)?;
            if let Some(terms) = terms {
                diesel::insert_into(receipt_settings::table)
                    .values((
                        receipt_settings::project_id.eq(project),
                        receipt_settings::tax_system_code.eq(terms.tax_system.map(|system| i32::from(system.get()))),
                        receipt_settings::default_vat_code.eq(i32::from(terms.default_vat.get())),
                    ))
                    .execute(connection)?;
            }
            Ok::<_, Abort<StoreError>>(true)
        })
        .await
    }
}
