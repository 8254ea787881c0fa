//! Notifications of the logged-in customer.

use actix_web::web::Data;
use actix_web::{HttpRequest, get};
use chrono::{DateTime, Utc};
use kontor_customers::NotificationService;
use kontor_customers::model::Notification;
use kontor_kernel::Page;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::queries::NotificationQuery;
use kontor_web::envelope::{Answer, answer};
use kontor_web::limits::NOTIFICATIONS;
use kontor_web::paging::Pagination;
use kontor_web::{Query, Service, SignedInCustomer, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_notifications);
}

#[derive(Serialize, ToSchema)]
struct NotificationRecord {
    id: i64,
    /// Always `null`.
    icon: Option<String>,
    title: String,
    /// Code of the event: `order_paid`, `order_payment_failed`, `order_in_processing`, `order_ready`, `order_issued`,
    /// `order_canceled`, `order_expired`, `order_changed`, `order_refund_requested`, `order_refunded`,
    /// `subscription_activated`, `subscription_renewed`, `subscription_missed_paid` (a period missed during an outage),
    /// `subscription_payment_failed`, `subscription_method_needed`, `subscription_method_changed`,
    /// `subscription_terms_changed`, `subscription_canceled`, `subscription_resumed`, `subscription_charge_ahead`,
    /// `subscription_rescheduled`, `subscription_on_hold` (nothing is charged until staff release it),
    /// `subscription_ending`, `subscription_ended` (not requested by the customer) or `subscription_refunded`.
    status: String,
    body: Option<String>,
    /// URL of the application, if it has one.
    action_url: Option<String>,
    created_at: DateTime<Utc>,
}

impl From<Notification> for NotificationRecord {
    fn from(notification: Notification) -> Self {
        let Notification { id, title, code, body, action_url, created_at } = notification;
        Self { id: id.get(), icon: None, title, status: code, body, action_url, created_at }
    }
}

#[derive(Serialize, ToSchema)]
struct NotificationList {
    notifications: Vec<NotificationRecord>,
    pagination: Pagination,
}

impl From<Page<Notification>> for NotificationList {
    fn from(page: Page<Notification>) -> Self {
        let pagination = Pagination::from(&page);
        Self { notifications: page.items.into_iter().map(NotificationRecord::from).collect(), pagination }
    }
}

/// List the customer's notifications
///
/// Notifications are about the customer's orders in the calling application, newest first.
#[utoipa::path(
    tag = "Client: notifications",
    params(NotificationQuery),
    responses(
        (status = 200, body = NotificationList),
        (status = 429, description = "Too many requests. Retry after `Retry-After` seconds."),
    ),
)]
#[get("/api/counterparty/notifications")]
async fn list_notifications(
    request: HttpRequest,
    customer: SignedInCustomer,
    throttle: Data<Throttle>,
    service: Service<NotificationService>,
    query: Query<NotificationQuery>,
) -> Answer<NotificationList> {
    throttle.hit(&request, &[(NOTIFICATIONS, &customer.counterparty_id.to_string())]).await?;
    answer(service.list(*customer, query.0.page()?).await?)
}
