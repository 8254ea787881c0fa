//! Clients that may introspect tokens, and tokens of mini-apps.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_auth::IntrospectionRegistryError;
use kontor_auth::miniapp::MiniAppProvider;
use kontor_auth::model::{Audience, IntrospectedToken, NewIntrospectionClient, StoredIntrospection};
use kontor_auth::ports::{IntrospectionClients, MiniAppTokens};
use kontor_kernel::{ApplicationId, StoreError, TokenId, Word};
use uuid::Uuid;

use super::guard;
use crate::applications::project_of;
use crate::database::{Abort, AnyConnection, BoundedCache, Database, Extent, Topic, on_duplicate, on_each};
use crate::decode;
use crate::schema::{application_miniapps, introspection_clients};
use crate::statement::{Statement, by_place};

/// Maximum cached introspection responses, about 400 bytes each.
const MAX_CACHED_RESPONSES: usize = 20_000;

/// Cached introspection results of active tokens, by client and token.
struct IntrospectionCache(BoundedCache<(Uuid, i64), StoredIntrospection>);

impl Default for IntrospectionCache {
    fn default() -> Self {
        Self(BoundedCache::new(MAX_CACHED_RESPONSES))
    }
}

by_place! {
    struct InquiryRow {
        fingerprint: String,
        client_is_active: bool,
        audience: String,
        project_id: i64,
        application_id: i64,
        application_name: String,
        application_is_active: bool,
        token_fingerprint: Option<String>,
        expires_at: Option<NaiveDateTime>,
        handle: Option<String>,
    }
}

impl TryFrom<InquiryRow> for StoredIntrospection {
    type Error = StoreError;

    fn try_from(row: InquiryRow) -> Result<Self, StoreError> {
        let token = row.token_fingerprint.zip(row.expires_at).zip(row.handle);
        let token = token.map(|((fingerprint, expires_at), handle)| {
            let (expires_at, principal) = (decode::moment(expires_at), decode::text(&handle)?);
            Ok::<_, StoreError>(IntrospectedToken { fingerprint, expires_at, principal })
        });
        Ok(Self {
            fingerprint: row.fingerprint,
            is_active: row.client_is_active && row.application_is_active,
            audience: Audience::parse(&row.audience).map_err(StoreError::corrupt)?,
            project_id: decode::id(row.project_id)?,
            application_id: decode::id(row.application_id)?,
            application_name: decode::owned(row.application_name)?,
            token: token.transpose()?,
        })
    }
}

fn client_id(text: &str) -> Result<Uuid, StoreError> {
    text.parse().map_err(StoreError::corrupt)
}

/// Invalidates cached access of the client's project. Returns the id of the client, if there is one.
fn invalidate_client(
    connection: &mut AnyConnection,
    client: Option<(String, i64)>,
) -> Result<Option<Uuid>, StoreError> {
    connection.declare_unchanged(Topic::Access);
    let Some((client, project)) = client else { return Ok(None) };
    connection.invalidate(Topic::Access, project);
    client_id(&client).map(Some)
}

#[async_trait]
impl IntrospectionClients for Database {
    async fn client_and_token(
        &self,
        client_id: Uuid,
        token: Option<TokenId>,
    ) -> Result<Option<StoredIntrospection>, StoreError> {
        // No token has the id 0.
        let token = token.map_or(0, TokenId::get);
        let key = (client_id, token);
        let before = self.cache_versions().version_anywhere(Topic::Access);
        let client_id = client_id.to_string();
        let found: Option<StoredIntrospection> = self
            .expecting(Extent::Keys)
            .read(move |connection| {
                let row: Option<InquiryRow> = Statement::new(
                    "SELECT c.fingerprint, c.is_active, c.audience, a.project_id, a.id, a.name, a.is_active, \
                 t.fingerprint, t.expires_at, p.handle \
                 FROM introspection_clients c JOIN applications a ON a.id = c.application_id \
                 AND a.project_id = c.project_id \
                 LEFT JOIN access_tokens t ON t.application_id = c.application_id AND t.project_id = c.project_id \
                 AND t.guard = ",
                )
                .value(guard::COUNTERPARTY)
                .sql(" AND t.id = ")
                .value(token)
                .sql(
                    " LEFT JOIN counterparties p ON p.id = t.subject_id AND p.project_id = t.project_id \
                     WHERE c.client_id = ",
                )
                .value(client_id.as_str())
                .row(connection)
                .optional()?;
                Ok::<_, Abort<StoreError>>(row.map(StoredIntrospection::try_from).transpose()?)
            })
            .await?;
        // Only active results are cached, so that a newly granted access takes effect at once.
        if let Some(active) = found.as_ref().filter(|found| found.is_active && found.token.is_some()) {
            self.memory::<IntrospectionCache>().0.keep(self.cache_versions(), before, active.project_id, key, active);
        }
        Ok(found)
    }

    fn remembered_inquiry(&self, client_id: Uuid, token: Option<TokenId>) -> Option<StoredIntrospection> {
        self.memory::<IntrospectionCache>().0.cached(self.cache_versions(), &(client_id, token?.get()))
    }

    async fn insert(&self, client: NewIntrospectionClient) -> Result<(), IntrospectionRegistryError> {
        self.write(move |connection| {
            let application = client.application_id.get();
            let project = project_of(connection, application)?;
            let project = project.ok_or(Abort::Refused(IntrospectionRegistryError::UnknownApplication))?;
            // The audience within the application is the only unique key that is not generated.
            diesel::insert_into(introspection_clients::table)
                .values((
                    introspection_clients::client_id.eq(client.client_id.to_string()),
                    introspection_clients::project_id.eq(project),
                    introspection_clients::application_id.eq(application),
                    introspection_clients::audience.eq(client.audience.as_str()),
                    introspection_clients::fingerprint.eq(&client.fingerprint),
                    introspection_clients::is_active.eq(true),
                    introspection_clients::created_at.eq(client.created_at.naive_utc()),
                ))
                .execute(connection)
                .map_err(on_duplicate(IntrospectionRegistryError::AlreadyIssued))?;
            Ok(())
        })
        .await
    }

    async fn rotate(
        &self,
        application_id: ApplicationId,
        audience: Audience,
        fingerprint: String,
        at: DateTime<Utc>,
    ) -> Result<Option<Uuid>, StoreError> {
        self.write(move |connection| {
            let client = introspection_clients::table
                .filter(introspection_clients::application_id.eq(application_id.get()))
                .filter(introspection_clients::audience.eq(audience.as_str()));
            let rotated: Option<(String, i64)> = diesel::update(client)
                .set((
                    introspection_clients::fingerprint.eq(&fingerprint),
                    introspection_clients::is_active.eq(true),
                    introspection_clients::rotated_at.eq(at.naive_utc()),
                ))
                .returning((introspection_clients::client_id, introspection_clients::project_id))
                .get_result(connection)
                .optional()?;
            Ok(invalidate_client(connection, rotated)?)
        })
        .await
    }

    async fn disable(&self, application_id: ApplicationId, audience: Audience) -> Result<Option<Uuid>, StoreError> {
        self.write(move |connection| {
            let client = introspection_clients::table
                .filter(introspection_clients::application_id.eq(application_id.get()))
                .filter(introspection_clients::audience.eq(audience.as_str()));
            let disabled: Option<(String, i64)> = diesel::update(client)
                .set(introspection_clients::is_active.eq(false))
                .returning((introspection_clients::client_id, introspection_clients::project_id))
                .get_result(connection)
                .optional()?;
            Ok(invalidate_client(connection, disabled)?)
        })
        .await
    }
}

#[async_trait]
impl MiniAppTokens for Database {
    async fn token(&self, application: ApplicationId, provider: MiniAppProvider) -> Result<Option<String>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let sealed = application_miniapps::table
                    .find((application.get(), provider.word()))
                    .select(application_miniapps::sealed_token)
                    .first(connection)
                    .optional()?;
                Ok(sealed)
            })
            .await
    }

    async fn put(
        &self,
        application: ApplicationId,
        provider: MiniAppProvider,
        sealed: String,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let Some(project) = project_of(connection, application.get())? else { return Ok(false) };
            let key = (
                application_miniapps::project_id.eq(project),
                application_miniapps::application_id.eq(application.get()),
                application_miniapps::provider.eq(provider.word()),
            );
            let state =
                (application_miniapps::sealed_token.eq(&sealed), application_miniapps::updated_at.eq(at.naive_utc()));
            let created = application_miniapps::created_at.eq(at.naive_utc());
            on_each!(connection, concrete => {
                diesel::insert_into(application_miniapps::table)
                    .values((key, state, created))
                    .on_conflict((
                        application_miniapps::application_id,
                        application_miniapps::provider,
                        application_miniapps::project_id,
                    ))
                    .do_update()
                    .set(state)
                    .execute(concrete)
            })?;
            Ok::<_, Abort<StoreError>>(true)
        })
        .await
    }

    async fn remove(&self, application: ApplicationId, provider: MiniAppProvider) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let removed = diesel::delete(application_miniapps::table.find((application.get(), provider.word())))
                .execute(connection)?;
            Ok::<_, Abort<StoreError>>(removed == 1)
        })
        .await
    }
}
