//! Agents of a project.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_auth::model::{
    Agent, AgentToken, AgentUpdate, GrantedPermission, MAX_AGENT_TOKENS, NewAgent, NewAgentToken, check_held,
};
use kontor_auth::ports::AgentRepository;
use kontor_auth::{AgentError, AgentRefusal};
use kontor_kernel::{
    Listing, Name, Page, Permission, PermissionId, ProjectId, ProjectScoped, Prose, StoreError, TokenId, UserId,
};

use super::permissions::listed_of;
use super::tokens::{abilities, permission};
use super::{AGENT, end_staff_tokens, guard};
use crate::database::{Abort, AnyConnection, Database, Topic, on_each};
use crate::decode::{self, reference};
use crate::listing::{Source, in_order, unsearched};
use crate::schema::{access_tokens, permissions, referred, role_permissions, roles, users};
use crate::statement::Statement;
use crate::{records, unreadable};

#[derive(Queryable)]
struct AgentRow {
    id: i64,
    role_id: i64,
    creator_id: Option<i64>,
    name: String,
    description: Option<String>,
    is_banned: bool,
    version: i64,
    last_activity_at: Option<NaiveDateTime>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

/// Loads these agents, ordered by id.
pub(super) fn load<R>(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<Agent>, Abort<R>> {
    let rows: Vec<AgentRow> = users::table
        .inner_join(referred!(roles, users::role_id))
        .filter(users::id.eq_any(ids.to_vec()))
        .select((
            users::id,
            users::role_id,
            users::creator_id,
            users::first_name,
            roles::description,
            users::is_banned,
            users::version,
            users::last_activity_at,
            users::created_at,
            users::updated_at,
        ))
        .load(connection)?;
    let mut listed: HashMap<i64, Vec<GrantedPermission>> = HashMap::new();
    for (role, permission) in listed_of(connection, rows.iter().map(|row| row.role_id).collect())? {
        listed.entry(role).or_default().push(permission);
    }
    let creators: BTreeSet<i64> = rows.iter().filter_map(|row| row.creator_id).collect();
    let creators: Vec<(i64, String, String)> = users::table
        .filter(users::id.eq_any(creators))
        .select((users::id, users::first_name, users::last_name))
        .load(connection)?;
    let creators: HashMap<i64, String> =
        creators.into_iter().map(|(id, first, last)| (id, format!("{first} {last}"))).collect();
    let mut agents = Vec::with_capacity(rows.len());
    for row in rows {
        let creator = row.creator_id.and_then(|id| Some((id, creators.get(&id)?)));
        let creator = creator.map(|(id, name)| reference(id, name));
        agents.push(Agent {
            id: decode::id(row.id)?,
            name: decode::text(&row.name)?,
            description: decode::optional_text(row.description.as_deref())?,
            is_banned: row.is_banned,
            creator: creator.transpose()?,
            permissions: listed.remove(&row.role_id).unwrap_or_default(),
            version: decode::count(row.version)?,
            last_activity_at: row.last_activity_at.map(decode::moment),
            created_at: decode::moment(row.created_at),
            updated_at: decode::moment(row.updated_at),
        });
    }
    Ok(in_order(ids, agents, |agent| agent.id.get()))
}

/// Loads an agent that was just written.
pub(super) fn written<R>(connection: &mut AnyConnection, id: i64) -> Result<Agent, Abort<R>> {
    let gone = || Abort::Store(StoreError::Failed("an agent was not found inside its own transaction".to_owned()));
    load(connection, &[id])?.pop().ok_or_else(gone)
}

/// Agents that are not deleted.
macro_rules! live {
    () => {
        users::table.filter(users::kind.eq(AGENT)).filter(users::deleted_at.is_null())
    };
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = access_tokens)]
struct TokenRow {
    id: i64,
    name: Option<String>,
    abilities: Option<String>,
    last_used_at: Option<NaiveDateTime>,
    created_at: NaiveDateTime,
    expires_at: NaiveDateTime,
}

impl TryFrom<TokenRow> for AgentToken {
    type Error = StoreError;

    fn try_from(row: TokenRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            name: decode::optional_text(row.name.as_deref())?,
            abilities: row.abilities.as_deref().map(abilities).transpose()?,
            last_used_at: row.last_used_at.map(decode::moment),
            created_at: decode::moment(row.created_at),
            expires_at: decode::moment(row.expires_at),
        })
    }
}

/// Returns the stored form of a list of permissions.
pub(super) fn names(permissions: &BTreeSet<Permission>) -> String {
    serde_json::Value::from(permissions.iter().map(ToString::to_string).collect::<Vec<_>>()).to_string()
}

/// Agents of a project.
const AGENTS: Source = Source {
    from: "users u",
    id: "u.id",
    fields: &[("id", "u.id"), ("is_banned", "u.is_banned"), ("created_at", "u.created_at")],
    search: unsearched,
};

/// Locks an agent until the transaction ends, so that decisions based on its permissions stay valid. Returns its role
/// and its project.
pub(super) fn lock_agent(connection: &mut AnyConnection, agent: UserId) -> Result<Option<(i64, i64)>, QueryError> {
    diesel::update(live!().filter(users::id.eq(agent.get())))
        .set(users::is_banned.eq(users::is_banned))
        .returning((users::role_id, users::project_id))
        .get_result(connection)
        .optional()
}

/// Returns the permissions of a role.
fn allowed(connection: &mut AnyConnection, role: i64) -> Result<BTreeSet<Permission>, QueryError> {
    let names: Vec<String> = role_permissions::table
        .inner_join(permissions::table.on(permissions::id.eq(role_permissions::permission_id)))
        .filter(role_permissions::role_id.eq(role))
        .select(permissions::name)
        .load(connection)?;
    Ok(names.iter().filter_map(|name| permission(name)).collect())
}

/// Locks an agent unless its permissions exceed those of the actor. Returns its role and its project.
fn lock_unless_stronger(
    connection: &mut AnyConnection,
    agent: UserId,
    held: &BTreeSet<Permission>,
) -> Result<(i64, i64), Abort<AgentError>> {
    let (role, project) = lock_agent(connection, agent)?.ok_or(Abort::Refused(AgentError::NotFound))?;
    let current = allowed(connection, role)?;
    check_held(held, &current).map_err(|denied| Abort::refused(AgentRefusal::from(denied)))?;
    Ok((role, project))
}

/// Removes all permissions of a role.
fn revoke(connection: &mut AnyConnection, project: i64, role: i64) -> Result<(), QueryError> {
    let listed = role_permissions::table.filter(role_permissions::project_id.eq(project));
    diesel::delete(listed.filter(role_permissions::role_id.eq(role))).execute(connection)?;
    Ok(())
}

fn grant<R>(
    connection: &mut AnyConnection,
    project: i64,
    role: i64,
    wanted: &BTreeSet<Permission>,
) -> Result<(), Abort<R>> {
    let names: Vec<String> = wanted.iter().map(ToString::to_string).collect();
    let ids: Vec<i64> =
        permissions::table.filter(permissions::name.eq_any(names)).select(permissions::id).load(connection)?;
    let row = |id: i64| {
        (
            role_permissions::project_id.eq(project),
            role_permissions::role_id.eq(role),
            role_permissions::permission_id.eq(id),
        )
    };
    let rows: Vec<_> = ids.into_iter().map(row).collect();
    if !rows.is_empty() {
        on_each!(connection, concrete => {
            diesel::insert_into(role_permissions::table).values(&rows).execute(concrete)
        })?;
    }
    Ok(())
}

/// Stores an agent with its role.
pub(super) fn insert<R>(connection: &mut AnyConnection, new: &NewAgent) -> Result<Agent, Abort<R>> {
    let at = new.at.naive_utc();
    let role: i64 = diesel::insert_into(roles::table)
        .values((
            roles::project_id.eq(new.project_id.get()),
            roles::kind.eq(AGENT),
            roles::name.eq(new.name.as_str()),
            roles::description.eq(new.description.as_deref()),
            roles::is_owner.eq(false),
            roles::created_at.eq(at),
            roles::updated_at.eq(at),
        ))
        .returning(roles::id)
        .get_result(connection)?;
    grant(connection, new.project_id.get(), role, &new.permissions)?;
    let id: i64 = diesel::insert_into(users::table)
        .values((
            users::project_id.eq(new.project_id.get()),
            users::kind.eq(AGENT),
            users::role_id.eq(role),
            users::creator_id.eq(new.creator.get()),
            users::login.eq(new.login.as_str()),
            users::email.eq(new.email.as_str()),
            // Not a hash, so no password matches.
            users::password_hash.eq("none"),
            users::first_name.eq(new.name.as_str()),
            users::last_name.eq("(agent)"),
            users::is_banned.eq(new.is_banned),
            users::is_sick.eq(false),
            users::active_seconds.eq(0),
            users::created_at.eq(at),
            users::updated_at.eq(at),
        ))
        .returning(users::id)
        .get_result(connection)?;
    written(connection, id)
}

/// Token to store.
pub(super) struct TokenToStore<'a> {
    pub project: i64,
    pub agent: UserId,
    pub name: &'a Name,
    pub abilities: Option<&'a BTreeSet<Permission>>,
    pub fingerprint: &'a str,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
}

pub(super) fn insert_token(connection: &mut AnyConnection, token: &TokenToStore<'_>) -> Result<i64, QueryError> {
    diesel::insert_into(access_tokens::table)
        .values((
            access_tokens::guard.eq(guard::USER),
            access_tokens::subject_id.eq(token.agent.get()),
            access_tokens::project_id.eq(token.project),
            access_tokens::name.eq(token.name.as_str()),
            access_tokens::abilities.eq(token.abilities.map(names)),
            access_tokens::fingerprint.eq(token.fingerprint),
            access_tokens::created_at.eq(token.created_at.naive_utc()),
            access_tokens::expires_at.eq(token.expires_at.naive_utc()),
        ))
        .returning(access_tokens::id)
        .get_result(connection)
}

/// Tokens of an agent.
macro_rules! tokens_of {
    ($agent:expr) => {
        access_tokens::table
            .filter(access_tokens::guard.eq(guard::USER))
            .filter(access_tokens::subject_id.eq($agent.get()))
    };
}

/// Returns `true` if a locked agent may get a further token.
pub(super) fn has_room(connection: &mut AnyConnection, agent: UserId) -> Result<bool, QueryError> {
    let count: i64 = tokens_of!(agent).count().get_result(connection)?;
    Ok(count < MAX_AGENT_TOKENS)
}

#[async_trait]
impl AgentRepository for Database {
    async fn known_permissions(&self) -> Result<BTreeMap<PermissionId, Permission>, StoreError> {
        self.read(|connection| {
            let rows: Vec<(i64, String)> =
                permissions::table.select((permissions::id, permissions::name)).load(connection)?;
            let known = rows.into_iter().filter_map(|(id, name)| Some((id, permission(&name)?)));
            known.map(|(id, permission)| Ok((decode::id(id)?, permission))).collect()
        })
        .await
    }

    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Agent>, StoreError> {
        self.snapshot(move |connection| {
            let own =
                Statement::new("u.kind = 'agent' AND u.deleted_at IS NULL AND u.project_id = ").value(project.get());
            let found = AGENTS.page(connection, own, &listing)?;
            Ok(found.with_items(unreadable::records(connection, "users", &found.items, load)?))
        })
        .await
    }

    async fn find(&self, agent: UserId) -> Result<Option<ProjectScoped<Agent>>, StoreError> {
        self.snapshot(move |connection| {
            let project: Option<i64> =
                live!().filter(users::id.eq(agent.get())).select(users::project_id).first(connection).optional()?;
            let Some(project) = project else { return Ok(None) };
            let agent = load(connection, &[agent.get()])?.pop();
            Ok(agent.map(|agent| records::of_project(project, Ok(agent))).transpose()?)
        })
        .await
    }

    async fn insert(&self, new: NewAgent) -> Result<Agent, StoreError> {
        self.write(move |connection| {
            let agent = insert(connection, &new)?;
            connection.note_created("agents", agent.id.get());
            Ok(agent)
        })
        .await
    }

    async fn update(&self, update: AgentUpdate) -> Result<Agent, AgentError> {
        self.write(move |connection| {
            let (role, project) = lock_unless_stronger(connection, update.agent, &update.held)?;
            let at = update.at.naive_utc();
            diesel::update(users::table.find(update.agent.get()).filter(users::project_id.eq(project)))
                .set((
                    update.name.as_set().map(|name| users::first_name.eq(name.as_str())),
                    update.is_banned.as_set().map(|banned| users::is_banned.eq(*banned)),
                    users::version.eq(users::version + 1),
                    users::updated_at.eq(at),
                ))
                .execute(connection)?;
            diesel::update(roles::table.find(role).filter(roles::project_id.eq(project)))
                .set((
                    update.name.as_set().map(|name| roles::name.eq(name.as_str())),
                    update.description.as_set().map(|text| roles::description.eq(text.as_ref().map(Prose::as_str))),
                    roles::version.eq(roles::version + 1),
                    roles::updated_at.eq(at),
                ))
                .execute(connection)?;
            if let Some(wanted) = update.permissions.as_set() {
                revoke(connection, project, role)?;
                grant(connection, project, role, wanted)?;
            }
            written(connection, update.agent.get())
        })
        .await
    }

    async fn delete(&self, agent: UserId, held: BTreeSet<Permission>, at: DateTime<Utc>) -> Result<(), AgentError> {
        self.write(move |connection| {
            let (role, project) = lock_unless_stronger(connection, agent, &held)?;
            let at = at.naive_utc();
            end_staff_tokens(connection, project, agent)?;
            revoke(connection, project, role)?;
            diesel::update(users::table.find(agent.get()).filter(users::project_id.eq(project)))
                .set((
                    users::is_banned.eq(true),
                    users::deleted_at.eq(at),
                    users::version.eq(users::version + 1),
                    users::updated_at.eq(at),
                ))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn tokens(&self, agent: UserId) -> Result<Vec<AgentToken>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<TokenRow> =
                tokens_of!(agent).order(access_tokens::id).select(TokenRow::as_select()).load(connection)?;
            Ok(unreadable::rows("access_tokens", rows, |row| row.id, AgentToken::try_from)?)
        })
        .await
    }

    async fn insert_token(&self, token: NewAgentToken) -> Result<AgentToken, AgentError> {
        self.write(move |connection| {
            let (role, project) = lock_agent(connection, token.agent)?.ok_or(Abort::Refused(AgentError::NotFound))?;
            let allowed = allowed(connection, role)?;
            token.check(&allowed).map_err(Abort::refused)?;
            if !has_room(connection, token.agent)? {
                return Err(Abort::refused(AgentRefusal::TooManyTokens));
            }
            let id = insert_token(
                connection,
                &TokenToStore {
                    project,
                    agent: token.agent,
                    name: &token.name,
                    abilities: token.abilities.as_ref(),
                    fingerprint: &token.fingerprint,
                    created_at: token.created_at,
                    expires_at: token.expires_at,
                },
            )?;
            connection.note_created("tokens", id);
            Ok(AgentToken {
                id: decode::id(id)?,
                name: Some(token.name.clone()),
                abilities: token.abilities.clone(),
                last_used_at: None,
                created_at: token.created_at,
                expires_at: token.expires_at,
            })
        })
        .await
    }

    async fn delete_token(&self, agent: UserId, token: TokenId) -> Result<bool, StoreError> {
        self.write(move |connection| {
            connection.declare_unchanged(Topic::Access);
            let deleted =
                diesel::delete(tokens_of!(agent).filter(access_tokens::id.eq(token.get()))).execute(connection)?;
            Ok(deleted > 0)
        })
        .await
    }
}
