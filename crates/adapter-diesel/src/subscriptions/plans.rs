//! A plan as an application offers it now, and the warehouse that every sale needs.

use diesel::result::{OptionalExtension as _, QueryResult};
use kontor_kernel::{AppScope, StoreError};
use kontor_subscriptions::model::{PlanChoice, PlanOffer};

use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::statement::{Statement, by_place};

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
