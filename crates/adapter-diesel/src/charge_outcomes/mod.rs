//! Charges together with their purposes. A charge is stored with its order, and its outcome is committed with
//! everything that follows from it. This module depends on the payment and order modules, which do not depend on each
//! other.

mod changes;
mod external_refunds;
mod forecasts;
mod method_changes;
mod recurring;
mod refund_store;
mod refunds;
mod subscriptions;
mod withdrawn_payments;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{ChargeId, Contact, CounterpartyId, OrderId, StoreError};
use kontor_orders::OrderError;
use kontor_orders::change::{Orderer, PlacedOrder};
use kontor_orders::ports::{Decision, OrderStore, PlaceRefused, Placed};
use kontor_payments::change::{Change, ChargeChange};
use kontor_payments::model::{Charge, ChargeFailure, ChargePurpose, NewCharge, ProviderId};
use kontor_payments::ports::{ChargeStore, ChargeStored};
use uuid::Uuid;

use crate::auth::{self, BindError, Newcomer};
use crate::customer_data::{self, CustomerOf};
use crate::database::idempotency::prepares;
use crate::database::{Abort, AnyConnection, Database};
use crate::orders::{self, ChargeNews, FollowUp};
use crate::payments::{self, Key, Known};

/// Commits the new state of a charge, with the effects on its purpose.
fn record(
    connection: &mut AnyConnection,
    id: i64,
    change: &ChargeChange,
    at: DateTime<Utc>,
) -> Result<Change, Abort<StoreError>> {
    if matches!(change, ChargeChange::Succeeded { .. } | ChargeChange::Failed { .. }) {
        customer_data::lock_customer_of(connection, CustomerOf::Charge(id))?;
    }
    // The result of a request with an idempotency key is stored after this or was stored before it.
    prepares();
    let Some(known) = payments::record(connection, id, change, at)? else { return Ok(Change::Stale) };
    let purpose = known.charge.purpose();
    if let ChargeChange::Suspicious { why, .. } = change {
        tracing::error!(%purpose, %why, "a payment does not match its charge");
    }
    match purpose {
        ChargePurpose::Order(order) => {
            let follows =
                for_order(change, &known).map(|news| orders::hear(connection, order, &news, at)).transpose()?;
            let unwanted = follows == Some(FollowUp::Refund);
            if unwanted {
                refunds::refund_canceled_order(connection, order, change, &known, at)?;
            }
            if follows == Some(FollowUp::People) {
                contradicted(connection, id, "a payment arrived for an order that expected no payment", at)?;
            }
            recurring::hear(connection, order, change, &known, unwanted, at)?;
        }
        ChargePurpose::Verification(_) => {
            if matches!(change, ChargeChange::Succeeded { .. }) {
                customer_data::mark_verified(connection, known.charge.counterparty_id.get(), at.naive_utc())?;
            }
        }
        ChargePurpose::MethodBinding(binding) => method_changes::hear(connection, binding, change, &known, at)?,
        // Only the saved method follows: subscriptions are paid by orders.
        ChargePurpose::Subscription(_) => {}
    }
    Ok(Change::Done)
}

/// Commits that an outcome is doubtful, once per charge.
fn contradicted(
    connection: &mut AnyConnection,
    id: i64,
    why: &str,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    customer_data::lock_customer_of(connection, CustomerOf::Charge(id))?;
    // Webhooks have no idempotency key.
    prepares();
    let Some(charge) = payments::contradict(connection, id, why, at.naive_utc())? else { return Ok(()) };
    if let ChargePurpose::Order(order) = charge.purpose() {
        let follows = orders::hear(connection, order, &ChargeNews::Suspicious { why }, at)?;
        debug_assert_eq!(follows, FollowUp::Nothing);
        recurring::contradicted(connection, charge.id, at)?;
    }
    Ok(())
}

/// Converts the change of a charge into the outcome for its order.
fn for_order<'a>(change: &'a ChargeChange, known: &'a Known) -> Option<ChargeNews<'a>> {
    match change {
        ChargeChange::Pending { confirmation_url, .. } => confirmation_url.as_deref().map(ChargeNews::Link),
        ChargeChange::Succeeded { event_id, .. } => {
            let request = &known.charge.request;
            Some(ChargeNews::Succeeded { event_id: *event_id, amount: request.amount, currency: &request.currency })
        }
        ChargeChange::Failed { failure: ChargeFailure::Withdrawn, .. } => Some(ChargeNews::Withdrawn),
        ChargeChange::Failed { reason, .. } => Some(ChargeNews::Failed { reason }),
        ChargeChange::Suspicious { why, .. } => (!known.repeated).then_some(ChargeNews::Suspicious { why }),
        ChargeChange::Postponed { .. } => None,
    }
}

fn store(connection: &mut AnyConnection, new: &NewCharge) -> Result<ChargeStored, Abort<StoreError>> {
    if !customer_data::lock_customer(connection, new.counterparty_id.get())? {
        return Ok(ChargeStored::CustomerGone);
    }
    payments::store(connection, new)
}

#[async_trait]
impl ChargeStore for Database {
    async fn store(&self, new: NewCharge) -> Result<ChargeStored, StoreError> {
        self.write(move |connection| store(connection, &new)).await
    }

    async fn find(&self, id: ChargeId) -> Result<Option<Charge>, StoreError> {
        self.read(move |connection| payments::load(connection, &Key::Id(id.get()))).await
    }

    async fn by_provider(&self, id: &ProviderId) -> Result<Option<Charge>, StoreError> {
        let key = Key::Provider(id.to_string());
        self.read(move |connection| payments::load(connection, &key)).await
    }

    async fn by_key(&self, key: Uuid) -> Result<Option<Charge>, StoreError> {
        let key = Key::Idempotence(key.to_string());
        self.read(move |connection| payments::load(connection, &key)).await
    }

    async fn open_for(&self, purpose: ChargePurpose) -> Result<Option<Charge>, StoreError> {
        self.read(move |connection| payments::load(connection, &Key::Open(purpose))).await
    }

    async fn lease(&self, owner: &str, at: DateTime<Utc>, until: DateTime<Utc>) -> Result<Option<Charge>, StoreError> {
        let leased = payments::lease_charge(self, owner, at, until).await?;
        if leased.as_ref().is_some_and(|charge| charge.request.renewal.is_some()) {
            // The process that stored the charge may have stopped before this call.
            self.witness().await?;
        }
        Ok(leased)
    }

    async fn departs(&self, id: ChargeId, until: DateTime<Utc>) -> Result<bool, StoreError> {
        self.write(move |connection| {
            // The result of a request with an idempotency key was stored before.
            prepares();
            Ok::<_, Abort<StoreError>>(payments::departs(connection, id.get(), until.naive_utc())?)
        })
        .await
    }

    async fn record(&self, id: ChargeId, change: ChargeChange, at: DateTime<Utc>) -> Result<Change, StoreError> {
        self.write(move |connection| record(connection, id.get(), &change, at)).await
    }

    async fn contradicted(&self, id: ChargeId, why: &str, at: DateTime<Utc>) -> Result<(), StoreError> {
        let why = why.to_owned();
        self.write(move |connection| contradicted(connection, id.get(), &why, at)).await
    }
}

/// Returns the customer of an order and prevents their deletion.
fn orderer(connection: &mut AnyConnection, order: &PlacedOrder) -> Result<CounterpartyId, Abort<PlaceRefused>> {
    match &order.orderer {
        Orderer::Customer(id) if customer_data::lock_customer(connection, id.get())? => Ok(*id),
        Orderer::Customer(_) => Err(Abort::Refused(PlaceRefused::CustomerGone)),
        Orderer::Contact(person) => {
            let named = Newcomer {
                first: Some(&person.first_name),
                last: Some(&person.last_name),
                middle: person.middle_name.as_deref(),
            };
            let phone = Contact::Phone(person.phone.clone());
            let found = auth::find_or_bind(connection, order.project_id, &phone, &named, order.at.naive_utc());
            // A call that loses the race for a new phone finds it bound on the next attempt.
            found.map_err(|abort| {
                abort.map(|lost| match lost {
                    BindError::Lost => PlaceRefused::Stale,
                    BindError::Store(error) => PlaceRefused::Store(error),
                })
            })
        }
    }
}

/// Stores the charge in the transaction of its order. Its key is known even if the call that follows fails.
fn place(connection: &mut AnyConnection, order: &PlacedOrder) -> Result<Placed, Abort<PlaceRefused>> {
    let customer = orderer(connection, order)?;
    orders::admit_unconfirmed(connection, order)?;
    let order_id = orders::place(connection, order, customer)?;
    let Some(new) = order.charge(order_id, customer) else { return Ok(Placed { order_id, charge: None }) };
    let charge = payments::insert(connection, &new).map_err(Abort::into_store)?;
    let clash = || StoreError::corrupt("the key of a charge is already in use");
    Ok(Placed { order_id, charge: Some(charge.ok_or_else(clash)?) })
}

#[async_trait]
impl OrderStore for Database {
    async fn place(&self, order: PlacedOrder) -> Result<Placed, PlaceRefused> {
        self.write(move |connection| place(connection, &order)).await
    }

    async fn change(&self, id: OrderId, decide: Decision) -> Result<Option<Charge>, OrderError> {
        self.write(move |connection| changes::change(connection, id, &decide)).await
    }
}
