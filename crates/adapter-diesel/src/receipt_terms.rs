//! Stored receipt settings of a project.

use kontor_kernel::StoreError;
use kontor_payments::model::{ReceiptTerms, TaxSystem, VatCode};

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
