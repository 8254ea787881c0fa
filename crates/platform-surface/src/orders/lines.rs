//! Order lines: added, updated and removed by staff.

use actix_web::http::StatusCode;
use actix_web::web::{Json, Path};
use actix_web::{delete, post, put};
use deserr::Deserr;
use kontor_kernel::{OrderId, Staff};
use kontor_orders::PlacementService;
use kontor_orders::lines::{LineCommand, LineEdit, LinesChanged};
use utoipa::ToSchema;

use super::OrderResponse;
use kontor_web::wire::{self, InputErrors, NonNullPatch, change_body};
use kontor_web::{ApiError, Body, DryRun, PathId, Query, Service, SignedInStaff};

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewOrderLine {
    /// Item that is not in the order yet.
    nomenclature_id: wire::NomenclatureId,
    /// Quantity in units.
    quantity: wire::Quantity,
    /// Price of one unit, decimal string. By default the current price of the item.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Money>, nullable = false)]
    price: NonNullPatch<wire::Money>,
}

change_body! {
    OrderLinePatch {
        /// New quantity of the line, in units.
        quantity: wire::Quantity,
        /// Price of one unit, decimal string.
        price: wire::Money,
        /// For paid orders: `true` if removed units return to their warehouses. `true` by default.
        restock: wire::Flag,
        /// For paid orders: reason of the refund, shown to the customer.
        reason: wire::Line250,
    }
}

/// Options for removing a line of a paid order, as in `PUT`, and `dry_run`.
#[derive(Deserr, utoipa::IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct LineRemoval {
    /// `1` returns the result of the call without writing anything.
    #[deserr(default)]
    #[param(value_type = Option<bool>)]
    dry_run: Option<wire::Flag>,
    /// For paid orders: `1` if removed units return to their warehouses. `1` by default.
    #[deserr(default)]
    #[param(value_type = Option<bool>)]
    restock: Option<wire::Flag>,
    /// For paid orders: reason of the refund, shown to the customer.
    #[deserr(default)]
    #[param(value_type = Option<wire::Line250>)]
    reason: Option<wire::Line250>,
}

type Answer = Result<(Json<OrderResponse>, StatusCode), ApiError>;

async fn execute(
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
        LinesChanged::PaymentOutcomeUnknown(order) => (order, StatusCode::ACCEPTED),
        LinesChanged::PaymentRefused { reason } => {
            tracing::warn!(
                order = %id, %reason,
                "an order is canceled: the acquirer declined the payment of its new total"
            );
            let message = "The payment could not be created; the order is canceled.".to_owned();
            return Err(ApiError::Message(StatusCode::BAD_GATEWAY, message));
        }
    };
    Ok((Json(order.into()), status))
}

/// Add a line to an unpaid order
///
/// The item is priced and reserved as in a new order, with current discounts. An open payment is canceled at the
/// acquirer first. If that fails, the order is not changed.
#[utoipa::path(
    tag = "Orders",
    params(("id" = i64, Path), DryRun),
    request_body(content = NewOrderLine, example = json!({ "nomenclature_id": 15, "quantity": 2 })),
    responses(
        (status = 200, body = OrderResponse, description = "With `dry_run`: the order as it would be. Nothing is stored."),
        (status = 201, body = OrderResponse),
        (status = 202, body = OrderResponse, description = "The outcome of the payment of the new total is not known yet."),
        (status = 409, description = "The order is not changed: `order_final`, `order_refund_pending`, \
            `order_payment_open`, `order_payment_unclear`, `order_changed_meanwhile` or `order_customer_left`."),
        (status = 502, description = "The acquirer declined the payment of the new total, and the order is canceled."),
    ),
)]
#[post("/api/orders/{id}/nomenclatures")]
pub(super) async fn add_order_line(
    staff: SignedInStaff,
    service: Service<PlacementService>,
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
    execute(&service, &staff, id.parse()?, command, dry_run.0.is_set()).await
}

/// Update a line of an order
///
/// Changes quantity or price. `nomenclature` is the id of the line in `reservations`. Paid orders accept only a lower
/// quantity or price; the difference is refunded.
#[utoipa::path(
    tag = "Orders",
    params(
        ("id" = i64, Path),
        ("nomenclature" = i64, Path, description = "Id of the order line, from `reservations`."),
        DryRun,
    ),
    request_body(content = OrderLinePatch, example = json!({ "quantity": 1 })),
    responses(
        (status = 200, body = OrderResponse),
        (status = 202, body = OrderResponse, description = "The outcome of the payment of the new total is not known yet."),
        (status = 409, description = "The order is not changed: `order_final`, `order_refund_pending`, \
            `order_payment_open`, `order_payment_unclear`, `order_changed_meanwhile` or `order_customer_left`."),
        (status = 502, description = "The acquirer declined the payment of the new total, and the order is canceled."),
    ),
)]
#[put("/api/orders/{id}/nomenclatures/{nomenclature}")]
pub(super) async fn update_order_line(
    staff: SignedInStaff,
    service: Service<PlacementService>,
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
    execute(&service, &staff, order.parse()?, command, dry_run.0.is_set()).await
}

/// Remove a line of an order
///
/// The units of a paid order are refunded. The last line of an unpaid order cannot be removed; cancel the order
/// instead.
#[utoipa::path(
    tag = "Orders",
    params(
        ("id" = i64, Path),
        ("nomenclature" = i64, Path, description = "Id of the order line, from `reservations`."),
        LineRemoval,
    ),
    responses(
        (status = 200, body = OrderResponse),
        (status = 202, body = OrderResponse, description = "The outcome of the payment of the new total is not known yet."),
        (status = 409, description = "The order is not changed: `order_last_line`, `order_final`, \
            `order_refund_pending`, `order_payment_open`, `order_payment_unclear`, `order_changed_meanwhile` or \
            `order_customer_left`."),
        (status = 502, description = "The acquirer declined the payment of the new total, and the order is canceled."),
    ),
)]
#[delete("/api/orders/{id}/nomenclatures/{nomenclature}")]
pub(super) async fn remove_order_line(
    staff: SignedInStaff,
    service: Service<PlacementService>,
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
    execute(&service, &staff, order.parse()?, command, is_dry_run).await
}
