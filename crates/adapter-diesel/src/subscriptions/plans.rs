//! Plans as an application offers them now, and their claims: a customer has at most one subscription per plan that is
//! charged now or from the next period on.

use std::collections::BTreeSet;

use diesel::result::{OptionalExtension as _, QueryResult};
use kontor_kernel::{AppScope, CounterpartyId, NomenclatureId, ProjectId, StoreError, SubscriptionId};
use kontor_subscriptions::model::{PlanChoice, PlanOffer};

use crate::database::{Abort, AnyConnection, on_duplicate};
use crate::decode;
use crate::statement::{Statement, Value, by_place};

by_place! {
    struct OfferRow {
        plan: i64,
        slug: String,
        name: String,
        amount: i64,
        currency: String,
        months: Option<i32>,
    }
}

pub(super) fn plan(
    connection: &mut AnyConnection,
    app: AppScope,
    choice: &PlanChoice,
) -> Result<Option<PlanOffer>, Abort<StoreError>> {
    let offered = Statement::new(
        "SELECT n.id, s.plan_slug, n.name, n.price, r.currency, n.billing_period_months \
         FROM subscription_nomenclatures s JOIN nomenclatures n ON n.id = s.nomenclature_id \
         AND n.project_id = s.project_id \
         JOIN projects r ON r.id = n.project_id WHERE s.application_id = ",
    )
    .value(app.application_id.get())
    .sql(" AND n.project_id = ")
    .value(app.project_id.get())
    .sql(" AND s.is_active = TRUE AND n.is_subscription = TRUE AND n.price IS NOT NULL AND ");
    let one = match choice {
        PlanChoice::Item(item) => offered.sql("s.nomenclature_id = ").value(item.get()),
        PlanChoice::Slug(slug) => offered.sql("s.plan_slug = ").value(slug.as_str()),
    };
    let row: Option<OfferRow> = one.row(connection).optional()?;
    let Some(row) = row else { return Ok(None) };
    let months = row.months.ok_or_else(|| StoreError::corrupt("a plan has no billing period"))?;
    Ok(Some(PlanOffer {
        plan: decode::id(row.plan)?,
        slug: row.slug,
        name: row.name,
        amount: decode::money(row.amount)?,
        currency: row.currency,
        billing_months: u8::try_from(months).map_err(StoreError::corrupt)?,
    }))
}

/// Returns `true` if the application has a warehouse. Every sale needs one.
pub(super) fn has_warehouse(connection: &mut AnyConnection, application: i64) -> QueryResult<bool> {
    Statement::new("SELECT warehouse_id AS id FROM warehouse_applications WHERE application_id = ")
        .value(application)
        .sql(" LIMIT 1")
        .finds(connection)
}

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
         AND n.project_id = s.project_id \
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
    (project, customer): (ProjectId, CounterpartyId),
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
        .sql(" AND project_id = ")
        .value(project.get())
        .sql(" AND nomenclature_id")
        .among(&numbers(plans))
        .sql(
            " AND NOT EXISTS (SELECT 1 FROM subscriptions s LEFT JOIN subscription_consents n \
             ON n.id = s.next_consent_id AND n.project_id = s.project_id \
             WHERE s.id = subscription_claims.subscription_id AND s.project_id = subscription_claims.project_id \
             AND s.status <> 'canceled' \
             AND (s.nomenclature_id = subscription_claims.nomenclature_id \
             OR n.nomenclature_id = subscription_claims.nomenclature_id))",
        )
        .run(connection)?;
    let claim = |plan: &NomenclatureId| -> [Value; 4] {
        [project.get().into(), customer.get().into(), plan.get().into(), subscription.get().into()]
    };
    let insert =
        "INSERT INTO subscription_claims (project_id, counterparty_id, nomenclature_id, subscription_id) VALUES ";
    Statement::new(insert).tuples(plans.iter().map(claim)).run(connection).map_err(on_duplicate(taken))?;
    Ok(())
}

fn numbers(plans: &BTreeSet<NomenclatureId>) -> Vec<i64> {
    plans.iter().map(|plan| plan.get()).collect()
}
