use chrono::{DateTime, Utc};
use kontor_kernel::{Email, Name, TaskId, UserId};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::{Task, TaskChange, TaskDraft, TaskStatus};

/// Why an employee is told of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum TaskNews {
    /// It is theirs to do now.
    Assigned,
    /// It is to be done by another moment.
    Moved,
    /// Somebody else has closed it.
    Closed,
}

/// What of a task decides who is told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskStanding {
    /// How far it is.
    pub status: TaskStatus,
    /// Who asked for it.
    pub author: Option<UserId>,
    /// Who is to do it.
    pub responsible: Option<UserId>,
    /// When it is to be done by.
    pub deadline: Option<DateTime<Utc>>,
}

impl TaskStanding {
    /// Of a stored task.
    pub fn of(task: &Task) -> Self {
        let number = |person: &Option<(UserId, String)>| person.as_ref().map(|(id, _)| *id);
        Self {
            status: task.status.0,
            author: number(&task.author),
            responsible: number(&task.responsible),
            deadline: task.deadline,
        }
    }

    /// Of a new task.
    pub fn drafted(draft: &TaskDraft, author: Option<UserId>) -> Self {
        let (responsible, deadline) = (draft.links.responsible_id, draft.links.deadline);
        Self { status: draft.status, author, responsible, deadline }
    }

    /// After a change.
    #[must_use]
    pub fn changed(self, change: &TaskChange) -> Self {
        Self {
            status: change.status.or(self.status),
            author: self.author,
            responsible: change.responsible_id.or(self.responsible),
            deadline: change.deadline.or(self.deadline),
        }
    }

    /// Whom to tell what, given how the task stood before, if it was there, and who has made it stand like this. Nobody is
    /// told of what they did themselves, and nobody of two things at once.
    pub fn news(self, before: Option<Self>, by: Option<UserId>) -> Vec<(UserId, TaskNews)> {
        let was_open = |task: &Self| !task.status.is_closed();
        let told: Vec<(Option<UserId>, TaskNews)> = if self.status.is_closed() {
            let closing = before.as_ref().is_some_and(was_open);
            let told = [self.responsible, self.author.filter(|author| Some(*author) != self.responsible)];
            told.into_iter().filter(|_| closing).map(|person| (person, TaskNews::Closed)).collect()
        } else {
            let kept = before.filter(|before| was_open(before) && before.responsible == self.responsible);
            match kept {
                None => vec![(self.responsible, TaskNews::Assigned)],
                Some(before) if before.deadline != self.deadline => vec![(self.responsible, TaskNews::Moved)],
                Some(_) => Vec::new(),
            }
        };
        let others = told.into_iter().filter(|(person, _)| *person != by);
        others.filter_map(|(person, news)| Some((person?, news))).collect()
    }

    /// Whether it is still true of the task as it stands, for the person who is to be told.
    pub fn still(self, news: TaskNews, person: UserId) -> bool {
        match news {
            TaskNews::Assigned | TaskNews::Moved => !self.status.is_closed() && self.responsible == Some(person),
            TaskNews::Closed => self.status.is_closed(),
        }
    }
}

/// One task of a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskLine {
    /// The number of the task.
    pub id: TaskId,
    /// What is to be done.
    pub title: Name,
    /// Why they are told.
    pub news: TaskNews,
    /// How far it is, by the name of the dictionary.
    pub status: Name,
    /// When it is to be done by.
    pub deadline: Option<DateTime<Utc>>,
}

impl TaskLine {
    /// A task once, in the order in which it happened. Whose it is says more than that it was moved.
    pub fn once_each(told: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut lines: Vec<Self> = Vec::new();
        for line in told {
            match lines.iter_mut().find(|known| known.id == line.id) {
                Some(known) if line.news != TaskNews::Moved => known.news = line.news,
                Some(_) => {}
                None => lines.push(line),
            }
        }
        lines
    }
}

/// What one employee is to be told of tasks, in one mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskMail {
    /// The employee.
    pub user_id: UserId,
    /// Where they read mail; nobody who is banned or gone does.
    pub to: Option<Email>,
    /// What is still true, a task once, in the order in which it happened.
    pub lines: Vec<TaskLine>,
    /// What the mail settles, by the numbers of the news.
    pub settles: Vec<i64>,
    /// How often something was to be told when this was read; raised since, something more is.
    pub wanted: i64,
    /// When something was last to be told: what is new is tried for as long as anything is.
    pub requested_at: DateTime<Utc>,
    /// How often it was tried, this time included.
    pub attempts: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(id: i64) -> UserId {
        UserId::new(id).unwrap()
    }

    fn task(status: TaskStatus, responsible: i64) -> TaskStanding {
        let responsible = (responsible > 0).then(|| user(responsible));
        TaskStanding { status, author: Some(user(1)), responsible, deadline: None }
    }

    /// Before, after, who did it, and who is told what.
    type Case<'a> = (Option<TaskStanding>, TaskStanding, i64, &'a [(i64, TaskNews)]);

    #[test]
    fn whose_it_becomes_is_told_unless_they_did_it_themselves() {
        use TaskNews::{Assigned, Closed, Moved};
        use TaskStatus::{Canceled, Done, InProgress, New};
        let later = |task: TaskStanding| TaskStanding { deadline: Some(DateTime::UNIX_EPOCH), ..task };
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
        for (before, after, by, told) in table {
            let told: Vec<(UserId, TaskNews)> = told.iter().map(|(id, news)| (user(*id), *news)).collect();
            assert_eq!(after.news(before, Some(user(by))), told, "{before:?} {after:?} by {by}");
        }
    }

    #[test]
    fn a_task_is_told_of_once() {
        let line = |id, news| TaskLine {
            id: TaskId::new(id).unwrap(),
            title: Name::parse("Call Anna").unwrap(),
            news,
            status: Name::parse("new").unwrap(),
            deadline: None,
        };
        let told = [(7, TaskNews::Assigned), (8, TaskNews::Moved), (7, TaskNews::Moved), (8, TaskNews::Assigned)];
        let once = TaskLine::once_each(told.map(|(id, news)| line(id, news)));
        assert_eq!(once, [line(7, TaskNews::Assigned), line(8, TaskNews::Assigned)]);
    }

    #[test]
    fn what_is_not_true_any_more_is_not_told() {
        let open = task(TaskStatus::New, 2);
        let closed = task(TaskStatus::Done, 2);
        for news in [TaskNews::Assigned, TaskNews::Moved] {
            assert!(open.still(news, user(2)) && !open.still(news, user(3)) && !closed.still(news, user(2)));
        }
        assert!(closed.still(TaskNews::Closed, user(1)) && !open.still(TaskNews::Closed, user(1)));
    }
}
