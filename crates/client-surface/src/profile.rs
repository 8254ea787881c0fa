//! Record of the customer, change of the phone, and notifications.

use actix_web::web::Data;
use actix_web::{HttpRequest, delete, get, post, put};
use chrono::{DateTime, NaiveDate, Utc};
use deserr::Deserr;
use kontor_auth::PhoneChange;
use kontor_catalog::storefront::FavouriteService;
use kontor_customers::model::{Customer, Notification, PersonalData, ProfileChange};
use kontor_customers::{NotificationService, ProfileService};
use kontor_kernel::{CustomerScope, ExposeSecret, Page, Phone};
use kontor_web::envelope::{Answer, answer, one};
use kontor_web::file_contents::avatar;
use kontor_web::limits::{
    CUSTOMER_LOGIN_CONTACT, CUSTOMER_LOGIN_IP, NOTIFICATIONS, PHONE_CODES_PROJECT, SEND_CODE_CONTACT, SEND_CODE_IP,
};
use kontor_web::paging::Pagination;
use kontor_web::records::{CustomerType, ManagerRecord, Message, Picture};
use kontor_web::wire::{self, InputErrors, change_body};
use kontor_web::{ApiError, BearerCustomer, Body, ClientIp, Query, Service, Settings, SignedInCustomer, Throttle};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::products::ProductRecord;
use crate::queries::NotificationQuery;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(show_profile).service(update_profile).service(delete_account);
    config.service(request_phone_change).service(confirm_phone_change).service(list_notifications);
}

/// Profile of the customer.
#[derive(Serialize, ToSchema)]
pub(super) struct CustomerRecord {
    id: i64,
    r#type: CustomerType,
    /// Employee responsible for the customer.
    manager: Option<ManagerRecord>,
    avatar: Option<Picture>,
    first_name: Option<String>,
    last_name: Option<String>,
    middle_name: Option<String>,
    birthday: Option<NaiveDate>,
    address: Option<String>,
    /// Phone for login, 11 digits.
    phone_1: Option<String>,
    /// Additional phone, 11 digits. Not used for login.
    phone_2: Option<String>,
    email: Option<String>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    /// Favourite products that the application sells now, last added first. At most 100.
    favourite_products: Vec<ProductRecord>,
}

/// Services and configuration that a customer record is built from.
pub(super) type RecordSources = (Service<ProfileService>, Service<FavouriteService>, Data<Settings>);

impl CustomerRecord {
    /// Reads the profile of a customer who calls or has just logged in.
    pub(super) async fn read(scope: CustomerScope, sources: &RecordSources) -> Result<Self, ApiError> {
        Self::of(scope, sources.0.profile(scope).await?, sources).await
    }

    async fn of(scope: CustomerScope, customer: Customer, sources: &RecordSources) -> Result<Self, ApiError> {
        let (_, favourites, config) = sources;
        let favourite_products = favourites.products(scope).await?.into_iter().map(Into::into).collect();
        Ok(Self {
            id: customer.id.get(),
            r#type: customer.kind.into(),
            manager: customer.manager.map(Into::into),
            avatar: avatar(customer.avatar.as_ref(), config),
            first_name: customer.first_name.map(Into::into),
            last_name: customer.last_name.map(Into::into),
            middle_name: customer.middle_name.map(Into::into),
            birthday: customer.birthday,
            address: customer.address,
            phone_1: customer.phone_1.map(|phone| phone.to_string()),
            phone_2: customer.phone_2.map(|phone| phone.to_string()),
            email: customer.email.map(|email| email.to_string()),
            created_at: customer.created_at,
            updated_at: customer.updated_at,
            favourite_products,
        })
    }
}

one!(pub(super) CustomerResponse { counterparty: CustomerRecord });

/// Get the customer's profile
///
/// The header `Token` is optional. If sent, it must be the token of the application that the customer logged in to.
#[utoipa::path(tag = "Client: profile", responses((status = 200, body = CustomerResponse)))]
#[get("/api/counterparty")]
async fn show_profile(customer: BearerCustomer, sources: RecordSources) -> Answer<CustomerResponse> {
    answer(CustomerRecord::read(*customer, &sources).await?)
}

change_body! {
    ProfilePatch {
        first_name: wire::Name | null,
        last_name: wire::Name | null,
        middle_name: wire::Name | null,
        /// Not in the future and not before 1900.
        birthday: wire::Date | null,
        address: wire::Line500 | null,
        /// Must not be the login address of another customer. It cannot be used for login until it is verified.
        email: wire::Email | null,
        /// Additional phone. Not used for login.
        phone_2: wire::Phone | null,
        /// Only the current phone is accepted. To change it, use `phone/request_change` and `phone/verify_change`.
        phone_1: wire::Phone | null,
    }
}

impl From<ProfilePatch> for ProfileChange {
    fn from(patch: ProfilePatch) -> Self {
        let data = PersonalData {
            first_name: patch.first_name.into(),
            last_name: patch.last_name.into(),
            middle_name: patch.middle_name.into(),
            birthday: patch.birthday.into(),
            address: patch.address.into(),
            email: patch.email.into(),
            phone_2: patch.phone_2.into(),
        };
        Self { data, phone_1: patch.phone_1.into() }
    }
}

/// Update the customer's profile
///
/// Absent fields keep their values; `null` clears a field.
#[utoipa::path(tag = "Client: profile", request_body = ProfilePatch, responses((status = 200, body = CustomerResponse)))]
#[put("/api/counterparty")]
async fn update_profile(
    customer: BearerCustomer,
    sources: RecordSources,
    body: Body<ProfilePatch>,
) -> Answer<CustomerResponse> {
    let changed = sources.0.change(*customer, body.0.into()).await?;
    answer(CustomerRecord::of(*customer, changed, &sources).await?)
}

/// Delete the customer's account
///
/// Clears personal data and revokes all tokens. Orders are kept. A later login with the same contact creates a new
/// customer.
#[utoipa::path(
    tag = "Client: profile",
    responses(
        (status = 200, body = Message),
        (status = 409, description = "A payment is in progress.", body = Message),
    ),
)]
#[delete("/api/counterparty")]
async fn delete_account(customer: BearerCustomer, profiles: Service<ProfileService>) -> Answer<Message> {
    profiles.delete_account(*customer).await?;
    answer(Message::new("The account is deleted."))
}

/// Returns the rate limit key of the phone. Login uses the same key, so that all calls to a phone count together.
fn subject(customer: &CustomerScope, phone: &Phone) -> String {
    format!("{}|{phone}", customer.app.project_id)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct PhoneChangeRequest {
    /// New phone.
    phone: wire::Phone,
}

/// Request a phone change
///
/// Calls the new phone with a one-time code. The code can only be used for the phone change, not for login.
#[utoipa::path(
    tag = "Client: profile",
    request_body = PhoneChangeRequest,
    responses(
        (status = 200, body = Message),
        (status = 429, description = "Too many codes. Retry after `Retry-After` seconds."),
        (status = 500, description = "The code was not sent.", body = Message),
    ),
)]
#[post("/api/counterparty/phone/request_change")]
async fn request_phone_change(
    request: HttpRequest,
    customer: BearerCustomer,
    ip: ClientIp,
    throttle: Data<Throttle>,
    phones: Service<PhoneChange>,
    body: Body<PhoneChangeRequest>,
) -> Answer<Message> {
    let phone = body.0.phone.0;
    let project = customer.app.project_id.to_string();
    let hits =
        [(SEND_CODE_IP, ip.subject()), (SEND_CODE_CONTACT, subject(&customer, &phone)), (PHONE_CODES_PROJECT, project)];
    throttle.hit(&request, &hits).await?;
    phones.request(*customer, &phone, Some(ip.0)).await?;
    answer(Message::new("The code is being sent."))
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct PhoneChangeProof {
    /// New phone.
    phone: wire::Phone,
    /// One-time code.
    password: wire::Secret,
}

/// Confirm a phone change
///
/// Sets the new phone with the one-time code that was sent to it. From then on the customer logs in with the new phone,
/// and no longer with the old one.
#[utoipa::path(
    tag = "Client: profile",
    request_body = PhoneChangeProof,
    responses(
        (status = 200, body = CustomerResponse),
        (status = 400, description = "The code is missing, used or expired.", body = Message),
        (status = 401, description = "The code or the bearer token is invalid.", body = Message),
        (status = 429, description = "Too many attempts. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/counterparty/phone/verify_change")]
async fn confirm_phone_change(
    request: HttpRequest,
    customer: BearerCustomer,
    ip: ClientIp,
    throttle: Data<Throttle>,
    phones: Service<PhoneChange>,
    sources: RecordSources,
    body: Body<PhoneChangeProof>,
) -> Answer<CustomerResponse> {
    let PhoneChangeProof { phone, password } = body.0;
    let phone = phone.0;
    let hits = [(CUSTOMER_LOGIN_IP, ip.subject()), (CUSTOMER_LOGIN_CONTACT, subject(&customer, &phone))];
    throttle.hit(&request, &hits).await?;
    phones.verify(*customer, &phone, password.0.expose_secret()).await?;
    answer(CustomerRecord::read(*customer, &sources).await?)
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
