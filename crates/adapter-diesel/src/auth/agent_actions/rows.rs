use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_auth::AgentActionError;
use kontor_auth::model::{
    AgentAction, AgentActionDecision, AgentActionEvent, AgentActionFilter, AgentActionState, AgentCall, AgentExecution,
    AgentResult, NewAgentAction, Reason, canonical,
};
use kontor_kernel::{ProjectId, StoreError, TokenId, Word};
use uuid::Uuid;

use crate::database::{Abort, AnyConnection, Backend};
use crate::decode;
use crate::schema::agent_actions as actions;

pub(super) const TABLE: &str = "agent_actions";

#[derive(Queryable, Selectable)]
#[diesel(table_name = actions)]
pub(super) struct ActionRow {
    pub(super) id: i64,
    public_id: String,
    pub(super) project_id: i64,
    agent_id: i64,
    token_id: i64,
    channel: String,
    operation: String,
    target: String,
    body: Option<String>,
    sent_key: Option<String>,
    if_match: Option<String>,
    preview_hash: Option<String>,
    class: String,
    arguments_hash: String,
    policy_version: i64,
    needs_approval: bool,
    state: String,
    decided_by: Option<i64>,
    decided_at: Option<NaiveDateTime>,
    reason: Option<String>,
    proposed_at: NaiveDateTime,
    expires_at: NaiveDateTime,
    keep_until: NaiveDateTime,
    started_at: Option<NaiveDateTime>,
    leased_until: Option<NaiveDateTime>,
    attempts: i32,
    finished_at: Option<NaiveDateTime>,
    status_code: Option<i32>,
    error_code: Option<String>,
    result: Option<String>,
    reported_at: Option<NaiveDateTime>,
}

impl ActionRow {
    fn decision(&self) -> Result<Option<AgentActionDecision>, StoreError> {
        let (Some(by), Some(at)) = (self.decided_by, self.decided_at) else { return Ok(None) };
        let reason = self.reason.as_deref().map(Reason::parse).transpose().map_err(StoreError::corrupt)?;
        Ok(Some(AgentActionDecision { by: decode::id(by)?, at: decode::moment(at), reason }))
    }

    fn execution(&self) -> Result<Option<AgentExecution>, StoreError> {
        let (Some(started), Some(leased)) = (self.started_at, self.leased_until) else { return Ok(None) };
        let finished = match (self.finished_at, self.status_code) {
            (Some(at), Some(status)) => {
                let status = u16::try_from(status).map_err(StoreError::corrupt)?;
                let result = AgentResult { status, code: self.error_code.clone(), body: self.result.clone() };
                Some((decode::moment(at), result))
            }
            _ => None,
        };
        let (started_at, leased_until) = (decode::moment(started), decode::moment(leased));
        Ok(Some(AgentExecution { started_at, leased_until, attempts: self.attempts, finished }))
    }

    fn call(&self) -> Result<AgentCall, StoreError> {
        let body = self.body.as_deref().map(serde_json::from_str).transpose().map_err(StoreError::corrupt)?;
        let operation = self.operation.split_once(' ');
        let (method, tool) =
            operation.ok_or_else(|| StoreError::corrupt("agent_actions: the operation has no path"))?;
        let (path, query) = self.target.split_once('?').unwrap_or((&self.target, ""));
        Ok(AgentCall {
            method: method.to_owned(),
            tool: tool.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            body,
            sent_key: self.sent_key.clone(),
            if_match: self.if_match.clone(),
            preview_hash: self.preview_hash.clone(),
        })
    }
}

impl TryFrom<ActionRow> for AgentAction {
    type Error = StoreError;

    fn try_from(row: ActionRow) -> Result<Self, StoreError> {
        let (decision, execution, call) = (row.decision()?, row.execution()?, row.call()?);
        let proposal = NewAgentAction {
            public_id: decode::text(&row.public_id)?,
            project_id: decode::id(row.project_id)?,
            agent_id: decode::id(row.agent_id)?,
            token_id: decode::id(row.token_id)?,
            channel: decode::word(TABLE, row.id, "channel", &row.channel)?,
            call,
            class: decode::word(TABLE, row.id, "class", &row.class)?,
            arguments_hash: row.arguments_hash,
            policy_version: row.policy_version,
            needs_approval: row.needs_approval,
            proposed_at: decode::moment(row.proposed_at),
            expires_at: decode::moment(row.expires_at),
            keep_until: decode::moment(row.keep_until),
        };
        let stored = decode::word(TABLE, row.id, "state", &row.state)?;
        Ok(Self { proposal, stored, decision, execution, reported_at: row.reported_at.map(decode::moment) })
    }
}

macro_rules! one {
    ($public_id:expr) => {
        actions::table.filter(actions::public_id.eq($public_id.to_string()))
    };
}
pub(super) use one;

/// Selects the row of a call that was read.
macro_rules! row_of {
    ($public_id:expr, $action:expr) => {
        one!($public_id).filter(actions::project_id.eq($action.proposal.project_id.get()))
    };
}
pub(super) use row_of;

pub(super) fn load<R>(connection: &mut AnyConnection, public_id: Uuid) -> Result<Option<ActionRow>, Abort<R>> {
    Ok(one!(public_id).select(ActionRow::as_select()).first(connection).optional()?)
}

/// Locks the row by an update, then reads it. Concurrent moves of the call wait, so the read state stays valid.
pub(super) fn lock_action<R>(connection: &mut AnyConnection, public_id: Uuid) -> Result<Option<AgentAction>, Abort<R>> {
    diesel::update(one!(public_id)).set(actions::state.eq(actions::state)).execute(connection)?;
    Ok(load(connection, public_id)?.map(AgentAction::try_from).transpose()?)
}

/// Locks a call, and returns it with its state after the event.
pub(super) fn moved(
    connection: &mut AnyConnection,
    public_id: Uuid,
    event: AgentActionEvent,
    at: DateTime<Utc>,
) -> Result<(AgentAction, AgentActionState), Abort<AgentActionError>> {
    let action = lock_action(connection, public_id)?.ok_or(Abort::Refused(AgentActionError::NotFound))?;
    let state = action.after(event, at).map_err(Abort::refused)?;
    Ok((action, state))
}

/// Returns the newest equal call that needed approval.
pub(super) fn newest<R>(
    connection: &mut AnyConnection,
    token: TokenId,
    arguments_hash: &str,
) -> Result<Option<AgentAction>, Abort<R>> {
    let row: Option<ActionRow> = actions::table
        .filter(actions::token_id.eq(token.get()))
        .filter(actions::arguments_hash.eq(arguments_hash))
        .filter(actions::needs_approval.eq(true))
        .order(actions::id.desc())
        .select(ActionRow::as_select())
        .first(connection)
        .optional()?;
    Ok(row.map(AgentAction::try_from).transpose()?)
}

pub(super) fn insert<R>(connection: &mut AnyConnection, action: &AgentAction) -> Result<(), Abort<R>> {
    let AgentAction { proposal: new, stored, execution, reported_at, .. } = action;
    let call = &new.call;
    let target = if call.query.is_empty() { call.path.clone() } else { format!("{}?{}", call.path, call.query) };
    let finished = execution.as_ref().and_then(|execution| execution.finished.as_ref());
    diesel::insert_into(actions::table)
        .values((
            actions::public_id.eq(new.public_id.to_string()),
            actions::project_id.eq(new.project_id.get()),
            actions::agent_id.eq(new.agent_id.get()),
            actions::token_id.eq(new.token_id.get()),
            actions::channel.eq(new.channel.word()),
            actions::operation.eq(call.operation()),
            actions::target.eq(target),
            actions::body.eq(call.body.as_ref().map(canonical)),
            actions::sent_key.eq(call.sent_key.as_deref()),
            actions::if_match.eq(call.if_match.as_deref()),
            actions::preview_hash.eq(call.preview_hash.as_deref()),
            actions::class.eq(new.class.word()),
            actions::arguments_hash.eq(&new.arguments_hash),
            actions::policy_version.eq(new.policy_version),
            actions::needs_approval.eq(new.needs_approval),
            actions::state.eq(stored.word()),
            actions::proposed_at.eq(new.proposed_at.naive_utc()),
            actions::expires_at.eq(new.expires_at.naive_utc()),
            actions::keep_until.eq(new.keep_until.naive_utc()),
            actions::started_at.eq(execution.as_ref().map(|execution| execution.started_at.naive_utc())),
            actions::leased_until.eq(execution.as_ref().map(|execution| execution.leased_until.naive_utc())),
            actions::attempts.eq(execution.as_ref().map_or(0, |execution| execution.attempts)),
            actions::finished_at.eq(finished.map(|(at, _)| at.naive_utc())),
            actions::status_code.eq(finished.map(|(_, result)| i32::from(result.status))),
            actions::error_code.eq(finished.and_then(|(_, result)| result.code.as_deref())),
            actions::result.eq(finished.and_then(|(_, result)| result.body.as_deref())),
            actions::reported_at.eq(reported_at.map(|at| at.naive_utc())),
        ))
        .execute(connection)?;
    Ok(())
}

/// Calls of a project that match a filter at a time.
pub(super) fn matching(
    project: ProjectId,
    filter: AgentActionFilter,
    at: DateTime<Utc>,
) -> actions::BoxedQuery<'static, Backend> {
    let at = at.naive_utc();
    let mut query = actions::table.filter(actions::project_id.eq(project.get())).into_boxed();
    if let Some(agent) = filter.agent {
        query = query.filter(actions::agent_id.eq(agent.get()));
    }
    if let Some(needs_approval) = filter.needs_approval {
        query = query.filter(actions::needs_approval.eq(needs_approval));
    }
    let proposed = AgentActionState::Proposed.word();
    match filter.state {
        None => query,
        Some(AgentActionState::Expired) => query.filter(actions::state.eq(proposed)).filter(actions::expires_at.le(at)),
        Some(AgentActionState::Proposed) => {
            query.filter(actions::state.eq(proposed)).filter(actions::expires_at.gt(at))
        }
        Some(state) => query.filter(actions::state.eq(state.word())),
    }
}
