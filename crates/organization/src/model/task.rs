use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{CounterpartyId, Edit, Email, Name, OrderId, Prose, Record, Resource, TaskId, UserId};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{TaskReference, TaskRefusal};

/// Status of a task; the numbers are those of the dictionary `task_statuses`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskStatus {
    /// Not started.
    New,
    /// In progress.
    InProgress,
    /// Done.
    Done,
    /// Canceled.
    Canceled,
}

impl TaskStatus {
    /// All statuses, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::New, Self::InProgress, Self::Done, Self::Canceled];

    /// Returns the number in the dictionary.
    pub const fn id(self) -> i64 {
        match self {
            Self::New => 1,
            Self::InProgress => 2,
            Self::Done => 3,
            Self::Canceled => 4,
        }
    }

    /// Returns the status with this number.
    pub fn from_id(id: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.id() == id)
    }

    /// Returns `true` if the task is done or canceled.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Done | Self::Canceled)
    }
}

/// Task of an employee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Identifier of the task.
    pub id: TaskId,
    /// Title.
    pub title: Name,
    /// Description.
    pub description: Option<Prose>,
    /// Status, with its name in the dictionary.
    pub status: (TaskStatus, Name),
    /// Author, with their name.
    pub author: Option<(UserId, String)>,
    /// Responsible employee, with their name.
    pub responsible: Option<(UserId, String)>,
    /// Deadline.
    pub deadline: Option<DateTime<Utc>>,
    /// Order of the task.
    pub order_id: Option<OrderId>,
    /// Customer of the task.
    pub counterparty_id: Option<CounterpartyId>,
    /// Time at which it was done or canceled.
    pub closed_at: Option<DateTime<Utc>>,
    /// Version; grows with every change.
    pub version: u64,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

impl Audited for Task {
    const RESOURCE: Resource = Resource::Tasks;

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        vec![
            ("title", Some(self.title.to_string())),
            ("description", self.description.as_deref().map(str::to_owned)),
            ("status", Some(self.status.1.to_string())),
            ("responsible", self.responsible.as_ref().map(|(_, name)| name.clone())),
            ("deadline", self.deadline.map(|at| at.to_rfc3339())),
            ("order_id", self.order_id.map(|id| id.to_string())),
            ("counterparty_id", self.counterparty_id.map(|id| id.to_string())),
        ]
    }
}

impl Record for Task {
    type Id = TaskId;
    type Draft = TaskDraft;
    type Change = TaskChange;
    type Refusal = TaskRefusal;

    fn admit(draft: &TaskDraft, now: DateTime<Utc>) -> Result<(), TaskRefusal> {
        check_deadline(draft.links.deadline, now)
    }

    /// A deadline sent back unchanged is not checked again.
    fn admit_change(&self, change: &TaskChange, now: DateTime<Utc>) -> Result<(), TaskRefusal> {
        let deadline = change.deadline.set_value().copied();
        if deadline == self.deadline { Ok(()) } else { check_deadline(deadline, now) }
    }
}

/// Maximum days until the deadline of a task: ten years.
const MAX_DAYS: i64 = 3_650;

/// Checks that a new deadline is in the future and not implausibly far.
fn check_deadline(deadline: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Result<(), TaskRefusal> {
    let Some(deadline) = deadline else { return Ok(()) };
    let sound = deadline > now && deadline - now <= TimeDelta::days(MAX_DAYS);
    if sound { Ok(()) } else { Err(TaskRefusal::Deadline) }
}

/// Responsible employee, deadline and references of a task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskLinks {
    /// Responsible employee.
    pub responsible_id: Option<UserId>,
    /// Deadline.
    pub deadline: Option<DateTime<Utc>>,
    /// Order of the task.
    pub order_id: Option<OrderId>,
    /// Customer of the task.
    pub counterparty_id: Option<CounterpartyId>,
}

/// Fields of a new task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskDraft {
    /// Title.
    pub title: Name,
    /// Description.
    pub description: Option<Prose>,
    /// Status.
    pub status: TaskStatus,
    /// Responsible employee, deadline and references.
    pub links: TaskLinks,
}

/// Changes of a task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskChange {
    /// Title.
    pub title: Edit<Name>,
    /// Description.
    pub description: Edit<Option<Prose>>,
    /// Status.
    pub status: Edit<TaskStatus>,
    /// Responsible employee.
    pub responsible_id: Edit<Option<UserId>>,
    /// Deadline.
    pub deadline: Edit<Option<DateTime<Utc>>>,
    /// Order of the task.
    pub order_id: Edit<Option<OrderId>>,
    /// Customer of the task.
    pub counterparty_id: Edit<Option<CounterpartyId>>,
}

impl TaskChange {
    /// Returns the references of the change, for the storage to check.
    pub fn references(&self) -> [(TaskReference, Option<i64>); 3] {
        references(
            self.responsible_id.set_value().copied(),
            self.order_id.set_value().copied(),
            self.counterparty_id.set_value().copied(),
        )
    }

    /// Returns the time of closing after the change, if it is closed then. An already closed task keeps its
    /// time.
    pub fn closed_at(&self, before: &Task, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let status = self.status.or(before.status.0);
        status.is_closed().then(|| before.closed_at.unwrap_or(now))
    }
}

impl TaskDraft {
    /// Returns the references of the draft, for the storage to check.
    pub fn references(&self) -> [(TaskReference, Option<i64>); 3] {
        references(self.links.responsible_id, self.links.order_id, self.links.counterparty_id)
    }
}

fn references(
    responsible: Option<UserId>,
    order: Option<OrderId>,
    customer: Option<CounterpartyId>,
) -> [(TaskReference, Option<i64>); 3] {
    [
        (TaskReference::Responsible, responsible.map(UserId::get)),
        (TaskReference::Order, order.map(OrderId::get)),
        (TaskReference::Customer, customer.map(CounterpartyId::get)),
    ]
}

/// Reason to notify an employee about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum TaskNotice {
    /// The task was assigned to them.
    Assigned,
    /// The deadline changed.
    Moved,
    /// The task was closed by another employee.
    Closed,
}

/// Fields of a task that decide about notifications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskSnapshot {
    /// Status.
    pub status: TaskStatus,
    /// Author.
    pub author: Option<UserId>,
    /// Responsible employee.
    pub responsible: Option<UserId>,
    /// Deadline.
    pub deadline: Option<DateTime<Utc>>,
}

impl TaskSnapshot {
    /// Converts a stored task.
    pub fn of(task: &Task) -> Self {
        let number = |person: &Option<(UserId, String)>| person.as_ref().map(|(id, _)| *id);
        Self {
            status: task.status.0,
            author: number(&task.author),
            responsible: number(&task.responsible),
            deadline: task.deadline,
        }
    }

    /// Converts a new task.
    pub fn from_draft(draft: &TaskDraft, author: Option<UserId>) -> Self {
        let (responsible, deadline) = (draft.links.responsible_id, draft.links.deadline);
        Self { status: draft.status, author, responsible, deadline }
    }

    /// Returns the state after a change.
    #[must_use]
    pub fn changed(self, change: &TaskChange) -> Self {
        Self {
            status: change.status.or(self.status),
            author: self.author,
            responsible: change.responsible_id.or(self.responsible),
            deadline: change.deadline.or(self.deadline),
        }
    }

    /// Returns the employees to notify, with the reasons. `before` is the state before the change, if there was
    /// one; `by` is the author of the change. Authors of a change are not notified about it, and each employee
    /// gets at most one reason.
    pub fn news(self, before: Option<Self>, by: Option<UserId>) -> Vec<(UserId, TaskNotice)> {
        let was_open = |task: &Self| !task.status.is_closed();
        let reported: Vec<(Option<UserId>, TaskNotice)> = if self.status.is_closed() {
            let closing = before.as_ref().is_some_and(was_open);
            let reported = [self.responsible, self.author.filter(|author| Some(*author) != self.responsible)];
            reported.into_iter().filter(|_| closing).map(|person| (person, TaskNotice::Closed)).collect()
        } else {
            let kept = before.filter(|before| was_open(before) && before.responsible == self.responsible);
            match kept {
                None => vec![(self.responsible, TaskNotice::Assigned)],
                Some(before) if before.deadline != self.deadline => vec![(self.responsible, TaskNotice::Moved)],
                Some(_) => Vec::new(),
            }
        };
        let others = reported.into_iter().filter(|(person, _)| *person != by);
        others.filter_map(|(person, news)| Some((person?, news))).collect()
    }

    /// Returns `true` if the notification still applies to the task in this state, for this employee.
    pub fn still_applies(self, news: TaskNotice, person: UserId) -> bool {
        match news {
            TaskNotice::Assigned | TaskNotice::Moved => !self.status.is_closed() && self.responsible == Some(person),
            TaskNotice::Closed => self.status.is_closed(),
        }
    }
}

/// Task in a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskLine {
    /// Identifier of the task.
    pub id: TaskId,
    /// Title.
    pub title: Name,
    /// Reason of the notification.
    pub news: TaskNotice,
    /// Name of the status in the dictionary.
    pub status: Name,
    /// Deadline.
    pub deadline: Option<DateTime<Utc>>,
}

impl TaskLine {
    /// Joins the lines of each task, in the order of the events. An assignment takes precedence over a moved
    /// deadline.
    pub fn merged_by_task(reported: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut lines: Vec<Self> = Vec::new();
        for line in reported {
            match lines.iter_mut().find(|known| known.id == line.id) {
                Some(known) if line.news != TaskNotice::Moved => known.news = line.news,
                Some(_) => {}
                None => lines.push(line),
            }
        }
        lines
    }
}

/// Mail with all task notifications of one employee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskMail {
    /// Employee.
    pub user_id: UserId,
    /// E-mail address; `None` for banned or deleted employees.
    pub to: Option<Email>,
    /// Notifications that still apply, one line per task, in the order of the events.
    pub lines: Vec<TaskLine>,
    /// Numbers of the notifications that the mail settles.
    pub settles: Vec<i64>,
    /// Number of requests to send when this was read. If it is higher later, new notifications were added.
    pub wanted: i64,
    /// Time of the last request to send. The mail is retried until it is too old, counted from this time.
    pub requested_at: DateTime<Utc>,
    /// Attempts to send, including the current one.
    pub attempts: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn a_deadline_lies_ahead_and_not_too_far() {
        let now = moment("2026-01-01T00:00:00Z");
        let judged = |deadline: &str| check_deadline(Some(moment(deadline)), now).is_ok();
        assert!(judged("2026-01-01T00:00:01Z") && judged("2035-12-01T00:00:00Z"));
        for wrong in ["2026-01-01T00:00:00Z", "2025-12-31T00:00:00Z", "2036-06-01T00:00:00Z", "9999-01-01T00:00:00Z"] {
            assert!(!judged(wrong), "{wrong}");
        }
        assert!(check_deadline(None, now).is_ok());
    }

    #[test]
    fn the_numbers_of_the_dictionary_stay_as_they_are() {
        assert_eq!(TaskStatus::ALL.map(TaskStatus::id), [1, 2, 3, 4]);
        assert_eq!(TaskStatus::from_id(3), Some(TaskStatus::Done));
        assert_eq!(TaskStatus::from_id(5), None);
        assert_eq!(TaskStatus::ALL.map(TaskStatus::is_closed), [false, false, true, true]);
    }

    fn user(id: i64) -> UserId {
        UserId::new(id).unwrap()
    }

    fn task(status: TaskStatus, responsible: i64) -> TaskSnapshot {
        let responsible = (responsible > 0).then(|| user(responsible));
        TaskSnapshot { status, author: Some(user(1)), responsible, deadline: None }
    }

    /// State before, state after, author, and expected notifications.
    type Case<'a> = (Option<TaskSnapshot>, TaskSnapshot, i64, &'a [(i64, TaskNotice)]);

    #[test]
    fn a_new_assignee_is_notified_unless_they_are_the_author() {
        use TaskNotice::{Assigned, Closed, Moved};
        use TaskStatus::{Canceled, Done, InProgress, New};
        let later = |task: TaskSnapshot| TaskSnapshot { deadline: Some(DateTime::UNIX_EPOCH), ..task };
        let table: [Case; 16] = [
            (None, task(New, 2), 1, &[(2, Assigned)]),
            (None, task(New, 1), 1, &[]),
            (None, task(New, 0), 1, &[]),
            (None, task(Done, 2), 1, &[]),
            (Some(task(New, 2)), task(New, 3), 1, &[(3, Assigned)]),
            (Some(task(New, 2)), task(New, 3), 3, &[]),
            (Some(task(New, 2)), task(New, 0), 1, &[]),
            (Some(task(New, 2)), task(InProgress, 2), 1, &[]),
            (Some(task(New, 2)), later(task(New, 2)), 1, &[(2, Moved)]),
            (Some(task(New, 2)), later(task(New, 3)), 1, &[(3, Assigned)]),
            (Some(task(New, 2)), task(Done, 2), 2, &[(1, Closed)]),
            (Some(task(New, 2)), task(Canceled, 2), 3, &[(2, Closed), (1, Closed)]),
            (Some(task(New, 1)), task(Canceled, 1), 3, &[(1, Closed)]),
            (Some(task(Done, 2)), task(Canceled, 2), 3, &[]),
            (Some(task(Done, 2)), task(New, 2), 1, &[(2, Assigned)]),
            (Some(task(Done, 2)), task(New, 2), 2, &[]),
        ];
        for (before, after, by, reported) in table {
            let reported: Vec<(UserId, TaskNotice)> = reported.iter().map(|(id, news)| (user(*id), *news)).collect();
            assert_eq!(after.news(before, Some(user(by))), reported, "{before:?} {after:?} by {by}");
        }
    }

    #[test]
    fn a_task_is_notified_once() {
        let line = |id, news| TaskLine {
            id: TaskId::new(id).unwrap(),
            title: Name::parse("Call Anna").unwrap(),
            news,
            status: Name::parse("new").unwrap(),
            deadline: None,
        };
        let reported =
            [(7, TaskNotice::Assigned), (8, TaskNotice::Moved), (7, TaskNotice::Moved), (8, TaskNotice::Assigned)];
        let once = TaskLine::merged_by_task(reported.map(|(id, news)| line(id, news)));
        assert_eq!(once, [line(7, TaskNotice::Assigned), line(8, TaskNotice::Assigned)]);
    }

    #[test]
    fn outdated_notifications_are_not_sent() {
        let open = task(TaskStatus::New, 2);
        let closed = task(TaskStatus::Done, 2);
        for news in [TaskNotice::Assigned, TaskNotice::Moved] {
            assert!(
                open.still_applies(news, user(2))
                    && !open.still_applies(news, user(3))
                    && !closed.still_applies(news, user(2))
            );
        }
        assert!(closed.still_applies(TaskNotice::Closed, user(1)) && !open.still_applies(TaskNotice::Closed, user(1)));
    }
}
