//! Agents of a project.

mod record;
mod tokens;

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path};
use actix_web::{delete, get, patch, post};
use deserr::Deserr;
use kontor_auth::AgentService;
use kontor_auth::model::{AgentChange, AgentDraft};
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

pub(super) use self::record::AgentRecord;
use self::record::{AgentList, AgentParams, AgentResponse, TABLE};
use crate::table::{TableAnswer, TableRequest};
use kontor_web::records::Message;
use kontor_web::routes::below;
use kontor_web::wire::{self, InputErrors, NonNullPatch, Patch};
use kontor_web::{ApiError, Body, PathId, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_agents_table);
    below(config, "/api/agents", |config| {
        config
            .service(list_agents)
            .service(create_agent)
            .service(show_agent)
            .service(update_agent)
            .service(delete_agent);
        tokens::routes(config);
    });
}

/// List agents
#[utoipa::path(
    tag = "Agents",
    params(AgentParams),
    responses((status = 200, body = AgentList)),
)]
#[get("/api/agents")]
async fn list_agents(
    staff: SignedInStaff,
    service: Data<AgentService>,
    asked: TableRequest,
) -> Result<Json<AgentList>, ApiError> {
    Ok(Json(service.list(&staff, TABLE.listing(asked, 100)?).await?.into()))
}

/// List agents as a table
#[utoipa::path(
    tag = "Agents",
    params(AgentParams),
    responses((status = 200, body = TableAnswer)),
)]
#[get("/api/tables/agents")]
async fn list_agents_table(
    staff: SignedInStaff,
    service: Data<AgentService>,
    asked: TableRequest,
) -> Result<Json<TableAnswer>, ApiError> {
    Ok(Json(TABLE.render(&service.list(&staff, TABLE.listing(asked, 15)?).await?)))
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

/// Create an agent
///
/// The agent has no token yet.
#[utoipa::path(
    tag = "Agents",
    request_body = NewAgent,
    responses((status = 201, body = AgentResponse)),
)]
#[post("/api/agents")]
async fn create_agent(
    staff: SignedInStaff,
    service: Data<AgentService>,
    body: Body<NewAgent>,
) -> Result<(Json<AgentResponse>, StatusCode), ApiError> {
    let new = body.0;
    let draft = AgentDraft {
        name: new.name.0,
        description: new.description.map(|text| text.0),
        permissions: new.permissions.unwrap_or_default().into_iter().map(|one| one.0).collect(),
        is_banned: new.is_banned.is_some_and(|flag| flag.0),
    };
    Ok((Json(service.create(&staff, draft).await?.into()), StatusCode::CREATED))
}

/// Get an agent
#[utoipa::path(
    tag = "Agents",
    params(("agent" = i64, Path)),
    responses((status = 200, body = AgentResponse)),
)]
#[get("/api/agents/{agent}")]
async fn show_agent(
    staff: SignedInStaff,
    service: Data<AgentService>,
    agent: Path<PathId>,
) -> Result<Json<AgentResponse>, ApiError> {
    Ok(Json(service.read(&staff, agent.parse()?).await?.into()))
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ChangedAgent {
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>, nullable = false)]
    name: NonNullPatch<wire::Name>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Prose>)]
    description: Patch<wire::Prose>,
    /// Ids or names of the permissions. Replaces all permissions of the agent and applies to its tokens at once.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<wire::PermissionRef>>, nullable = false)]
    permissions: NonNullPatch<Vec<wire::PermissionRef>>,
    /// `true` pauses the agent, `false` resumes it.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Flag>, nullable = false)]
    is_banned: NonNullPatch<wire::Flag>,
}

/// Update an agent
///
/// The agent must not have permissions that the caller does not hold.
#[utoipa::path(
    tag = "Agents",
    params(("agent" = i64, Path)),
    request_body = ChangedAgent,
    responses((status = 200, body = AgentResponse)),
)]
#[patch("/api/agents/{agent}")]
async fn update_agent(
    staff: SignedInStaff,
    service: Data<AgentService>,
    agent: Path<PathId>,
    body: Body<ChangedAgent>,
) -> Result<Json<AgentResponse>, ApiError> {
    let changed = body.0;
    let change = AgentChange {
        name: changed.name.into(),
        description: changed.description.into(),
        permissions: changed.permissions.into(),
        is_banned: changed.is_banned.into(),
    };
    Ok(Json(service.update(&staff, agent.parse()?, change).await?.into()))
}

/// Delete an agent
///
/// Its tokens are revoked at once. The agent must not have permissions that the caller does not hold.
#[utoipa::path(
    tag = "Agents",
    params(("agent" = i64, Path)),
    responses((status = 200, body = Message)),
)]
#[delete("/api/agents/{agent}")]
async fn delete_agent(
    staff: SignedInStaff,
    service: Data<AgentService>,
    agent: Path<PathId>,
) -> Result<Json<Message>, ApiError> {
    service.delete(&staff, agent.parse()?).await?;
    Ok(Json(Message::new("The agent was deleted.")))
}
