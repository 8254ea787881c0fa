//! Lines of orders: added, changed and removed by staff.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path};
use actix_web::{delete, post, put};
use deserr::Deserr;
use kontor_kernel::{OrderId, Staff};
use kontor_orders::PlacementService;
use kontor_orders::lines::{LineCommand, LineEdit, LinesChanged};
use utoipa::ToSchema;

use super::orders::OneOrder;
use crate::http::wire::{self, Given, InputErrors};
use crate::http::{ApiError, Body, DryRun, PathId, Query, SignedInStaff};

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewOrderLine {
    /// An item that is not in the order yet.
    nomenclature_id: wire::NomenclatureId,
    quantity: wire::Quantity,
    /// Decimal string: one piece. Without it what the item is sold at.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Money>, nullable = false)]
    price: Given<wire::Money>,
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct OrderLinePatch {
    /// How many pieces are left in the order afterwards.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Quantity>, nullable = false)]
    quantity: Given<wire::Quantity>,
    /// Decimal string: one piece.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Money>, nullable = false)]
    price: Given<wire::Money>,
    /// Of a paid order: whether the pieces go back to their warehouses; `true` unless it is sent.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Flag>, nullable = false)]
    restock: Given<wire::Flag>,
    /// Of a paid order: why money goes back. The customer reads it.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Line250>, nullable = false)]
    reason: Given<wire::Line250>,
}

/// How the removed pieces of a paid order go back, as in a `PUT`. `dry_run` stands here, too.
#[derive(Deserr, utoipa::IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct LineRemoval {
    /// `1` answers with what the call would do, and writes nothing.
    #[deserr(default)]
    #[param(value_type = Option<bool>)]
    dry_run: Option<wire::Flag>,
    /// Of a paid order: whether the pieces go back to their warehouses; `1` unless it is sent.
    #[deserr(default)]
    #[param(value_type = Option<bool>)]
    restock: Option<wire::Flag>,
    /// Of a paid order: why money goes back. The customer reads it.
    #[deserr(default)]
    #[param(value_type = Option<wire::Line250>)]
    reason: Option<wire::Line250>,
}

type Answer = Result<(Json<OneOrder>, StatusCode), ApiError>;

async fn carry_out(
    service: &PlacementService,
    staff: &Staff,
    id: OrderId,
    command: LineCommand,
    is_dry_run: bool,
) -> Answer {
    if is_dry_run {
        return Ok((Json(service.preview_lines(staff, id, &command).await?.into()), StatusCode::OK));
    }
    let done = match command.edit {
        LineEdit::Add { .. } => StatusCode::CREATED,
        LineEdit::Set { .. } | LineEdit::Remove { .. } => StatusCode::OK,
    };
    let (order, status) = match service.change_lines(staff, id, &command).await? {
        LinesChanged::Done(order) => (order, done),
        LinesChanged::PaymentUnclear(order) => (order, StatusCode::ACCEPTED),
        LinesChanged::PaymentRefused { reason } => {
            tracing::warn!(order = %id, %reason, "an order is canceled: the payment of its new sum was refused");
            let message = "The payment could not be created; the order is canceled.".to_owned();
            return Err(ApiError::Message(StatusCode::BAD_GATEWAY, message));
        }
    };
    Ok((Json(order.into()), status))
}

/// Adds an item to an order that is not paid. It is priced and allocated as in a new order, discounts are those of the
/// moment. A payment that is open is taken back at the acquirer first; when that cannot be done, nothing changes.
#[utoipa::path(
    tag = "Orders",
    params(("id" = i64, Path), DryRun),
    request_body(content = NewOrderLine, example = json!({ "nomenclature_id": 15, "quantity": 2 })),
    responses(
        (status = 200, body = OneOrder, description = "With `dry_run`: what would be."),
        (status = 201, body = OneOrder),
        (status = 202, body = OneOrder, description = "Whether there is a payment of the new sum is still being clarified."),
        (status = 409, description = "The order stays as it is: `order_final`, `order_refund_pending`, `order_payment_open`, `order_payment_unclear`, `order_changed_meanwhile` or `order_customer_left`."),
        (status = 502, description = "The payment of the new sum was refused; the order is canceled."),
    ),
)]
#[post("/api/orders/{id}/nomenclatures")]
pub(super) async fn add_order_line(
    staff: SignedInStaff,
    service: Data<PlacementService>,
    id: Path<PathId>,
    dry_run: Query<DryRun>,
    body: Body<NewOrderLine>,
) -> Answer {
    let Body(line) = body;
    let edit = LineEdit::Add {
        item: line.nomenclature_id.0,
        quantity: line.quantity.0,
        price: line.price.0.map(|price| price.0),
    };
    let command = LineCommand { edit, restock: None, reason: None };
    carry_out(&service, &staff, id.parse()?, command, dry_run.0.is_set()).await
}

/// Changes pieces or price of a line; the last id is that of the line, an `id` of `reservations`. Of a paid order fewer
/// pieces and a lower price are refunded, more is refused.
#[utoipa::path(
    tag = "Orders",
    params(("id" = i64, Path), ("nomenclature" = i64, Path, description = "The order line: an `id` of `reservations`."), DryRun),
    request_body(content = OrderLinePatch, example = json!({ "quantity": 1 })),
    responses(
        (status = 200, body = OneOrder),
        (status = 202, body = OneOrder, description = "Whether there is a payment of the new sum is still being clarified."),
        (status = 409, description = "The order stays as it is: `order_final`, `order_refund_pending`, `order_payment_open`, `order_payment_unclear`, `order_changed_meanwhile` or `order_customer_left`."),
        (status = 502, description = "The payment of the new sum was refused; the order is canceled."),
    ),
)]
#[put("/api/orders/{id}/nomenclatures/{nomenclature}")]
pub(super) async fn edit_order_line(
    staff: SignedInStaff,
    service: Data<PlacementService>,
    ids: Path<(PathId, PathId)>,
    dry_run: Query<DryRun>,
    body: Body<OrderLinePatch>,
) -> Answer {
    let (order, line) = ids.into_inner();
    let Body(patch) = body;
    let edit = LineEdit::Set {
        line: line.parse()?,
        quantity: patch.quantity.0.map(|quantity| quantity.0),
        price: patch.price.0.map(|price| price.0),
    };
    let restock = patch.restock.0.map(|flag| flag.0);
    let command = LineCommand { edit, restock, reason: patch.reason.0.map(|reason| reason.0) };
    carry_out(&service, &staff, order.parse()?, command, dry_run.0.is_set()).await
}

/// Removes a line of an order; of a paid one its pieces are refunded. The last line of an order that is not paid stays: the
/// order is canceled instead.
#[utoipa::path(
    tag = "Orders",
    params(("id" = i64, Path), ("nomenclature" = i64, Path, description = "The order line: an `id` of `reservations`."), LineRemoval),
    responses(
        (status = 200, body = OneOrder),
        (status = 202, body = OneOrder, description = "Whether there is a payment of the new sum is still being clarified."),
        (status = 409, description = "The order stays as it is: `order_last_line`, `order_final`, `order_refund_pending`, `order_payment_open`, `order_payment_unclear`, `order_changed_meanwhile` or `order_customer_left`."),
        (status = 502, description = "The payment of the new sum was refused; the order is canceled."),
    ),
)]
#[delete("/api/orders/{id}/nomenclatures/{nomenclature}")]
pub(super) async fn remove_order_line(
    staff: SignedInStaff,
    service: Data<PlacementService>,
    ids: Path<(PathId, PathId)>,
    asked: Query<LineRemoval>,
) -> Answer {
    let (order, line) = ids.into_inner();
    let Query(asked) = asked;
    let command = LineCommand {
        edit: LineEdit::Remove { line: line.parse()? },
        restock: asked.restock.map(|flag| flag.0),
        reason: asked.reason.map(|reason| reason.0),
    };
    let is_dry_run = asked.dry_run.is_some_and(|flag| flag.0);
    carry_out(&service, &staff, order.parse()?, command, is_dry_run).await
}
