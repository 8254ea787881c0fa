//! Subscriptions for staff, and their upcoming charges.

use std::collections::HashMap;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::result::OptionalExtension as _;
use kontor_kernel::history::{HistoryAction, HistoryEntry, changed_fields};
use kontor_kernel::{
    Listing, Page, PageRequest, ProjectId, ProjectScoped, Resource, Stamp, StoreError, SubscriptionId,
};
use kontor_subscriptions::model::{Attempt, Named, SubscriptionEntry, SubscriptionPolicy, SubscriptionRecord};
use kontor_subscriptions::ports::{SubscriptionForecastReader, SubscriptionReader, WakePlace};
use kontor_subscriptions::{ConsentedTerms, SubscriptionCase, Terms};

use super::cases::{PAYMENT_COLUMNS, PaymentRow, Selection, cases};
use crate::database::{Abort, AnyConnection, Database};
use crate::histories::{ACTORS_OF_PAGE, AUTHOR_NAMES, changed_many};
use crate::listing::{Source, Totals, in_order, unsearched};
use crate::locks::lock_project;
use crate::statement::{Statement, by_place};
use crate::{decode, unreadable};

type Failed = Abort<StoreError>;

const SUBSCRIPTIONS: Source = Source {
    from: "subscriptions s",
    id: "s.id",
    fields: &[
        ("id", "s.id"),
        ("status", "s.status"),
        ("parked", "s.parked"),
        ("counterparty_id", "s.counterparty_id"),
        ("application_id", "s.application_id"),
        ("nomenclature_id", "s.nomenclature_id"),
        ("next_charge_at", "s.next_charge_at"),
        ("created_at", "s.created_at"),
    ],
    search: unsearched,
};

by_place! {
    struct NamesRow {
        id: i64,
        customer: String,
        phone: Option<String>,
        application: Option<String>,
        plan: String,
        parked_at: Option<NaiveDateTime>,
        updated_at: NaiveDateTime,
        version: i64,
    }
}

/// Loads these subscriptions, in this order.
fn records(connection: &mut AnyConnection, ids: &[i64], now: DateTime<Utc>) -> Result<Vec<SubscriptionRecord>, Failed> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<NamesRow> = Statement::new(
        "SELECT s.id, coalesce(c.name, coalesce(c.first_name, '') || ' ' || coalesce(c.last_name, '')), c.phone_1, a.name, \
         n.name, s.parked_at, s.updated_at, s.version FROM subscriptions s \
         JOIN counterparties c ON c.id = s.counterparty_id AND c.project_id = s.project_id LEFT JOIN applications a \
         ON a.id = s.application_id AND a.project_id = s.project_id \
         JOIN nomenclatures n ON n.id = s.nomenclature_id AND n.project_id = s.project_id WHERE s.id",
    )
    .among(ids)
    .rows(connection)?;
    let mut names: HashMap<i64, NamesRow> = names.into_iter().map(|row| (row.id, row)).collect();
    let record = |case: SubscriptionCase| {
        let view = case.view(None, now);
        let one = &view.subscription;
        let names = names.remove(&one.id.get()).ok_or_else(|| StoreError::corrupt("a subscription has no customer"))?;
        let application = one.application_id.zip(names.application).map(|(id, name)| Named { id, name });
        Ok(SubscriptionRecord {
            customer: Named { id: one.counterparty_id, name: names.customer.trim().to_owned() },
            phone: names.phone,
            application,
            application_active: case.application_active,
            plan: Named { id: one.terms.plan, name: names.plan },
            parked_at: names.parked_at.map(decode::moment),
            updated_at: decode::moment(names.updated_at),
            version: names.version,
            view,
        })
    };
    let found = cases(connection, &Selection::These(ids.to_vec()), now)?;
    let found: Result<Vec<_>, StoreError> = found.into_iter().map(record).collect();
    Ok(in_order(ids, found?, |record| record.view.subscription.id.get()))
}

by_place! {
    struct EntryRow {
        id: i64,
        actor: String,
        actor_id: Option<i64>,
        user_name: Option<String>,
        customer_name: Option<String>,
        event: String,
        status: String,
        changes: String,
        created_at: NaiveDateTime,
    }
}

impl TryFrom<EntryRow> for SubscriptionEntry {
    type Error = StoreError;

    fn try_from(row: EntryRow) -> Result<Self, StoreError> {
        const TABLE: &str = "subscription_events";
        let author = decode::author(TABLE, row.id, &row.actor, row.actor_id)?;
        Ok(Self {
            line: HistoryEntry {
                id: row.id,
                action: HistoryAction::Changed,
                author,
                author_name: decode::author_name(author, row.user_name, row.customer_name),
                changes: serde_json::from_str(&row.changes).map_err(StoreError::corrupt)?,
                at: decode::moment(row.created_at),
            },
            event: decode::word(TABLE, row.id, "event", &row.event)?,
            status: decode::word(TABLE, row.id, "status", &row.status)?,
        })
    }
}

by_place! {
    struct ConsentRow {
        id: i64,
        plan: i64,
        slug: String,
        amount: i64,
        currency: String,
        months: i32,
        method: Option<i64>,
        text_version: String,
        address: Option<String>,
        application: Option<i64>,
        created_at: NaiveDateTime,
    }
}

impl TryFrom<ConsentRow> for ConsentedTerms {
    type Error = StoreError;

    fn try_from(row: ConsentRow) -> Result<Self, StoreError> {
        Ok(Self {
            terms: Terms {
                plan: decode::id(row.plan)?,
                plan_slug: row.slug,
                amount: decode::money(row.amount)?,
                currency: row.currency,
                billing_months: u8::try_from(row.months).map_err(StoreError::corrupt)?,
                method: decode::optional_id(row.method)?,
            },
            text_version: row.text_version,
            at: decode::moment(row.created_at),
            address: row.address,
            application: decode::optional_id(row.application)?,
        })
    }
}

/// Counts the rows of a table that belong to a subscription.
fn counted(connection: &mut AnyConnection, table: &'static str, id: SubscriptionId) -> Result<i64, Failed> {
    let count = Statement::new("SELECT count(*) FROM ").sql(table).sql(" WHERE subscription_id = ").value(id.get());
    Ok(count.scalar(connection)?)
}

/// Returns the consents of a customer, latest first.
pub(crate) fn consents(
    connection: &mut AnyConnection,
    id: SubscriptionId,
    page: PageRequest,
) -> Result<Page<ConsentedTerms>, Failed> {
    let total = counted(connection, "subscription_consents", id)?;
    let own = Statement::new(
        "SELECT id, nomenclature_id, plan_slug, amount, currency, billing_months, saved_method_id, text_version, \
         address, application_id, created_at FROM subscription_consents WHERE subscription_id = ",
    )
    .value(id.get())
    .sql(" ORDER BY id DESC");
    let rows: Vec<ConsentRow> = own.page(page).rows(connection)?;
    let consents = unreadable::rows("subscription_consents", rows, |row| row.id, ConsentedTerms::try_from)?;
    Ok(decode::page(consents, total, page)?)
}

#[async_trait]
impl SubscriptionReader for Database {
    async fn list(
        &self,
        project: ProjectId,
        listing: Listing,
        now: DateTime<Utc>,
    ) -> Result<Page<SubscriptionRecord>, StoreError> {
        let totals = self.memory::<Totals>();
        self.snapshot(move |connection| {
            let own = Statement::new("s.project_id = ").value(project.get());
            let found = SUBSCRIPTIONS.page_of_many(connection, own, &listing, &totals)?;
            let load = |connection: &mut AnyConnection, ids: &[i64]| records(connection, ids, now);
            let records = unreadable::records(connection, "subscriptions", &found.items, load)?;
            Ok::<_, Failed>(found.with_items(records))
        })
        .await
    }

    async fn find(
        &self,
        id: SubscriptionId,
        now: DateTime<Utc>,
    ) -> Result<Option<ProjectScoped<SubscriptionRecord>>, StoreError> {
        self.snapshot(move |connection| {
            let found = records(connection, &[id.get()], now)?.into_iter().next();
            Ok::<_, Failed>(found.map(|record| ProjectScoped::new(record.view.subscription.project_id, record)))
        })
        .await
    }

    async fn payments(&self, id: SubscriptionId, page: PageRequest) -> Result<Page<Attempt>, StoreError> {
        self.snapshot(move |connection| {
            let total = counted(connection, "subscription_payments", id)?;
            let own = Statement::new(PAYMENT_COLUMNS).sql(" WHERE a.subscription_id = ").value(id.get());
            let rows: Vec<PaymentRow> = own.sql(" ORDER BY a.id DESC").page(page).rows(connection)?;
            let attempts = unreadable::rows("subscription_payments", rows, |row| row.id, Attempt::try_from)?;
            Ok::<_, Failed>(decode::page(attempts, total, page)?)
        })
        .await
    }

    async fn history(&self, id: SubscriptionId, page: PageRequest) -> Result<Page<SubscriptionEntry>, StoreError> {
        self.snapshot(move |connection| {
            let total = counted(connection, "subscription_events", id)?;
            // Names are loaded for the entries of the page only.
            let own = Statement::new(format!(
                "SELECT p.id, p.actor, p.actor_id, {AUTHOR_NAMES}, p.event, p.status, p.changes, p.created_at \
                 FROM (SELECT * FROM subscription_events WHERE subscription_id = "
            ))
            .value(id.get())
            .sql(" ORDER BY id DESC");
            let rows: Vec<EntryRow> =
                own.page(page).sql(format!(") p{ACTORS_OF_PAGE} ORDER BY p.id DESC")).rows(connection)?;
            let entries = unreadable::rows("subscription_events", rows, |row| row.id, SubscriptionEntry::try_from)?;
            Ok::<_, Failed>(decode::page(entries, total, page)?)
        })
        .await
    }

    async fn consents(&self, id: SubscriptionId, page: PageRequest) -> Result<Page<ConsentedTerms>, StoreError> {
        self.snapshot(move |connection| consents(connection, id, page)).await
    }

    async fn parked(&self) -> Result<u64, StoreError> {
        self.read(|connection| {
            let count = Statement::new("SELECT count(*) FROM subscriptions WHERE parked_at IS NOT NULL");
            Ok::<_, Failed>(decode::count(count.scalar(connection)?)?)
        })
        .await
    }

    async fn policy(&self, project: ProjectId) -> Result<SubscriptionPolicy, StoreError> {
        self.read(move |connection| policy(connection, project)).await
    }

    async fn set_policy(&self, stamp: Stamp, set: SubscriptionPolicy) -> Result<(), StoreError> {
        let text = serde_json::to_string(&set).map_err(StoreError::corrupt)?;
        let project = stamp.project_id;
        self.write(move |connection| {
            lock_project(connection, project)?;
            let before = policy(connection, project)?;
            Statement::new("INSERT INTO subscription_settings (project_id, policy, updated_at) VALUES ")
                .tuple([project.get().into(), text.as_str().into(), stamp.at.naive_utc().into()])
                .sql(" ON CONFLICT (project_id) DO UPDATE SET policy = excluded.policy, updated_at = excluded.updated_at")
                .run(connection)?;
            // The policy shares the version and the history of the other settings.
            let raised = Statement::new("UPDATE projects SET version = version + 1 WHERE id = ").value(project.get());
            raised.run(connection)?;
            let changes = changed_fields(before.audited_fields(), set.audited_fields());
            changed_many(connection, &stamp, Resource::Settings, &[(project.get(), changes)])
        })
        .await
    }
}

fn policy(connection: &mut AnyConnection, project: ProjectId) -> Result<SubscriptionPolicy, Failed> {
    let set = Statement::new("SELECT policy FROM subscription_settings WHERE project_id = ").value(project.get());
    let set: Option<String> = set.scalar(connection).optional()?;
    let policy = set.map(|policy| serde_json::from_str(&policy)).transpose().map_err(StoreError::corrupt)?;
    Ok(policy.unwrap_or_default())
}

/// Condition for attempts that started or ended since a time.
fn since(moment: DateTime<Utc>) -> Statement {
    let moment = moment.naive_utc();
    Statement::new(" WHERE (a.started_at >= ").value(moment).sql(" OR a.ended_at >= ").value(moment).sql(")")
}

#[async_trait]
impl SubscriptionForecastReader for Database {
    async fn next_moment(&self) -> Result<Option<DateTime<Utc>>, StoreError> {
        self.read(|connection| {
            let next_wake: Option<NaiveDateTime> =
                Statement::new("SELECT min(wake_at) FROM subscriptions WHERE wake_at IS NOT NULL")
                    .scalar(connection)?;
            // The acquirer itself notifies about payments it knows.
            let next_check: Option<NaiveDateTime> = Statement::new(
                "SELECT min(c.next_check_at) FROM charges c JOIN subscription_payments a ON a.charge_id = c.id \
                 AND a.project_id = c.project_id \
                 WHERE c.state IN ('prepared', 'pending') AND c.parked_at IS NULL AND c.provider_payment_id IS NULL \
                 AND a.state IN ('processing', 'needs_reconciliation')",
            )
            .scalar(connection)?;
            Ok::<_, Failed>(next_wake.into_iter().chain(next_check).min().map(decode::moment))
        })
        .await
    }

    async fn list_due(
        &self,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
        after: Option<WakePlace>,
        most: u32,
    ) -> Result<Vec<SubscriptionCase>, StoreError> {
        self.snapshot(move |connection| cases(connection, &Selection::Waking { until, after, most }, now)).await
    }

    async fn attempts_since(
        &self,
        moment: DateTime<Utc>,
        most: u32,
    ) -> Result<(Vec<(SubscriptionId, Attempt)>, u64), StoreError> {
        self.snapshot(move |connection| {
            let count: i64 = Statement::new("SELECT count(*) FROM subscription_payments a")
                .then(since(moment))
                .scalar(connection)?;
            let rows: Vec<PaymentRow> = Statement::new(PAYMENT_COLUMNS)
                .then(since(moment))
                .sql(" ORDER BY a.started_at, a.id LIMIT ")
                .value(most)
                .rows(connection)?;
            let attempts = rows.into_iter().map(|row| Ok((decode::id(row.subscription)?, row.try_into()?)));
            let attempts = attempts.collect::<Result<_, StoreError>>()?;
            Ok::<_, Failed>((attempts, count.unsigned_abs()))
        })
        .await
    }
}
