use async_trait::async_trait;
use kontor_kernel::history::Author;
use kontor_kernel::{
    ListedRepository, Listing, Page, ProjectId, ProjectScoped, RecordRepository, Stamp, StoreError, TaskId, UserId,
};

use super::dictionaries::task_status;
use super::{InMemoryOrganization, State, of_project, scoped};
use crate::model::{Task, TaskChange, TaskDraft, TaskSnapshot};
use crate::{TaskError, TaskReference, TaskRefusal};

/// Returns an employee with a name.
fn person(id: Option<UserId>) -> Option<(UserId, String)> {
    id.map(|id| (id, format!("Employee {id}")))
}

fn author(stamp: Stamp) -> Option<UserId> {
    match stamp.author {
        Author::User(id) => Some(id),
        Author::Customer(_) | Author::System => None,
    }
}

impl State {
    /// Refuses references other than employees of the project.
    fn require_own(
        &self,
        project: ProjectId,
        references: [(TaskReference, Option<i64>); 3],
    ) -> Result<(), TaskRefusal> {
        let is_employee =
            |number: i64| self.employees.iter().any(|(id, owner)| id.get() == number && *owner == project);
        let is_unknown = |(reference, number): &(TaskReference, Option<i64>)| {
            number.is_some_and(|number| *reference != TaskReference::Responsible || !is_employee(number))
        };
        let unknown: Vec<TaskReference> =
            references.into_iter().filter(is_unknown).map(|(reference, _)| reference).collect();
        if unknown.is_empty() { Ok(()) } else { Err(TaskRefusal::UnknownReferences(unknown)) }
    }

    fn insert_task(&mut self, stamp: Stamp, draft: TaskDraft) -> Result<Task, TaskError> {
        self.require_own(stamp.project_id, draft.references())?;
        let by = author(stamp);
        let after = TaskSnapshot::from_draft(&draft, by);
        let task = Task {
            id: self.ids.id(),
            title: draft.title,
            description: draft.description,
            status: (draft.status, task_status(draft.status)?),
            author: person(by),
            responsible: person(draft.links.responsible_id),
            deadline: draft.links.deadline,
            order_id: draft.links.order_id,
            counterparty_id: draft.links.counterparty_id,
            closed_at: draft.status.is_closed().then_some(stamp.at),
            version: 1,
            created_at: stamp.at,
            updated_at: stamp.at,
        };
        self.tasks.insert(task.id, (stamp.project_id, task.clone()));
        self.notify(task.id, after.news(None, by), stamp.at);
        Ok(task)
    }

    fn update_task(&mut self, stamp: Stamp, id: TaskId, change: TaskChange) -> Result<Task, TaskError> {
        let found = self.tasks.get(&id).filter(|(owner, _)| self.owns(*owner, stamp)).cloned();
        let (project, before) = found.ok_or(TaskError::NotFound)?;
        self.require_own(stamp.project_id, change.references())?;
        let snapshot = TaskSnapshot::of(&before);
        let after = snapshot.changed(&change);
        let task = Task {
            id,
            closed_at: change.closed_at(&before, stamp.at),
            title: change.title.or(before.title),
            description: change.description.or(before.description),
            status: (after.status, task_status(after.status)?),
            author: before.author,
            responsible: person(after.responsible),
            deadline: after.deadline,
            order_id: change.order_id.or(before.order_id),
            counterparty_id: change.counterparty_id.or(before.counterparty_id),
            version: before.version + 1,
            created_at: before.created_at,
            updated_at: stamp.at,
        };
        self.tasks.insert(id, (project, task.clone()));
        self.notify(id, after.news(Some(snapshot), author(stamp)), stamp.at);
        Ok(task)
    }
}

#[async_trait]
impl RecordRepository<Task> for InMemoryOrganization {
    async fn list(&self, project: ProjectId) -> Result<Vec<Task>, StoreError> {
        Ok(self.state.with(|state| of_project(state.tasks.values(), project)))
    }

    async fn find(&self, id: TaskId) -> Result<Option<ProjectScoped<Task>>, StoreError> {
        Ok(self.state.with(|state| scoped(state.tasks.get(&id))))
    }

    async fn insert(&self, stamp: Stamp, draft: TaskDraft) -> Result<Task, TaskError> {
        self.state.with(|state| state.insert_task(stamp, draft))
    }

    async fn update(&self, stamp: Stamp, id: TaskId, change: TaskChange) -> Result<Task, TaskError> {
        self.state.with(|state| state.update_task(stamp, id, change))
    }
}

#[async_trait]
impl ListedRepository<Task> for InMemoryOrganization {
    async fn page(&self, project: ProjectId, listing: Listing) -> Result<Page<Task>, StoreError> {
        listing.page_of(self.state.with(|state| of_project(state.tasks.values(), project)))
    }
}
