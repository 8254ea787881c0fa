use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{CounterpartyId, Edit, Name, OrderId, Prose, Record, Resource, TaskId, UserId};

use crate::{TaskReference, TaskRefusal};

/// How far a task is; the numbers are those of the dictionary `task_statuses`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskStatus {
    /// Nobody has begun.
    New,
    /// Somebody works on it.
    InProgress,
    /// It is done.
    Done,
    /// It is not to be done any more.
    Canceled,
}

impl TaskStatus {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::New, Self::InProgress, Self::Done, Self::Canceled];

    /// Its number in the dictionary.
    pub const fn id(self) -> i64 {
        match self {
            Self::New => 1,
            Self::InProgress => 2,
            Self::Done => 3,
            Self::Canceled => 4,
        }
    }

    /// The status with this number.
    pub fn from_id(id: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.id() == id)
    }

    /// Whether nothing is left to do.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Done | Self::Canceled)
    }
}

/// Something an employee is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The number of the task.
    pub id: TaskId,
    /// What is to be done.
    pub title: Name,
    /// More about it.
    pub description: Option<Prose>,
    /// How far it is, with the name of the dictionary.
    pub status: (TaskStatus, Name),
    /// Who asked for it, with their name.
    pub author: Option<(UserId, String)>,
    /// Who is to do it, with their name.
    pub responsible: Option<(UserId, String)>,
    /// When it is to be done by.
    pub deadline: Option<DateTime<Utc>>,
    /// The order it is about.
    pub order_id: Option<OrderId>,
    /// The customer it is about.
    pub counterparty_id: Option<CounterpartyId>,
    /// When it was done or canceled.
    pub closed_at: Option<DateTime<Utc>>,
    /// Raised by every change.
    pub version: u64,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
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

    /// A deadline that is sent back as it was read is no new one.
    fn admit_change(&self, change: &TaskChange, now: DateTime<Utc>) -> Result<(), TaskRefusal> {
        let deadline = change.deadline.as_filled().copied();
        if deadline == self.deadline { Ok(()) } else { check_deadline(deadline, now) }
    }
}

/// The longest time that a task is given, in days: ten years.
const LONGEST_DAYS: i64 = 3_650;

/// A deadline that is set lies ahead, and not so far that it is a slip of the pen.
fn check_deadline(deadline: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Result<(), TaskRefusal> {
    let Some(deadline) = deadline else { return Ok(()) };
    let sound = deadline > now && deadline - now <= TimeDelta::days(LONGEST_DAYS);
    if sound { Ok(()) } else { Err(TaskRefusal::Deadline) }
}

/// Who is to do a task, by when, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskLinks {
    /// Who is to do it.
    pub responsible_id: Option<UserId>,
    /// When it is to be done by.
    pub deadline: Option<DateTime<Utc>>,
    /// The order it is about.
    pub order_id: Option<OrderId>,
    /// The customer it is about.
    pub counterparty_id: Option<CounterpartyId>,
}

/// What staff say about a new task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskDraft {
    /// What is to be done.
    pub title: Name,
    /// More about it.
    pub description: Option<Prose>,
    /// How far it is.
    pub status: TaskStatus,
    /// Who, by when, about what.
    pub links: TaskLinks,
}

/// What staff change about a task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskChange {
    /// What is to be done.
    pub title: Edit<Name>,
    /// More about it.
    pub description: Edit<Option<Prose>>,
    /// How far it is.
    pub status: Edit<TaskStatus>,
    /// Who is to do it.
    pub responsible_id: Edit<Option<UserId>>,
    /// When it is to be done by.
    pub deadline: Edit<Option<DateTime<Utc>>>,
    /// The order it is about.
    pub order_id: Edit<Option<OrderId>>,
    /// The customer it is about.
    pub counterparty_id: Edit<Option<CounterpartyId>>,
}

impl TaskChange {
    /// What the change refers to, for storage to look at.
    pub fn references(&self) -> [(TaskReference, Option<i64>); 3] {
        references(
            self.responsible_id.as_filled().copied(),
            self.order_id.as_filled().copied(),
            self.counterparty_id.as_filled().copied(),
        )
    }

    /// When the task is closed after the change: from the moment on at which it was.
    pub fn closed_at(&self, before: &Task, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let status = self.status.or(before.status.0);
        status.is_closed().then(|| before.closed_at.unwrap_or(now))
    }
}

impl TaskDraft {
    /// What the draft refers to, for storage to look at.
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
}
