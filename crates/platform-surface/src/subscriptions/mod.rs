//! Subscriptions of the project, and its charging settings. These endpoints are not part of the service contract.

mod record;

use std::sync::Arc;

use actix_web::web::{Data, Path};
use actix_web::{get, post, put};
use chrono::{DateTime, TimeDelta, Utc};
use deserr::Deserr;
use kontor_kernel::listing::Sort;
use kontor_kernel::{
    ApplicationId, Clock, CounterpartyId, NomenclatureId, PageRequest, SubscriptionId, Violations, Word as _,
};
use kontor_subscriptions::model::{NoticeDays, SubscriptionPolicy, SubscriptionRecord};
use kontor_subscriptions::{
    Bounds, DunningPolicy, DunningTerms, InvalidDunningPolicy, Park, ScheduleCommand, StaffCommand, StaffSubscriptions,
    SubscriptionError, SubscriptionRefusal, SubscriptionStatus,
};
use kontor_web::envelope::{Answer, answer, one};
use kontor_web::paging::{PageNumber, PageSize, page_of};
use kontor_web::wire::{self, InputErrors, change_body};
use kontor_web::{ApiError, Body, PageQuery, PathId, Query, Service, SignedInStaff};
use serde::Serialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_actix_web::service_config::ServiceConfig;

pub(super) use self::record::StaffSubscription;
use self::record::{
    ConsentList, StaffPaymentList, StaffSubscriptionList, StaffSubscriptionResponse, SubscriptionHistoryList,
    UpcomingList, upcoming,
};
use crate::endpoints::handlers;
use crate::table::{Cell, Column, Filter, Table, list_params};

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
    config.service(show_subscription_settings).service(set_subscription_settings);
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
    service: Service<StaffSubscriptions>,
    clock: Data<Arc<dyn Clock>>,
    query: Query<UpcomingQuery>,
) -> Answer<UpcomingList> {
    let (until, page) = (query.0.until(clock.now()), query.0.page()?);
    answer(upcoming(service.upcoming(&staff, until, page).await?))
}

/// List the charges of a subscription
///
/// Newest first.
#[utoipa::path(tag = "Subscriptions", params(PageQuery), responses((status = 200, body = StaffPaymentList)))]
#[get("/api/subscriptions/{id}/payments")]
async fn list_subscription_payments(
    staff: SignedInStaff,
    service: Service<StaffSubscriptions>,
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
    service: Service<StaffSubscriptions>,
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
    service: Service<StaffSubscriptions>,
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
    service: Service<StaffSubscriptions>,
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
    service: Service<StaffSubscriptions>,
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
    service: Service<StaffSubscriptions>,
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
    service: Service<StaffSubscriptions>,
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
    service: Service<StaffSubscriptions>,
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
    service: Service<StaffSubscriptions>,
    id: Path<PathId>,
) -> Answer<StaffSubscriptionResponse> {
    command(&staff, &service, id.parse()?, StaffCommand::Release).await
}

/// Query parameters of `GET /api/subscriptions/upcoming`.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct UpcomingQuery {
    /// Charges before this time. By default, the next 30 days.
    #[deserr(default)]
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<wire::Moment>,
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    /// 15 by default.
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

impl UpcomingQuery {
    /// Returns the time before which charges are listed.
    fn until(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        self.until.as_ref().map_or_else(|| now + TimeDelta::days(30), |until| until.0)
    }

    /// Returns the requested page.
    fn page(&self) -> Result<PageRequest, Violations> {
        page_of(self.page.as_ref(), self.per_page.as_ref(), 15)
    }
}

/// Table of `GET /api/tables/subscriptions` and `GET /api/subscriptions`.
const TABLE: Table<SubscriptionRecord> = Table {
    id: 41,
    resource: "subscriptions",
    version: Some(|record| record.version.into()),
    columns: &[
        Column::with_icon("id", "No.", |record| {
            let id = record.view.subscription.id;
            Cell::linked(id.get(), format!("/api/subscriptions/{id}"))
        }),
        Column::new("status", "Status", |record| Cell::plain(record.view.subscription.status.word())),
        Column::with_icon("counterparty", "Customer", |record| {
            Cell::linked(record.customer.name.as_str(), format!("/api/counterparties/{}", record.customer.id))
        }),
        Column::with_icon("nomenclature", "Plan", |record| {
            Cell::linked(record.plan.name.as_str(), format!("/api/nomenclatures/{}", record.plan.id))
        }),
        Column::with_icon("application", "Application", |record| match &record.application {
            None => Cell::Linked { value: Value::Null, icon: None, link: None },
            Some(made) => Cell::linked(made.name.as_str(), format!("/api/applications/{}", made.id)),
        }),
        Column::new("application_is_active", "Application active", |record| Cell::plain(record.application_active)),
        Column::new("amount", "Sum", |record| Cell::plain(record.view.subscription.terms.amount.to_string())),
        Column::new("current_period_end", "Paid until", |record| {
            Cell::moment(record.view.subscription.period.map(|period| period.end))
        }),
        Column::new("next_charge_at", "Next charge", |record| Cell::moment(record.view.subscription.next_charge_at)),
        Column::new("parked", "Parked", |record| {
            Cell::plain(record.view.subscription.parked.map_or(Value::Null, |park| park.word().into()))
        }),
        Column::new("created_at", "Created", |record| Cell::moment(record.view.subscription.created_at)),
    ],
    sorts: &["id", "next_charge_at", "created_at"],
    filters: &[
        Filter::word::<SubscriptionStatus>("status", "In these states."),
        Filter::word::<Park>("parked", "Parked for these reasons."),
        Filter::id::<CounterpartyId>("counterparty_id", "Of these customers."),
        Filter::id::<ApplicationId>("application_id", "Made in these applications."),
        Filter::id::<NomenclatureId>("nomenclature_id", "To these plans."),
    ],
    search: None,
    period: Some("created_at"),
    order: Sort::descending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tables/subscriptions` and `GET /api/subscriptions`.
    SubscriptionParams of TABLE
}

/// Charging settings of subscriptions.
#[derive(Serialize, ToSchema)]
struct SubscriptionSettings {
    /// Days after the first attempt of a period on which retries are made.
    after_days: Vec<u8>,
    /// Days of the month on which salaries are paid. The last retry waits for such a day.
    salary_days: Vec<u8>,
    /// Local hour of attempts on a salary day and for missed periods.
    hour: u8,
    /// Maximum automatic attempts per period. Customers and staff can request the same number in addition.
    tries_per_period: u8,
    /// Maximum attempts per saved method in 30 days, over all its subscriptions.
    tries_per_method: u8,
    /// Maximum payments of one customer on a local day. Further charges are made on the next day.
    payments_per_customer_and_day: u16,
    /// Handling of periods that passed while the service was down: `forgive` or `collect`.
    missed_periods: &'static str,
    /// `true` if existing subscriptions to a withdrawn plan are renewed. Otherwise they end with the paid period.
    withdrawn_plans_renew: bool,
    /// Number of days before a charge when the customer is notified.
    notice_days: u8,
}

impl From<SubscriptionPolicy> for SubscriptionSettings {
    fn from(policy: SubscriptionPolicy) -> Self {
        let dunning: DunningTerms = policy.dunning.into();
        Self {
            after_days: dunning.after_days,
            salary_days: dunning.salary_days,
            hour: dunning.hour,
            tries_per_period: dunning.tries_per_period,
            tries_per_method: dunning.tries_per_method,
            payments_per_customer_and_day: policy.bounds.customer_per_day,
            missed_periods: policy.missed.word(),
            withdrawn_plans_renew: policy.withdrawn_plans_renew,
            notice_days: policy.notice.get(),
        }
    }
}

one!(SettingsResponse { settings: SubscriptionSettings });

change_body! {
    SettingsInput {
        /// Ascending days from 1 to 30, at most 7.
        after_days: Vec<wire::Integer>,
        /// Ascending days of the month, 1 to 31.
        salary_days: Vec<wire::Integer>,
        /// 0 to 23.
        hour: wire::Integer,
        /// 1 to 8.
        tries_per_period: wire::Integer,
        /// 1 to 15.
        tries_per_method: wire::Integer,
        /// 1 to 1,000.
        payments_per_customer_and_day: wire::Integer,
        /// `forgive` or `collect`.
        missed_periods: wire::MissedPeriodsWord,
        withdrawn_plans_renew: wire::Flag,
        /// 1 to 14.
        notice_days: wire::Integer,
    }
}

/// Converts a number. Numbers outside of `u8` become `u8::MAX`, which no range accepts.
fn small(number: Option<&wire::Integer>, default: u8) -> u8 {
    number.map_or(default, |number| u8::try_from(number.0).unwrap_or(u8::MAX))
}

fn all(numbers: Option<Vec<wire::Integer>>, default: Vec<u8>) -> Vec<u8> {
    numbers.map_or(default, |numbers| numbers.iter().map(|number| small(Some(number), 0)).collect())
}

fn field(problem: InvalidDunningPolicy) -> &'static str {
    match problem {
        InvalidDunningPolicy::AfterDays => "after_days",
        InvalidDunningPolicy::SalaryDays => "salary_days",
        InvalidDunningPolicy::Hour => "hour",
        InvalidDunningPolicy::TriesPerPeriod => "tries_per_period",
        InvalidDunningPolicy::TriesPerMethod => "tries_per_method",
    }
}

impl TryFrom<SettingsInput> for SubscriptionPolicy {
    type Error = Violations;

    fn try_from(input: SettingsInput) -> Result<Self, Violations> {
        let mut wrong = Violations::default();
        let (terms, bounds) = (DunningTerms::default(), Bounds::default());
        let dunning = DunningPolicy::validated(DunningTerms {
            after_days: all(input.after_days.0, terms.after_days),
            salary_days: all(input.salary_days.0, terms.salary_days),
            hour: small(input.hour.0.as_ref(), terms.hour),
            tries_per_period: small(input.tries_per_period.0.as_ref(), terms.tries_per_period),
            tries_per_method: small(input.tries_per_method.0.as_ref(), terms.tries_per_method),
        });
        if let Err(problems) = &dunning {
            for problem in problems {
                wrong.add(field(*problem), problem.to_string());
            }
        }
        let payments = match input.payments_per_customer_and_day.0 {
            None => Ok(bounds.customer_per_day),
            Some(number) => u16::try_from(number.0)
                .ok()
                .filter(|number| (1..=1_000).contains(number))
                .ok_or_else(|| "must be from 1 to 1000".to_owned()),
        };
        let payments = wrong.check("payments_per_customer_and_day", payments);
        let notice = match &input.notice_days.0 {
            None => Ok(NoticeDays::default()),
            Some(days) => NoticeDays::try_from(small(Some(days), 0)).map_err(|error| error.to_string()),
        };
        let notice = wrong.check("notice_days", notice);
        match (dunning, payments, notice) {
            (Ok(dunning), Some(customer_per_day), Some(notice)) => Ok(Self {
                dunning,
                bounds: Bounds { customer_per_day },
                missed: input.missed_periods.0.map(|missed| missed.0).unwrap_or_default(),
                withdrawn_plans_renew: input.withdrawn_plans_renew.0.is_some_and(|renew| renew.0),
                notice,
            }),
            _ => Err(wrong),
        }
    }
}

/// Get the charging settings of subscriptions
#[utoipa::path(tag = "Subscriptions", responses((status = 200, body = SettingsResponse)))]
#[get("/api/subscriptions/settings")]
async fn show_subscription_settings(
    staff: SignedInStaff,
    service: Service<StaffSubscriptions>,
) -> Answer<SettingsResponse> {
    answer(service.policy(&staff).await?)
}

/// Replace the charging settings of subscriptions
///
/// Fields that are not sent get their default values. The settings apply to a subscription from its next notice, charge
/// or change. They share the version and the history of the settings of the project.
#[utoipa::path(tag = "Subscriptions", request_body = SettingsInput, responses((status = 200, body = SettingsResponse)))]
#[put("/api/subscriptions/settings")]
async fn set_subscription_settings(
    staff: SignedInStaff,
    service: Service<StaffSubscriptions>,
    body: Body<SettingsInput>,
) -> Answer<SettingsResponse> {
    let policy = SubscriptionPolicy::try_from(body.0)?;
    answer(service.set_policy(&staff, policy).await?)
}
