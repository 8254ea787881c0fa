//! Agents of a project.

mod record;
mod tokens;

use actix_web::{delete, get, patch, post};
use deserr::Deserr;
use kontor_auth::AgentService;
use kontor_auth::model::{AgentChange, AgentDraft};
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

pub(super) use self::record::AgentRecord;
use self::record::{AgentList, AgentParams, AgentResponse, TABLE};
use crate::endpoints::handlers;
use kontor_web::routes::below;
use kontor_web::wire::{self, InputErrors, change_body};

handlers! {
    fn table_routes; AgentService, "Agents";

    /// List agents as a table
    table "/api/tables/agents" as list_agents_table(AgentParams) = list() -> TABLE;
}

handlers! {
    fn record_routes; AgentService, "Agents";

    /// List agents
    list "/api/agents" as list_agents = list(rows AgentParams TABLE 100) -> AgentList;

    /// Create an agent
    ///
    /// The agent has no token yet.
    create "/api/agents" as create_agent(NewAgent) -> AgentResponse;

    /// Get an agent
    read "/api/agents/{agent}" as show_agent -> AgentResponse;

    /// Update an agent
    ///
    /// The agent must not have permissions that the caller does not hold.
    patch "/api/agents/{agent}" as update_agent(ChangedAgent) = update(id, input) -> AgentResponse;

    /// Delete an agent
    ///
    /// Its tokens are revoked at once. The agent must not have permissions that the caller does not hold.
    delete "/api/agents/{agent}" as delete_agent -> "The agent was deleted.";
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    table_routes(config);
    below(config, "/api/agents", |config| {
        record_routes(config);
        tokens::routes(config);
    });
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewAgent {
    name: wire::Name,
    #[deserr(default)]
    description: Option<wire::Prose>,
    /// Ids or names of the permissions. None by default. Callers cannot grant permissions that they do not hold.
    #[deserr(default)]
    permissions: Option<Vec<wire::PermissionRef>>,
    /// `true` creates the agent paused. `false` by default.
    #[deserr(default)]
    is_banned: Option<wire::Flag>,
}

impl From<NewAgent> for AgentDraft {
    fn from(new: NewAgent) -> Self {
        Self {
            name: new.name.0,
            description: new.description.map(|text| text.0),
            permissions: new.permissions.unwrap_or_default().into_iter().map(|one| one.0).collect(),
            is_banned: new.is_banned.is_some_and(|flag| flag.0),
        }
    }
}

change_body! {
    ChangedAgent => AgentChange {
        name: wire::Name,
        description: wire::Prose | null,
        /// Ids or names of the permissions. Replaces all permissions of the agent and applies to its tokens at once.
        permissions: Vec<wire::PermissionRef>,
        /// `true` pauses the agent, `false` resumes it.
        is_banned: wire::Flag,
    }
}
