//! Refunds of orders.

use actix_web::post;
use actix_web::web::{Data, Json, Path};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_kernel::Word;
use kontor_orders::model::OrderRefund;
use kontor_orders::refund::{RefundCommand, RefundLine, RefundScope};
use kontor_orders::{OrderRefusal, OrderService};
use serde::Serialize;
use utoipa::ToSchema;

use super::orders::OneOrder;
use crate::http::wire::{self, Given, InputErrors};
use crate::http::{ApiError, Body, DryRun, PathId, Query, SignedInStaff};

/// A refund of an order.
#[derive(Serialize, ToSchema)]
pub(super) struct OrderRefundRecord {
    id: i64,
    /// Decimal string.
    amount: String,
    /// Decimal string: the part of `amount` that is of the delivery price; the rest is of lines.
    delivery_amount: String,
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
            delivery_amount: refund.delivery.to_string(),
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

/// A refund to be made. It names what goes back: `lines`, `delivery` (alone or with `lines`), an `amount` (alone or with
/// `lines`), or `everything`. At least one of them is required.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct RefundRequest {
    /// Pieces to be taken back.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<RefundedLine>>, nullable = false, min_items = 1)]
    lines: Given<Vec<RefundedLine>>,
    /// `true` refunds what is left of the delivery price. `lines` alone leave it. Not allowed with `amount`.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Flag>, nullable = false)]
    delivery: Given<wire::Flag>,
    /// Decimal string. With `lines` at most what they cost; alone it gives money of the lines and the delivery back, in
    /// proportion to what is left of each, and leaves the goods.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Money>, nullable = false)]
    amount: Given<wire::Money>,
    /// `true` refunds all pieces and all money that are left. An order that was not handed over is canceled with it.
    /// Required without `lines`, `delivery` and `amount`, and not allowed with them.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Flag>, nullable = false)]
    everything: Given<wire::Flag>,
    /// The customer reads it.
    reason: wire::Line250,
    /// Whether the pieces go back to their warehouses; otherwise they are written off.
    restock: wire::Flag,
    /// Of a payment for a period of a subscription: whether the period ends with it, and with it the subscription. Only where all
    /// of its money goes back. `false` unless told: then the period stays as it is.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Flag>, nullable = false)]
    ends_period: Given<wire::Flag>,
}

impl TryFrom<RefundRequest> for RefundCommand {
    type Error = OrderRefusal;

    fn try_from(request: RefundRequest) -> Result<Self, OrderRefusal> {
        let line = |line: RefundedLine| RefundLine { line: line.id.0, quantity: line.quantity.0 };
        let lines = request.lines.0.map(|lines| lines.into_iter().map(line).collect());
        let is_set = |flag: Given<wire::Flag>| flag.0.is_some_and(|flag| flag.0);
        let (everything, delivery) = (is_set(request.everything), is_set(request.delivery));
        Ok(Self {
            scope: RefundScope::of(everything, delivery, lines, request.amount.0.map(|amount| amount.0))?,
            reason: request.reason.0,
            restock: request.restock.0,
            ends_period: is_set(request.ends_period),
        })
    }
}

/// Refunds a paid order: pieces of its lines, an amount, or everything that is left.
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
    let (id, command) = (id.parse()?, RefundCommand::try_from(body.0)?);
    if dry_run.0.is_set() {
        return Ok(Json(service.preview_refund(&staff, id, &command).await?.into()));
    }
    Ok(Json(service.refund(&staff, id, command).await?.into()))
}
