//! Charging settings of a project.

use actix_web::{get, put};
use kontor_kernel::{Violations, Word as _};
use kontor_subscriptions::model::{NoticeDays, SubscriptionPolicy};
use kontor_subscriptions::{Bounds, DunningPolicy, DunningTerms, InvalidDunningPolicy, StaffSubscriptions};
use serde::Serialize;
use utoipa::ToSchema;

use kontor_web::envelope::{Answer, answer, one};
use kontor_web::wire::{self, change_body};
use kontor_web::{Body, Service, SignedInStaff};

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
pub(super) async fn show_subscription_settings(
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
pub(super) async fn set_subscription_settings(
    staff: SignedInStaff,
    service: Service<StaffSubscriptions>,
    body: Body<SettingsInput>,
) -> Answer<SettingsResponse> {
    let policy = SubscriptionPolicy::try_from(body.0)?;
    answer(service.set_policy(&staff, policy).await?)
}
