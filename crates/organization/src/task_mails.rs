use std::sync::Arc;

use chrono::TimeDelta;
use kontor_kernel::{Clock, SendError, StoreError};

use crate::ports::{TaskMailQueue, TaskMailSender};

/// Lease of a worker on a mail; longer than sending can take.
const LEASE: TimeDelta = TimeDelta::seconds(30);
/// Time between the first notification and the mail, and between two mails. It collects notifications made
/// together in one mail.
pub const COLLECTION_PERIOD: TimeDelta = TimeDelta::seconds(60);
/// Pause before the second attempt to send a mail; doubled with every further attempt.
const INITIAL_BACKOFF: TimeDelta = TimeDelta::seconds(60);
/// Maximum doublings of the pause: about an hour.
const MAX_DOUBLINGS: u32 = 6;
/// Time after which an unsent mail is dropped; the tasks stay visible in the application.
const LIFETIME: TimeDelta = TimeDelta::hours(24);

fn pause_after(attempts: u32) -> TimeDelta {
    INITIAL_BACKOFF * (1 << attempts.saturating_sub(1).min(MAX_DOUBLINGS))
}

/// Outcome of one mail.
#[derive(Debug, PartialEq, Eq)]
pub enum TaskMailOutcome {
    /// Nothing is due.
    Idle,
    /// The employee has no address any more, or no notification applies.
    Nothing,
    /// The mail was sent.
    Sent,
    /// It was not sent. It is tried again unless the server refused it permanently.
    Failed(SendError),
    /// It is too old and was dropped.
    GivenUp,
}

/// Worker that mails task notifications to employees.
pub struct TaskMailWorker {
    /// Queue of notifications.
    pub queue: Arc<dyn TaskMailQueue>,
    /// Sends mail.
    pub sender: Arc<dyn TaskMailSender>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl TaskMailWorker {
    /// Sends the mail that has been due longest. If the process crashes in between, the mail is sent again.
    /// `owner` must be unique to this process.
    pub async fn send_due(&self, owner: &str) -> Result<TaskMailOutcome, StoreError> {
        let now = self.clock.now();
        let Some(mail) = self.queue.lease(owner, now, now + LEASE).await? else { return Ok(TaskMailOutcome::Idle) };
        let round = match &mail.to {
            _ if mail.requested_at + LIFETIME <= now => TaskMailOutcome::GivenUp,
            Some(to) if !mail.lines.is_empty() => match self.sender.email_tasks(to, &mail.lines).await {
                Ok(()) => TaskMailOutcome::Sent,
                Err(error) => TaskMailOutcome::Failed(error),
            },
            _ => TaskMailOutcome::Nothing,
        };
        if matches!(round, TaskMailOutcome::Failed(SendError::Unavailable(_))) {
            self.queue.postpone(&mail, owner, now + pause_after(mail.attempts)).await?;
        } else {
            self.queue.settle(mail, owner, now, now + COLLECTION_PERIOD).await?;
        }
        Ok(round)
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};
    use kontor_kernel::{Email, FixedClock, Name, TaskId, UserId};

    use super::*;
    use crate::model::{TaskLine, TaskMail, TaskNotice};
    use crate::ports::{MockTaskMailQueue, MockTaskMailSender};

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn mail() -> TaskMail {
        let name = |text: &str| Name::parse(text).unwrap();
        let line = TaskLine {
            id: TaskId::new(7).unwrap(),
            title: name("Call Anna"),
            news: TaskNotice::Assigned,
            status: name("new"),
            deadline: None,
        };
        TaskMail {
            user_id: UserId::new(3).unwrap(),
            to: Some(Email::parse("boss@x.ru").unwrap()),
            lines: vec![line],
            settles: vec![11],
            wanted: 1,
            requested_at: NOW,
            attempts: 3,
        }
    }

    /// Returns the outcome of a mail with this result of sending, or without sending.
    async fn round(mail: TaskMail, outcome: Option<Result<(), SendError>>, kept: bool) -> TaskMailOutcome {
        let mut queue = MockTaskMailQueue::new();
        queue.expect_lease().once().return_once(move |_, _, _| Ok(Some(mail)));
        queue
            .expect_postpone()
            .withf(|_, owner, next| owner == "me" && *next == NOW + TimeDelta::minutes(4))
            .times(usize::from(kept))
            .returning(|_, _, _| Ok(()));
        queue
            .expect_settle()
            .withf(|mail, owner, at, next| {
                (mail.settles.as_slice(), owner, *at, *next) == (&[11], "me", NOW, NOW + COLLECTION_PERIOD)
            })
            .times(usize::from(!kept))
            .returning(|_, _, _, _| Ok(()));
        let mut sender = MockTaskMailSender::new();
        if let Some(outcome) = outcome {
            let one = |to: &Email, lines: &[TaskLine]| to.as_str() == "boss@x.ru" && lines.len() == 1;
            sender.expect_email_tasks().withf(one).once().return_once(move |_, _| outcome);
        }
        let (queue, sender, clock) = (Arc::new(queue), Arc::new(sender), Arc::new(FixedClock::at(NOW)));
        TaskMailWorker { queue, sender, clock }.send_due("me").await.unwrap()
    }

    #[tokio::test]
    async fn a_mail_is_sent_once_and_tried_again_while_the_server_is_away() {
        assert_eq!(round(mail(), Some(Ok(())), false).await, TaskMailOutcome::Sent);
        let away = SendError::Unavailable("away".to_owned());
        assert_eq!(round(mail(), Some(Err(away.clone())), true).await, TaskMailOutcome::Failed(away));
        let refused = SendError::Refused("unknown".to_owned());
        assert_eq!(round(mail(), Some(Err(refused.clone())), false).await, TaskMailOutcome::Failed(refused));
    }

    #[tokio::test]
    async fn mails_without_address_content_or_in_time_are_dropped() {
        assert_eq!(round(TaskMail { to: None, ..mail() }, None, false).await, TaskMailOutcome::Nothing);
        assert_eq!(round(TaskMail { lines: Vec::new(), ..mail() }, None, false).await, TaskMailOutcome::Nothing);
        let old = TaskMail { requested_at: NOW - LIFETIME, ..mail() };
        assert_eq!(round(old, None, false).await, TaskMailOutcome::GivenUp);
    }

    #[test]
    fn pauses_double_to_about_an_hour() {
        let pauses = [1, 2, 3, 7, 8, u32::MAX].map(|attempts| pause_after(attempts).num_minutes());
        assert_eq!(pauses, [1, 2, 4, 64, 64, 64]);
    }
}
