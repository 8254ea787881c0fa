//! Claims of plans: a customer has at most one subscription per plan that is charged now or from the next period on.

use std::collections::BTreeSet;

use diesel::result::QueryResult;
use kontor_kernel::{CounterpartyId, NomenclatureId, SubscriptionId};

use crate::database::{Abort, AnyConnection, on_duplicate};
use crate::statement::{Statement, Value};

/// Returns `true` if a subscription of the customer, in any application, claims one of the plans. `except` is ignored.
pub(super) fn is_claimed(
    connection: &mut AnyConnection,
    customer: CounterpartyId,
    plans: &BTreeSet<NomenclatureId>,
    except: Option<SubscriptionId>,
) -> QueryResult<bool> {
    let plans = numbers(plans);
    let other = Statement::new(
        "SELECT s.id FROM subscriptions s LEFT JOIN subscription_consents n ON n.id = s.next_consent_id \
         WHERE s.status <> 'canceled' AND s.counterparty_id = ",
    )
    .value(customer.get())
    .sql(" AND s.id <> ")
    .value(except.map_or(0, SubscriptionId::get))
    .sql(" AND (s.nomenclature_id")
    .among(&plans)
    .sql(" OR n.nomenclature_id")
    .among(&plans)
    .sql(") LIMIT 1");
    other.finds(connection)
}

/// Claims plans for a subscription before the plans are stored on it. The caller has locked the customer; the primary
/// key enforces the rule as well. Claims of canceled subscriptions, or of subscriptions that have another plan now, are
/// replaced: canceling does not remove them.
pub(crate) fn claim<R>(
    connection: &mut AnyConnection,
    customer: CounterpartyId,
    subscription: SubscriptionId,
    plans: &BTreeSet<NomenclatureId>,
    taken: impl Into<R>,
) -> Result<(), Abort<R>> {
    if plans.is_empty() {
        return Ok(());
    }
    if is_claimed(connection, customer, plans, Some(subscription))? {
        return Err(Abort::refused(taken));
    }
    Statement::new("DELETE FROM subscription_claims WHERE counterparty_id = ")
        .value(customer.get())
        .sql(" AND nomenclature_id")
        .among(&numbers(plans))
        .sql(
            " AND NOT EXISTS (SELECT 1 FROM subscriptions s LEFT JOIN subscription_consents n ON n.id = s.next_consent_id \
             WHERE s.id = subscription_claims.subscription_id AND s.status <> 'canceled' \
             AND (s.nomenclature_id = subscription_claims.nomenclature_id \
             OR n.nomenclature_id = subscription_claims.nomenclature_id))",
        )
        .run(connection)?;
    let claim =
        |plan: &NomenclatureId| -> [Value; 3] { [customer.get().into(), plan.get().into(), subscription.get().into()] };
    Statement::new("INSERT INTO subscription_claims (counterparty_id, nomenclature_id, subscription_id) VALUES ")
        .tuples(plans.iter().map(claim))
        .run(connection)
        .map_err(on_duplicate(taken))?;
    Ok(())
}

fn numbers(plans: &BTreeSet<NomenclatureId>) -> Vec<i64> {
    plans.iter().map(|plan| plan.get()).collect()
}
