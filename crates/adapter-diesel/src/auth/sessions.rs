//! Sessions of customers.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_auth::model::ClientSession;
use kontor_auth::ports::{ClientSessions, SessionStart};
use kontor_kernel::{ApplicationId, CounterpartyId, CustomerScope, ProjectId, StoreError, TokenId};

use crate::customer_data::guard;
use crate::customer_data::sessions::{ACTIVE, close};
use crate::database::{AnyConnection, Database, Extent, found, on_each};
use crate::decode;
use crate::schema::client_sessions;
use crate::statement::Statement;
use crate::time_codec::Moment;

#[derive(Queryable, Selectable)]
#[diesel(table_name = client_sessions)]
struct SessionRow {
    id: i64,
    started_at: NaiveDateTime,
    last_seen_at: NaiveDateTime,
    duration_micros: i64,
}

impl TryFrom<SessionRow> for ClientSession {
    type Error = StoreError;

    fn try_from(row: SessionRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            started_at: decode::moment(row.started_at),
            last_seen_at: decode::moment(row.last_seen_at),
            duration: TimeDelta::microseconds(row.duration_micros),
        })
    }
}

fn micros(duration: TimeDelta) -> i64 {
    duration.num_microseconds().unwrap_or(i64::MAX)
}

/// Stores the session that starts with a token.
pub(super) fn open(
    connection: &mut AnyConnection,
    (project, application, customer): (ProjectId, ApplicationId, CounterpartyId),
    token: i64,
    at: NaiveDateTime,
) -> Result<(), QueryError> {
    let row = (
        client_sessions::project_id.eq(project.get()),
        client_sessions::application_id.eq(application.get()),
        client_sessions::counterparty_id.eq(customer.get()),
        client_sessions::token_id.eq(token),
        client_sessions::status.eq(ACTIVE),
        client_sessions::started_at.eq(Moment(at)),
        client_sessions::last_seen_at.eq(Moment(at)),
        client_sessions::duration_micros.eq(0),
    );
    let into = diesel::insert_into(client_sessions::table).values(row);
    on_each!(connection, concrete => into.execute(concrete))?;
    Ok(())
}

/// Starts a session. The partial unique key lets one of several concurrent calls succeed. The same statement checks the
/// token: a token that has ended in the meantime gets no session.
fn start(
    connection: &mut AnyConnection,
    customer: &CustomerScope,
    at: NaiveDateTime,
) -> Result<Option<i64>, QueryError> {
    let insert = Statement::new(
        "INSERT INTO client_sessions (project_id, application_id, counterparty_id, token_id, status, started_at, \
         last_seen_at, duration_micros) SELECT t.project_id, t.application_id, t.subject_id, t.id, 'active', ",
    )
    .value(at)
    .sql(", ")
    .value(at)
    .sql(", 0 FROM access_tokens t WHERE t.id = ")
    .value(customer.token_id.get())
    .sql(" AND t.guard = ")
    .value(guard::COUNTERPARTY)
    .sql(" AND t.subject_id = ")
    .value(customer.counterparty_id.get());
    let insert = insert.locked(connection, " FOR KEY SHARE OF t");
    insert.sql(" ON CONFLICT (token_id) WHERE status = 'active' DO NOTHING RETURNING id").scalar(connection).optional()
}

#[async_trait]
impl ClientSessions for Database {
    async fn current(&self, token: TokenId) -> Result<Option<ClientSession>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let row: Option<SessionRow> = client_sessions::table
                    .filter(client_sessions::token_id.eq(token.get()))
                    .filter(client_sessions::status.eq(ACTIVE))
                    .select(SessionRow::as_select())
                    .first(connection)
                    .optional()?;
                Ok(row.map(ClientSession::try_from).transpose()?)
            })
            .await
    }

    async fn continue_session(&self, session: ClientSession, seen_at: DateTime<Utc>) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let stored = Statement::new("UPDATE client_sessions SET last_seen_at = ")
                .value(session.last_seen_at.naive_utc())
                .sql(", duration_micros = ")
                .value(micros(session.duration))
                .sql(" WHERE id = ")
                .value(session.id.get())
                .sql(" AND status = ")
                .value(ACTIVE)
                .sql(" AND last_seen_at = ")
                .value(seen_at.naive_utc())
                .run(connection)?;
            Ok(stored == 1)
        })
        .await
    }

    async fn start(
        &self,
        customer: CustomerScope,
        before: Option<ClientSession>,
        at: DateTime<Utc>,
    ) -> Result<SessionStart, StoreError> {
        self.write(move |connection| {
            if let Some(before) = before {
                let unseen = client_sessions::id
                    .eq(before.id.get())
                    .and(client_sessions::last_seen_at.eq(before.last_seen_at.naive_utc()));
                if close!(connection, unseen)? == 0 {
                    return Ok(SessionStart::Superseded);
                }
            }
            if let Some(id) = start(connection, &customer, at.naive_utc())? {
                let (id, duration) = (decode::id(id)?, TimeDelta::zero());
                return Ok(SessionStart::Started(ClientSession { id, started_at: at, last_seen_at: at, duration }));
            }
            let other = client_sessions::table
                .filter(client_sessions::token_id.eq(customer.token_id.get()))
                .filter(client_sessions::status.eq(ACTIVE));
            let overtaken = found!(connection, other)?;
            Ok(if overtaken { SessionStart::Superseded } else { SessionStart::SignedOut })
        })
        .await
    }
}
