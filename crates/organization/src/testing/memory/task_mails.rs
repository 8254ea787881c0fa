use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{Email, StoreError, TaskId, UserId};

use super::{Guard, InMemoryOrganization, State};
use crate::COLLECTION_PERIOD;
use crate::model::{TaskLine, TaskMail, TaskNotice, TaskSnapshot};
use crate::ports::TaskMailQueue;

/// Notification of an employee about a task.
#[derive(Clone)]
pub(super) struct Notification {
    number: i64,
    user: UserId,
    task: TaskId,
    notice: TaskNotice,
}

/// Mail of an employee in the queue.
#[derive(Clone)]
pub(super) struct Mail {
    wanted: i64,
    requested_at: DateTime<Utc>,
    attempts: u32,
    due: DateTime<Utc>,
    /// Owner and end of the lease.
    lease: Option<(String, DateTime<Utc>)>,
}

impl State {
    /// Adds notifications, and requests a mail to each employee.
    pub(super) fn notify(&mut self, task: TaskId, news: Vec<(UserId, TaskNotice)>, at: DateTime<Utc>) {
        for (user, notice) in news {
            self.notifications.push(Notification { number: self.ids.number(), user, task, notice });
            let due = at + COLLECTION_PERIOD;
            let new = Mail { wanted: 0, requested_at: at, attempts: 0, due, lease: None };
            let mail = self.mails.entry(user).or_insert(new);
            (mail.wanted, mail.requested_at) = (mail.wanted + 1, at);
        }
    }

    fn lease_mail(
        &mut self,
        owner: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<TaskMail>, StoreError> {
        let any = !self.guards.has(Guard::Lease);
        let is_free = |mail: &Mail| any || mail.lease.as_ref().is_none_or(|(_, until)| *until <= at);
        let free = self.mails.iter_mut().filter(|(_, mail)| mail.due <= at && is_free(mail));
        let Some((user, mail)) = free.min_by_key(|(_, mail)| mail.due) else { return Ok(None) };
        mail.attempts += 1;
        mail.lease = Some((owner.to_owned(), until));
        let (user, mail) = (*user, mail.clone());
        let own = || self.notifications.iter().filter(move |notification| notification.user == user);
        let lines = own().filter_map(|notification| self.line(notification));
        Ok(Some(TaskMail {
            user_id: user,
            to: Some(Email::parse(&format!("employee-{user}@example.com")).map_err(StoreError::corrupt)?),
            lines: TaskLine::merged_by_task(lines),
            settles: own().map(|notification| notification.number).collect(),
            wanted: mail.wanted,
            requested_at: mail.requested_at,
            attempts: mail.attempts,
        }))
    }

    /// Returns the line of a notification that still applies.
    fn line(&self, notification: &Notification) -> Option<TaskLine> {
        let (_, task) = self.tasks.get(&notification.task)?;
        let applies = TaskSnapshot::of(task).still_applies(notification.notice, notification.user);
        applies.then(|| TaskLine {
            id: task.id,
            title: task.title.clone(),
            news: notification.notice,
            status: task.status.1.clone(),
            deadline: task.deadline,
        })
    }

    /// Returns a mail that this worker has leased.
    fn leased_mail(&mut self, user: UserId, owner: &str) -> Option<&mut Mail> {
        let any = !self.guards.has(Guard::LeaseOwner);
        let mail = self.mails.get_mut(&user)?;
        let is_own = mail.lease.as_ref().is_some_and(|(own, _)| own == owner || any);
        is_own.then_some(mail)
    }

    fn settle_mail(&mut self, sent: &TaskMail, owner: &str, at: DateTime<Utc>, next: DateTime<Utc>) {
        let user = sent.user_id;
        let all = !self.guards.has(Guard::Newer);
        self.notifications.retain(|known| known.user != user || !(all || sent.settles.contains(&known.number)));
        let has_more = self.notifications.iter().any(|known| known.user == user);
        let Some(mail) = self.leased_mail(user, owner) else { return };
        if has_more || (mail.wanted != sent.wanted && !all) {
            *mail = Mail { requested_at: at, attempts: 0, due: next, lease: None, wanted: mail.wanted };
        } else {
            self.mails.remove(&user);
        }
    }
}

#[async_trait]
impl TaskMailQueue for InMemoryOrganization {
    async fn lease(
        &self,
        owner: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<TaskMail>, StoreError> {
        self.state.with(|state| state.lease_mail(owner, at, until))
    }

    async fn postpone(&self, mail: &TaskMail, owner: &str, next: DateTime<Utc>) -> Result<(), StoreError> {
        self.state.with(|state| {
            if let Some(leased) = state.leased_mail(mail.user_id, owner) {
                (leased.due, leased.lease) = (next, None);
            }
        });
        Ok(())
    }

    async fn settle(
        &self,
        mail: TaskMail,
        owner: &str,
        at: DateTime<Utc>,
        next: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        self.state.with(|state| state.settle_mail(&mail, owner, at, next));
        Ok(())
    }
}
