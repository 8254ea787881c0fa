//! Webhooks, and the log of their deliveries, for staff.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{
    ApplicationId, DeliveryId, Listing, Page, PageRequest, ProjectId, ProjectScoped, StoreError, WebhookId,
};
use kontor_webhooks::model::{
    Delivery, DeliveryState, EndpointUrl, Pending, ProjectDelivery, TestDelivery, Webhook, WebhookChange, WebhookDraft,
};
use kontor_webhooks::ports::{DeliveryLog, NewWebhook, WebhookRepository};
use kontor_webhooks::{WebhookError, WebhookRefusal};

use super::queue::NewDeliveryRow;
use crate::applications::owner;
use crate::database::{Abort, AnyConnection, Database, Topic};
use crate::listing::{Source, Totals, in_order, unsearched};
use crate::schema::{applications, outbox_events, referred, webhook_deliveries, webhooks};
use crate::statement::Statement;
use crate::{decode, unreadable};

#[derive(Queryable, Selectable)]
#[diesel(table_name = webhooks)]
struct WebhookRow {
    id: i64,
    application_id: i64,
    name: Option<String>,
    url: String,
    is_active: bool,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl TryFrom<WebhookRow> for Webhook {
    type Error = StoreError;

    fn try_from(row: WebhookRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            application_id: decode::id(row.application_id)?,
            details: WebhookDraft {
                name: decode::optional_text(row.name.as_deref())?,
                url: EndpointUrl::parse(&row.url).map_err(StoreError::corrupt)?,
                is_active: row.is_active,
            },
            created_at: decode::moment(row.created_at),
            updated_at: decode::moment(row.updated_at),
        })
    }
}

/// Selects a webhook through its application, so that those of other applications are not found.
macro_rules! one {
    ($application:expr, $webhook:expr) => {
        webhooks::table.filter(webhooks::id.eq($webhook.get())).filter(webhooks::application_id.eq($application.get()))
    };
}

fn load(
    connection: &mut AnyConnection,
    application: ApplicationId,
    webhook: WebhookId,
) -> Result<Option<Webhook>, Abort<StoreError>> {
    let row: Option<WebhookRow> =
        one!(application, webhook).select(WebhookRow::as_select()).first(connection).optional()?;
    Ok(row.map(Webhook::try_from).transpose()?)
}

#[async_trait]
impl WebhookRepository for Database {
    async fn owner(&self, application: ApplicationId) -> Result<Option<ProjectScoped<()>>, StoreError> {
        owner(self, application).await
    }

    async fn list(&self, application: ApplicationId) -> Result<Vec<Webhook>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<WebhookRow> = webhooks::table
                .filter(webhooks::application_id.eq(application.get()))
                .order(webhooks::id)
                .select(WebhookRow::as_select())
                .load(connection)?;
            Ok::<_, Abort<StoreError>>(unreadable::rows("webhooks", rows, |row| row.id, Webhook::try_from)?)
        })
        .await
    }

    async fn find(&self, application: ApplicationId, webhook: WebhookId) -> Result<Option<Webhook>, StoreError> {
        self.read(move |connection| load(connection, application, webhook)).await
    }

    async fn insert(&self, new: NewWebhook) -> Result<Webhook, WebhookError> {
        self.write(move |connection| {
            // Updates the row of the application unchanged. Concurrent additions wait for it, so the count below stays
            // valid.
            connection.declare_unchanged(Topic::Access);
            connection.declare_unchanged(Topic::Storefront);
            let application = applications::table
                .filter(applications::id.eq(new.application_id.get()))
                .filter(applications::project_id.eq(new.project_id.get()));
            let locked = diesel::update(application)
                .set(applications::is_active.eq(applications::is_active))
                .execute(connection)?;
            if locked == 0 {
                return Err(Abort::Refused(WebhookError::NotFound));
            }
            let count: i64 = webhooks::table
                .filter(webhooks::application_id.eq(new.application_id.get()))
                .count()
                .get_result(connection)?;
            if count >= Webhook::MAX_PER_APPLICATION {
                return Err(Abort::refused(WebhookRefusal::TooMany));
            }
            let id: i64 = diesel::insert_into(webhooks::table)
                .values((
                    webhooks::project_id.eq(new.project_id.get()),
                    webhooks::application_id.eq(new.application_id.get()),
                    webhooks::name.eq(new.details.name.as_deref()),
                    webhooks::url.eq(new.details.url.as_str()),
                    webhooks::sealed_secret.eq(&new.sealed_secret),
                    webhooks::is_active.eq(new.details.is_active),
                    webhooks::created_at.eq(new.at.naive_utc()),
                    webhooks::updated_at.eq(new.at.naive_utc()),
                ))
                .returning(webhooks::id)
                .get_result(connection)?;
            connection.note_created("webhooks", id);
            Ok(Webhook {
                id: decode::id(id)?,
                application_id: new.application_id,
                details: new.details.clone(),
                created_at: new.at,
                updated_at: new.at,
            })
        })
        .await
    }

    async fn update(
        &self,
        application: ApplicationId,
        webhook: WebhookId,
        change: WebhookChange,
        at: DateTime<Utc>,
    ) -> Result<Option<Webhook>, StoreError> {
        self.write(move |connection| {
            diesel::update(one!(application, webhook))
                .set((
                    change.name.as_set().map(|name| webhooks::name.eq(name.as_deref())),
                    change.url.as_set().map(|url| webhooks::url.eq(url.as_str())),
                    change.is_active.as_set().map(|active| webhooks::is_active.eq(*active)),
                    webhooks::version.eq(webhooks::version + 1),
                    webhooks::updated_at.eq(at.naive_utc()),
                ))
                .execute(connection)?;
            if change.resets_circuit() {
                diesel::update(one!(application, webhook))
                    .set((webhooks::hangs.eq(0), webhooks::paused_until.eq(None::<NaiveDateTime>)))
                    .execute(connection)?;
            }
            load(connection, application, webhook)
        })
        .await
    }

    async fn replace_secret(
        &self,
        application: ApplicationId,
        webhook: WebhookId,
        sealed_secret: String,
        at: DateTime<Utc>,
    ) -> Result<Option<Webhook>, StoreError> {
        self.write(move |connection| {
            diesel::update(one!(application, webhook))
                .set((
                    webhooks::sealed_secret.eq(&sealed_secret),
                    webhooks::version.eq(webhooks::version + 1),
                    webhooks::updated_at.eq(at.naive_utc()),
                ))
                .execute(connection)?;
            load(connection, application, webhook)
        })
        .await
    }

    async fn delete(&self, application: ApplicationId, webhook: WebhookId) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let deleted = diesel::delete(one!(application, webhook)).execute(connection)?;
            Ok(deleted > 0)
        })
        .await
    }
}

/// Source of the list of all deliveries of a project.
const LOG: Source = Source {
    from: "webhook_deliveries d",
    id: "d.id",
    fields: &[("id", "d.id"), ("status", "d.status"), ("webhook_id", "d.webhook_id")],
    search: unsearched,
};

fn of_project(project: i64) -> Statement {
    Statement::new("d.project_id = ").value(project)
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = webhook_deliveries)]
struct DeliveryRow {
    id: i64,
    delivery_id: String,
    webhook_id: i64,
    status: String,
    attempts: i32,
    next_attempt_at: Option<NaiveDateTime>,
    response_status: Option<i32>,
    last_error: Option<String>,
    delivered_at: Option<NaiveDateTime>,
    created_at: NaiveDateTime,
}

/// A delivery with the id and the topic of its event.
type LoggedRow = (DeliveryRow, String, String);

fn delivery((row, event_id, topic): LoggedRow) -> Result<Delivery, StoreError> {
    let attempts = u32::try_from(row.attempts).map_err(StoreError::corrupt)?;
    let (next, delivered) = (row.next_attempt_at.map(decode::moment), row.delivered_at.map(decode::moment));
    let state = DeliveryState::restore(&row.status, attempts, next, delivered)
        .map_err(|error| StoreError::corrupt(format!("webhook_deliveries {}: {error}", row.id)))?;
    Ok(Delivery {
        id: decode::id(row.id)?,
        webhook_id: decode::id(row.webhook_id)?,
        event_id: decode::text(&event_id)?,
        delivery_id: decode::text(&row.delivery_id)?,
        event: topic,
        state,
        response_status: row.response_status.map(u16::try_from).transpose().map_err(StoreError::corrupt)?,
        last_error: row.last_error,
        created_at: decode::moment(row.created_at),
    })
}

/// A logged row with the application and the name of its webhook.
type ProjectRow = (DeliveryRow, String, String, i64, Option<String>);

fn project_delivery((row, event_id, topic, application, name): ProjectRow) -> Result<ProjectDelivery, StoreError> {
    Ok(ProjectDelivery {
        delivery: delivery((row, event_id, topic))?,
        application_id: decode::id(application)?,
        webhook_name: decode::optional_text(name.as_deref())?,
    })
}

/// Loads these deliveries with their webhooks, in this order.
fn load_deliveries(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<ProjectDelivery>, Abort<StoreError>> {
    let rows: Vec<ProjectRow> = webhook_deliveries::table
        .inner_join(referred!(webhooks, webhook_deliveries::webhook_id))
        .inner_join(referred!(outbox_events, webhook_deliveries::outbox_event_id))
        .filter(webhook_deliveries::id.eq_any(ids.to_vec()))
        .select((
            DeliveryRow::as_select(),
            outbox_events::event_id,
            outbox_events::topic,
            webhooks::application_id,
            webhooks::name,
        ))
        .load(connection)?;
    let records = rows.into_iter().map(project_delivery).collect::<Result<Vec<_>, StoreError>>()?;
    Ok(in_order(ids, records, |record| record.delivery.id.get()))
}

#[async_trait]
impl DeliveryLog for Database {
    async fn page(&self, webhook: WebhookId, page: PageRequest) -> Result<Page<Delivery>, StoreError> {
        self.snapshot(move |connection| {
            let mine = webhook_deliveries::webhook_id.eq(webhook.get());
            let total: i64 = webhook_deliveries::table.filter(mine).count().get_result(connection)?;
            let rows: Vec<LoggedRow> = webhook_deliveries::table
                .inner_join(referred!(outbox_events, webhook_deliveries::outbox_event_id))
                .filter(mine)
                .order(webhook_deliveries::id.desc())
                .offset(page.offset())
                .limit(page.limit())
                .select((DeliveryRow::as_select(), outbox_events::event_id, outbox_events::topic))
                .load(connection)?;
            Ok(decode::page(unreadable::rows("webhook_deliveries", rows, |row| row.0.id, delivery)?, total, page)?)
        })
        .await
    }

    async fn project_page(&self, project: ProjectId, listing: Listing) -> Result<Page<ProjectDelivery>, StoreError> {
        let totals = self.memory::<Totals>();
        self.snapshot(move |connection| {
            let found = LOG.page_of_many(connection, of_project(project.get()), &listing, &totals)?;
            let deliveries = unreadable::records(connection, "webhook_deliveries", &found.items, load_deliveries)?;
            Ok(found.with_items(deliveries))
        })
        .await
    }

    async fn insert_test(&self, test: TestDelivery) -> Result<Option<Delivery>, StoreError> {
        self.write(move |connection| {
            let (project, application, at) = (test.project_id.get(), test.application_id.get(), test.at.naive_utc());
            // Locks the webhook, so that it is active and exists until the commit.
            let active = webhooks::table
                .find(test.webhook_id.get())
                .filter(webhooks::application_id.eq(application))
                .filter(webhooks::project_id.eq(project))
                .filter(webhooks::is_active.eq(true));
            let locked =
                diesel::update(active).set(webhooks::paused_until.eq(None::<NaiveDateTime>)).execute(connection)?;
            if locked == 0 {
                return Ok(None);
            }
            let event: i64 = diesel::insert_into(outbox_events::table)
                .values((
                    outbox_events::event_id.eq(test.event_id.to_string()),
                    outbox_events::project_id.eq(project),
                    outbox_events::application_id.eq(application),
                    outbox_events::topic.eq(TestDelivery::EVENT),
                    outbox_events::payload.eq(test.body()),
                    outbox_events::created_at.eq(at),
                    // Other webhooks of the application do not receive it.
                    outbox_events::dispatched_at.eq(Some(at)),
                ))
                .returning(outbox_events::id)
                .get_result(connection)?;
            let row = NewDeliveryRow::due(test.delivery_id, [project, test.webhook_id.get(), event], at)?;
            let id: i64 = diesel::insert_into(webhook_deliveries::table)
                .values(row)
                .returning(webhook_deliveries::id)
                .get_result(connection)?;
            connection.note_created("deliveries", id);
            Ok(Some(Delivery {
                id: decode::id(id)?,
                webhook_id: test.webhook_id,
                event_id: test.event_id,
                delivery_id: test.delivery_id,
                event: TestDelivery::EVENT.to_owned(),
                state: DeliveryState::Pending(Pending::due(test.at)),
                response_status: None,
                last_error: None,
                created_at: test.at,
            }))
        })
        .await
    }

    async fn find(&self, webhook: WebhookId, id: DeliveryId) -> Result<Option<Delivery>, StoreError> {
        self.read(move |connection| {
            let row: Option<LoggedRow> = webhook_deliveries::table
                .inner_join(referred!(outbox_events, webhook_deliveries::outbox_event_id))
                .filter(webhook_deliveries::id.eq(id.get()))
                .filter(webhook_deliveries::webhook_id.eq(webhook.get()))
                .select((DeliveryRow::as_select(), outbox_events::event_id, outbox_events::topic))
                .first(connection)
                .optional()?;
            Ok(row.map(delivery).transpose()?)
        })
        .await
    }

    async fn requeue(
        &self,
        id: DeliveryId,
        from: DeliveryState,
        to: Pending,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let unchanged = webhook_deliveries::table
                .filter(webhook_deliveries::id.eq(id.get()))
                .filter(webhook_deliveries::status.eq(from.status()))
                .filter(webhook_deliveries::attempts.eq(stored_attempts(from.attempts())?));
            let revived = diesel::update(unchanged)
                .set((
                    webhook_deliveries::status.eq(DeliveryState::Pending(to).status()),
                    webhook_deliveries::attempts.eq(stored_attempts(to.attempts())?),
                    webhook_deliveries::next_attempt_at.eq(Some(to.next_attempt_at().naive_utc())),
                    webhook_deliveries::delivered_at.eq(None::<NaiveDateTime>),
                    webhook_deliveries::leased_until.eq(None::<NaiveDateTime>),
                    webhook_deliveries::lease_owner.eq(None::<String>),
                    webhook_deliveries::parked_at.eq(None::<NaiveDateTime>),
                    webhook_deliveries::parked_reason.eq(None::<String>),
                    webhook_deliveries::updated_at.eq(at.naive_utc()),
                ))
                .execute(connection)?;
            if revived > 0 {
                // A retry by an employee does not wait for the end of a pause.
                let (endpoint, project): (i64, i64) = webhook_deliveries::table
                    .find(id.get())
                    .select((webhook_deliveries::webhook_id, webhook_deliveries::project_id))
                    .first(connection)?;
                diesel::update(webhooks::table.find(endpoint).filter(webhooks::project_id.eq(project)))
                    .set(webhooks::paused_until.eq(None::<NaiveDateTime>))
                    .execute(connection)?;
            }
            Ok::<_, Abort<StoreError>>(revived > 0)
        })
        .await
    }
}

pub(super) fn stored_attempts(attempts: u32) -> Result<i32, StoreError> {
    i32::try_from(attempts).map_err(StoreError::corrupt)
}

#[cfg(test)]
mod tests {
    use kontor_kernel::listing::{Comparison, Condition, FilterValue, Sort};

    use super::*;
    use crate::testing::{Kind, TestDatabase};

    #[tokio::test]
    async fn a_page_of_a_project_is_one_index_range() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let failed = Comparison::AnyOf(vec![FilterValue::Text("failed".to_owned())]);
        for (condition, index) in [
            (None, "webhook_deliveries_by_project (project_id=?)"),
            (
                Some(Condition { field: "status", comparison: failed }),
                "webhook_deliveries_by_status (project_id=? AND status=?)",
            ),
        ] {
            let plan = LOG.plan(&db, of_project(1), Sort::descending("id"), condition).await;
            assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{plan}");
        }
    }
}
