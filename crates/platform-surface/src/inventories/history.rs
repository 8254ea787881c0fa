//! Stock movements.

use kontor_catalog::model::{StockEntry, StockSource};
use kontor_kernel::Word as _;
use serde::Serialize;
use utoipa::ToSchema;

use kontor_web::envelope::list;
use kontor_web::history::HistoryRecord;

/// Stock movement. The fields that change are `quantity`, `reserved` and `price`.
#[derive(Serialize, ToSchema)]
struct StockHistoryRecord {
    #[serde(flatten)]
    line: HistoryRecord,
    /// `opening`, `creation`, `edit`, `upload`, `reservation`, `release`, `sale`, `correction`, `return` or
    /// `write_off`.
    reason: &'static str,
    /// Id of the order that caused the movement.
    order_id: Option<i64>,
    /// Id of the job that made the movement.
    job_id: Option<i64>,
    /// Comment of the employee who made the movement.
    comment: Option<String>,
}

impl From<StockEntry> for StockHistoryRecord {
    fn from(entry: StockEntry) -> Self {
        let order = entry.source.and_then(StockSource::order);
        let job = entry.source.and_then(StockSource::job);
        Self {
            line: entry.line.into(),
            reason: entry.reason.word(),
            order_id: order.map(Into::into),
            job_id: job.map(Into::into),
            comment: entry.comment.map(Into::into),
        }
    }
}

list!(/// One page of stock movements, newest first.
    pub(super) StockHistoryList { histories: [StockHistoryRecord], histories_count of all, pagination });
