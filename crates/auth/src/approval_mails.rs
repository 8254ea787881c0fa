//! Mails to employees about calls of agents that wait for their approval.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Clock, Email, Permission, ProjectId, SendError, StoreError, UserId};
use uuid::Uuid;

use crate::model::Tool;
use crate::ports::{ApprovalMailQueue, ApprovalMailSender};

/// Lease of a worker on a mail; longer than sending can take.
const LEASE: TimeDelta = TimeDelta::seconds(30);
/// Time between the first proposal and the mail. It collects proposals made together in one mail. It is also the pause
/// before another attempt to send a mail.
pub const APPROVAL_MAIL_DELAY: TimeDelta = TimeDelta::seconds(60);
/// Time between two mails to an employee: at most 12 an hour, however many calls agents propose.
pub const APPROVAL_MAIL_INTERVAL: TimeDelta = TimeDelta::minutes(5);

/// Call in a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingCall {
    /// Identifier of the call.
    pub public_id: Uuid,
    /// Name of the agent.
    pub agent: String,
    /// Method and path template. The mail shows no arguments.
    pub operation: String,
    /// Time at which the proposal expires.
    pub expires_at: DateTime<Utc>,
}

/// Mail to one employee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalMail {
    /// Project of the employee.
    pub project_id: ProjectId,
    /// Employee.
    pub user_id: UserId,
    /// E-mail address; `None` for banned or deleted employees.
    pub to: Option<Email>,
    /// Permissions of the employee.
    pub permissions: BTreeSet<Permission>,
    /// Calls of the project that are not decided, oldest first.
    pub calls: Vec<WaitingCall>,
    /// Number of proposals since the last mail when this was read. If it is higher later, new ones were made.
    pub wanted: i64,
}

impl ApprovalMail {
    /// Returns the calls that the employee may approve at this time.
    fn approvable(&self, tools: &[Tool], now: DateTime<Utc>) -> Vec<WaitingCall> {
        let holds = |permission: &Permission| permission.is_covered_by(&self.permissions);
        let may_approve = |call: &&WaitingCall| {
            let tool = tools.iter().find(|tool| format!("{} {}", tool.method, tool.path) == call.operation);
            call.expires_at > now && tool.is_some_and(|tool| tool.permissions.iter().all(holds))
        };
        if !holds(&Permission::APPROVE_AGENT_ACTIONS) {
            return Vec::new();
        }
        self.calls.iter().filter(may_approve).cloned().collect()
    }
}

/// Outcome of one mail.
#[derive(Debug, PartialEq, Eq)]
pub enum ApprovalMailOutcome {
    /// Nothing is due.
    Idle,
    /// The employee has no address any more, or no call waits for their approval.
    Nothing,
    /// The mail was sent.
    Sent,
    /// It was not sent. It is tried again while a call waits, unless the server refused it permanently.
    Failed(SendError),
}

/// Worker that mails employees about calls that wait for their approval.
pub struct ApprovalMailWorker {
    /// Queue of mails.
    pub queue: Arc<dyn ApprovalMailQueue>,
    /// Sends mail.
    pub sender: Arc<dyn ApprovalMailSender>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Operations of the API.
    pub tools: Arc<[Tool]>,
    /// Address of the list of calls in the staff console, if it is known.
    pub inbox: Option<String>,
}

impl ApprovalMailWorker {
    /// Sends the mail that has been due longest. If the process crashes in between, the mail is sent again.
    /// `owner` must be unique to this process.
    pub async fn send_due(&self, owner: &str) -> Result<ApprovalMailOutcome, StoreError> {
        let now = self.clock.now();
        let Some(mail) = self.queue.lease(owner, now, now + LEASE).await? else {
            return Ok(ApprovalMailOutcome::Idle);
        };
        let calls = mail.approvable(&self.tools, now);
        let outcome = match &mail.to {
            Some(to) if !calls.is_empty() => match self.sender.email_approvals(to, &calls, self.inbox.clone()).await {
                Ok(()) => ApprovalMailOutcome::Sent,
                Err(error) => ApprovalMailOutcome::Failed(error),
            },
            _ => ApprovalMailOutcome::Nothing,
        };
        let (settled, pause) = match &outcome {
            ApprovalMailOutcome::Failed(SendError::Unavailable(_)) => (0, APPROVAL_MAIL_DELAY),
            ApprovalMailOutcome::Sent | ApprovalMailOutcome::Failed(_) => (mail.wanted, APPROVAL_MAIL_INTERVAL),
            ApprovalMailOutcome::Idle | ApprovalMailOutcome::Nothing => (mail.wanted, APPROVAL_MAIL_DELAY),
        };
        self.queue.release(&mail, owner, settled, now + pause).await?;
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use kontor_kernel::{FixedClock, Resource};

    use super::*;
    use crate::model::ToolClass;
    use crate::ports::{MockApprovalMailQueue, MockApprovalMailSender};

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;
    const BRANDS: &[Permission] = &[Permission::create(Resource::Brands)];
    const ORDERS: &[Permission] = &[Permission::edit(Resource::Orders)];

    fn call(operation: &str, minutes: i64) -> WaitingCall {
        let expires_at = NOW + TimeDelta::minutes(minutes);
        WaitingCall { public_id: Uuid::nil(), agent: "Bot".to_owned(), operation: operation.to_owned(), expires_at }
    }

    fn mail() -> ApprovalMail {
        ApprovalMail {
            project_id: ProjectId::new(1).unwrap(),
            user_id: UserId::new(3).unwrap(),
            to: Some(Email::parse("boss@x.ru").unwrap()),
            permissions: [Permission::APPROVE_AGENT_ACTIONS, Permission::edit(Resource::Brands)].into(),
            calls: vec![call("POST /api/brands", 5), call("POST /api/brands", 0), call("POST /api/orders", 5)],
            wanted: 3,
        }
    }

    /// Returns the outcome of a mail with this result of sending, or without sending.
    async fn round(
        mail: ApprovalMail,
        sending: Option<Result<(), SendError>>,
        (settled, pause): (i64, TimeDelta),
    ) -> ApprovalMailOutcome {
        let mut queue = MockApprovalMailQueue::new();
        queue.expect_lease().once().return_once(move |_, _, _| Ok(Some(mail)));
        queue
            .expect_release()
            .withf(move |_, owner, count, next| (owner, *count, *next) == ("me", settled, NOW + pause))
            .once()
            .returning(|_, _, _, _| Ok(()));
        let mut sender = MockApprovalMailSender::new();
        if let Some(outcome) = sending {
            let one = |to: &Email, calls: &[WaitingCall], inbox: &Option<String>| {
                (to.as_str(), calls.len(), inbox.as_deref()) == ("boss@x.ru", 1, Some("https://shop.example/inbox"))
            };
            sender.expect_email_approvals().withf(one).once().return_once(move |_, _, _| outcome);
        }
        let tool = |path| Tool {
            method: "POST",
            path,
            class: ToolClass::Write,
            permissions: if path == "/api/brands" { BRANDS } else { ORDERS },
            holds_secrets: false,
            has_preview: false,
            amount: None,
        };
        let worker = ApprovalMailWorker {
            queue: Arc::new(queue),
            sender: Arc::new(sender),
            clock: Arc::new(FixedClock::at(NOW)),
            tools: [tool("/api/brands"), tool("/api/orders")].into(),
            inbox: Some("https://shop.example/inbox".to_owned()),
        };
        worker.send_due("me").await.unwrap()
    }

    #[tokio::test]
    async fn a_mail_has_the_open_calls_that_the_employee_may_approve() {
        let interval = APPROVAL_MAIL_INTERVAL;
        assert_eq!(round(mail(), Some(Ok(())), (3, interval)).await, ApprovalMailOutcome::Sent);
        let away = SendError::Unavailable("away".to_owned());
        let failed = ApprovalMailOutcome::Failed(away.clone());
        assert_eq!(round(mail(), Some(Err(away)), (0, APPROVAL_MAIL_DELAY)).await, failed);
        let refused = SendError::Refused("unknown".to_owned());
        let failed = ApprovalMailOutcome::Failed(refused.clone());
        assert_eq!(round(mail(), Some(Err(refused)), (3, interval)).await, failed);
    }

    #[tokio::test]
    async fn employees_who_may_approve_nothing_get_no_mail() {
        let only_effect: BTreeSet<Permission> = [Permission::edit(Resource::Brands)].into();
        let only_approval: BTreeSet<Permission> = [Permission::APPROVE_AGENT_ACTIONS].into();
        for mail in [
            ApprovalMail { to: None, ..mail() },
            ApprovalMail { calls: vec![call("POST /api/brands", 0)], ..mail() },
            ApprovalMail { calls: vec![call("POST /api/unknown", 5)], ..mail() },
            ApprovalMail { permissions: only_effect, ..mail() },
            ApprovalMail { permissions: only_approval, ..mail() },
        ] {
            assert_eq!(round(mail, None, (3, APPROVAL_MAIL_DELAY)).await, ApprovalMailOutcome::Nothing);
        }
    }
}
