//! Records of agents.

use chrono::{DateTime, Utc};
use kontor_auth::model::{Agent, GrantedPermission};
use kontor_kernel::listing::Sort;
use serde::Serialize;
use utoipa::ToSchema;

use crate::table::{Cell, Column, Filter, Table, list_params};
use kontor_web::envelope::{list, one};
use kontor_web::wire::NamedRecord;

/// Permission of an agent.
#[derive(Serialize, ToSchema)]
struct AgentPermission {
    id: i64,
    screen: NamedRecord,
    name: String,
    description: String,
}

impl From<GrantedPermission> for AgentPermission {
    fn from(granted: GrantedPermission) -> Self {
        Self {
            id: granted.id.get(),
            screen: granted.screen.into(),
            name: granted.name,
            description: granted.description,
        }
    }
}

/// Agent: a program that uses the platform surface with its own tokens.
#[derive(Serialize, ToSchema)]
pub(crate) struct AgentRecord {
    /// Id of the agent. Agents and employees share one sequence of ids.
    id: i64,
    name: String,
    description: Option<String>,
    /// `true` if the agent is paused. The tokens of a paused agent are rejected.
    is_banned: bool,
    creator: Option<NamedRecord>,
    /// Permissions of the agent. Its tokens can be limited further.
    permissions: Vec<AgentPermission>,
    last_activity_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Agent> for AgentRecord {
    fn from(agent: Agent) -> Self {
        Self {
            id: agent.id.get(),
            name: agent.name.into(),
            description: agent.description.map(Into::into),
            is_banned: agent.is_banned,
            creator: agent.creator.map(Into::into),
            permissions: agent.permissions.into_iter().map(Into::into).collect(),
            last_activity_at: agent.last_activity_at,
            created_at: agent.created_at,
            updated_at: agent.updated_at,
        }
    }
}

one! {
    /// Agent.
    pub(super) AgentResponse { agent: AgentRecord }
}
list! {
    /// One page of agents with the total number of agents.
    pub(super) AgentList { agents: [AgentRecord], agents_count of all }
}

/// Table of `GET /api/tables/agents`.
pub(super) const TABLE: Table<Agent> = Table {
    id: 16,
    resource: "agents",
    version: Some(|row| row.version.into()),
    columns: &[
        Column::new("id", "No.", |agent| Cell::plain(agent.id.get())),
        Column::with_icon("name", "Name", |agent| {
            Cell::linked(agent.name.as_str(), format!("/api/agents/{}", agent.id))
        }),
        Column::new("description", "Description", |agent| Cell::plain(agent.description.as_deref())),
        Column::new("is_banned", "Paused", |agent| Cell::plain(agent.is_banned)),
        Column::new("permissions", "Permissions", |agent| {
            let names = agent.permissions.iter().map(|granted| granted.name.as_str());
            Cell::plain(names.collect::<Vec<_>>().join(", "))
        }),
        Column::new("creator", "Made by", |agent| {
            Cell::plain(agent.creator.as_ref().map(|creator| creator.name.as_str()))
        }),
        Column::new("last_activity_at", "Last active", |agent| Cell::moment(agent.last_activity_at)),
        Column::new("created_at", "Created", |agent| Cell::moment(agent.created_at)),
        Column::new("updated_at", "Changed", |agent| Cell::moment(agent.updated_at)),
    ],
    sorts: &["id", "created_at"],
    filters: &[Filter::flag("is_banned", "Whether the agent is paused.")],
    search: None,
    period: Some("created_at"),
    order: Sort::ascending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tables/agents` and `GET /api/agents`.
    AgentParams of TABLE
}
