//! Loads agents in bulk.

use std::collections::{BTreeSet, HashMap};

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_auth::model::{Agent, GrantedPermission};
use kontor_kernel::StoreError;

use super::permission_rows::listed_of;
use crate::database::{Abort, AnyConnection};
use crate::decode::{self, reference};
use crate::listing::in_order;
use crate::schema::{roles, users};

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
        .inner_join(roles::table.on(roles::id.eq(users::role_id)))
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
