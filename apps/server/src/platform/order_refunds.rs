//! Refunds of orders.

use actix_web::post;
use actix_web::web::{Data, Json, Path};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_kernel::Word;
use kontor_orders::OrderService;
use kontor_orders::model::OrderRefund;
use kontor_orders::refund::{RefundCommand, RefundLine};
use serde::Serialize;
use utoipa::ToSchema;

use super::orders::OneOrder;
use crate::http::wire::{self, InputErrors};
use crate::http::{ApiError, Body, DryRun, PathId, Query, SignedInStaff};

/// A refund of an order.
#[derive(Serialize, ToSchema)]
pub(super) struct OrderRefundRecord {
    id: i64,
    /// Decimal string.
    amount: String,
    /// `pending`, `succeeded` or `failed`.
    state: &'static str,
    reason: String,
    /// Whether the goods went back to their warehouses.
    restock: bool,
    created_at: DateTime<Utc>,
    settled_at: Option<DateTime<Utc>>,
}

impl From<&OrderRefund> for OrderRefundRecord {
    fn from(refund: &OrderRefund) -> Self {
        Self {
            id: refund.id.get(),
            amount: refund.amount.to_string(),
            state: refund.state.word(),
            reason: refund.reason.clone(),
            restock: refund.restock,
            created_at: refund.created_at,
            settled_at: refund.settled_at,
        }
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct RefundedLine {
    /// The order line: an `id` of `reservations`.
    id: wire::ReservationId,
    quantity: wire::Quantity,
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct RefundRequest {
    /// Pieces to be taken back.
    #[deserr(default)]
    lines: Vec<RefundedLine>,
    /// Decimal string. With `lines` at most what they cost; alone it gives money back and leaves the goods.
    #[deserr(default)]
    amount: Option<wire::Money>,
    /// The customer reads it.
    reason: wire::Line250,
    /// Whether the pieces go back to their warehouses; otherwise they are written off.
    restock: bool,
    /// Of a payment for a period of a subscription: whether the period ends with it, and with it the subscription. Only where all
    /// of its money goes back. `false` unless told: then the period stays as it is.
    #[deserr(default)]
    ends_period: Option<wire::Flag>,
}

impl From<RefundRequest> for RefundCommand {
    fn from(request: RefundRequest) -> Self {
        let line = |line: RefundedLine| RefundLine { line: line.id.0, quantity: line.quantity.0 };
        Self {
            lines: request.lines.into_iter().map(line).collect(),
            amount: request.amount.map(|amount| amount.0),
            reason: request.reason.0,
            restock: request.restock,
            ends_period: request.ends_period.is_some_and(|ends| ends.0),
        }
    }
}

/// Gives back money of a paid order, and with it goods. Without `lines` and `amount` everything that is left goes back.
#[utoipa::path(
    tag = "Orders",
    params(("id" = i64, Path), DryRun),
    request_body = RefundRequest,
    responses((status = 200, body = OneOrder)),
)]
#[post("/api/orders/{id}/request-refund")]
pub(super) async fn request_refund(
    staff: SignedInStaff,
    service: Data<OrderService>,
    id: Path<PathId>,
    dry_run: Query<DryRun>,
    body: Body<RefundRequest>,
) -> Result<Json<OneOrder>, ApiError> {
    let (id, command) = (id.parse()?, RefundCommand::from(body.0));
    if dry_run.0.is_set() {
        return Ok(Json(service.preview_refund(&staff, id, &command).await?.into()));
    }
    Ok(Json(service.refund(&staff, id, command).await?.into()))
}
