//! Queues of charges, refunds and receipts without a final outcome.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::StoreError;
use kontor_payments::model::{Charge, FiscalReceipt, Refund};

use super::charges::ChargeRow;
use super::receipts::{self, ReceiptWithOrigin};
use super::refunds::{self, RefundWithCharge};
use crate::database::{AnyConnection, Database};
use crate::lease::{Leased, Queue};
use crate::schema::charges;
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

pub(super) const LEASED_RECEIPTS: Leased<i64, ReceiptWithOrigin, FiscalReceipt> =
    Leased { load: receipts::with_numbers, read: receipts::read };

fn load_charges(connection: &mut AnyConnection, ids: &[i64]) -> QueryResult<Vec<(i64, ChargeRow)>> {
    let rows: Vec<ChargeRow> =
        charges::table.filter(charges::id.eq_any(ids)).select(ChargeRow::as_select()).load(connection)?;
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
