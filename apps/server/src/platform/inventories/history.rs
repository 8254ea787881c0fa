//! What happened to stock: its movements.

use kontor_catalog::model::{StockEntry, StockSource};
use kontor_kernel::Page;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::history::HistoryRecord;
use crate::http::paging::Pagination;

/// One movement. The fields that change are `quantity`, `reserved` and `price`.
#[derive(Serialize, ToSchema)]
struct StockHistoryRecord {
    #[serde(flatten)]
    line: HistoryRecord,
    /// `opening`, `creation`, `edit`, `upload`, `reservation`, `release`, `sale` or `correction`
    reason: &'static str,
    /// The order it was done for.
    order_id: Option<i64>,
    /// The job in the background that did it.
    job_id: Option<i64>,
}

impl From<StockEntry> for StockHistoryRecord {
    fn from(entry: StockEntry) -> Self {
        let order = entry.source.and_then(StockSource::order);
        let job = entry.source.and_then(StockSource::job);
        Self {
            line: entry.line.into(),
            reason: entry.reason.name(),
            order_id: order.map(Into::into),
            job_id: job.map(Into::into),
        }
    }
}

/// A page of movements, the latest first.
#[derive(Serialize, ToSchema)]
pub(super) struct StockHistoryList {
    histories: Vec<StockHistoryRecord>,
    #[serde(rename = "historiesCount")]
    histories_count: u64,
    pagination: Pagination,
}

impl From<Page<StockEntry>> for StockHistoryList {
    fn from(page: Page<StockEntry>) -> Self {
        Self {
            pagination: (&page).into(),
            histories_count: page.total,
            histories: page.items.into_iter().map(Into::into).collect(),
        }
    }
}
