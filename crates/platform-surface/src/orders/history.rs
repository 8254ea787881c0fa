//! History of an order.

use actix_web::get;
use actix_web::web::{Data, Path};
use kontor_kernel::Word as _;
use kontor_orders::OrderService;
use kontor_orders::model::OrderEntry;
use serde::Serialize;
use utoipa::ToSchema;

use kontor_web::envelope::{Answer, answer, list};
use kontor_web::history::HistoryRecord;
use kontor_web::{PageQuery, PathId, Query, SignedInStaff};

/// History entry of an order. Fields of items are named `nomenclatures.{nomenclature_id}.quantity` and `.price`, those
/// of lines `reservations.{id}.refunded_quantity`.
#[derive(Serialize, ToSchema)]
struct OrderHistoryRecord {
    #[serde(flatten)]
    line: HistoryRecord,
    /// `created`, `status_changed`, `changed`, `lines_changed`, `payment_renewed`, `payment_withdrawn`,
    /// `payment_suspicious`, `payment_failed`, `paid`, `paid_after_cancellation`, `paid_out_of_turn`,
    /// `refund_requested`, `refunded`, `refund_failed`, `expired` or `tickets_redeemed`.
    event: &'static str,
    /// Status of the order after the event.
    status_id: i64,
    /// Amount, number of tickets or reason, depending on the event.
    detail: Option<String>,
}

impl From<OrderEntry> for OrderHistoryRecord {
    fn from(entry: OrderEntry) -> Self {
        Self { line: entry.line.into(), event: entry.event.word(), status_id: entry.status.id(), detail: entry.detail }
    }
}

list!(/// One page of the history of an order, newest first.
    pub(super) OrderHistoryList { histories: [OrderHistoryRecord], histories_count of all, pagination });

/// List the history of an order
///
/// Newest first. Each entry has the author, the time and the old and new values. Entries reported by the acquirer have
/// neither `user` nor `counterparty`.
#[utoipa::path(tag = "Orders", params(PageQuery), responses((status = 200, body = OrderHistoryList)))]
#[get("/api/orders/{id}/history")]
pub(super) async fn list_order_history(
    staff: SignedInStaff,
    service: Data<OrderService>,
    id: Path<PathId>,
    query: Query<PageQuery>,
) -> Answer<OrderHistoryList> {
    answer(service.history(&staff, id.parse()?, query.0.page()?).await?)
}
