mod policy;
mod rows;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use diesel::prelude::*;
use kontor_auth::model::{
    AgentAction, AgentActionDecision, AgentActionEvent, AgentActionFilter, AgentActionState, AgentExecution,
    AgentLimits, AgentPolicy, AgentResult, MAX_LOGGED_AGENT_FAILURES, MAX_OPEN_AGENT_ACTIONS, NewAgentAction, Reason,
};
use kontor_auth::ports::AgentActionRepository;
use kontor_auth::{AgentActionError, AgentActionRefusal};
use kontor_kernel::{Page, PageRequest, ProjectId, ProjectScoped, StoreError, TokenId, UserId, Word};
use uuid::Uuid;

use self::rows::{ActionRow, TABLE, insert, load, lock_action, matching, moved, newest, one};
use super::{agents, guard};
use crate::database::{Abort, AnyConnection, Database, Extent};
use crate::decode;
use crate::records;
use crate::schema::{access_tokens, agent_actions as actions, users};
use crate::unreadable;

/// Refuses an approval beyond the maximum of the employee within an hour. The lock of the employee orders their
/// concurrent approvals.
fn require_approvals_left(
    connection: &mut AnyConnection,
    decision: &AgentActionDecision,
    most: i64,
) -> Result<(), Abort<AgentActionError>> {
    let employee = users::table.filter(users::id.eq(decision.by.get()));
    diesel::update(employee).set(users::is_banned.eq(users::is_banned)).execute(connection)?;
    let approved: i64 = actions::table
        .filter(actions::decided_by.eq(decision.by.get()))
        .filter(actions::decided_at.gt((decision.at - TimeDelta::hours(1)).naive_utc()))
        .filter(actions::state.ne(AgentActionState::Refused.word()))
        .count()
        .get_result(connection)?;
    if approved < most { Ok(()) } else { Err(Abort::refused(AgentActionRefusal::TooManyApprovals)) }
}

/// Counts a failure on the newest entry of the log, if the agent has the maximum of entries within an hour. Returns
/// `false` if the failure gets an entry of its own.
fn is_only_counted(connection: &mut AnyConnection, new: &NewAgentAction) -> Result<bool, Abort<StoreError>> {
    // The lock of the agent orders its concurrent failures.
    agents::lock_agent(connection, new.agent_id)?;
    let hour = (new.proposed_at - TimeDelta::hours(1)).naive_utc();
    // The period of an entry of the log ends with its call.
    let recent = || {
        actions::table
            .filter(actions::agent_id.eq(new.agent_id.get()))
            .filter(actions::expires_at.gt(hour))
            .filter(actions::needs_approval.eq(false))
            .filter(actions::state.eq(AgentActionState::Failed.word()))
    };
    let logged: i64 = recent().count().get_result(connection)?;
    if logged < MAX_LOGGED_AGENT_FAILURES {
        return Ok(false);
    }
    let newest: i64 = recent().order(actions::id.desc()).select(actions::id).first(connection)?;
    diesel::update(actions::table.filter(actions::id.eq(newest)))
        .set(actions::attempts.eq(actions::attempts + 1))
        .execute(connection)?;
    Ok(true)
}

/// Reads calls to check that their rows can be decoded, one by one, because their arguments may be long.
pub(crate) fn try_to_read(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<()>, Abort<StoreError>> {
    for id in ids {
        let row: Option<ActionRow> =
            actions::table.filter(actions::id.eq(*id)).select(ActionRow::as_select()).first(connection).optional()?;
        row.map(AgentAction::try_from).transpose()?;
    }
    Ok(Vec::new())
}

/// Reads the policies of projects to check that their rows can be decoded.
pub(crate) fn try_to_read_policies(
    connection: &mut AnyConnection,
    projects: &[i64],
) -> Result<Vec<()>, Abort<StoreError>> {
    for project in projects {
        policy::load(connection, decode::id(*project)?)?;
    }
    Ok(Vec::new())
}

#[async_trait]
impl AgentActionRepository for Database {
    async fn policy(&self, project: ProjectId) -> Result<AgentPolicy, StoreError> {
        self.expecting(Extent::Keys).read(move |connection| policy::load(connection, project)).await
    }

    async fn set_policy(
        &self,
        project: ProjectId,
        policy: AgentPolicy,
        by: UserId,
        at: DateTime<Utc>,
    ) -> Result<AgentPolicy, AgentActionError> {
        self.write(move |connection| policy::store(connection, project, &policy, (by, at))).await
    }

    async fn use_limits(
        &self,
        agent: UserId,
        day_end: DateTime<Utc>,
        limits: AgentLimits,
        amount: i64,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| policy::count(connection, agent, day_end, limits, amount)).await
    }

    async fn latest(&self, token: TokenId, arguments_hash: String) -> Result<Option<AgentAction>, StoreError> {
        self.expecting(Extent::Keys).read(move |connection| newest(connection, token, &arguments_hash)).await
    }

    async fn propose(&self, new: NewAgentAction) -> Result<AgentAction, AgentActionError> {
        self.write(move |connection| {
            // The lock of the agent orders equal calls, and the count of its open calls.
            agents::lock_agent(connection, new.agent_id)?.ok_or(Abort::Refused(AgentActionError::NotFound))?;
            let known = newest(connection, new.token_id, &new.arguments_hash)?;
            if let Some(known) = known.filter(|known| known.answers(new.proposed_at, new.policy_version)) {
                return Ok(known);
            }
            let open: i64 = actions::table
                .filter(actions::agent_id.eq(new.agent_id.get()))
                .filter(actions::expires_at.gt(new.proposed_at.naive_utc()))
                .filter(actions::state.eq(AgentActionState::Proposed.word()))
                .count()
                .get_result(connection)?;
            if open >= MAX_OPEN_AGENT_ACTIONS {
                return Err(Abort::refused(AgentActionRefusal::TooMany));
            }
            let stored = AgentActionState::Proposed;
            let (decision, execution, reported_at) = (None, None, None);
            let action = AgentAction { proposal: new.clone(), stored, decision, execution, reported_at };
            insert(connection, &action)?;
            Ok(action)
        })
        .await
    }

    async fn record(&self, ended: AgentAction) -> Result<(), StoreError> {
        self.write(move |connection| {
            if ended.stored == AgentActionState::Failed && is_only_counted(connection, &ended.proposal)? {
                return Ok(());
            }
            insert(connection, &ended)
        })
        .await
    }

    async fn find(&self, public_id: Uuid) -> Result<Option<ProjectScoped<AgentAction>>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let found = load(connection, public_id)?;
                let found = found.map(|row| records::of_project(row.project_id, AgentAction::try_from(row)));
                Ok(found.transpose()?)
            })
            .await
    }

    async fn list(
        &self,
        project: ProjectId,
        filter: AgentActionFilter,
        at: DateTime<Utc>,
        page: PageRequest,
    ) -> Result<Page<AgentAction>, StoreError> {
        self.snapshot(move |connection| {
            let total: i64 = matching(project, filter, at).count().get_result(connection)?;
            let rows: Vec<ActionRow> = matching(project, filter, at)
                .order(actions::id.desc())
                .limit(page.limit())
                .offset(page.offset())
                .select(ActionRow::as_select())
                .load(connection)?;
            let items = unreadable::rows(TABLE, rows, |row| row.id, AgentAction::try_from)?;
            Ok::<_, Abort<StoreError>>(decode::page(items, total, page)?)
        })
        .await
    }

    async fn decide(
        &self,
        public_id: Uuid,
        event: AgentActionEvent,
        decision: AgentActionDecision,
        approvals_per_hour: i64,
    ) -> Result<AgentAction, AgentActionError> {
        self.write(move |connection| {
            let (action, stored) = moved(connection, public_id, event, decision.at)?;
            let execution = (stored == AgentActionState::Approved).then(|| AgentExecution::begun(decision.at));
            if execution.is_some() {
                require_approvals_left(connection, &decision, approvals_per_hour)?;
            }
            diesel::update(one!(public_id))
                .set((
                    actions::state.eq(stored.word()),
                    actions::decided_by.eq(decision.by.get()),
                    actions::decided_at.eq(decision.at.naive_utc()),
                    actions::reason.eq(decision.reason.as_ref().map(Reason::as_str)),
                    actions::started_at.eq(execution.as_ref().map(|begun| begun.started_at.naive_utc())),
                    actions::leased_until.eq(execution.as_ref().map(|begun| begun.leased_until.naive_utc())),
                    actions::attempts.eq(execution.as_ref().map_or(0, |begun| begun.attempts)),
                ))
                .execute(connection)?;
            Ok(AgentAction { stored, decision: Some(decision.clone()), execution, ..action })
        })
        .await
    }

    async fn interrupted(&self, at: DateTime<Utc>) -> Result<Option<Uuid>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let found: Option<String> = actions::table
                    .filter(actions::state.eq(AgentActionState::Approved.word()))
                    .filter(actions::leased_until.le(at.naive_utc()))
                    .order(actions::leased_until)
                    .select(actions::public_id)
                    .first(connection)
                    .optional()?;
                Ok(found.as_deref().map(decode::text).transpose()?)
            })
            .await
    }

    async fn start(&self, public_id: Uuid, at: DateTime<Utc>) -> Result<AgentAction, AgentActionError> {
        self.write(move |connection| {
            let (action, stored) = moved(connection, public_id, AgentActionEvent::Start, at)?;
            let begun = action.execution.map_or_else(|| AgentExecution::begun(at), |begun| begun.continued(at));
            diesel::update(one!(public_id))
                .set((
                    actions::state.eq(stored.word()),
                    actions::leased_until.eq(begun.leased_until.naive_utc()),
                    actions::attempts.eq(begun.attempts),
                ))
                .execute(connection)?;
            Ok(AgentAction { stored, execution: Some(begun), ..action })
        })
        .await
    }

    async fn finish(
        &self,
        public_id: Uuid,
        attempt: i32,
        result: AgentResult,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        self.write(move |connection| {
            let Some(action) = lock_action(connection, public_id)? else { return Ok(()) };
            let is_latest = action.execution.as_ref().is_none_or(|execution| execution.attempts == attempt);
            let counts = is_latest || result.event() == AgentActionEvent::Succeed;
            if let (true, Ok(state)) = (counts, action.after(result.event(), at)) {
                diesel::update(one!(public_id))
                    .set((
                        actions::state.eq(state.word()),
                        actions::finished_at.eq(at.naive_utc()),
                        actions::status_code.eq(i32::from(result.status)),
                        actions::error_code.eq(result.code.as_deref()),
                        actions::result.eq(result.body.as_deref()),
                    ))
                    .execute(connection)?;
            }
            Ok(())
        })
        .await
    }

    async fn report(&self, public_id: Uuid, at: DateTime<Utc>) -> Result<(), StoreError> {
        self.write(move |connection| {
            let Some(action) = lock_action(connection, public_id)? else { return Ok(()) };
            if let Ok(state) = action.after(AgentActionEvent::Report, at) {
                diesel::update(one!(public_id))
                    .set((actions::state.eq(state.word()), actions::reported_at.eq(at.naive_utc())))
                    .execute(connection)?;
            }
            Ok(())
        })
        .await
    }

    async fn session_start(&self, token: TokenId) -> Result<Option<DateTime<Utc>>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let created: Option<NaiveDateTime> = access_tokens::table
                    .filter(access_tokens::id.eq(token.get()))
                    .filter(access_tokens::guard.eq(guard::USER))
                    .select(access_tokens::created_at)
                    .first(connection)
                    .optional()?;
                Ok(created.map(decode::moment))
            })
            .await
    }
}
