//! Effects of charges on subscriptions: `kontor_subscriptions::charge_outcome` decides them under the lock of each
//! subscription.

use chrono::{DateTime, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::{ChargeId, StoreError};
use kontor_payments::change::{ChargeChange, RecordedChange};
use kontor_subscriptions::{SubscriptionCase, charge_outcome};

use super::cases::{Selection, cases};
use super::write::{ChangeContext, write};
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::payments;
use crate::statement::{Statement, by_place};

type Failed = Abort<StoreError>;

/// Locks a subscription and loads it.
pub(super) fn lock(
    connection: &mut AnyConnection,
    id: i64,
    at: DateTime<Utc>,
) -> Result<Option<SubscriptionCase>, Failed> {
    Ok(cases(connection, &Selection::Locked(decode::id(id)?), at)?.into_iter().next())
}

/// Applies an update of a charge to the subscriptions with an open attempt by it. `order_returns_money` states that
/// their order does not take the money. Returns `true` if the money must be refunded.
pub(crate) fn apply_charge(
    connection: &mut AnyConnection,
    recorded: &RecordedChange<'_>,
    order_returns_money: bool,
    at: DateTime<Utc>,
) -> Result<bool, Failed> {
    let RecordedChange { charge, change, .. } = recorded;
    if !charge_outcome::is_relevant(change) {
        return Ok(false);
    }
    let open = Statement::new("SELECT subscription_id FROM subscription_payments WHERE charge_id = ")
        .value(charge.id.get())
        .sql(" AND state IN ('processing', 'needs_reconciliation') ORDER BY subscription_id");
    let open: Vec<i64> = open.scalars(connection)?;
    if open.is_empty() {
        return Ok(false);
    }
    let method = match change {
        ChargeChange::Succeeded { method: Some(method), .. } => {
            payments::find_saved(connection, charge.counterparty_id.get(), &method.provider_id)?
        }
        _ => None,
    };
    let (method, mut returns_money) = (decode::optional_id(method)?, false);
    for id in open {
        let case = lock(connection, id, at)?;
        let case = case.ok_or_else(|| StoreError::corrupt(format!("subscription {id} was not found")))?;
        match charge_outcome::decide(&case, change, order_returns_money, method, at) {
            None => {}
            Some(Ok(decided)) => {
                write(connection, &ChangeContext::new(&case, Author::System), &decided)?;
                returns_money |= decided.returns_money;
            }
            Some(Err(refused)) => {
                tracing::error!(subscription = id, %refused, "a charge outcome is not applicable");
            }
        }
    }
    Ok(returns_money)
}

/// Applies a doubt about a charge to the subscriptions whose periods it was to pay.
pub(crate) fn apply_doubt(connection: &mut AnyConnection, charge: ChargeId, at: DateTime<Utc>) -> Result<(), Failed> {
    let of_charge = Statement::new("SELECT subscription_id FROM subscription_payments WHERE charge_id = ")
        .value(charge.get())
        .sql(" ORDER BY subscription_id");
    let of_charge: Vec<i64> = of_charge.scalars(connection)?;
    for id in of_charge {
        let Some(case) = lock(connection, id, at)? else { continue };
        let parked = charge_outcome::decide_contradiction(&case, at).map_err(StoreError::corrupt)?;
        write(connection, &ChangeContext::new(&case, Author::System), &parked)?;
    }
    Ok(())
}

/// Applies a refund to the periods that the charge paid; `ends` states that the paid period ends with it. Returns
/// `false` if the refund must be refused.
pub(crate) fn refund_periods(
    connection: &mut AnyConnection,
    charge: Option<ChargeId>,
    ends: bool,
    author: Author,
    at: DateTime<Utc>,
) -> Result<bool, Failed> {
    by_place! {
        struct PaidRow {
            subscription: i64,
            period: i64,
        }
    }
    let rows: Vec<PaidRow> = Statement::new(
        "SELECT subscription_id, period FROM subscription_payments WHERE state = 'succeeded' AND charge_id = ",
    )
    .value(charge.map(ChargeId::get))
    .sql(" ORDER BY subscription_id")
    .rows(connection)?;
    let mut paid = Vec::with_capacity(rows.len());
    for PaidRow { subscription, period } in rows {
        let Some(case) = lock(connection, subscription, at)? else { continue };
        paid.push((case, u32::try_from(period).map_err(StoreError::corrupt)?));
    }
    let Some(changes) = charge_outcome::refunded(&paid, ends, at) else { return Ok(false) };
    for ((case, _), change) in paid.iter().zip(&changes) {
        write(connection, &ChangeContext::new(case, author), change)?;
    }
    Ok(true)
}
