//! Port of subscriptions.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use kontor_kernel::history::Author;
use kontor_kernel::{
    AppScope, CustomerScope, Page, PageRequest, SavedMethodId, StoreError, SubscriptionId, SubscriptionPaymentId,
};
use kontor_subscriptions::model::{Attempt, NewAttempt, PlanChoice, PlanOffer, SubscriptionView};
use kontor_subscriptions::ports::{
    CheckoutStored, CommitContext, CommitResult, Decision, LeasedSubscription, NewSubscriptions, SubscriptionSelector,
    SubscriptionStore, UnfinishedPayment,
};
use kontor_subscriptions::{ConsentedTerms, SubscriptionError, SubscriptionRefusal};

use super::attempts::{AttemptError, Payer, attempt};
use super::cases::{PAYMENT_COLUMNS, PaymentRow, Selection, cases, is_seen_by, lock, seen_by, view};
use super::charge_outcome;
use super::plans::{claim, has_warehouse, is_claimed, plan};
use super::register::consents;
use super::write::{ChangeContext, consent, insert, postpone, write};
use crate::customer_data::lock_customer_exclusively;
use crate::database::{Abort, AnyConnection, Database};
use crate::lease::{is_here, moved_projects};
use crate::payments::{self, Key};
use crate::statement::{Statement, by_place};
use crate::{decode, unreadable};

type Failed = Abort<StoreError>;

/// Interval for checking whether a request that uses a deleted method is still in progress.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Returns an unfinished first payment of the customer in the application.
fn unfinished(
    connection: &mut AnyConnection,
    customer: CustomerScope,
    at: DateTime<Utc>,
) -> Result<Option<UnfinishedPayment>, Failed> {
    by_place! {
        struct OpenRow {
            subscription: i64,
            order: i64,
            charge: i64,
        }
    }
    let open: Vec<OpenRow> = Statement::new(
        "SELECT s.id, a.order_id, a.charge_id FROM subscriptions s JOIN subscription_payments a \
         ON a.subscription_id = s.id AND a.project_id = s.project_id \
         WHERE a.origin = 'first' AND a.state IN ('processing', 'needs_reconciliation') AND s.counterparty_id = ",
    )
    .value(customer.counterparty_id.get())
    .sql(" AND s.application_id = ")
    .value(customer.app.application_id.get())
    .sql(" ORDER BY s.id")
    .rows(connection)?;
    let Some(one) = open.first() else { return Ok(None) };
    let charge = payments::load(connection, &Key::Id(one.charge))?;
    let charge = charge.ok_or_else(|| StoreError::corrupt("the charge of a subscription was not found"))?;
    let order = decode::id(one.order)?;
    let mut subscriptions = Vec::with_capacity(open.len());
    for row in &open {
        let id = decode::id(row.subscription)?;
        lock(connection, id)?;
        subscriptions.push(view(connection, id, at)?);
    }
    Ok(Some(UnfinishedPayment { order, charge, subscriptions }))
}

/// Returns `true` if every plan is still offered with the consented terms.
fn is_offered(connection: &mut AnyConnection, new: &NewSubscriptions) -> Result<bool, Failed> {
    for consent in &new.consents {
        let terms = &consent.terms;
        let offer = plan(connection, new.customer.app, &PlanChoice::Item(terms.plan))?;
        if !offer.is_some_and(|offer| terms.are_offered(&offer)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Starts subscriptions. Everything else is decided while the customer is locked, so that their calls run one after the
/// other.
fn begin(connection: &mut AnyConnection, new: &NewSubscriptions) -> Result<CheckoutStored, Abort<AttemptError>> {
    let (customer, app) = (new.customer, new.customer.app);
    if !lock_customer_exclusively(connection, customer.counterparty_id.get())? {
        return Ok(CheckoutStored::CustomerDeleted);
    }
    if let Some(present) = unfinished(connection, customer, new.at).map_err(Abort::into_store)? {
        return Ok(CheckoutStored::UnfinishedPayment(present));
    }
    let plans = new.consents.iter().map(|consent| consent.terms.plan).collect();
    if is_claimed(connection, customer.counterparty_id, &plans, None)? {
        return Ok(CheckoutStored::Subscribed);
    }
    if !is_offered(connection, new).map_err(Abort::into_store)? {
        return Ok(CheckoutStored::PlanUnavailable);
    }
    if !has_warehouse(connection, app.application_id.get())? {
        return Ok(CheckoutStored::NoWarehouse);
    }
    for method in new.consents.iter().filter_map(|consent| consent.terms.method) {
        let found = payments::chargeable_method(connection, customer.counterparty_id.get(), method);
        let found = found.map_err(Abort::into_store)?;
        if found.is_none_or(|(_, application, _)| application != app.application_id) {
            return Ok(CheckoutStored::MethodUnavailable);
        }
    }
    let mut attempts: Vec<(SubscriptionId, NewAttempt)> = Vec::with_capacity(new.consents.len());
    for agreed in &new.consents {
        let id = insert(connection, customer, &agreed.terms, new.at.naive_utc()).map_err(Abort::into_store)?;
        consent(connection, app.project_id, id, agreed)?;
        let subscriber = (app.project_id, customer.counterparty_id);
        claim(connection, subscriber, id, &[agreed.terms.plan].into(), AttemptError::Subscribed)?;
        attempts.push((id, NewAttempt::first(&agreed.terms)));
    }
    let payer = Payer {
        project: app.project_id,
        application: Some(app.application_id),
        customer: customer.counterparty_id,
        author: Author::Customer(customer.counterparty_id),
    };
    let (order, charge) = attempt(connection, payer, &attempts, &new.charge, new.at)?;
    let mut subscriptions = Vec::with_capacity(attempts.len());
    for (id, _) in &attempts {
        connection.note_created("subscriptions", id.get());
        subscriptions.push(view(connection, *id, new.at).map_err(Abort::into_store)?);
    }
    Ok(CheckoutStored::New(UnfinishedPayment { order, charge, subscriptions }))
}

by_place! {
    struct OwnerRow {
        project: i64,
        application: Option<i64>,
        customer: i64,
    }
}

type Refused = Abort<SubscriptionError>;

fn no_attempt(abort: Abort<AttemptError>) -> Refused {
    match abort {
        Abort::Refused(AttemptError::MethodUnavailable) => refuse(SubscriptionRefusal::MethodUnavailable),
        Abort::Refused(AttemptError::Restored) => Abort::Store(restored()),
        Abort::Refused(AttemptError::NoContact) => refuse(SubscriptionRefusal::NoContact),
        Abort::Refused(AttemptError::Subscribed) => refuse(SubscriptionRefusal::AlreadySubscribed),
        Abort::Refused(AttemptError::Store(error)) | Abort::Store(error) => Abort::Store(error),
        Abort::Query(error) => Abort::Query(error),
    }
}

/// Returns the error for charges that are blocked after a restore.
fn restored() -> StoreError {
    StoreError::Unavailable("the database was restored from a backup: run `kontor reconcile --since`".to_owned())
}

fn refuse(refusal: SubscriptionRefusal) -> Refused {
    Abort::Refused(refusal.into())
}

/// Changes a subscription. Locks the customer first, then the subscription.
fn change(
    connection: &mut AnyConnection,
    which: SubscriptionSelector,
    with: &CommitContext,
    decide: &Decision,
) -> Result<CommitResult, Refused> {
    let (SubscriptionSelector::OfCustomer(_, id) | SubscriptionSelector::Any(id)) = which;
    let one =
        Statement::new("SELECT s.project_id, s.application_id, s.counterparty_id FROM subscriptions s WHERE s.id = ")
            .value(id.get());
    let one = match which {
        SubscriptionSelector::OfCustomer(customer, _) => one.sql(" AND ").then(seen_by(customer)),
        SubscriptionSelector::Any(_) => one,
    };
    let owner: Option<OwnerRow> = one.row(connection).optional()?;
    let owner = owner.ok_or(Abort::Refused(SubscriptionError::NotFound))?;
    if !lock_customer_exclusively(connection, owner.customer)? {
        return Err(Abort::Refused(SubscriptionError::CustomerDeleted));
    }
    let case = cases(connection, &Selection::Locked(id), with.at).map_err(Abort::into_store)?.into_iter().next();
    let mut case = case.ok_or(Abort::Refused(SubscriptionError::NotFound))?;
    let mut charge = None;
    for change in decide(&case).map_err(Abort::Refused)? {
        let newly = &change.subscription.claims() - &case.subscription.claims();
        let subscriber = (case.subscription.project_id, case.subscription.counterparty_id);
        claim(connection, subscriber, id, &newly, SubscriptionRefusal::AlreadySubscribed)?;
        write(connection, &ChangeContext::new(&case, with.author), &change).map_err(Abort::into_store)?;
        if let Some(next) = &change.attempt {
            let payer = Payer {
                project: decode::id(owner.project)?,
                application: decode::optional_id(owner.application)?,
                customer: decode::id(owner.customer)?,
                author: with.author,
            };
            let attempts = [(id, next.clone())];
            let (_, made) = attempt(connection, payer, &attempts, &with.charge, with.at).map_err(no_attempt)?;
            charge = made.state.is_open().then_some(made);
        }
        case = case.with_change(&change);
    }
    let view = view(connection, id, with.at).map_err(Abort::into_store)?;
    Ok(CommitResult { view, charge })
}

/// Deletes the method and everything planned with it in one transaction.
fn delete_method(
    connection: &mut AnyConnection,
    customer: CustomerScope,
    method: SavedMethodId,
    at: DateTime<Utc>,
) -> Result<bool, Failed> {
    lock_customer_exclusively(connection, customer.counterparty_id.get())?;
    match payments::deactivate_method(connection, customer, method, at.naive_utc())? {
        None => return Ok(false),
        // Payments planned with it have ended before.
        Some(false) => return Ok(true),
        Some(true) => {}
    }
    let charged_by: Vec<i64> = Statement::new("SELECT id FROM subscriptions WHERE counterparty_id = ")
        .value(customer.counterparty_id.get())
        .sql(" AND saved_method_id = ")
        .value(method.get())
        .sql(" ORDER BY id")
        .scalars(connection)?;
    for id in charged_by {
        let Some(case) = charge_outcome::lock(connection, id, at)? else { continue };
        // Another method may have been chosen while this transaction waited for the subscription: it stays.
        let Some(change) = case.without_method(method, at) else { continue };
        let author = Author::Customer(customer.counterparty_id);
        write(connection, &ChangeContext::new(&case, author), &change)?;
    }
    Ok(true)
}

/// Condition for the payments of a subscription that the application may see.
fn payments_of(customer: CustomerScope, id: SubscriptionId) -> Statement {
    Statement::new(
        " JOIN subscriptions s ON s.id = a.subscription_id AND s.project_id = a.project_id \
         WHERE a.subscription_id = ",
    )
    .value(id.get())
    .sql(" AND ")
    .then(seen_by(customer))
}

#[async_trait]
impl SubscriptionStore for Database {
    async fn plan(&self, app: AppScope, choice: PlanChoice) -> Result<Option<PlanOffer>, StoreError> {
        self.read(move |connection| plan(connection, app, &choice)).await
    }

    async fn begin(&self, new: NewSubscriptions) -> Result<CheckoutStored, StoreError> {
        let begun = self.write(move |connection| begin(connection, &new)).await;
        if matches!(begun, Ok(CheckoutStored::New(_))) {
            self.store_generation().await.map_err(StoreError::after_commit)?;
        }
        match begun {
            Ok(begun) => Ok(begun),
            Err(AttemptError::Restored) => Err(restored()),
            Err(AttemptError::MethodUnavailable) => Ok(CheckoutStored::MethodUnavailable),
            Err(AttemptError::NoContact) => Ok(CheckoutStored::NoContact),
            Err(AttemptError::Subscribed) => Ok(CheckoutStored::Subscribed),
            Err(AttemptError::Store(error)) => Err(error),
        }
    }

    async fn of_customer(
        &self,
        customer: CustomerScope,
        page: PageRequest,
        now: DateTime<Utc>,
    ) -> Result<Vec<SubscriptionView>, StoreError> {
        self.snapshot(move |connection| {
            let numbers = |connection: &mut AnyConnection| {
                let own = Statement::new("SELECT s.id FROM subscriptions s WHERE ").then(seen_by(customer));
                Ok(own.sql(" ORDER BY s.id DESC").page(page).scalars(connection)?)
            };
            let whole = |connection: &mut AnyConnection| cases(connection, &Selection::OfCustomer(customer, page), now);
            let load =
                |connection: &mut AnyConnection, ids: &[i64]| cases(connection, &Selection::These(ids.to_vec()), now);
            let read = unreadable::whole(connection, "subscriptions", whole, numbers, load)?;
            Ok::<_, Failed>(read.iter().map(|case| case.view(None, now)).collect())
        })
        .await
    }

    async fn find(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        now: DateTime<Utc>,
    ) -> Result<Option<SubscriptionView>, StoreError> {
        self.snapshot(move |connection| {
            let cases = cases(connection, &Selection::OneOfCustomer(customer, id), now)?;
            Ok::<_, Failed>(cases.first().map(|case| case.view(None, now)))
        })
        .await
    }

    async fn payments(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        page: PageRequest,
    ) -> Result<Option<Page<Attempt>>, StoreError> {
        self.snapshot(move |connection| {
            let count: i64 = Statement::new("SELECT count(*) FROM subscription_payments a")
                .then(payments_of(customer, id))
                .scalar(connection)?;
            // Each visible subscription has at least one payment.
            if count == 0 {
                return Ok::<_, Failed>(None);
            }
            let rows: Vec<PaymentRow> = Statement::new(PAYMENT_COLUMNS)
                .then(payments_of(customer, id))
                .sql(" ORDER BY a.id DESC")
                .page(page)
                .rows(connection)?;
            let attempts = unreadable::rows("subscription_payments", rows, |row| row.id, Attempt::try_from)?;
            Ok(Some(decode::page(attempts, count, page)?))
        })
        .await
    }

    async fn consents(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        page: PageRequest,
    ) -> Result<Option<Page<ConsentedTerms>>, StoreError> {
        self.snapshot(move |connection| {
            if !is_seen_by(connection, customer, id)? {
                return Ok::<_, Failed>(None);
            }
            consents(connection, id, page).map(Some)
        })
        .await
    }

    async fn payment(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        payment: SubscriptionPaymentId,
    ) -> Result<Option<Attempt>, StoreError> {
        self.read(move |connection| {
            let row: Option<PaymentRow> = Statement::new(PAYMENT_COLUMNS)
                .then(payments_of(customer, id))
                .sql(" AND a.id = ")
                .value(payment.get())
                .row(connection)
                .optional()?;
            Ok::<_, Failed>(row.map(Attempt::try_from).transpose()?)
        })
        .await
    }

    async fn has_method(&self, customer: CustomerScope, method: SavedMethodId) -> Result<bool, StoreError> {
        self.read(move |connection| {
            let found = payments::chargeable_method(connection, customer.counterparty_id.get(), method)?;
            Ok::<_, Failed>(found.is_some_and(|(_, application, _)| application == customer.app.application_id))
        })
        .await
    }

    async fn change(
        &self,
        which: SubscriptionSelector,
        with: CommitContext,
        decide: Decision,
    ) -> Result<CommitResult, SubscriptionError> {
        let committed = self.write(move |connection| change(connection, which, &with, &decide)).await?;
        if committed.charge.is_some() {
            self.store_generation().await.map_err(StoreError::after_commit)?;
        }
        Ok(committed)
    }

    async fn delete_method(
        &self,
        customer: CustomerScope,
        method: SavedMethodId,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        let known = self.write(move |connection| delete_method(connection, customer, method, at)).await?;
        // A request released before is answered, or was never sent, when its time is over.
        let began = Instant::now();
        loop {
            let now = at + TimeDelta::from_std(began.elapsed()).unwrap_or_default();
            let departing = self.read(move |connection| {
                Ok::<_, Failed>(payments::is_sending(connection, method.get(), now.naive_utc())?)
            });
            if !known || !departing.await? {
                return Ok(known);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn lease_due(
        &self,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
        most: u32,
    ) -> Result<Vec<LeasedSubscription>, StoreError> {
        by_place! {
            struct LeasedRow {
                id: i64,
                attempts: i64,
            }
        }
        let due = move || Statement::new("SELECT id FROM subscriptions WHERE wake_at <= ").value(now.naive_utc());
        let ordered = move |due: Statement| due.sql(" ORDER BY wake_at, id LIMIT ").value(most);
        // Usually nothing is due, and then the worker takes no lock. After a restore nothing is charged until the
        // database was compared with the acquirer; the transaction of a charge checks that again.
        let free = move || {
            due()
                .sql(" AND NOT EXISTS (SELECT 1 FROM installation WHERE held_since IS NOT NULL)")
                .sql(format!(" AND {}", is_here("subscriptions")))
        };
        let any = self.read(move |connection| Ok::<_, Failed>(ordered(free()).finds(connection)?));
        if !any.await? {
            return Ok(Vec::new());
        }
        self.write(move |connection| {
            // Apart, because a statement that locks rows reads no others.
            let moved: Vec<i64> = moved_projects().scalars(connection)?;
            let due = if moved.is_empty() { due() } else { due().sql(" AND NOT (project_id").among(&moved).sql(")") };
            let mine: Vec<i64> = ordered(due).locked(connection, " FOR UPDATE SKIP LOCKED").scalars(connection)?;
            let rows: Vec<LeasedRow> = Statement::new("UPDATE subscriptions SET wake_at = ")
                .value(until.naive_utc())
                .sql(", work_attempts = work_attempts + 1 WHERE id")
                .among(&mine)
                .sql(" RETURNING id, work_attempts")
                .rows(connection)?;
            let leased = rows.into_iter().map(|row| {
                let attempts = u32::try_from(row.attempts).map_err(StoreError::corrupt)?;
                Ok(LeasedSubscription { id: decode::id(row.id)?, attempts })
            });
            Ok::<_, Failed>(leased.collect::<Result<_, StoreError>>()?)
        })
        .await
    }

    async fn postpone(
        &self,
        leased: LeasedSubscription,
        again: Option<DateTime<Utc>>,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        self.write(move |connection| {
            postpone(connection, leased, again, at)?;
            Ok::<_, Failed>(())
        })
        .await
    }

    async fn extend_leases(
        &self,
        leased: Vec<LeasedSubscription>,
        from: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Vec<LeasedSubscription>, StoreError> {
        self.write(move |connection| {
            let ids: Vec<i64> = leased.iter().map(|leased| leased.id.get()).collect();
            let kept: Vec<i64> = Statement::new("UPDATE subscriptions SET wake_at = ")
                .value(until.naive_utc())
                .sql(" WHERE wake_at = ")
                .value(from.naive_utc())
                .sql(" AND id")
                .among(&ids)
                .sql(" RETURNING id")
                .scalars(connection)?;
            let still = |leased: &LeasedSubscription| kept.contains(&leased.id.get());
            Ok::<_, Failed>(leased.iter().copied().filter(still).collect())
        })
        .await
    }
}
