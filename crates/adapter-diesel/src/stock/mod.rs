//! Stock ledger: every change of a quantity, a reserved quantity or a price is a movement with reason, author and
//! source. The figures of `inventories` are stored beside it, so that reads need no sums.
//!
//! No statement outside this module changes figures (a test checks the sources). Each change returns a [`Movement`],
//! which the caller enters in the same transaction. `doctor` compares the figures with the sums of the ledger.

mod correction;
mod history;
mod ledger;
mod levels;
mod reserve;
mod warehouse_deletion;

pub(crate) use correction::correct;
pub(crate) use history::history;
pub(crate) use kontor_catalog::model::StockReason as Reason;
pub(crate) use ledger::{Cause, Movement, entries, write_movements};
pub(crate) use levels::{NewStock, StockLevels, create, set};
pub(crate) use reserve::{Reserved, put_back, release_reserved, remove_reserved, reserve};
pub(crate) use warehouse_deletion::{lock_warehouses, retire};

/// Rows per statement, well below the maximum number of bound values.
const ROWS: usize = 500;
