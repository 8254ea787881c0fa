//! Tokens of an agent.

use actix_web::web::{Data, Path};
use actix_web::{delete, get, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_auth::model::{AgentToken, AgentTokenDraft, TokenExpiry};
use kontor_auth::{AgentError, AgentService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;
use kontor_web::envelope::{Created, created, list};
use kontor_web::records::AccessTokenRecord;
use kontor_web::refusals::agent_refused;
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Body, PathId, SignedInStaff};

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

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    token_routes(config);
    config.service(issue_agent_token);
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
    service: Data<AgentService>,
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
