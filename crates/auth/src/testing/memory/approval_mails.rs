use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{Permission, ProjectId, StoreError, UserId};

use super::{Guard, InMemoryLogins, State};
use crate::APPROVAL_MAIL_DELAY;
use crate::model::{AgentAction, AgentActionState, ApprovalMail, Employee, WaitingCall};
use crate::ports::ApprovalMailQueue;

/// Mail to an employee in the queue.
pub(super) struct QueuedMail {
    project: ProjectId,
    user: UserId,
    wanted: i64,
    next_attempt_at: DateTime<Utc>,
    /// Worker, and the end of its lease.
    lease: Option<(String, DateTime<Utc>)>,
}

impl State {
    /// Returns the employees of a project who may approve calls.
    fn approvers(&self, project: ProjectId) -> impl Iterator<Item = &Employee> {
        let admits_banned = !self.guards.has(Guard::Approver);
        let members = self.staff.iter().map(|member| &member.employee);
        members.filter(move |member| {
            member.project_id == project
                && (admits_banned || !member.is_banned)
                && self.opened_by(member.role.id).contains(&Permission::APPROVE_AGENT_ACTIONS)
        })
    }

    /// Requests a mail to every employee of the project who may approve calls.
    pub(super) fn request_mails(&mut self, project: ProjectId, at: DateTime<Utc>) {
        let due = at + APPROVAL_MAIL_DELAY;
        let approvers: Vec<UserId> = self.approvers(project).map(|member| member.id).collect();
        for user in approvers {
            if let Some(mail) = self.approval_mails.iter_mut().find(|mail| mail.user == user) {
                if mail.wanted == 0 {
                    mail.next_attempt_at = mail.next_attempt_at.max(due);
                }
                mail.wanted += 1;
            } else {
                self.approval_mails.push(QueuedMail { project, user, wanted: 1, next_attempt_at: due, lease: None });
            }
        }
    }

    /// Returns the calls of a project that are not decided, oldest first.
    fn waiting_calls(&self, project: ProjectId) -> Vec<WaitingCall> {
        let is_waiting =
            |call: &&AgentAction| call.proposal.project_id == project && call.stored == AgentActionState::Proposed;
        let shown = |call: &AgentAction| {
            Some(WaitingCall {
                public_id: call.proposal.public_id,
                agent: self.agents.get(&call.proposal.agent_id)?.agent.name.to_string(),
                operation: call.proposal.call.operation(),
                expires_at: call.proposal.expires_at,
            })
        };
        self.calls.iter().filter(is_waiting).filter_map(shown).collect()
    }

    fn lease_mail(&mut self, owner: &str, at: DateTime<Utc>, until: DateTime<Utc>) -> Option<ApprovalMail> {
        let exclusive = self.guards.has(Guard::MailLease);
        let is_due = |mail: &&mut QueuedMail| {
            let is_free = !exclusive || mail.lease.as_ref().is_none_or(|(_, leased)| *leased <= at);
            is_free && mail.wanted > 0 && mail.next_attempt_at <= at
        };
        let mail = self.approval_mails.iter_mut().filter(is_due).min_by_key(|mail| mail.next_attempt_at)?;
        mail.lease = Some((owner.to_owned(), until));
        let (project_id, user_id, wanted) = (mail.project, mail.user, mail.wanted);
        let approver = self.approvers(project_id).find(|member| member.id == user_id);
        let to = approver.map(|member| member.email.clone());
        let permissions = approver.map(|member| self.opened_by(member.role.id)).unwrap_or_default();
        Some(ApprovalMail { project_id, user_id, to, permissions, calls: self.waiting_calls(project_id), wanted })
    }

    fn release_mail(&mut self, mail: &ApprovalMail, owner: &str, settled: i64, next: DateTime<Utc>) {
        let checked = self.guards.has(Guard::MailOwner);
        let is_leased = |known: &&mut QueuedMail| {
            let is_owner = known.lease.as_ref().is_some_and(|(holder, _)| holder == owner);
            known.user == mail.user_id && (is_owner || !checked)
        };
        if let Some(known) = self.approval_mails.iter_mut().find(is_leased) {
            (known.wanted, known.next_attempt_at, known.lease) = (known.wanted - settled, next, None);
        }
    }
}

#[async_trait]
impl ApprovalMailQueue for InMemoryLogins {
    async fn lease(
        &self,
        owner: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<ApprovalMail>, StoreError> {
        Ok(self.state.with(|state| state.lease_mail(owner, at, until)))
    }

    async fn release(
        &self,
        mail: &ApprovalMail,
        owner: &str,
        settled: i64,
        next: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        self.state.with(|state| state.release_mail(mail, owner, settled, next));
        Ok(())
    }
}
