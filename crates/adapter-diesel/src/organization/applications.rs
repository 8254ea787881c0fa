use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{AppScope, ApplicationId, Link, ProjectId, ProjectScoped, StoreError};
use kontor_organization::model::{Application, ApplicationDraft};
use kontor_organization::ports::ApplicationRepository;
use kontor_organization::{ApplicationError, ApplicationRefusal};

use crate::applications::wake_subscriptions;
use crate::database::{Abort, AnyConnection, BoundedCache, Database, Topic, found, on_each};
use crate::locks::lock_services;
use crate::read_models::offers;
use crate::schema::{applications, branches, nomenclatures};
use crate::{decode, records};

/// Nomenclature kind of services.
const SERVICE: i64 = 1;

/// Maximum cached applications.
const MAX_CACHED_APPLICATIONS: usize = 4_096;

/// Active applications by the fingerprint of their token.
struct ApplicationCache(BoundedCache<String, AppScope>);

impl Default for ApplicationCache {
    fn default() -> Self {
        Self(BoundedCache::new(MAX_CACHED_APPLICATIONS))
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = applications)]
struct ApplicationRow {
    id: i64,
    project_id: i64,
    branch_id: i64,
    name: String,
    url: Option<String>,
    is_active: bool,
    wholesale: bool,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl TryFrom<ApplicationRow> for Application {
    type Error = StoreError;

    fn try_from(row: ApplicationRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            details: ApplicationDraft {
                branch_id: decode::id(row.branch_id)?,
                name: decode::text(&row.name)?,
                url: decode::link(row.url.as_deref()),
                wholesale: row.wholesale,
            },
            is_active: row.is_active,
            created_at: decode::moment(row.created_at),
            updated_at: decode::moment(row.updated_at),
        })
    }
}

fn row(connection: &mut AnyConnection, id: ApplicationId) -> QueryResult<ApplicationRow> {
    applications::table.find(id.get()).select(ApplicationRow::as_select()).first(connection)
}

/// Reloads the application after a change of its token or status.
fn reload_application(
    connection: &mut AnyConnection,
    id: ApplicationId,
) -> Result<Application, Abort<ApplicationError>> {
    let row = row(connection, id).optional()?.ok_or(Abort::Refused(ApplicationError::NotFound))?;
    // Responses of the storefront are cached by token.
    connection.invalidate(Topic::Storefront, row.project_id);
    connection.invalidate(Topic::Access, row.project_id);
    Ok(row.try_into()?)
}

#[async_trait]
impl ApplicationRepository for Database {
    async fn list(&self, project: ProjectId) -> Result<Vec<Application>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<ApplicationRow> = applications::table
                .filter(applications::project_id.eq(project.get()))
                .order(applications::id)
                .select(ApplicationRow::as_select())
                .load(connection)?;
            rows.into_iter().map(|row| row.try_into().map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn find(&self, id: ApplicationId) -> Result<Option<ProjectScoped<Application>>, StoreError> {
        self.read(move |connection| {
            let row = row(connection, id).optional()?;
            Ok(row.map(|row| records::of_project(row.project_id, row.try_into())).transpose()?)
        })
        .await
    }

    async fn insert(
        &self,
        project: ProjectId,
        draft: ApplicationDraft,
        token_fingerprint: String,
        at: DateTime<Utc>,
    ) -> Result<Application, ApplicationError> {
        self.write(move |connection| {
            connection.invalidate(Topic::Storefront, project.get());
            lock_services(connection, project)?;
            let branch = branches::table
                .filter(branches::id.eq(draft.branch_id.get()))
                .filter(branches::project_id.eq(project.get()));
            if !found!(connection, branch)? {
                return Err(Abort::refused(ApplicationRefusal::UnknownBranch));
            }
            let id: i64 = diesel::insert_into(applications::table)
                .values((
                    applications::project_id.eq(project.get()),
                    applications::branch_id.eq(draft.branch_id.get()),
                    applications::name.eq(draft.name.as_str()),
                    applications::url.eq(draft.url.as_ref().map(Link::as_str)),
                    applications::token_fingerprint.eq(&token_fingerprint),
                    applications::is_active.eq(true),
                    applications::wholesale.eq(draft.wholesale),
                    applications::created_at.eq(at.naive_utc()),
                    applications::updated_at.eq(at.naive_utc()),
                ))
                .returning(applications::id)
                .get_result(connection)?;
            connection.note_created("applications", id);
            // Services are sold in every application of their project from its creation.
            let services: Vec<i64> = nomenclatures::table
                .filter(nomenclatures::project_id.eq(project.get()))
                .filter(nomenclatures::kind_id.eq(SERVICE))
                .order(nomenclatures::id)
                .select(nomenclatures::id)
                .load(connection)?;
            offers::refresh(connection, &services)?;
            Ok(Application {
                id: decode::id(id)?,
                details: draft.clone(),
                is_active: true,
                created_at: at,
                updated_at: at,
            })
        })
        .await
    }

    async fn switch(
        &self,
        id: ApplicationId,
        is_active: bool,
        at: DateTime<Utc>,
    ) -> Result<Application, ApplicationError> {
        self.write(move |connection| {
            let switched = applications::table.find(id.get()).filter(applications::is_active.ne(is_active));
            let changed = (applications::is_active.eq(is_active), applications::updated_at.eq(at.naive_utc()));
            if diesel::update(switched).set(changed).execute(connection)? > 0 {
                if is_active {
                    let since = applications::activated_at.eq(Some(at.naive_utc()));
                    diesel::update(applications::table.find(id.get())).set(since).execute(connection)?;
                }
                wake_subscriptions(connection, id, at.naive_utc())?;
            }
            reload_application(connection, id)
        })
        .await
    }

    async fn replace_token(
        &self,
        id: ApplicationId,
        token_fingerprint: String,
        at: DateTime<Utc>,
    ) -> Result<Application, ApplicationError> {
        self.write(move |connection| {
            let changed =
                (applications::token_fingerprint.eq(&token_fingerprint), applications::updated_at.eq(at.naive_utc()));
            diesel::update(applications::table.find(id.get())).set(changed).execute(connection)?;
            reload_application(connection, id)
        })
        .await
    }

    async fn by_token(&self, fingerprint: &str) -> Result<Option<AppScope>, StoreError> {
        let fingerprint = fingerprint.to_owned();
        if let Some(known) = self.memory::<ApplicationCache>().0.cached(self.cache_versions(), &fingerprint) {
            return Ok(Some(known));
        }
        let before = self.cache_versions().version_anywhere(Topic::Access);
        let key = fingerprint.clone();
        let found: Option<AppScope> = self
            .read_brief(move |connection| {
                let row: Option<(i64, i64, bool)> = on_each!(connection, concrete => applications::table
                .filter(applications::token_fingerprint.eq(&fingerprint))
                .filter(applications::is_active.eq(true))
                .select((applications::id, applications::project_id, applications::wholesale))
                .first(concrete)
                .optional())?;
                let scope = row.map(|(application, project, wholesale)| {
                    Ok::<_, StoreError>(AppScope {
                        project_id: decode::id(project)?,
                        application_id: decode::id(application)?,
                        wholesale,
                    })
                });
                Ok::<_, Abort<StoreError>>(scope.transpose()?)
            })
            .await?;
        if let Some(scope) = &found {
            self.memory::<ApplicationCache>().0.keep(self.cache_versions(), before, scope.project_id, key, scope);
        }
        Ok(found)
    }
}
