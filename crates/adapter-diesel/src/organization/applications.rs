use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::{AppScope, ApplicationId, Link, ProjectId, ProjectScoped, Stamp, StoreError};
use kontor_organization::model::{Application, ApplicationChange, ApplicationDraft};
use kontor_organization::ports::ApplicationRepository;
use kontor_organization::{ApplicationError, ApplicationRefusal};

use super::require_branch;
use crate::applications::{project_of, wake_subscriptions};
use crate::database::{Abort, AnyConnection, BoundedCache, Database, Extent, Topic, on_each, on_reference};
use crate::locks::lock_project;
use crate::read_models::offers;
use crate::records::StoredRecord;
use crate::schema::{applications, keyed, nomenclatures};
use crate::{decode, records, unreadable};

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
    token_issued_at: Option<NaiveDateTime>,
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
            // A token that was never replaced is as old as the application.
            token_issued_at: decode::moment(row.token_issued_at.unwrap_or(row.created_at)),
            created_at: decode::moment(row.created_at),
            updated_at: decode::moment(row.updated_at),
        })
    }
}

impl StoredRecord for Application {
    const TABLE: &'static str = "applications";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        let row: Option<ApplicationRow> =
            applications::table.find(id).select(ApplicationRow::as_select()).first(connection).optional()?;
        Ok(row.map(|row| records::of_project(row.project_id, row.try_into())).transpose()?)
    }
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
            Ok::<_, Abort<StoreError>>(unreadable::rows("applications", rows, |row| row.id, Application::try_from)?)
        })
        .await
    }

    async fn find(&self, id: ApplicationId) -> Result<Option<ProjectScoped<Application>>, StoreError> {
        records::find(self, id.get()).await
    }

    async fn project(&self, id: ApplicationId) -> Result<Option<ProjectId>, StoreError> {
        self.read(move |connection| Ok(decode::optional_id(project_of(connection, id.get())?)?)).await
    }

    async fn insert(
        &self,
        stamp: Stamp,
        draft: ApplicationDraft,
        token_fingerprint: String,
    ) -> Result<Application, ApplicationError> {
        let (project, at) = (stamp.project_id, stamp.at.naive_utc());
        records::insert(self, stamp, move |connection| {
            connection.invalidate(Topic::Storefront, project.get());
            // An application sells all services of the project.
            lock_project(connection, project)?;
            require_branch(connection, &stamp, Some(draft.branch_id), ApplicationRefusal::UnknownBranch)?;
            let id: i64 = diesel::insert_into(applications::table)
                .values((
                    applications::project_id.eq(project.get()),
                    applications::branch_id.eq(draft.branch_id.get()),
                    applications::name.eq(draft.name.as_str()),
                    applications::url.eq(draft.url.as_ref().map(Link::as_str)),
                    applications::token_fingerprint.eq(&token_fingerprint),
                    applications::is_active.eq(true),
                    applications::wholesale.eq(draft.wholesale),
                    applications::created_at.eq(at),
                    applications::updated_at.eq(at),
                ))
                .returning(applications::id)
                .get_result(connection)?;
            // Services are sold in every application of their project from its creation.
            let services: Vec<i64> = nomenclatures::table
                .filter(nomenclatures::project_id.eq(project.get()))
                .filter(nomenclatures::kind_id.eq(SERVICE))
                .order(nomenclatures::id)
                .select(nomenclatures::id)
                .load(connection)?;
            offers::refresh(connection, &services)?;
            Ok(id)
        })
        .await
    }

    async fn update(
        &self,
        stamp: Stamp,
        id: ApplicationId,
        change: ApplicationChange,
    ) -> Result<Application, ApplicationError> {
        records::change(self, stamp, id.get(), move |connection, before: &Application| {
            let branch = change.branch_id.as_set().copied();
            require_branch(connection, &stamp, branch, ApplicationRefusal::UnknownBranch)?;
            diesel::update(keyed!(applications, before.id.get(), stamp.project_id))
                .set((
                    branch.map(|id| applications::branch_id.eq(id.get())),
                    change.name.as_set().map(|name| applications::name.eq(name.as_str())),
                    change.url.as_set().map(|url| applications::url.eq(url.as_ref().map(Link::as_str))),
                    change.wholesale.as_set().map(|wholesale| applications::wholesale.eq(*wholesale)),
                    applications::version.eq(applications::version + 1),
                    applications::updated_at.eq(stamp.at.naive_utc()),
                ))
                .execute(connection)
                .map_err(on_reference(ApplicationRefusal::UnknownBranch))
        })
        .await
    }

    async fn switch(&self, stamp: Stamp, id: ApplicationId, is_active: bool) -> Result<Application, ApplicationError> {
        let at = stamp.at.naive_utc();
        records::change(self, stamp, id.get(), move |connection, before: &Application| {
            if before.is_active == is_active {
                return Ok(1);
            }
            let written = diesel::update(keyed!(applications, before.id.get(), stamp.project_id))
                .set((
                    applications::is_active.eq(is_active),
                    is_active.then(|| applications::activated_at.eq(Some(at))),
                    applications::version.eq(applications::version + 1),
                    applications::updated_at.eq(at),
                ))
                .execute(connection)?;
            wake_subscriptions(connection, before.id, at)?;
            Ok(written)
        })
        .await
    }

    async fn replace_token(
        &self,
        stamp: Stamp,
        id: ApplicationId,
        token_fingerprint: String,
    ) -> Result<Application, ApplicationError> {
        let at = stamp.at.naive_utc();
        records::change(self, stamp, id.get(), move |connection, before: &Application| {
            Ok(diesel::update(keyed!(applications, before.id.get(), stamp.project_id))
                .set((
                    applications::token_fingerprint.eq(&token_fingerprint),
                    applications::token_issued_at.eq(Some(at)),
                    applications::version.eq(applications::version + 1),
                    applications::updated_at.eq(at),
                ))
                .execute(connection)?)
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
            .expecting(Extent::Keys)
            .read(move |connection| {
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
