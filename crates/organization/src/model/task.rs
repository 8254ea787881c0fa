use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{CounterpartyId, Edit, Name, OrderId, Prose, Record, Resource, TaskId, UserId};

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
