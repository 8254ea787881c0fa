//! Changes of the saved payment method of a subscription, each with its charge.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::history::Author;
use kontor_kernel::{CustomerScope, MethodBindingId, StoreError, SubscriptionId};
use kontor_payments::change::{ChargeChange, RecordedChange};
use kontor_subscriptions::charge_outcome::{MethodConsent, method_saved};
use kontor_subscriptions::ports::MethodChangeStore;
use kontor_subscriptions::{MethodChange, MethodChangeBegun, MethodChangeStatus, NewMethodChange};

use super::cases::{Selection, cases, is_seen_by};
use super::charge_outcome::lock;
use super::write::{ChangeContext, write};
use crate::customer_data::lock_customer_exclusively;
use crate::database::{Abort, AnyConnection, Database};
use crate::decode;
use crate::payments::{self, Key};
use crate::statement::{Statement, by_place};

type Failed = Abort<StoreError>;

by_place! {
    struct ChangeRow {
        id: i64,
        subscription: i64,
        charge: i64,
        method: Option<i64>,
        expires_at: NaiveDateTime,
    }
}

/// Returns the newest method change of a subscription.
fn newest(
    connection: &mut AnyConnection,
    subscription: SubscriptionId,
    id: Option<MethodBindingId>,
) -> Result<Option<MethodChange>, Failed> {
    let own = Statement::new(
        "SELECT b.id, b.subscription_id, c.id, b.saved_method_id, b.expires_at FROM method_bindings b \
         JOIN charges c ON c.purpose = 'method_binding' AND c.purpose_id = b.id \
         AND c.project_id = b.project_id WHERE b.subscription_id = ",
    )
    .value(subscription.get());
    let own = match id {
        Some(id) => own.sql(" AND b.id = ").value(id.get()),
        None => own.sql(" ORDER BY b.id DESC LIMIT 1"),
    };
    let row: Option<ChangeRow> = own.row(connection).optional()?;
    let Some(row) = row else { return Ok(None) };
    let charge = payments::load(connection, &Key::Id(row.charge))?;
    Ok(Some(MethodChange {
        id: decode::id(row.id)?,
        subscription: decode::id(row.subscription)?,
        charge: charge.ok_or_else(|| StoreError::corrupt("the charge of a payment method was not found"))?,
        saved_method: decode::optional_id(row.method)?,
        expires_at: decode::moment(row.expires_at),
    }))
}

/// Starts a method change. The customer is locked, so that their calls run one after the other.
fn begin(connection: &mut AnyConnection, new: &NewMethodChange) -> Result<MethodChangeBegun, Failed> {
    lock_customer_exclusively(connection, new.customer.counterparty_id.get())?;
    let seen = cases(connection, &Selection::OneOfCustomer(new.customer, new.subscription), new.at)?;
    let Some(case) = seen.first() else { return Ok(MethodChangeBegun::NotFound) };
    if !case.subscription.is_activated() {
        return Ok(MethodChangeBegun::NeverActivated);
    }
    if let Some(present) = newest(connection, new.subscription, None)?
        && present.status() == MethodChangeStatus::Pending
        && present.expires_at > new.at
    {
        return Ok(MethodChangeBegun::Present(present));
    }
    let insert = Statement::new(
        "INSERT INTO method_bindings (project_id, subscription_id, text_version, address, expires_at, created_at) VALUES ",
    )
    .tuple([
        new.customer.app.project_id.get().into(),
        new.subscription.get().into(),
        new.consent_text.as_str().into(),
        new.address.as_deref().into(),
        new.expires_at().naive_utc().into(),
        new.at.naive_utc().into(),
    ]);
    let id = decode::id(insert.sql(" RETURNING id").scalar(connection)?)?;
    let charge = payments::insert(connection, &new.charge(id, &case.subscription.terms.currency))?;
    Ok(MethodChangeBegun::New(MethodChange {
        id,
        subscription: new.subscription,
        charge: charge.ok_or_else(|| StoreError::corrupt("the key of a charge is already in use"))?,
        saved_method: None,
        expires_at: new.expires_at(),
    }))
}

by_place! {
    struct AgreedRow {
        subscription: i64,
        text_version: String,
        address: Option<String>,
        created_at: NaiveDateTime,
    }
}

/// Applies the outcome of the charge of a method change to its subscription.
pub(crate) fn save_method(
    connection: &mut AnyConnection,
    binding: MethodBindingId,
    recorded: &RecordedChange<'_>,
    at: DateTime<Utc>,
) -> Result<(), Failed> {
    let ChargeChange::Succeeded { method: Some(method), .. } = recorded.change else { return Ok(()) };
    let customer = recorded.charge.counterparty_id;
    let Some(saved) = payments::find_saved(connection, customer.get(), &method.provider_id)? else { return Ok(()) };
    Statement::new("UPDATE method_bindings SET saved_method_id = ")
        .value(saved)
        .sql(" WHERE id = ")
        .value(binding.get())
        .sql(" AND project_id = ")
        .value(recorded.charge.project_id.get())
        .run(connection)?;
    let agreed: Option<AgreedRow> =
        Statement::new("SELECT subscription_id, text_version, address, created_at FROM method_bindings WHERE id = ")
            .value(binding.get())
            .row(connection)
            .optional()?;
    let Some(agreed) = agreed else { return Ok(()) };
    let Some(case) = lock(connection, agreed.subscription, at)? else { return Ok(()) };
    let consent = MethodConsent {
        text_version: agreed.text_version,
        address: agreed.address,
        application: recorded.charge.application_id,
        at: decode::moment(agreed.created_at),
    };
    let Some(change) = method_saved(&case, decode::id(saved)?, consent, at) else { return Ok(()) };
    write(connection, &ChangeContext::new(&case, Author::Customer(customer)), &change)
}

#[async_trait]
impl MethodChangeStore for Database {
    async fn begin(&self, new: NewMethodChange) -> Result<MethodChangeBegun, StoreError> {
        self.write(move |connection| begin(connection, &new)).await
    }

    async fn find(
        &self,
        customer: CustomerScope,
        subscription: SubscriptionId,
        id: MethodBindingId,
    ) -> Result<Option<MethodChange>, StoreError> {
        self.snapshot(move |connection| {
            if !is_seen_by(connection, customer, subscription)? {
                return Ok(None);
            }
            newest(connection, subscription, Some(id))
        })
        .await
    }
}
