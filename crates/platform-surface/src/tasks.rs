//! Tasks of employees.

use actix_web::{get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_kernel::listing::Sort;
use kontor_kernel::{CounterpartyId, OrderId, UserId};
use kontor_organization::TaskService;
use kontor_organization::model::{Task, TaskChange, TaskDraft, TaskLinks, TaskStatus};
use serde::Serialize;
use utoipa::ToSchema;

use crate::endpoints::handlers;
use crate::table::{Cell, Column, Filter, Table, list_params};
use kontor_web::envelope::{list, one};
use kontor_web::wire::{self, InputErrors, NamedRecord, ZeroIsNull, change_body};

handlers! {
    fn table_routes; TaskService, "Tasks";

    /// List tasks as a table
    table "/api/tables/tasks" as list_tasks_table(TaskParams) = page() -> TABLE;
}

handlers! {
    TaskService, "Tasks";

    /// List tasks
    list "/api/tasks" as list_tasks = page(rows TaskParams TABLE 15) -> TaskList;

    /// Create a task
    ///
    /// The caller becomes its author.
    create "/api/tasks" as create_task(NewTask) -> TaskResponse zero ["responsible_id", "order_id", "counterparty_id"];

    /// Get a task
    read "/api/tasks/{id}" as show_task -> TaskResponse;

    /// Update a task
    ///
    /// Fields that are not sent keep their values.
    update "/api/tasks/{id}" as update_task(ChangedTask) -> TaskResponse
        zero ["responsible_id", "order_id", "counterparty_id"];
}

#[derive(Serialize, ToSchema)]
struct TaskRecord {
    id: i64,
    title: String,
    description: Option<String>,
    status: NamedRecord,
    /// Employee who created the task.
    author: Option<NamedRecord>,
    /// Employee responsible for the task.
    responsible: Option<NamedRecord>,
    deadline: Option<DateTime<Utc>>,
    order_id: Option<i64>,
    counterparty_id: Option<i64>,
    /// Time when the task was done or canceled.
    closed_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Task> for TaskRecord {
    fn from(task: Task) -> Self {
        let person = |person: Option<(UserId, String)>| person.map(|(id, name)| NamedRecord::new(id.get(), name));
        Self {
            id: task.id.get(),
            title: task.title.into(),
            description: task.description.map(Into::into),
            status: NamedRecord::new(task.status.0.id(), task.status.1),
            author: person(task.author),
            responsible: person(task.responsible),
            deadline: task.deadline,
            order_id: task.order_id.map(OrderId::get),
            counterparty_id: task.counterparty_id.map(CounterpartyId::get),
            closed_at: task.closed_at,
            created_at: task.created_at,
            updated_at: task.updated_at,
        }
    }
}

one!(/// Task.
    TaskResponse { task: TaskRecord });
list!(/// Tasks of the project.
    TaskList { tasks: [TaskRecord], tasks_count of all, pagination });

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewTask {
    title: wire::Name,
    #[deserr(default)]
    description: Option<wire::Prose>,
    /// `1` new (default), `2` in progress, `3` done, `4` canceled.
    #[deserr(default)]
    status_id: Option<wire::TaskStatusId>,
    /// Employee of the project who is not banned.
    #[deserr(default)]
    #[schema(value_type = Option<wire::UserId>)]
    responsible_id: ZeroIsNull<wire::UserId>,
    /// In the future, at most ten years ahead.
    #[deserr(default)]
    deadline: Option<wire::Moment>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::OrderId>)]
    order_id: ZeroIsNull<wire::OrderId>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::CounterpartyId>)]
    counterparty_id: ZeroIsNull<wire::CounterpartyId>,
}

impl From<NewTask> for TaskDraft {
    fn from(new: NewTask) -> Self {
        Self {
            title: new.title.0,
            description: new.description.map(|text| text.0),
            status: new.status_id.map_or(TaskStatus::New, |status| status.0),
            links: TaskLinks {
                responsible_id: new.responsible_id.0.map(|id| id.0),
                deadline: new.deadline.map(|at| at.0),
                order_id: new.order_id.0.map(|id| id.0),
                counterparty_id: new.counterparty_id.0.map(|id| id.0),
            },
        }
    }
}

change_body! {
    ChangedTask {
        title: wire::Name,
        description: wire::Prose | null,
        /// `1` new, `2` in progress, `3` done, `4` canceled.
        status_id: wire::TaskStatusId,
        responsible_id: wire::UserId | null | 0,
        deadline: wire::Moment | null,
        order_id: wire::OrderId | null | 0,
        counterparty_id: wire::CounterpartyId | null | 0,
    }
}

impl From<ChangedTask> for TaskChange {
    fn from(changed: ChangedTask) -> Self {
        Self {
            title: changed.title.into(),
            description: changed.description.into(),
            status: changed.status_id.into(),
            responsible_id: changed.responsible_id.into(),
            deadline: changed.deadline.into(),
            order_id: changed.order_id.into(),
            counterparty_id: changed.counterparty_id.into(),
        }
    }
}

const TABLE: Table<Task> = Table {
    id: 61,
    resource: "tasks",
    version: Some(|row| row.version.into()),
    columns: &[
        Column::new("id", "No.", |task| Cell::plain(task.id.get())),
        Column::with_icon("title", "Task", |task| Cell::linked(task.title.as_str(), format!("/api/tasks/{}", task.id))),
        Column::new("status", "Status", |task| Cell::plain(task.status.1.as_str())),
        Column::new("responsible", "Responsible", |task| {
            Cell::plain(task.responsible.as_ref().map(|(_, name)| name.as_str()))
        }),
        Column::new("deadline", "Deadline", |task| Cell::moment(task.deadline)),
        Column::new("author", "Author", |task| Cell::plain(task.author.as_ref().map(|(_, name)| name.as_str()))),
        Column::new("order_id", "Order", |task| Cell::plain(task.order_id.map(OrderId::get))),
        Column::new("counterparty_id", "Customer", |task| Cell::plain(task.counterparty_id.map(CounterpartyId::get))),
        Column::new("closed_at", "Closed", |task| Cell::moment(task.closed_at)),
        Column::new("created_at", "Created", |task| Cell::moment(task.created_at)),
        Column::new("updated_at", "Changed", |task| Cell::moment(task.updated_at)),
    ],
    sorts: &["id", "title", "deadline", "created_at", "updated_at"],
    filters: &[
        Filter::count("status_id", "In these states: `1` new, `2` in progress, `3` done, `4` canceled."),
        Filter::id::<UserId>("responsible_id", "Assigned to these employees."),
        Filter::id::<UserId>("author_id", "Created by these employees."),
        Filter::id::<OrderId>("order_id", "About these orders."),
        Filter::id::<CounterpartyId>("counterparty_id", "About these customers."),
    ],
    search: Some("Part of the title, in any case."),
    period: Some("created_at"),
    order: Sort::descending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tasks` and `GET /api/tables/tasks`.
    TaskParams of TABLE
}
