//! Payments of orders recorded by employees.

use actix_web::post;
use actix_web::web::{Data, Path};
use deserr::Deserr;
use kontor_orders::OrderService;
use kontor_orders::change::ManualPayment;
use utoipa::ToSchema;

use super::OrderResponse;
use kontor_web::envelope::{Answer, answer};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{Body, PathId, SignedInStaff};

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct RecordedPayment {
    method: wire::HandMethodWord,
    /// Number of the receipt from the cash register. It is shown in the history.
    #[deserr(default)]
    receipt: Option<wire::Line100>,
}

/// Record an offline payment of an order
///
/// Records that an employee took the full price in cash or at a terminal, for example at hand-over. An issued order
/// stays issued; any other order becomes paid.
#[utoipa::path(
    tag = "Orders",
    request_body(content = RecordedPayment, example = json!({ "method": "cash" })),
    responses(
        (status = 200, body = OrderResponse),
        (
            status = 409,
            description = "The payment is not recorded: `order_already_paid`, `order_paid_online` or `order_final`.",
        ),
    ),
)]
#[post("/api/orders/{id}/record-payment")]
pub(super) async fn record_payment(
    staff: SignedInStaff,
    service: Data<OrderService>,
    id: Path<PathId>,
    body: Body<RecordedPayment>,
) -> Answer<OrderResponse> {
    let payment = ManualPayment { method: body.0.method.0, receipt: body.0.receipt.map(|receipt| receipt.0) };
    answer(service.record_payment(&staff, id.parse()?, payment).await?)
}
