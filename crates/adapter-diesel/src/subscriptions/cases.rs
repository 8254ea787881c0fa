//! Subscriptions with everything a decision needs, read with a constant number of statements.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use diesel::result::QueryResult;
use kontor_kernel::{CustomerScope, SavedMethodId, StoreError, SubscriptionId, Zone};
use kontor_subscriptions::model::{Attempt, Subscription, SubscriptionView};
use kontor_subscriptions::ports::WakePlace;
use kontor_subscriptions::{PlanStanding, SubscriptionCase};

use super::rows::{PAYMENT_COLUMNS, PaymentRow, SUBSCRIPTION_COLUMNS, SubscriptionRow};
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::statement::{Statement, by_place};

/// Selection of subscriptions.
pub(crate) enum Selection {
    /// Subscriptions of a customer that the calling application may see, newest first.
    OfCustomer(CustomerScope),
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
            Self::OfCustomer(customer) => seen_by(*customer).sql(" ORDER BY s.id DESC"),
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
