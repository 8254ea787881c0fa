//! Implementations of the payment ports: charges, refunds, saved methods, verifications, receipts.
//!
//! The effect of a charge outcome on an order or a customer is implemented in `charge_outcomes`. Every transaction
//! locks rows in this order: customer, refund, charge, purpose of the charge.

mod charges;
mod receipts;
mod refunds;
mod restored;
mod saved_methods;

pub(crate) use charges::{
    ChargeConsequences, Key, contradict, insert, is_sending, load, lock_paid, lock_refundable, mark_sending, record,
    store,
};
pub(crate) use receipts::{hand_over, terms as receipt_terms, vat as receipt_vat};
pub(crate) use refunds::{
    claim_comparison, compared, find as load_refund, insert_outside, is_comparison_due, is_known as is_refund_known,
    of_charge as refunds_of, record as record_refund, store as store_refund,
};
pub use restored::PaymentComparison;
pub(crate) use restored::{assign_payment, count_charge, mark};
pub(crate) use saved_methods::{chargeable_method, deactivate as deactivate_method, find_saved};

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::StoreError;
use kontor_payments::model::{Charge, FiscalReceipt, Refund};

use self::charges::ChargeRow;
use self::receipts::ReceiptWithOrigin;
use self::refunds::RefundWithCharge;
use crate::database::{AnyConnection, Database};
use crate::lease::{Leased, Queue};
use crate::schema;
use crate::statement::Statement;

pub(crate) const CHARGES: Queue = Queue {
    table: "charges",
    key: "id",
    due: Some("next_check_at"),
    open: "state IN ('prepared', 'pending')",
    on_park: "",
    of_projects: true,
};

pub(crate) const REFUNDS: Queue = Queue {
    table: "refunds",
    key: "id",
    due: Some("next_check_at"),
    open: "state IN ('due', 'pending')",
    on_park: "",
    of_projects: true,
};

pub(crate) const RECEIPTS: Queue = Queue {
    table: "receipts",
    key: "id",
    due: Some("next_check_at"),
    open: "state IN ('due', 'pending')",
    on_park: "",
    of_projects: true,
};

const LEASED_CHARGES: Leased<i64, ChargeRow, Charge> = Leased { load: load_charges, read: Charge::try_from };

const LEASED_REFUNDS: Leased<i64, RefundWithCharge, Refund> =
    Leased { load: refunds::with_numbers, read: refunds::read };

const LEASED_RECEIPTS: Leased<i64, ReceiptWithOrigin, FiscalReceipt> =
    Leased { load: receipts::with_numbers, read: receipts::read };

fn load_charges(connection: &mut AnyConnection, ids: &[i64]) -> QueryResult<Vec<(i64, ChargeRow)>> {
    let rows: Vec<ChargeRow> = schema::charges::table
        .filter(schema::charges::id.eq_any(ids))
        .select(ChargeRow::as_select())
        .load(connection)?;
    Ok(rows.into_iter().map(|row| (row.id, row)).collect())
}

/// Leases the charge that has been due longest.
pub(crate) async fn lease_charge(
    database: &Database,
    owner: &str,
    at: DateTime<Utc>,
    until: DateTime<Utc>,
) -> Result<Option<Charge>, StoreError> {
    database.lease_row(&CHARGES, owner, at, until, Statement::new(""), LEASED_CHARGES).await
}

/// Leases the refund that has been due longest.
pub(crate) async fn lease_refund(
    database: &Database,
    owner: &str,
    at: DateTime<Utc>,
    until: DateTime<Utc>,
) -> Result<Option<Refund>, StoreError> {
    database.lease_row(&REFUNDS, owner, at, until, Statement::new(""), LEASED_REFUNDS).await
}
