//! Writes of a subscription change.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::result::QueryResult;
use kontor_kernel::history::{Author, FieldChange};
use kontor_kernel::{
    ApplicationId, ChargeId, CustomerScope, Language, OrderId, ProjectId, SavedMethodId, StoreError, SubscriptionId,
    Word as _, Zone,
};
use kontor_subscriptions::model::{AttemptState, NewAttempt, Subscription};
use kontor_subscriptions::ports::LeasedSubscription;
use kontor_subscriptions::{
    AttemptEnd, ConsentedTerms, Park, SubscriptionCase, SubscriptionChange, SubscriptionNotice, SubscriptionStatus,
    SubscriptionSubject, Terms,
};

use super::cases::{Selection, cases, schedule_text};
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::statement::{Statement, Value, by_place};

fn moment(at: Option<DateTime<Utc>>) -> Value {
    at.map(|at| at.naive_utc()).into()
}

/// Stores a subscription whose first charge is open.
pub(super) fn insert(
    connection: &mut AnyConnection,
    customer: CustomerScope,
    terms: &Terms,
    at: NaiveDateTime,
) -> Result<SubscriptionId, Abort<StoreError>> {
    let row: [Value; 12] = [
        customer.app.project_id.get().into(),
        customer.app.application_id.get().into(),
        customer.counterparty_id.get().into(),
        SubscriptionStatus::Charging.word().into(),
        terms.plan.get().into(),
        terms.plan_slug.as_str().into(),
        terms.amount.minor().into(),
        terms.currency.as_str().into(),
        i64::from(terms.billing_months).into(),
        terms.method.map(SavedMethodId::get).into(),
        at.into(),
        at.into(),
    ];
    let statement = Statement::new(
        "INSERT INTO subscriptions (version, project_id, application_id, counterparty_id, status, nomenclature_id, \
         plan_slug, amount, currency, billing_months, saved_method_id, created_at, updated_at) VALUES (1",
    );
    let statement = row.into_iter().fold(statement, |statement, value| statement.sql(", ").value(value));
    Ok(decode::id(statement.sql(") RETURNING id").scalar(connection)?)?)
}

/// Stores a consent. Returns its id.
pub(super) fn consent(
    connection: &mut AnyConnection,
    project: ProjectId,
    subscription: SubscriptionId,
    consent: &ConsentedTerms,
) -> QueryResult<i64> {
    let terms = &consent.terms;
    let row: [Value; 12] = [
        project.get().into(),
        subscription.get().into(),
        terms.plan.get().into(),
        terms.plan_slug.as_str().into(),
        terms.amount.minor().into(),
        terms.currency.as_str().into(),
        i64::from(terms.billing_months).into(),
        terms.method.map(SavedMethodId::get).into(),
        consent.text_version.as_str().into(),
        consent.address.as_deref().into(),
        consent.application.map(ApplicationId::get).into(),
        consent.at.naive_utc().into(),
    ];
    let statement = Statement::new(
        "INSERT INTO subscription_consents (project_id, subscription_id, nomenclature_id, plan_slug, amount, currency, \
         billing_months, saved_method_id, text_version, address, application_id, created_at) VALUES ",
    );
    statement.tuple(row).sql(" RETURNING id").scalar(connection)
}

/// Data of an attempt besides its terms.
pub(super) struct NewPayment {
    pub project: i64,
    pub subscription: SubscriptionId,
    pub order: OrderId,
    pub charge: ChargeId,
    pub at: NaiveDateTime,
}

/// Stores an attempt whose order and charge are stored.
pub(super) fn insert_payment(
    connection: &mut AnyConnection,
    new: &NewPayment,
    attempt: &NewAttempt,
) -> QueryResult<usize> {
    let terms = &attempt.terms;
    let row: [Value; 14] = [
        new.project.into(),
        new.subscription.get().into(),
        attempt.period.into(),
        attempt.number.into(),
        attempt.origin.word().into(),
        attempt.planned.into(),
        new.order.get().into(),
        new.charge.get().into(),
        terms.amount.minor().into(),
        terms.currency.as_str().into(),
        terms.method.map(SavedMethodId::get).into(),
        terms.plan.get().into(),
        i64::from(terms.billing_months).into(),
        new.at.into(),
    ];
    let statement = Statement::new(
        "INSERT INTO subscription_payments (state, project_id, subscription_id, period, number, origin, planned, order_id, \
         charge_id, amount, currency, saved_method_id, nomenclature_id, billing_months, started_at) VALUES ('processing'",
    );
    row.into_iter().fold(statement, |statement, value| statement.sql(", ").value(value)).sql(")").run(connection)
}

/// State that a change was decided on, and its author.
pub(super) struct ChangeContext<'a> {
    pub before: &'a Subscription,
    pub author: Author,
    pub zone: Zone,
}

impl<'a> ChangeContext<'a> {
    /// Creates the context of a change by this author.
    pub fn new(case: &'a SubscriptionCase, author: Author) -> Self {
        Self { before: &case.subscription, author, zone: case.zone }
    }
}

/// Writes the change of a subscription whose row is locked: its state, the end of its open attempt, the consent, a
/// history entry and the customer's notification.
pub(super) fn write(
    connection: &mut AnyConnection,
    since: &ChangeContext<'_>,
    change: &SubscriptionChange,
) -> Result<(), Abort<StoreError>> {
    let (id, at) = (change.subscription.id, change.at.naive_utc());
    let project = change.subscription.project_id;
    let agreed = change.consent.as_ref().map(|agreed| consent(connection, project, id, agreed)).transpose()?;
    update(connection, since.before, change, agreed)?;
    if let Some(end) = &change.ended {
        end_open(connection, &change.subscription, end, at)?;
    }
    if let Some(method) = change.stopped_method {
        Statement::new("UPDATE saved_payment_methods SET is_active = FALSE, updated_at = ")
            .value(at)
            .sql(" WHERE id = ")
            .value(method.get())
            .sql(" AND project_id = ")
            .value(project.get())
            .run(connection)?;
    }
    if let Some(state) = change.open_attempt() {
        set_open_state(connection, &change.subscription, state)?;
    }
    add_entry(connection, since, change)?;
    for notice in &change.notices {
        notify(connection, &change.subscription, *notice, since.zone, at)?;
    }
    Ok(())
}

fn update(
    connection: &mut AnyConnection,
    before: &Subscription,
    change: &SubscriptionChange,
    agreed: Option<i64>,
) -> Result<(), Abort<StoreError>> {
    let one = &change.subscription;
    let terms = &one.terms;
    let period = one.period;
    let schedule = one.schedule.as_ref().map(schedule_text).transpose()?;
    let missed = (!one.missed.is_empty()).then(|| serde_json::to_string(&one.missed)).transpose();
    let columns: [(&'static str, Value); 22] = [
        ("status", one.status.word().into()),
        ("nomenclature_id", terms.plan.get().into()),
        ("plan_slug", terms.plan_slug.as_str().into()),
        ("amount", terms.amount.minor().into()),
        ("currency", terms.currency.as_str().into()),
        ("billing_months", i64::from(terms.billing_months).into()),
        ("saved_method_id", terms.method.map(SavedMethodId::get).into()),
        ("schedule", schedule.into()),
        ("period_number", period.map(|period| i64::from(period.number)).into()),
        ("period_start", moment(period.map(|period| period.start))),
        ("period_end", moment(period.map(|period| period.end))),
        ("unpaid_period", one.unpaid.map(i64::from).into()),
        ("next_charge_at", moment(one.next_charge_at)),
        ("wake_at", moment(one.wake_at)),
        ("canceled_at", moment(one.canceled_at)),
        ("parked", one.parked.map(kontor_kernel::Word::word).into()),
        ("told_period", one.last_notice.map(|(period, _)| i64::from(period)).into()),
        ("told_of", one.last_notice.map(|(_, of)| of.word()).into()),
        ("missed", missed.map_err(StoreError::corrupt)?.into()),
        ("updated_at", change.at.naive_utc().into()),
        ("work_attempts", 0_i64.into()),
        // Consent for the terms that start with the next charge; `None` without such terms.
        ("next_consent_id", None::<i64>.into()),
    ];
    let mut statement = Statement::new("UPDATE subscriptions SET version = version + 1");
    for (column, value) in columns {
        match (column, one.next_terms.is_some(), agreed) {
            ("next_consent_id", true, None) => {}
            ("next_consent_id", true, Some(agreed)) => statement = statement.sql(", next_consent_id = ").value(agreed),
            _ => statement = statement.sql(", ").sql(column).sql(" = ").value(value),
        }
    }
    if one.parked != before.parked {
        if let Some(reason) = one.parked {
            log_parked(one.id, reason);
        }
        let parked_at = one.parked.map(|_| change.at.naive_utc());
        statement = statement.sql(", parked_at = ").value(parked_at);
    }
    let written = statement
        .sql(" WHERE id = ")
        .value(one.id.get())
        .sql(" AND project_id = ")
        .value(one.project_id.get())
        .run(connection)?;
    if written == 1 { Ok(()) } else { Err(StoreError::corrupt("a subscription was not found").into()) }
}

fn end_open(
    connection: &mut AnyConnection,
    subscription: &Subscription,
    end: &AttemptEnd,
    at: NaiveDateTime,
) -> QueryResult<usize> {
    let (state, reason) = match end {
        AttemptEnd::Succeeded => ("succeeded", None),
        AttemptEnd::Failed { reason } => ("failed", Some(reason.as_str())),
    };
    Statement::new("UPDATE subscription_payments SET state = ")
        .value(state)
        .sql(", reason = ")
        .value(reason)
        .sql(", ended_at = ")
        .value(at)
        .sql(" WHERE subscription_id = ")
        .value(subscription.id.get())
        .sql(" AND project_id = ")
        .value(subscription.project_id.get())
        .sql(" AND state IN ('processing', 'needs_reconciliation')")
        .run(connection)
}

/// Postpones a leased subscription, or parks it without a next time. A subscription that was changed or leased since
/// stays as it is.
pub(super) fn postpone(
    connection: &mut AnyConnection,
    leased: LeasedSubscription,
    again: Option<DateTime<Utc>>,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    let statement = Statement::new("UPDATE subscriptions SET wake_at = ").value(moment(again));
    let statement = match again {
        Some(_) => statement,
        None => statement
            .sql(", version = version + 1, next_charge_at = NULL, parked = ")
            .value(Park::WorkFailed.word())
            .sql(", parked_at = ")
            .value(at.naive_utc())
            .sql(", updated_at = ")
            .value(at.naive_utc()),
    };
    let written = statement
        .sql(" WHERE id = ")
        .value(leased.id.get())
        .sql(" AND work_attempts = ")
        .value(leased.attempts)
        .run(connection)?;
    if written > 0 && again.is_none() {
        log_parked(leased.id, Park::WorkFailed);
        notify_on_hold(connection, leased.id, at)?;
    }
    Ok(())
}

/// Notifies about a parked subscription. Rows that cannot be decoded are skipped.
fn notify_on_hold(
    connection: &mut AnyConnection,
    id: SubscriptionId,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    let found = match cases(connection, &Selection::These(vec![id.get()]), at) {
        Err(Abort::Store(StoreError::Corrupt(_))) => return Ok(()),
        found => found?,
    };
    let open = found.iter().find(|case| case.subscription.status != SubscriptionStatus::Canceled);
    open.map_or(Ok(()), |case| {
        notify(connection, &case.subscription, SubscriptionNotice::SubscriptionOnHold, case.zone, at.naive_utc())
    })
}

fn log_parked(subscription: SubscriptionId, reason: Park) {
    tracing::error!(%subscription, %reason, "a subscription is parked; charges resume after its release");
}

/// Returns the fields of a subscription that its history contains.
fn history_fields(one: &Subscription) -> [(&'static str, Option<String>); 9] {
    let text = |moment: Option<DateTime<Utc>>| moment.map(|moment| moment.to_rfc3339());
    [
        ("status", Some(one.status.to_string())),
        ("nomenclature_id", Some(one.terms.plan.to_string())),
        ("amount", Some(one.terms.amount.to_string())),
        ("billing_period_months", Some(one.terms.billing_months.to_string())),
        ("saved_payment_method_id", one.terms.method.map(|method| method.to_string())),
        ("current_period_end", text(one.period.map(|period| period.end))),
        ("next_charge_at", text(one.next_charge_at)),
        ("parked", one.parked.map(|park| park.to_string())),
        ("missed_periods", (!one.missed.is_empty()).then(|| format!("{:?}", one.missed))),
    ]
}

fn add_entry(
    connection: &mut AnyConnection,
    since: &ChangeContext<'_>,
    change: &SubscriptionChange,
) -> Result<(), Abort<StoreError>> {
    let fields = history_fields(since.before).into_iter().zip(history_fields(&change.subscription));
    let changes: Vec<FieldChange> = fields
        .filter(|((_, old), (_, new))| old != new)
        .map(|((field, old), (_, new))| FieldChange { field: field.to_owned(), old, new })
        .collect();
    let (actor, actor_id) = decode::actor(since.author);
    let row: [Value; 8] = [
        change.subscription.project_id.get().into(),
        change.subscription.id.get().into(),
        actor.into(),
        actor_id.into(),
        change.event.word().into(),
        change.subscription.status.word().into(),
        serde_json::to_string(&changes).map_err(StoreError::corrupt)?.into(),
        change.at.naive_utc().into(),
    ];
    Statement::new(
        "INSERT INTO subscription_events (project_id, subscription_id, actor, actor_id, event, status, changes, \
         created_at) VALUES ",
    )
    .tuple(row)
    .run(connection)?;
    Ok(())
}

by_place! {
    struct AddresseeRow {
        application: Option<i64>,
        order: i64,
        language: String,
        plan: Option<String>,
    }
}

/// Notifies the customer, with the order of the last payment. A subscription without an application has no channel for
/// it.
fn notify(
    connection: &mut AnyConnection,
    subscription: &Subscription,
    notice: SubscriptionNotice,
    zone: Zone,
    at: NaiveDateTime,
) -> Result<(), Abort<StoreError>> {
    let next = subscription.next_terms.as_ref().unwrap_or(&subscription.terms);
    let agreed = if notice.announces() { next } else { &subscription.terms };
    let rows: Vec<AddresseeRow> = Statement::new(
        "SELECT s.application_id, a.order_id, p.language, (SELECT n.name FROM nomenclatures n WHERE n.id = ",
    )
    .value(agreed.plan.get())
    .sql(
        ") FROM subscriptions s JOIN projects p ON p.id = s.project_id \
         JOIN counterparties c ON c.id = s.counterparty_id AND c.project_id = s.project_id \
         JOIN subscription_payments a ON a.subscription_id = s.id AND a.project_id = s.project_id \
         WHERE c.deleted_at IS NULL AND s.id = ",
    )
    .value(subscription.id.get())
    .sql(" ORDER BY a.id DESC LIMIT 1")
    .rows(connection)?;
    let Some(AddresseeRow { application: Some(application), order, language, plan }) = rows.into_iter().next() else {
        return Ok(());
    };
    let language: Language = decode::word("projects", subscription.project_id, "language", &language)?;
    let due_now = notice == SubscriptionNotice::SubscriptionChargeAhead;
    let subject = SubscriptionSubject {
        plan: plan.as_deref().unwrap_or(&agreed.plan_slug),
        amount: subscription.terms.amount,
        next_amount: next.amount,
        currency: &agreed.currency,
        paid_until: subscription.period.map(|period| period.end),
        // A subscription that starts in this transaction has nothing planned after it.
        next_charge_at: subscription.next_charge_at.or(due_now.then(|| decode::moment(at))),
        zone,
    };
    let (title, body) = notice.text(language, subject);
    let row: [Value; 10] = [
        subscription.project_id.get().into(),
        application.into(),
        subscription.counterparty_id.get().into(),
        order.into(),
        notice.word().into(),
        agreed.amount.minor().into(),
        language.word().into(),
        title.into(),
        body.into(),
        at.into(),
    ];
    Statement::new(
        "INSERT INTO notifications (project_id, application_id, counterparty_id, order_id, code, amount, language, title, \
         body, created_at) VALUES ",
    )
    .tuple(row)
    .run(connection)?;
    Ok(())
}

/// Stores the state of the open attempt.
fn set_open_state(
    connection: &mut AnyConnection,
    subscription: &Subscription,
    state: AttemptState,
) -> QueryResult<usize> {
    Statement::new("UPDATE subscription_payments SET state = ")
        .value(state.word())
        .sql(" WHERE subscription_id = ")
        .value(subscription.id.get())
        .sql(" AND project_id = ")
        .value(subscription.project_id.get())
        .sql(" AND state IN ('processing', 'needs_reconciliation')")
        .run(connection)
}
