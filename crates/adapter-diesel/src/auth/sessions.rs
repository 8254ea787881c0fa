//! Logins of customers: accounts, one-time codes and sessions.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_auth::model::{ClientSession, CodeRedemption, ContactOwner, NewCode, NewToken, RedeemOutcome};
use kontor_auth::ports::{ClientSessions, CodeRepository, CustomerAccounts, SessionStart};
use kontor_kernel::{AppScope, ApplicationId, Contact, CounterpartyId, CustomerScope, ProjectId, StoreError, TokenId};

use super::{Holder, insert_token};
use crate::customer_data::{
    ACTIVE_SESSION, BindError, NewCustomerData, bound, close_sessions, find_or_bind, guard, owner,
};
use crate::database::{Abort, AnyConnection, Database, Extent, found, on_each};
use crate::decode;
use crate::schema::{client_sessions, one_time_codes};
use crate::statement::Statement;
use crate::time_codec::Moment;

fn unbound_concurrently() -> StoreError {
    StoreError::Unavailable("a contact was linked and unlinked by concurrent requests; retry".to_owned())
}

#[async_trait]
impl CustomerAccounts for Database {
    async fn find_or_create(
        &self,
        project: ProjectId,
        contact: &Contact,
        at: DateTime<Utc>,
    ) -> Result<CounterpartyId, StoreError> {
        let (known, wanted) = (contact.clone(), contact.clone());
        let find = move |connection: &mut AnyConnection| {
            let id = bound(connection, project, &known)?;
            Ok::<_, Abort<StoreError>>(id.map(decode::id::<CounterpartyId>).transpose()?)
        };
        if let Some(customer) = self.read(find.clone()).await? {
            return Ok(customer);
        }
        let made = self
            .write(move |connection| {
                find_or_bind(connection, project, &wanted, &NewCustomerData::default(), at.naive_utc())
            })
            .await;
        match made {
            Ok(customer) => Ok(customer),
            Err(BindError::Store(error)) => Err(error),
            Err(BindError::Lost) => self.read(find).await?.ok_or_else(unbound_concurrently),
        }
    }

    async fn sign_in_customer(
        &self,
        app: AppScope,
        contact: &Contact,
        token: NewToken,
    ) -> Result<(CounterpartyId, TokenId), StoreError> {
        // A call that loses the race for a new contact finds it bound on the second attempt.
        for _ in 0..2 {
            let (contact, token) = (contact.clone(), token.clone());
            let signed = self
                .write(move |connection| {
                    let at = token.created_at.naive_utc();
                    let customer = find_or_bind(connection, app.project_id, &contact, &NewCustomerData::default(), at)?;
                    let holder = Holder::Customer(app.project_id, app.application_id, customer);
                    let token = insert_token(connection, &holder, &token)?;
                    Ok((customer, decode::id(token)?))
                })
                .await;
            match signed {
                Ok(signed) => return Ok(signed),
                Err(BindError::Store(error)) => return Err(error),
                Err(BindError::Lost) => {}
            }
        }
        Err(unbound_concurrently())
    }
}

#[async_trait]
impl CodeRepository for Database {
    async fn replace(&self, project: ProjectId, contact: &Contact, code: NewCode) -> Result<(), StoreError> {
        let contact = contact.clone();
        self.write(move |connection| {
            let state = (
                one_time_codes::fingerprint.eq(&code.fingerprint),
                one_time_codes::attempts_left.eq(i32::from(code.attempts)),
                one_time_codes::expires_at.eq(code.expires_at.naive_utc()),
                one_time_codes::consumed_at.eq(None::<NaiveDateTime>),
                one_time_codes::created_at.eq(code.created_at.naive_utc()),
            );
            let key = (one_time_codes::project_id.eq(project.get()), one_time_codes::contact.eq(contact.as_str()));
            on_each!(connection, concrete => {
                diesel::insert_into(one_time_codes::table)
                    .values((key, state))
                    .on_conflict((one_time_codes::project_id, one_time_codes::contact))
                    .do_update()
                    .set(state)
                    .execute(concrete)
            })?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn redeem(&self, redemption: CodeRedemption) -> Result<RedeemOutcome, StoreError> {
        self.write(move |connection| {
            let (project, contact) = (redemption.project_id, &redemption.contact);
            let now = redemption.token.created_at.naive_utc();
            let Some(customer) = bound(connection, project, contact)? else {
                return Ok(match owner(connection, project, contact, None)? {
                    ContactOwner::NoCustomer => RedeemOutcome::UnknownContact,
                    ContactOwner::One(_) | ContactOwner::Several { .. } => RedeemOutcome::NoValidCode,
                });
            };
            // The fingerprint is keyed, so comparing it in the statement reveals nothing about the code.
            let live = || {
                Statement::new(" WHERE project_id = ")
                    .value(project.get())
                    .sql(" AND contact = ")
                    .value(contact.as_str())
                    .sql(" AND consumed_at IS NULL AND attempts_left > 0 AND expires_at > ")
                    .value(now)
            };
            // Diesel would prepare its own updates again on each call.
            let used = Statement::new("UPDATE one_time_codes SET consumed_at = ").value(now).then(live());
            let used = used.sql(" AND fingerprint = ").value(redemption.fingerprint.as_str()).run(connection)?;
            if used == 1 {
                let customer = decode::id(customer)?;
                let holder = Holder::Customer(project, redemption.application_id, customer);
                let token = insert_token(connection, &holder, &redemption.token)?;
                return Ok(RedeemOutcome::SignedIn { counterparty_id: customer, token_id: decode::id(token)? });
            }
            let counted = Statement::new("UPDATE one_time_codes SET attempts_left = attempts_left - 1").then(live());
            let counted = counted.run(connection)?;
            Ok(if counted == 1 { RedeemOutcome::WrongCode } else { RedeemOutcome::NoValidCode })
        })
        .await
    }
}

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
        client_sessions::status.eq(ACTIVE_SESSION),
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
    insert
        .sql(" ON CONFLICT (token_id, project_id) WHERE status = 'active' DO NOTHING RETURNING id")
        .scalar(connection)
        .optional()
}

#[async_trait]
impl ClientSessions for Database {
    async fn current(&self, token: TokenId) -> Result<Option<ClientSession>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let row: Option<SessionRow> = client_sessions::table
                    .filter(client_sessions::token_id.eq(token.get()))
                    .filter(client_sessions::status.eq(ACTIVE_SESSION))
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
                .value(ACTIVE_SESSION)
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
                    .and(client_sessions::project_id.eq(customer.app.project_id.get()))
                    .and(client_sessions::last_seen_at.eq(before.last_seen_at.naive_utc()));
                if close_sessions!(connection, unseen)? == 0 {
                    return Ok(SessionStart::Superseded);
                }
            }
            if let Some(id) = start(connection, &customer, at.naive_utc())? {
                let (id, duration) = (decode::id(id)?, TimeDelta::zero());
                return Ok(SessionStart::Started(ClientSession { id, started_at: at, last_seen_at: at, duration }));
            }
            let other = client_sessions::table
                .filter(client_sessions::token_id.eq(customer.token_id.get()))
                .filter(client_sessions::status.eq(ACTIVE_SESSION));
            let overtaken = found!(connection, other)?;
            Ok(if overtaken { SessionStart::Superseded } else { SessionStart::SignedOut })
        })
        .await
    }
}
