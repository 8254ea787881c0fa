//! Refunds of orders.

use actix_web::post;
use actix_web::web::Path;
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_kernel::Word;
use kontor_orders::model::OrderRefund;
use kontor_orders::refund::{RefundCommand, RefundLine, RefundScope};
use kontor_orders::{OrderRefusal, OrderService};
use serde::Serialize;
use utoipa::ToSchema;

use super::OrderResponse;
use kontor_web::envelope::{Answer, answer};
use kontor_web::wire::{self, InputErrors, NonNullPatch};
use kontor_web::{Body, DryRun, PathId, Query, Service, SignedInStaff};

/// Refund of an order.
#[derive(Serialize, ToSchema)]
pub(super) struct OrderRefundRecord {
    id: i64,
    /// Amount of the refund, decimal string.
    amount: String,
    /// Part of `amount` that refunds the delivery price, decimal string. The rest refunds lines.
    delivery_amount: String,
    /// `pending`, `succeeded` or `failed`.
    state: &'static str,
    /// Reason shown to the customer.
    reason: String,
    /// `true` if the units return to their warehouses.
    restock: bool,
    created_at: DateTime<Utc>,
    /// Time of the final result. `null` while `pending`.
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
    /// Id of the order line, from `reservations`.
    id: wire::ReservationId,
    /// Number of units to refund.
    quantity: wire::Quantity,
}

/// Refund to request. Send at least one of: `lines`, `delivery` (alone or with `lines`), `amount` (alone or with
/// `lines`), `everything`.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct RefundRequest {
    /// Lines and quantities to refund.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<RefundedLine>>, nullable = false, min_items = 1)]
    lines: NonNullPatch<Vec<RefundedLine>>,
    /// `true` refunds the rest of the delivery price, which `lines` alone does not include. Not allowed with `amount`.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Flag>, nullable = false)]
    delivery: NonNullPatch<wire::Flag>,
    /// Amount to refund, decimal string. With `lines`, at most their price. Alone, it is taken from lines and delivery
    /// in proportion to their remaining amounts, and the stock is not changed.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Money>, nullable = false)]
    amount: NonNullPatch<wire::Money>,
    /// `true` refunds all remaining units and the whole remaining amount. An order that is not handed over is canceled.
    /// Required without `lines`, `delivery` and `amount`; not allowed with them.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Flag>, nullable = false)]
    everything: NonNullPatch<wire::Flag>,
    /// Reason of the refund, shown to the customer.
    reason: wire::Line250,
    /// `true` returns the units to their warehouses; `false` writes them off.
    restock: wire::Flag,
    /// `true` ends the subscription period paid by this order, and the subscription with it. Allowed only if the whole
    /// amount is refunded. `false` by default: the period is not changed.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Flag>, nullable = false)]
    ends_period: NonNullPatch<wire::Flag>,
}

impl TryFrom<RefundRequest> for RefundCommand {
    type Error = OrderRefusal;

    fn try_from(request: RefundRequest) -> Result<Self, OrderRefusal> {
        let line = |line: RefundedLine| RefundLine { line: line.id.0, quantity: line.quantity.0 };
        let lines = request.lines.0.map(|lines| lines.into_iter().map(line).collect());
        let is_set = |flag: NonNullPatch<wire::Flag>| flag.0.is_some_and(|flag| flag.0);
        let (everything, delivery) = (is_set(request.everything), is_set(request.delivery));
        Ok(Self {
            scope: RefundScope::of(everything, delivery, lines, request.amount.0.map(|amount| amount.0))?,
            reason: request.reason.0,
            restock: request.restock.0,
            ends_period: is_set(request.ends_period),
        })
    }
}

/// Request a refund of a paid order
///
/// Refunds units of its lines, an amount, or everything that remains.
#[utoipa::path(
    tag = "Orders",
    params(DryRun),
    request_body = RefundRequest,
    responses((status = 200, body = OrderResponse)),
)]
#[post("/api/orders/{id}/request-refund")]
pub(super) async fn request_refund(
    staff: SignedInStaff,
    service: Service<OrderService>,
    id: Path<PathId>,
    dry_run: Query<DryRun>,
    body: Body<RefundRequest>,
) -> Answer<OrderResponse> {
    let (id, command) = (id.parse()?, RefundCommand::try_from(body.0)?);
    if dry_run.0.is_set() {
        return answer(service.preview_refund(&staff, id, &command).await?);
    }
    answer(service.refund(&staff, id, command).await?)
}
