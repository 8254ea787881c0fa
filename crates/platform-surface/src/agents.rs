//! Agents of a project.

use actix_web::web::Path;
use actix_web::{delete, get, patch, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_auth::model::{Agent, AgentChange, AgentDraft, AgentToken, AgentTokenDraft, GrantedPermission, TokenExpiry};
use kontor_auth::{AgentError, AgentService};
use kontor_kernel::listing::Sort;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;
use crate::table::{Cell, Column, Filter, Table, list_params};
use kontor_web::envelope::{Created, created, list, one};
use kontor_web::path::below;
use kontor_web::records::AccessTokenRecord;
use kontor_web::refusals::agent_refused;
use kontor_web::wire::{self, InputErrors, NamedRecord, change_body};
use kontor_web::{ApiError, Body, PathId, Service, SignedInStaff};

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
        token_routes(config);
        config.service(issue_agent_token);
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
    AgentResponse { agent: AgentRecord }
}
list! {
    /// One page of agents with the total number of agents.
    AgentList { agents: [AgentRecord], agents_count of all }
}

/// Table of `GET /api/tables/agents`.
const TABLE: Table<Agent> = Table {
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

handlers! {
    fn token_routes; AgentService, "Agents";

    /// List the tokens of an agent
    ///
    /// Token values are not included.
    list "/api/agents/{agent}/tokens" as list_agent_tokens = tokens(id) -> AgentTokenList;

    /// Revoke a token of an agent
    ///
    /// The token stops working at once.
    delete "/api/agents/{agent}/tokens/{token}" as revoke_agent_token = revoke_token(ids) -> "The token was deleted.";
}

/// Token of an agent, without its secret.
#[derive(Serialize, ToSchema)]
struct AgentTokenRecord {
    /// Part of the token value before `|`.
    id: i64,
    name: Option<String>,
    /// Names of the permissions that the token is limited to. `null` for all permissions of the agent.
    abilities: Option<Vec<String>>,
    last_used_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
}

impl From<AgentToken> for AgentTokenRecord {
    fn from(token: AgentToken) -> Self {
        let names = |abilities: std::collections::BTreeSet<kontor_kernel::Permission>| {
            abilities.iter().map(ToString::to_string).collect()
        };
        Self {
            id: token.id.get(),
            name: token.name.map(Into::into),
            abilities: token.abilities.map(names),
            last_used_at: token.last_used_at,
            created_at: token.created_at,
            expires_at: token.expires_at,
        }
    }
}

list!(AgentTokenList { tokens: [AgentTokenRecord], tokens_count });

#[derive(Serialize, ToSchema)]
struct IssuedToken {
    token: AgentTokenRecord,
    access_token: AccessTokenRecord,
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewToken {
    name: wire::Name,
    /// Ids or names of permissions of the agent. By default, the token always has all permissions of the agent.
    #[deserr(default)]
    abilities: Option<Vec<wire::PermissionRef>>,
    /// At most 365 days ahead. By default 30 days, unless `expires_in_days` is sent.
    #[deserr(default)]
    expires_at: Option<wire::Moment>,
    /// 1 to 365 days. Not allowed together with `expires_at`.
    #[deserr(default)]
    expires_in_days: Option<wire::Integer>,
}

/// Create a token for an agent
///
/// The response contains the token value. It is not shown again.
#[utoipa::path(tag = "Agents", request_body = NewToken, responses((status = 201, body = IssuedToken)))]
#[post("/api/agents/{agent}/tokens")]
async fn issue_agent_token(
    staff: SignedInStaff,
    service: Service<AgentService>,
    agent: Path<PathId>,
    body: Body<NewToken>,
) -> Created<IssuedToken> {
    let new = body.0;
    let (expiry, field) = match (new.expires_at, new.expires_in_days) {
        (None, None) => (None, "expires_at"),
        (Some(at), None) => (Some(TokenExpiry::At(at.0)), "expires_at"),
        (None, Some(days)) => (Some(TokenExpiry::InDays(days.0)), "expires_in_days"),
        (Some(_), Some(_)) => {
            return Err(ApiError::invalid("expires_in_days", "must not be given together with expires_at"));
        }
    };
    let abilities = new.abilities.map(|all| all.into_iter().map(|one| one.0).collect());
    let draft = AgentTokenDraft { name: new.name.0, abilities, expiry };
    let issued = service.issue_token(&staff, agent.parse()?, draft).await.map_err(|error| match error {
        AgentError::Refused(refusal) => agent_refused(refusal, "abilities", field),
        error => error.into(),
    })?;
    let answer = IssuedToken { token: issued.record.into(), access_token: issued.token.into() };
    created(answer)
}
