//! Subscriptions of the project. These endpoints are not part of the service contract.

mod query;
mod record;
mod settings;
mod table;

use std::sync::Arc;

use actix_web::web::{Data, Json, Path};
use actix_web::{get, post};
use deserr::Deserr;
use kontor_kernel::{Clock, SubscriptionId};
use kontor_subscriptions::{ScheduleCommand, StaffCommand, StaffSubscriptions, SubscriptionError, SubscriptionRefusal};
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use self::query::UpcomingQuery;
pub(super) use self::record::StaffSubscription;
use self::record::{
    ConsentList, StaffPaymentList, StaffSubscriptionList, StaffSubscriptionResponse, SubscriptionHistoryList,
    UpcomingList, upcoming,
};
use self::table::{SubscriptionParams, TABLE};
use crate::endpoints::handlers;
use kontor_web::envelope::{Answer, answer};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Body, PageQuery, PathId, Query, SignedInStaff};

handlers! {
    fn table_routes; StaffSubscriptions, "Subscriptions";

    /// List subscriptions as a table
    ///
    /// Newest first.
    table "/api/tables/subscriptions" as list_subscriptions_table(SubscriptionParams) = list() -> TABLE;
}

handlers! {
    fn usual_routes; StaffSubscriptions, "Subscriptions";

    /// List subscriptions
    ///
    /// Returns every subscription of the project, newest first.
    list "/api/subscriptions" as list_subscriptions = list(rows SubscriptionParams TABLE 15) -> StaffSubscriptionList;

    /// Get a subscription
    read "/api/subscriptions/{id}" as show_subscription -> StaffSubscriptionResponse;
}

/// Registers the routes. `upcoming` and `settings` precede `{id}`, because they would match as an id.
pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_upcoming_charges);
    config.service(settings::show_subscription_settings).service(settings::set_subscription_settings);
    config.service(list_subscription_payments).service(list_subscription_history);
    config.service(list_subscription_consents).service(cancel_subscription).service(pause_subscription);
    config
        .service(skip_subscription_period)
        .service(move_billing_day)
        .service(charge_subscription)
        .service(release_subscription);
    usual_routes(config);
}

/// List upcoming charges
///
/// Returns the next charge of each subscription until a given time, earliest first. Parked subscriptions are not
/// included.
#[utoipa::path(tag = "Subscriptions", params(UpcomingQuery), responses((status = 200, body = UpcomingList)))]
#[get("/api/subscriptions/upcoming")]
async fn list_upcoming_charges(
    staff: SignedInStaff,
    service: Data<StaffSubscriptions>,
    clock: Data<Arc<dyn Clock>>,
    query: Query<UpcomingQuery>,
) -> Answer<UpcomingList> {
    let (until, page) = (query.0.until(clock.now()), query.0.page()?);
    Ok(Json(upcoming(service.upcoming(&staff, until, page).await?)))
}

/// List the charges of a subscription
///
/// Newest first.
#[utoipa::path(tag = "Subscriptions", params(PageQuery), responses((status = 200, body = StaffPaymentList)))]
#[get("/api/subscriptions/{id}/payments")]
async fn list_subscription_payments(
    staff: SignedInStaff,
    service: Data<StaffSubscriptions>,
    id: Path<PathId>,
    query: Query<PageQuery>,
) -> Answer<StaffPaymentList> {
    answer(service.payments(&staff, id.parse()?, query.0.page()?).await?)
}

/// List the history of a subscription
///
/// Newest first. Each entry has the author, the time and the old and new values.
#[utoipa::path(tag = "Subscriptions", params(PageQuery), responses((status = 200, body = SubscriptionHistoryList)))]
#[get("/api/subscriptions/{id}/history")]
async fn list_subscription_history(
    staff: SignedInStaff,
    service: Data<StaffSubscriptions>,
    id: Path<PathId>,
    query: Query<PageQuery>,
) -> Answer<SubscriptionHistoryList> {
    answer(service.history(&staff, id.parse()?, query.0.page()?).await?)
}

/// List the consents of a subscription
///
/// Newest first.
#[utoipa::path(tag = "Subscriptions", params(PageQuery), responses((status = 200, body = ConsentList)))]
#[get("/api/subscriptions/{id}/consents")]
async fn list_subscription_consents(
    staff: SignedInStaff,
    service: Data<StaffSubscriptions>,
    id: Path<PathId>,
    query: Query<PageQuery>,
) -> Answer<ConsentList> {
    answer(service.consents(&staff, id.parse()?, query.0.page()?).await?)
}

async fn command(
    staff: &SignedInStaff,
    service: &StaffSubscriptions,
    id: SubscriptionId,
    command: StaffCommand,
) -> Answer<StaffSubscriptionResponse> {
    let field = match command {
        StaffCommand::Retime(ScheduleCommand::PauseUntil(_)) => "until",
        StaffCommand::Retime(ScheduleCommand::BillingDay(_)) => "day",
        _ => "id",
    };
    answer(service.command(staff, id, command).await.map_err(|error| into_response(field, error))?)
}

/// Returns the error for staff where it differs from the error for customers.
fn into_response(field: &str, error: SubscriptionError) -> ApiError {
    match error {
        SubscriptionError::CustomerDeleted => ApiError::invalid("id", "the customer is deleted"),
        SubscriptionError::Refused(refusal) => match refusal {
            SubscriptionRefusal::NotThen(_) | SubscriptionRefusal::TooFar => ApiError::invalid(field, refusal),
            SubscriptionRefusal::NotRetryable(reason) => ApiError::invalid("id", reason),
            refusal => ApiError::invalid("id", refusal),
        },
        error => error.into(),
    }
}

/// Cancel a subscription
///
/// Nothing is charged any more. Paid periods stay paid.
#[utoipa::path(
    tag = "Subscriptions",
    responses(
        (status = 200, body = StaffSubscriptionResponse),
        (status = 422, description = "The subscription is canceled, or a charge is in progress."),
    ),
)]
#[post("/api/subscriptions/{id}/cancel")]
async fn cancel_subscription(
    staff: SignedInStaff,
    service: Data<StaffSubscriptions>,
    id: Path<PathId>,
) -> Answer<StaffSubscriptionResponse> {
    command(&staff, &service, id.parse()?, StaffCommand::Cancel).await
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct PauseInput {
    /// Start of the next period. Later than planned, at most two years ahead.
    until: wire::Moment,
}

/// Pause a subscription
///
/// The next period starts at `until`. The paid period ends as planned. Between the two, nothing is charged and no
/// access is granted.
#[utoipa::path(
    tag = "Subscriptions",
    request_body = PauseInput,
    responses(
        (status = 200, body = StaffSubscriptionResponse),
        (
            status = 422,
            description = "The subscription is not active, a charge is in progress, or the date is not allowed.",
        ),
    ),
)]
#[post("/api/subscriptions/{id}/pause")]
async fn pause_subscription(
    staff: SignedInStaff,
    service: Data<StaffSubscriptions>,
    id: Path<PathId>,
    body: Body<PauseInput>,
) -> Answer<StaffSubscriptionResponse> {
    command(&staff, &service, id.parse()?, StaffCommand::Retime(ScheduleCommand::PauseUntil(body.0.until.0))).await
}

/// Skip the next period of a subscription
///
/// Nothing is charged and no access is granted for the length of that period. The billing day is not changed.
#[utoipa::path(
    tag = "Subscriptions",
    responses(
        (status = 200, body = StaffSubscriptionResponse),
        (status = 422, description = "The subscription is not active, or a charge is in progress."),
    ),
)]
#[post("/api/subscriptions/{id}/skip")]
async fn skip_subscription_period(
    staff: SignedInStaff,
    service: Data<StaffSubscriptions>,
    id: Path<PathId>,
) -> Answer<StaffSubscriptionResponse> {
    command(&staff, &service, id.parse()?, StaffCommand::Retime(ScheduleCommand::SkipNext)).await
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct BillingDayInput {
    /// Day of the month, 1 to 31. In shorter months, the last day is used.
    day: wire::Integer,
}

/// Move the billing day of a subscription
///
/// The next period starts on the first such day that is not earlier than planned. The paid period lasts until then.
#[utoipa::path(
    tag = "Subscriptions",
    request_body = BillingDayInput,
    responses(
        (status = 200, body = StaffSubscriptionResponse),
        (
            status = 422,
            description = "The subscription is not active, a charge is in progress, or the day does not exist.",
        ),
    ),
)]
#[post("/api/subscriptions/{id}/billing-day")]
async fn move_billing_day(
    staff: SignedInStaff,
    service: Data<StaffSubscriptions>,
    id: Path<PathId>,
    body: Body<BillingDayInput>,
) -> Answer<StaffSubscriptionResponse> {
    let day = u8::try_from(body.0.day.0).ok().filter(|day| (1..=31).contains(day));
    let day = day.ok_or_else(|| ApiError::invalid("day", "must be a day from 1 to 31"))?;
    command(&staff, &service, id.parse()?, StaffCommand::Retime(ScheduleCommand::BillingDay(day))).await
}

/// Charge a subscription now
///
/// Charges the amount that is due or past due, or the next missed period. The charge counts toward the limits of manual
/// attempts and does not change the schedule of automatic ones.
#[utoipa::path(
    tag = "Subscriptions",
    responses(
        (status = 200, body = StaffSubscriptionResponse),
        (status = 422, description = "No charge is due, a charge is in progress, the payment method cannot be charged, \
            or a limit is reached."),
    ),
)]
#[post("/api/subscriptions/{id}/charge")]
async fn charge_subscription(
    staff: SignedInStaff,
    service: Data<StaffSubscriptions>,
    id: Path<PathId>,
) -> Answer<StaffSubscriptionResponse> {
    command(&staff, &service, id.parse()?, StaffCommand::ChargeNow).await
}

/// Release a parked subscription
///
/// Resumes charging after an employee has resolved the cause. The condition that parked the subscription is checked
/// again before the next charge.
#[utoipa::path(
    tag = "Subscriptions",
    responses(
        (status = 200, body = StaffSubscriptionResponse),
        (status = 422, description = "The subscription is not parked."),
    ),
)]
#[post("/api/subscriptions/{id}/release")]
async fn release_subscription(
    staff: SignedInStaff,
    service: Data<StaffSubscriptions>,
    id: Path<PathId>,
) -> Answer<StaffSubscriptionResponse> {
    command(&staff, &service, id.parse()?, StaffCommand::Release).await
}
