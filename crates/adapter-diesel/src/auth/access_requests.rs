use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_auth::model::{
    AccessRequest, Agent, Approval, Consumption, NewAccessRequest, Reason, Refusal, RequestStatus, Review, Stage,
    StoredAccessRequest,
};
use kontor_auth::ports::AccessRequestRepository;
use kontor_auth::{AccessRequestError, AccessRequestRefusal};
use kontor_kernel::{Page, PageRequest, Permission, ProjectId, StoreError, TokenId, Word};
use uuid::Uuid;

use super::agents::{self, TokenToStore, names};
use super::tokens::abilities;
use crate::database::{Abort, AnyConnection, Database, Extent};
use crate::schema::agent_access_requests as requests;
use crate::{decode, unreadable};

#[derive(Queryable, Selectable)]
#[diesel(table_name = requests)]
struct RequestRow {
    id: i64,
    public_id: String,
    secret_fingerprint: String,
    project_id: Option<i64>,
    name: String,
    reason: String,
    requested: String,
    permissions: String,
    status: String,
    agent_id: Option<i64>,
    decline_reason: Option<String>,
    created_at: NaiveDateTime,
    expires_at: NaiveDateTime,
}

fn reason(text: &str) -> Result<Reason, StoreError> {
    Reason::parse(text).map_err(StoreError::corrupt)
}

fn stage(row: &RequestRow) -> Result<Stage, StoreError> {
    match (RequestStatus::from_word(&row.status), row.agent_id) {
        (Some(RequestStatus::Pending), None) => Ok(Stage::Pending),
        (Some(RequestStatus::Declined), None) => {
            Ok(Stage::Declined(row.decline_reason.as_deref().map(reason).transpose()?))
        }
        (Some(RequestStatus::Approved), Some(agent)) => Ok(Stage::Approved(decode::id(agent)?)),
        (Some(RequestStatus::Consumed), Some(agent)) => Ok(Stage::Consumed(decode::id(agent)?)),
        _ => Err(decode::unknown("agent_access_requests", &row.public_id, "status", &row.status)),
    }
}

impl TryFrom<RequestRow> for StoredAccessRequest {
    type Error = StoreError;

    fn try_from(row: RequestRow) -> Result<Self, StoreError> {
        Ok(Self {
            request: AccessRequest {
                public_id: decode::text(&row.public_id)?,
                project_id: decode::optional_id(row.project_id)?,
                name: decode::text(&row.name)?,
                reason: reason(&row.reason)?,
                requested: abilities(&row.requested)?,
                permissions: abilities(&row.permissions)?,
                stage: stage(&row)?,
                created_at: decode::moment(row.created_at),
                expires_at: decode::moment(row.expires_at),
            },
            fingerprint: row.secret_fingerprint,
        })
    }
}

macro_rules! one {
    ($public_id:expr) => {
        requests::table.filter(requests::public_id.eq($public_id.to_string()))
    };
}

fn load<R>(connection: &mut AnyConnection, public_id: Uuid) -> Result<Option<StoredAccessRequest>, Abort<R>> {
    let row: Option<RequestRow> = one!(public_id).select(RequestRow::as_select()).first(connection).optional()?;
    Ok(row.map(TryInto::try_into).transpose()?)
}

/// Locks the row by an update. Concurrent decisions about the request wait, so values read afterwards stay valid.
fn lock_request(connection: &mut AnyConnection, public_id: Uuid) -> Result<AccessRequest, Abort<AccessRequestError>> {
    diesel::update(one!(public_id)).set(requests::status.eq(requests::status)).execute(connection)?;
    let held = load(connection, public_id)?.ok_or(Abort::Refused(AccessRequestError::NotFound))?;
    Ok(held.request)
}

#[async_trait]
impl AccessRequestRepository for Database {
    async fn insert(&self, new: NewAccessRequest) -> Result<(), StoreError> {
        self.write(move |connection| {
            let asked = names(&new.details.permissions);
            diesel::insert_into(requests::table)
                .values((
                    requests::public_id.eq(new.public_id.to_string()),
                    requests::secret_fingerprint.eq(&new.fingerprint),
                    requests::name.eq(new.details.name.as_str()),
                    requests::reason.eq(new.details.reason.as_str()),
                    requests::requested.eq(&asked),
                    requests::permissions.eq(&asked),
                    requests::status.eq(RequestStatus::Pending.word()),
                    requests::created_at.eq(new.created_at.naive_utc()),
                    requests::expires_at.eq(new.expires_at.naive_utc()),
                ))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn find(&self, public_id: Uuid) -> Result<Option<StoredAccessRequest>, StoreError> {
        self.expecting(Extent::Keys).read(move |connection| load(connection, public_id)).await
    }

    async fn handled(&self, project: ProjectId, page: PageRequest) -> Result<Page<AccessRequest>, StoreError> {
        self.snapshot(move |connection| {
            let of_project = || requests::table.filter(requests::project_id.eq(project.get()));
            let total: i64 = of_project().count().get_result(connection)?;
            let rows: Vec<RequestRow> = of_project()
                .order(requests::id.desc())
                .limit(page.limit())
                .offset(page.offset())
                .select(RequestRow::as_select())
                .load(connection)?;
            let items = unreadable::rows(
                "agent_access_requests",
                rows,
                |row| row.id,
                |row| StoredAccessRequest::try_from(row).map(|stored| stored.request),
            )?;
            Ok::<_, Abort<StoreError>>(decode::page(items, total, page)?)
        })
        .await
    }

    async fn review(&self, review: Review) -> Result<AccessRequest, AccessRequestError> {
        self.write(move |connection| {
            let request = lock_request(connection, review.public_id)?;
            request.require_pending(review.project_id, review.at).map_err(Abort::Refused)?;
            let left: BTreeSet<Permission> = request.narrowed(review.permissions.as_ref()).map_err(Abort::Refused)?;
            diesel::update(one!(review.public_id))
                .set((
                    requests::project_id.eq(review.project_id.get()),
                    requests::reviewer_id.eq(review.reviewer.get()),
                    requests::permissions.eq(names(&left)),
                ))
                .execute(connection)?;
            Ok(AccessRequest { project_id: Some(review.project_id), permissions: left, ..request })
        })
        .await
    }

    async fn approve(&self, approval: Approval) -> Result<(AccessRequest, Agent), AccessRequestError> {
        self.write(move |connection| {
            let request = lock_request(connection, approval.public_id)?;
            let new = request.approved(&approval).map_err(Abort::Refused)?;
            let agent = agents::insert(connection, &new)?;
            diesel::update(one!(approval.public_id))
                .set((
                    requests::project_id.eq(approval.project_id.get()),
                    requests::reviewer_id.eq(approval.reviewer.get()),
                    requests::permissions.eq(names(&new.permissions)),
                    requests::status.eq(RequestStatus::Approved.word()),
                    requests::agent_id.eq(agent.id.get()),
                    requests::decided_at.eq(approval.at.naive_utc()),
                ))
                .execute(connection)?;
            let project_id = Some(approval.project_id);
            let stage = Stage::Approved(agent.id);
            Ok((AccessRequest { project_id, permissions: new.permissions, stage, ..request }, agent))
        })
        .await
    }

    async fn decline(&self, refusal: Refusal) -> Result<AccessRequest, AccessRequestError> {
        self.write(move |connection| {
            let request = lock_request(connection, refusal.public_id)?;
            request.require_pending(refusal.project_id, refusal.at).map_err(Abort::Refused)?;
            diesel::update(one!(refusal.public_id))
                .set((
                    requests::project_id.eq(refusal.project_id.get()),
                    requests::reviewer_id.eq(refusal.reviewer.get()),
                    requests::status.eq(RequestStatus::Declined.word()),
                    requests::decline_reason.eq(refusal.reason.as_ref().map(Reason::as_str)),
                    requests::decided_at.eq(refusal.at.naive_utc()),
                ))
                .execute(connection)?;
            let stage = Stage::Declined(refusal.reason.clone());
            Ok(AccessRequest { project_id: Some(refusal.project_id), stage, ..request })
        })
        .await
    }

    async fn consume(&self, consumption: Consumption) -> Result<(TokenId, Agent), AccessRequestError> {
        self.write(move |connection| {
            let request = lock_request(connection, consumption.public_id)?;
            let agent = request.consumable(consumption.at).map_err(Abort::Refused)?;
            let revoked = || Abort::refused(AccessRequestRefusal::State(RequestStatus::Declined));
            let (_, project) = agents::lock_agent(connection, agent)?.ok_or_else(revoked)?;
            if !agents::has_room(connection, agent)? {
                return Err(Abort::refused(AccessRequestRefusal::TooManyTokens));
            }
            let agent = agents::written(connection, agent.get())?;
            let token = TokenToStore {
                project,
                agent: agent.id,
                name: &request.name,
                abilities: None,
                fingerprint: &consumption.fingerprint,
                created_at: consumption.at,
                expires_at: consumption.expires_at,
            };
            let token = agents::insert_token(connection, &token)?;
            diesel::update(one!(consumption.public_id).filter(requests::project_id.eq(project)))
                .set((
                    requests::status.eq(RequestStatus::Consumed.word()),
                    requests::consumed_at.eq(consumption.at.naive_utc()),
                ))
                .execute(connection)?;
            Ok((decode::id(token)?, agent))
        })
        .await
    }
}
