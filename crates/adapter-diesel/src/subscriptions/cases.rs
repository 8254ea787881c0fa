//! Subscriptions with everything a decision needs, read with a constant number of statements. A billing schedule is
//! stored as a list of anchors.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use diesel::result::QueryResult;
use kontor_kernel::{CustomerScope, PageRequest, SavedMethodId, StoreError, SubscriptionId, Zone};
use kontor_subscriptions::model::{Attempt, Subscription, SubscriptionView};
use kontor_subscriptions::ports::WakePlace;
use kontor_subscriptions::{Anchor, Period, PlanStanding, Schedule, SubscriptionCase, Terms};
use serde::{Deserialize, Serialize};

use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::statement::{Statement, by_place};

#[derive(Serialize, Deserialize)]
struct StoredAnchor {
    from: u32,
    first: DateTime<Utc>,
    zone: String,
    months: u8,
    day: u8,
}

pub(super) fn schedule_text(schedule: &Schedule) -> Result<String, StoreError> {
    let stored = |(from, anchor): (u32, Anchor)| StoredAnchor {
        from,
        first: anchor.first(),
        zone: anchor.zone().name().to_owned(),
        months: anchor.months(),
        day: anchor.day(),
    };
    let anchors: Vec<StoredAnchor> = schedule.anchors().map(stored).collect();
    serde_json::to_string(&anchors).map_err(StoreError::corrupt)
}

fn parse_schedule(text: &str) -> Result<Schedule, StoreError> {
    let stored: Vec<StoredAnchor> = serde_json::from_str(text).map_err(StoreError::corrupt)?;
    let anchor = |stored: StoredAnchor| {
        let zone = Zone::parse(&stored.zone).map_err(StoreError::corrupt)?;
        let anchor = Anchor::on_day(stored.first, zone, stored.months, stored.day).map_err(StoreError::corrupt)?;
        Ok::<_, StoreError>((stored.from, anchor))
    };
    let anchors: Vec<_> = stored.into_iter().map(anchor).collect::<Result<_, _>>()?;
    Schedule::from_anchors(anchors).ok_or_else(|| StoreError::corrupt("the anchors of a subscription are out of order"))
}

by_place! {
    /// Columns of [`SUBSCRIPTION_COLUMNS`].
    pub(super) struct SubscriptionRow {
        pub id: i64,
        pub project: i64,
        application: Option<i64>,
        pub counterparty: i64,
        status: String,
        plan: i64,
        slug: String,
        amount: i64,
        currency: String,
        months: i32,
        method: Option<i64>,
        schedule: Option<String>,
        period_number: Option<i64>,
        period_start: Option<NaiveDateTime>,
        period_end: Option<NaiveDateTime>,
        unpaid: Option<i64>,
        next_charge_at: Option<NaiveDateTime>,
        wake_at: Option<NaiveDateTime>,
        canceled_at: Option<NaiveDateTime>,
        parked: Option<String>,
        told_period: Option<i64>,
        told_of: Option<String>,
        missed: Option<String>,
        created_at: NaiveDateTime,
        next_plan: Option<i64>,
        next_slug: Option<String>,
        next_amount: Option<i64>,
        next_currency: Option<String>,
        next_months: Option<i32>,
        pub zone: String,
        pub policy: Option<String>,
        pub plan_is_offered: bool,
        pub method_is_active: bool,
        pub application_is_active: bool,
        pub application_since: Option<NaiveDateTime>,
    }
}

/// Columns of a subscription, of the terms that start with its next charge, and of the project, next plan and method
/// that affect decisions.
pub(super) const SUBSCRIPTION_COLUMNS: &str = "SELECT s.id, s.project_id, s.application_id, s.counterparty_id, s.status, \
     s.nomenclature_id, s.plan_slug, s.amount, s.currency, s.billing_months, s.saved_method_id, s.schedule, \
     s.period_number, s.period_start, s.period_end, s.unpaid_period, s.next_charge_at, s.wake_at, s.canceled_at, s.parked, \
     s.told_period, s.told_of, s.missed, s.created_at, \
     n.nomenclature_id, n.plan_slug, n.amount, n.currency, n.billing_months, p.time_zone, t.policy, \
     EXISTS (SELECT 1 FROM subscription_nomenclatures a JOIN nomenclatures i ON i.id = a.nomenclature_id \
     AND i.project_id = a.project_id \
     WHERE a.nomenclature_id = coalesce(n.nomenclature_id, s.nomenclature_id) \
     AND (s.application_id IS NULL OR a.application_id = s.application_id) \
     AND a.is_active = TRUE AND i.project_id = s.project_id AND i.is_subscription = TRUE AND i.price IS NOT NULL), \
     EXISTS (SELECT 1 FROM saved_payment_methods m WHERE m.id = s.saved_method_id \
     AND m.project_id = s.project_id \
     AND m.counterparty_id = s.counterparty_id AND m.is_active = TRUE), \
     NOT EXISTS (SELECT 1 FROM applications w WHERE w.project_id = s.project_id AND w.id = s.application_id \
     AND w.is_active = FALSE), \
     (SELECT w.activated_at FROM applications w WHERE w.project_id = s.project_id AND w.id = s.application_id) \
     FROM subscriptions s JOIN projects p ON p.id = s.project_id \
     LEFT JOIN subscription_settings t ON t.project_id = s.project_id \
     LEFT JOIN subscription_consents n ON n.id = s.next_consent_id AND n.project_id = s.project_id WHERE ";

fn months(stored: i32) -> Result<u8, StoreError> {
    u8::try_from(stored).map_err(StoreError::corrupt)
}

impl TryFrom<&SubscriptionRow> for Subscription {
    type Error = StoreError;

    fn try_from(row: &SubscriptionRow) -> Result<Self, StoreError> {
        let method = decode::optional_id(row.method)?;
        let terms = Terms {
            plan: decode::id(row.plan)?,
            plan_slug: row.slug.clone(),
            amount: decode::money(row.amount)?,
            currency: row.currency.clone(),
            billing_months: months(row.months)?,
            method,
        };
        let next = (row.next_plan, &row.next_slug, row.next_amount, &row.next_currency, row.next_months);
        let next_terms = match next {
            (Some(plan), Some(slug), Some(amount), Some(currency), Some(length)) => Some(Terms {
                plan: decode::id(plan)?,
                plan_slug: slug.clone(),
                amount: decode::money(amount)?,
                currency: currency.clone(),
                billing_months: months(length)?,
                method,
            }),
            _ => None,
        };
        let period = match (row.period_number, row.period_start, row.period_end) {
            (Some(number), Some(start), Some(end)) => Some(Period {
                number: u32::try_from(number).map_err(StoreError::corrupt)?,
                start: decode::moment(start),
                end: decode::moment(end),
            }),
            _ => None,
        };
        let parked = row.parked.as_deref().map(|word| decode::word("subscriptions", row.id, "parked", word));
        let last_notice = match (row.told_period, row.told_of.as_deref()) {
            (Some(period), Some(of)) => Some((
                u32::try_from(period).map_err(StoreError::corrupt)?,
                decode::word("subscriptions", row.id, "told_of", of)?,
            )),
            _ => None,
        };
        let missed = row.missed.as_deref().map(serde_json::from_str).transpose().map_err(StoreError::corrupt)?;
        Ok(Self {
            id: decode::id(row.id)?,
            project_id: decode::id(row.project)?,
            application_id: decode::optional_id(row.application)?,
            counterparty_id: decode::id(row.counterparty)?,
            status: decode::word("subscriptions", row.id, "status", &row.status)?,
            terms,
            next_terms,
            schedule: row.schedule.as_deref().map(parse_schedule).transpose()?,
            period,
            unpaid: row.unpaid.map(u32::try_from).transpose().map_err(StoreError::corrupt)?,
            next_charge_at: row.next_charge_at.map(decode::moment),
            wake_at: row.wake_at.map(decode::moment),
            canceled_at: row.canceled_at.map(decode::moment),
            last_notice,
            missed: missed.unwrap_or_default(),
            parked: parked.transpose()?,
            created_at: decode::moment(row.created_at),
        })
    }
}

by_place! {
    /// Columns of [`PAYMENT_COLUMNS`].
    pub(crate) struct PaymentRow {
        pub id: i64,
        pub subscription: i64,
        period: i64,
        number: i64,
        origin: String,
        planned: bool,
        state: String,
        order: i64,
        amount: i64,
        currency: String,
        method: Option<i64>,
        plan: Option<i64>,
        months: Option<i32>,
        reason: Option<String>,
        started_at: NaiveDateTime,
        ended_at: Option<NaiveDateTime>,
    }
}

/// Columns of a subscription payment, from the table `a`.
pub(super) const PAYMENT_COLUMNS: &str = "SELECT a.id, a.subscription_id, a.period, a.number, a.origin, a.planned, a.state, \
     a.order_id, a.amount, a.currency, a.saved_method_id, a.nomenclature_id, a.billing_months, a.reason, a.started_at, a.ended_at FROM subscription_payments a";

impl TryFrom<PaymentRow> for Attempt {
    type Error = StoreError;

    fn try_from(row: PaymentRow) -> Result<Self, StoreError> {
        let number = |number: i64| u32::try_from(number).map_err(StoreError::corrupt);
        let months = row.months.map(u8::try_from).transpose().map_err(StoreError::corrupt)?;
        Ok(Self {
            id: decode::id(row.id)?,
            period: number(row.period)?,
            number: number(row.number)?,
            origin: decode::word("subscription_payments", row.id, "origin", &row.origin)?,
            planned: row.planned,
            state: decode::word("subscription_payments", row.id, "state", &row.state)?,
            order: decode::id(row.order)?,
            amount: decode::money(row.amount)?,
            currency: row.currency,
            method: decode::optional_id(row.method)?,
            plan: decode::optional_id(row.plan)?.zip(months),
            reason: row.reason,
            started_at: decode::moment(row.started_at),
            ended_at: row.ended_at.map(decode::moment),
        })
    }
}

/// Selection of subscriptions.
pub(crate) enum Selection {
    /// One page of the subscriptions of a customer that the calling application may see, newest first.
    OfCustomer(CustomerScope, PageRequest),
    /// One of these.
    OneOfCustomer(CustomerScope, SubscriptionId),
    /// Subscriptions with these ids.
    These(Vec<i64>),
    /// One subscription, locked until the transaction ends.
    Locked(SubscriptionId),
    /// Subscriptions due for a worker until a time, ordered by it, after a position.
    Waking { until: DateTime<Utc>, after: Option<WakePlace>, most: u32 },
}

/// Condition that a subscription `s` belongs to the customer and the calling application may see it: its own ones and
/// those of the project as a whole.
pub(crate) fn seen_by(customer: CustomerScope) -> Statement {
    Statement::new("s.counterparty_id = ")
        .value(customer.counterparty_id.get())
        .sql(" AND s.project_id = ")
        .value(customer.app.project_id.get())
        .sql(" AND (s.application_id IS NULL OR s.application_id = ")
        .value(customer.app.application_id.get())
        .sql(")")
}

/// Returns `true` if the customer has the subscription and the calling application may see it.
pub(super) fn is_seen_by(
    connection: &mut AnyConnection,
    customer: CustomerScope,
    id: SubscriptionId,
) -> QueryResult<bool> {
    let own = Statement::new("SELECT s.id FROM subscriptions s WHERE s.id = ").value(id.get()).sql(" AND ");
    own.then(seen_by(customer)).finds(connection)
}

/// Locks a subscription until the transaction ends. It is read afterwards: a statement that waits for a lock returns
/// joined rows as they were before the wait.
pub(crate) fn lock(connection: &mut AnyConnection, id: SubscriptionId) -> QueryResult<()> {
    Statement::new("SELECT id FROM subscriptions WHERE id = ").value(id.get()).hold(connection, " FOR NO KEY UPDATE")
}

impl Selection {
    fn rows(&self, connection: &mut AnyConnection) -> Result<Vec<SubscriptionRow>, Abort<StoreError>> {
        let which = match self {
            Self::OfCustomer(customer, page) => seen_by(*customer).sql(" ORDER BY s.id DESC").page(*page),
            Self::OneOfCustomer(customer, id) => seen_by(*customer).sql(" AND s.id = ").value(id.get()),
            Self::These(ids) => Statement::new("s.id").among(ids),
            Self::Waking { until, after, most } => {
                let waking = Statement::new("s.wake_at <= ").value(until.naive_utc());
                let waking = match after {
                    Some((at, id)) => waking
                        .sql(" AND (s.wake_at > ")
                        .value(at.naive_utc())
                        .sql(" OR (s.wake_at = ")
                        .value(at.naive_utc())
                        .sql(" AND s.id > ")
                        .value(id.get())
                        .sql("))"),
                    None => waking,
                };
                waking.sql(" ORDER BY s.wake_at, s.id LIMIT ").value(*most)
            }
            Self::Locked(id) => {
                lock(connection, *id)?;
                Statement::new("s.id = ").value(id.get())
            }
        };
        Ok(Statement::new(SUBSCRIPTION_COLUMNS).then(which).rows(connection)?)
    }
}

by_place! {
    struct MomentRow {
        of: i64,
        at: NaiveDateTime,
    }
}

fn by_owner(rows: Vec<MomentRow>) -> HashMap<i64, Vec<DateTime<Utc>>> {
    let mut moments: HashMap<i64, Vec<DateTime<Utc>>> = HashMap::new();
    for row in rows {
        moments.entry(row.of).or_default().push(decode::moment(row.at));
    }
    moments
}

/// Returns the times of the latest successful payments of subscriptions. Periods paid by one charge are one payment.
fn paid(
    connection: &mut AnyConnection,
    of: &'static str,
    owners: &[i64],
    now: DateTime<Utc>,
) -> Result<HashMap<i64, Vec<DateTime<Utc>>>, Abort<StoreError>> {
    let rows = Statement::new("SELECT ")
        .sql(of)
        .sql(
            ", min(a.ended_at) FROM subscription_payments a JOIN subscriptions s ON s.id = a.subscription_id \
             AND s.project_id = a.project_id \
             WHERE a.state = 'succeeded' AND a.ended_at > ",
        )
        .value((now - TimeDelta::days(2)).naive_utc())
        .sql(" AND ")
        .sql(of)
        .among(owners)
        .sql(" GROUP BY a.charge_id, ")
        .sql(of)
        .rows(connection)?;
    Ok(by_owner(rows))
}

/// Loads the selected subscriptions.
pub(crate) fn cases(
    connection: &mut AnyConnection,
    wanted: &Selection,
    now: DateTime<Utc>,
) -> Result<Vec<SubscriptionCase>, Abort<StoreError>> {
    let rows = wanted.rows(connection)?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let subscriptions: Vec<Subscription> =
        rows.iter().map(Subscription::try_from).collect::<Result<_, StoreError>>()?;
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let mut attempts: HashMap<i64, Vec<Attempt>> = HashMap::new();
    // Attempts for the period charged last, and for missed periods, whose numbers are smaller.
    let waiting: Vec<i64> = subscriptions.iter().flat_map(|one| &one.missed).map(|number| i64::from(*number)).collect();
    let last_periods = Statement::new(PAYMENT_COLUMNS)
        .sql(
            " JOIN (SELECT subscription_id, max(period) AS period, max(id) AS id FROM subscription_payments \
             WHERE subscription_id",
        )
        .among(&ids)
        .sql(
            " GROUP BY subscription_id) l ON l.subscription_id = a.subscription_id \
             AND (l.period = a.period OR l.id = a.id OR a.period",
        )
        .among(&waiting)
        .sql(") ORDER BY a.id");
    let payments: Vec<PaymentRow> = last_periods.rows(connection)?;
    for row in payments {
        attempts.entry(row.subscription).or_default().push(row.try_into()?);
    }
    let methods: Vec<i64> = subscriptions.iter().filter_map(|one| one.terms.method.map(SavedMethodId::get)).collect();
    let tries: Vec<MomentRow> =
        Statement::new("SELECT saved_method_id, started_at FROM subscription_payments WHERE saved_method_id")
            .among(&methods)
            .sql(" AND started_at > ")
            .value(SubscriptionCase::method_attempts_since(now).naive_utc())
            .rows(connection)?;
    let tries = by_owner(tries);
    let customers: Vec<i64> = rows.iter().map(|row| row.counterparty).collect();
    let mut of_subscription = paid(connection, "a.subscription_id", &ids, now)?;
    let of_customer = paid(connection, "s.counterparty_id", &customers, now)?;
    let assemble = |(row, subscription): (&SubscriptionRow, Subscription)| {
        let policy = row.policy.as_deref().map(serde_json::from_str).transpose().map_err(StoreError::corrupt)?;
        let policy: kontor_subscriptions::model::SubscriptionPolicy = policy.unwrap_or_default();
        let plan = PlanStanding::of(row.plan_is_offered, policy.withdrawn_plans_renew);
        Ok(SubscriptionCase {
            zone: Zone::parse(&row.zone).map_err(StoreError::corrupt)?,
            policy,
            plan,
            application_active: row.application_is_active,
            application_since: row.application_since.map(decode::moment),
            method_active: row.method_is_active,
            attempts: attempts.remove(&row.id).unwrap_or_default(),
            method_tries: subscription
                .terms
                .method
                .and_then(|method| tries.get(&method.get()).cloned())
                .unwrap_or_default(),
            paid_at: of_subscription.remove(&row.id).unwrap_or_default(),
            customer_paid_at: of_customer.get(&row.counterparty).cloned().unwrap_or_default(),
            subscription,
        })
    };
    let assembled: Result<Vec<_>, StoreError> = rows.iter().zip(subscriptions).map(assemble).collect();
    Ok(assembled?)
}

/// Returns a subscription for its customer. The caller has locked or stored it.
pub(crate) fn view(
    connection: &mut AnyConnection,
    id: SubscriptionId,
    now: DateTime<Utc>,
) -> Result<SubscriptionView, Abort<StoreError>> {
    let found = cases(connection, &Selection::These(vec![id.get()]), now)?.into_iter().next();
    let case = found.ok_or_else(|| StoreError::corrupt(format!("subscription {id} was not found")))?;
    Ok(case.view(None, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_records_read_back() {
        let first = "2027-01-31T09:00:00Z".parse().unwrap();
        let schedule = Schedule::new(Anchor::new(first, Zone::default(), 1).unwrap()).on_day(3, 15).unwrap();
        assert_eq!(parse_schedule(&schedule_text(&schedule).unwrap()).unwrap(), schedule);
        assert!(parse_schedule("[]").is_err());
    }
}
