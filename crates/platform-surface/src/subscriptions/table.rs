//! Table of subscriptions, and the filters of subscription lists.

use kontor_kernel::listing::Sort;
use kontor_kernel::{ApplicationId, CounterpartyId, NomenclatureId, Word as _};
use kontor_subscriptions::model::SubscriptionRecord;
use kontor_subscriptions::{Park, SubscriptionStatus};
use serde_json::Value;

use crate::table::{Cell, Column, Filter, Table, list_params};

/// Table of `GET /api/tables/subscriptions` and `GET /api/subscriptions`.
pub(super) const TABLE: Table<SubscriptionRecord> = Table {
    id: 41,
    resource: "subscriptions",
    version: Some(|record| record.version.into()),
    columns: &[
        Column::with_icon("id", "No.", |record| {
            let id = record.view.subscription.id;
            Cell::linked(id.get(), format!("/api/subscriptions/{id}"))
        }),
        Column::new("status", "Status", |record| Cell::plain(record.view.subscription.status.word())),
        Column::with_icon("counterparty", "Customer", |record| {
            Cell::linked(record.customer.name.as_str(), format!("/api/counterparties/{}", record.customer.id))
        }),
        Column::with_icon("nomenclature", "Plan", |record| {
            Cell::linked(record.plan.name.as_str(), format!("/api/nomenclatures/{}", record.plan.id))
        }),
        Column::with_icon("application", "Application", |record| match &record.application {
            None => Cell::Linked { value: Value::Null, icon: None, link: None },
            Some(made) => Cell::linked(made.name.as_str(), format!("/api/applications/{}", made.id)),
        }),
        Column::new("application_is_active", "Application active", |record| Cell::plain(record.application_active)),
        Column::new("amount", "Sum", |record| Cell::plain(record.view.subscription.terms.amount.to_string())),
        Column::new("current_period_end", "Paid until", |record| {
            Cell::moment(record.view.subscription.period.map(|period| period.end))
        }),
        Column::new("next_charge_at", "Next charge", |record| Cell::moment(record.view.subscription.next_charge_at)),
        Column::new("parked", "Parked", |record| {
            Cell::plain(record.view.subscription.parked.map_or(Value::Null, |park| park.word().into()))
        }),
        Column::new("created_at", "Created", |record| Cell::moment(record.view.subscription.created_at)),
    ],
    sorts: &["id", "next_charge_at", "created_at"],
    filters: &[
        Filter::word::<SubscriptionStatus>("status", "In these states."),
        Filter::word::<Park>("parked", "Parked for these reasons."),
        Filter::id::<CounterpartyId>("counterparty_id", "Of these customers."),
        Filter::id::<ApplicationId>("application_id", "Made in these applications."),
        Filter::id::<NomenclatureId>("nomenclature_id", "To these plans."),
    ],
    search: None,
    period: Some("created_at"),
    order: Sort::descending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tables/subscriptions` and `GET /api/subscriptions`.
    SubscriptionParams of TABLE
}
