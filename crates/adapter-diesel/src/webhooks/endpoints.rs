use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{ApplicationId, ProjectScoped, StoreError, WebhookId};
use kontor_webhooks::model::{EndpointUrl, Webhook, WebhookChange, WebhookDraft};
use kontor_webhooks::ports::{NewWebhook, WebhookRepository};
use kontor_webhooks::{WebhookError, WebhookRefusal};

use crate::applications::owner;
use crate::database::{Abort, AnyConnection, Database, Topic};
use crate::decode;
use crate::schema::{applications, webhooks};

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
            rows.into_iter().map(|row| row.try_into().map_err(Abort::Store)).collect()
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
