//! Webhook events in the description.

use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::openapi::path::{OperationBuilder, Parameter, ParameterBuilder, ParameterIn, Paths, PathsBuilder};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::schema::Type;
use utoipa::openapi::{
    ContentBuilder, HttpMethod, KnownFormat, ObjectBuilder, PathItem, Ref, RefOr, Required, Response, Schema,
    SchemaFormat,
};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

/// Body of `order.paid`.
#[derive(Serialize, ToSchema)]
pub struct OrderPaidEvent {
    /// Id of the event, as in `X-Webhook-Event-Id`.
    id: Uuid,
    /// `order.paid`
    event: String,
    /// Time of the payment.
    created_at: DateTime<Utc>,
    /// Data of the event.
    data: OrderPaidData,
}

/// Data of `order.paid`. It is no proof: read the order again before granting anything.
#[derive(Serialize, ToSchema)]
pub struct OrderPaidData {
    /// Id of the order.
    #[schema(minimum = 1)]
    order_id: i64,
    /// Id of the application that owns the webhook.
    #[schema(minimum = 1)]
    application_id: i64,
    /// Id of the project.
    #[schema(minimum = 1)]
    project_id: i64,
    /// Status of the order: always `22`, paid.
    #[schema(minimum = 1)]
    status_id: i64,
    /// Amount paid, a decimal number with two places.
    amount: String,
    /// Currency code of three letters.
    currency: String,
    /// Time of the payment, as in `created_at`.
    paid_at: DateTime<Utc>,
}

/// Body of `ping`.
#[derive(Serialize, ToSchema)]
pub struct PingEvent {
    /// Id of the event, as in `X-Webhook-Event-Id`.
    id: Uuid,
    /// `ping`
    event: String,
    /// Time of the request.
    created_at: DateTime<Utc>,
    /// Data of the event.
    data: PingData,
}

/// Data of `ping`.
#[derive(Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the names of the payload")]
pub struct PingData {
    /// Id of the webhook.
    #[schema(minimum = 1)]
    webhook_id: i64,
    /// Id of the application that owns the webhook.
    #[schema(minimum = 1)]
    application_id: i64,
    /// Id of the project.
    #[schema(minimum = 1)]
    project_id: i64,
}

/// Returns the schemas that webhooks use.
pub fn schemas() -> [(String, RefOr<Schema>); 4] {
    [
        (OrderPaidEvent::name().into_owned(), OrderPaidEvent::schema()),
        (OrderPaidData::name().into_owned(), OrderPaidData::schema()),
        (PingEvent::name().into_owned(), PingEvent::schema()),
        (PingData::name().into_owned(), PingData::schema()),
    ]
}

/// Returns the webhook events.
pub fn webhooks() -> Paths {
    let paid = event("order.paid", &OrderPaidEvent::name())
        .operation_id(Some("order_paid_webhook"))
        .summary(Some("An order of the application is paid."))
        .description(Some(
            "Sent to every active webhook of the application. If the endpoint does not return a `2xx` within 10 \
             seconds, the delivery is retried after 1, 5, 30, 120 and 720 minutes. Redirects are not followed.",
        ));
    let ping = event("ping", &PingEvent::name())
        .operation_id(Some("ping_webhook"))
        .summary(Some("Staff test the webhook."))
        .description(Some("Sent to this webhook only, and retried as every event. It reports no change."));
    let path = |operation: OperationBuilder| PathItem::new(HttpMethod::Post, operation.build());
    PathsBuilder::new().path("order.paid", path(paid)).path("ping", path(ping)).build()
}

fn event(name: &str, schema: &str) -> OperationBuilder {
    OperationBuilder::new()
        .tag("Webhooks")
        .parameters(Some(headers(name)))
        .request_body(Some(body(schema)))
        .response("2XX", Response::new("Delivery accepted. The response body is ignored."))
}

fn body(schema: &str) -> RequestBody {
    let schema = Ref::from_schema_name(schema);
    let content = ContentBuilder::new().schema(Some(schema)).build();
    RequestBodyBuilder::new().content("application/json", content).required(Some(Required::True)).build()
}

fn headers(event: &str) -> Vec<Parameter> {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let uuid = || text().format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)));
    let header = |name: &str, description: &str, schema: ObjectBuilder| {
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Header)
            .required(Required::True)
            .description(Some(description))
            .schema(Some(schema))
            .build()
    };
    vec![
        header("X-Webhook-Event", "Event type.", text().enum_values(Some([event]))),
        header("X-Webhook-Event-Id", "Id of the event, the same for every webhook and every attempt.", uuid()),
        header("X-Webhook-Delivery-Id", "Id of the delivery, the same for every attempt.", uuid()),
        header(
            "X-Webhook-Timestamp",
            "Unix time of this attempt, in seconds.",
            ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)),
        ),
        header(
            "X-Signature",
            "`sha256=` followed by the lowercase hex HMAC-SHA256 of the timestamp, a full stop and the body. The key \
             is the webhook secret.",
            text().pattern(Some("^sha256=[0-9a-f]{64}$")),
        ),
    ]
}
