use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use kontor_auth::miniapp::MiniAppProvider;
use kontor_auth::ports::MiniAppTokens;
use kontor_kernel::{ApplicationId, StoreError, Word};

use crate::database::{Abort, Database, Extent, found, on_each};
use crate::schema::{application_miniapps, applications};

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
            if !found!(connection, applications::table.find(application.get()))? {
                return Ok(false);
            }
            let key = (
                application_miniapps::application_id.eq(application.get()),
                application_miniapps::provider.eq(provider.word()),
            );
            let state =
                (application_miniapps::sealed_token.eq(&sealed), application_miniapps::updated_at.eq(at.naive_utc()));
            let created = application_miniapps::created_at.eq(at.naive_utc());
            on_each!(connection, concrete => {
                diesel::insert_into(application_miniapps::table)
                    .values((key, state, created))
                    .on_conflict((application_miniapps::application_id, application_miniapps::provider))
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
