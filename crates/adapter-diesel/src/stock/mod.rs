//! Stock is a ledger: every change of what lies in a warehouse, of what orders reserve of it and of its price is a movement
//! with its reason, who did it and what for. The figures of `inventories` are kept beside it, so that nobody has to add up.
//!
//! No statement outside this module changes figures (a test reads the sources). Whoever changes one gets a [`Movement`]
//! and enters it in the same commit; `doctor` adds the ledger up and compares.

mod correction;
mod history;
mod ledger;
mod levels;
mod reserve;
mod retirement;

pub(crate) use correction::correct;
pub(crate) use history::history;
pub(crate) use kontor_catalog::model::StockReason as Reason;
pub(crate) use ledger::{Cause, Movement, enter, entries};
pub(crate) use levels::{NewStock, StockLevels, create, set};
pub(crate) use reserve::{Reserved, give_back, put_back, reserve, take_out};
pub(crate) use retirement::{keep_warehouses, retire};

/// Rows per statement, well below the number of values a statement takes.
const ROWS: usize = 500;
