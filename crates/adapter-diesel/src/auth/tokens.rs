//! Access tokens, and their uses, which are stored in batches.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use async_trait::async_trait;
use chrono::{NaiveDateTime, TimeDelta};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use diesel::sql_types::Bool;
use kontor_auth::model::{StoredCustomerToken, StoredStaffToken, TokenOwner, TokenUse};
use kontor_auth::ports::TokenRepository;
use kontor_kernel::{AppScope, Permission, StoreError, TokenId};

use super::{AGENT, guard};
use crate::customer_data::{close_sessions_of_customer, close_sessions_of_tokens};
use crate::database::{Abort, AnyConnection, Database, Extent, Topic, on_each};
use crate::decode;
use crate::lease::is_here;
use crate::locks::lock_rows;
use crate::schema::{
    access_tokens, applications, counterparties, permissions, referred, role_permissions, roles, users,
};
use crate::statement::Statement;
use crate::time_codec::Moment;

#[derive(Queryable)]
struct StaffTokenRow {
    fingerprint: String,
    expires_at: NaiveDateTime,
    last_used_at: Option<NaiveDateTime>,
    user_id: i64,
    project_id: i64,
    is_banned: bool,
    kind: String,
    is_owner: bool,
    abilities: Option<String>,
    permission: Option<String>,
}

#[derive(Queryable)]
struct CustomerTokenRow {
    fingerprint: String,
    expires_at: Moment,
    counterparty_id: i64,
    project_id: i64,
    application_id: i64,
    wholesale: bool,
    app_is_active: bool,
    last_used_at: Option<Moment>,
}

/// Parses a permission name. A name that the service does not know grants nothing.
pub(super) fn permission(name: &str) -> Option<Permission> {
    static NAMES: LazyLock<HashMap<String, Permission>> =
        LazyLock::new(|| Permission::all().map(|permission| (permission.to_string(), permission)).collect());
    NAMES.get(name).copied()
}

/// Parses the stored abilities of a token: a JSON list of permission names.
pub(super) fn abilities(text: &str) -> Result<BTreeSet<Permission>, StoreError> {
    let names: Vec<String> = serde_json::from_str(text).map_err(StoreError::corrupt)?;
    Ok(names.iter().filter_map(|name| permission(name)).collect())
}

fn staff_token(rows: Vec<StaffTokenRow>) -> Result<Option<StoredStaffToken>, StoreError> {
    let granted: BTreeSet<Permission> =
        rows.iter().filter_map(|row| row.permission.as_deref()).filter_map(permission).collect();
    let Some(row) = rows.into_iter().next() else { return Ok(None) };
    Ok(Some(StoredStaffToken {
        fingerprint: row.fingerprint,
        expires_at: decode::moment(row.expires_at),
        last_used_at: row.last_used_at.map(decode::moment),
        user_id: decode::id(row.user_id)?,
        project_id: decode::id(row.project_id)?,
        is_banned: row.is_banned,
        is_agent: row.kind == AGENT,
        permissions: if row.is_owner { Permission::all().collect() } else { granted },
        abilities: row.abilities.as_deref().map(abilities).transpose()?,
    }))
}

fn key(owner: TokenOwner) -> (&'static str, i64) {
    match owner {
        TokenOwner::Staff(user) => (guard::USER, user.get()),
        TokenOwner::Customer(counterparty) => (guard::COUNTERPARTY, counterparty.get()),
    }
}

/// Ends tokens and returns their ids. From the commit on, customers' tokens may not be served from caches. Those of
/// employees are not cached.
macro_rules! end {
    ($connection:expr, $owner:expr, $tokens:expr) => {{
        $connection.declare_unchanged(Topic::Access);
        let ended: Vec<(i64, i64)> = diesel::delete($tokens)
            .returning((access_tokens::id, access_tokens::project_id))
            .get_results($connection)?;
        if matches!($owner, TokenOwner::Customer(_)) {
            for (_, project) in &ended {
                $connection.invalidate(Topic::Access, *project);
            }
        }
        ended.into_iter().map(|(token, _)| token).collect::<Vec<i64>>()
    }};
}

#[async_trait]
impl TokenRepository for Database {
    async fn staff_token(&self, id: TokenId) -> Result<Option<StoredStaffToken>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
                // The owner's role has every permission, so nothing is joined for it.
                let rows = access_tokens::table
                    .inner_join(referred!(users, access_tokens::subject_id))
                    .inner_join(referred!(roles, users::role_id))
                    .left_join(
                        role_permissions::table.on(role_permissions::role_id
                            .eq(roles::id)
                            .and(role_permissions::project_id.eq(roles::project_id))
                            .and(roles::is_owner.eq(false))),
                    )
                    .left_join(permissions::table.on(permissions::id.eq(role_permissions::permission_id)))
                    .filter(access_tokens::id.eq(id.get()))
                    .filter(access_tokens::guard.eq(guard::USER))
                    .select((
                        access_tokens::fingerprint,
                        access_tokens::expires_at,
                        access_tokens::last_used_at,
                        users::id,
                        users::project_id,
                        users::is_banned,
                        users::kind,
                        roles::is_owner,
                        access_tokens::abilities,
                        permissions::name.nullable(),
                    ))
                    .load(connection)?;
                Ok(staff_token(rows)?)
            })
            .await
    }

    async fn customer_token(&self, id: TokenId) -> Result<Option<StoredCustomerToken>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let row: Option<CustomerTokenRow> = on_each!(connection, concrete => access_tokens::table
                .inner_join(referred!(counterparties, access_tokens::subject_id))
                .inner_join(referred!(applications, access_tokens::application_id))
                .filter(access_tokens::id.eq(id.get()))
                .filter(access_tokens::guard.eq(guard::COUNTERPARTY))
                .filter(counterparties::deleted_at.is_null())
                .select((
                    access_tokens::fingerprint,
                    access_tokens::expires_at,
                    counterparties::id,
                    counterparties::project_id,
                    applications::id,
                    applications::wholesale,
                    applications::is_active,
                    access_tokens::last_used_at,
                ))
                .first(concrete)
                .optional())?;
                let Some(row) = row else { return Ok(None) };
                Ok(Some(StoredCustomerToken {
                    fingerprint: row.fingerprint,
                    expires_at: decode::moment(row.expires_at.0),
                    counterparty_id: decode::id(row.counterparty_id)?,
                    app: AppScope {
                        project_id: decode::id(row.project_id)?,
                        application_id: decode::id(row.application_id)?,
                        wholesale: row.wholesale,
                    },
                    app_is_active: row.app_is_active,
                    last_used_at: row.last_used_at.map(|at| decode::moment(at.0)),
                }))
            })
            .await
    }

    async fn record_uses(&self, uses: Vec<TokenUse>) -> Result<(), StoreError> {
        self.write(move |connection| store(connection, &uses)).await
    }

    async fn revoke(&self, owner: TokenOwner, token: TokenId) -> Result<(), StoreError> {
        self.write(move |connection| {
            let (guard, subject) = key(owner);
            let one = access_tokens::table
                .filter(access_tokens::id.eq(token.get()))
                .filter(access_tokens::guard.eq(guard))
                .filter(access_tokens::subject_id.eq(subject));
            let ended = end!(connection, owner, one);
            if matches!(owner, TokenOwner::Customer(_)) {
                close_sessions_of_tokens(connection, &ended)?;
            }
            Ok(())
        })
        .await
    }

    async fn revoke_all(&self, owner: TokenOwner) -> Result<(), StoreError> {
        self.write(move |connection| {
            let (guard, subject) = key(owner);
            let all = access_tokens::table
                .filter(access_tokens::guard.eq(guard))
                .filter(access_tokens::subject_id.eq(subject));
            if let TokenOwner::Customer(customer) = owner {
                close_sessions_of_customer(connection, customer.get())?;
            }
            let ended = end!(connection, owner, all);
            if matches!(owner, TokenOwner::Customer(_)) {
                close_sessions_of_tokens(connection, &ended)?;
            }
            Ok(())
        })
        .await
    }
}

const CHUNK: usize = 500;

type Row = (i64, String, i64, Option<NaiveDateTime>);

/// Activity that the uses of tokens add to a user.
#[derive(Default)]
struct Activity {
    active: TimeDelta,
    last: NaiveDateTime,
}

/// Stores uses, ordered by token id, so that two processes storing uses wait for each other instead of deadlocking.
/// Tokens that no longer exist are skipped.
pub(super) fn store(connection: &mut AnyConnection, uses: &[TokenUse]) -> Result<(), Abort<StoreError>> {
    for chunk in uses.chunks(CHUNK) {
        store_some(connection, chunk)?;
    }
    Ok(())
}

fn store_some(connection: &mut AnyConnection, uses: &[TokenUse]) -> Result<(), QueryError> {
    let ids: Vec<i64> = uses.iter().map(|used| used.token.get()).collect();
    lock_rows(connection, "access_tokens", &ids)?;
    let rows: Vec<Row> = access_tokens::table
        .filter(access_tokens::id.eq_any(&ids))
        .filter(sql::<Bool>(&is_here("access_tokens")))
        .select((access_tokens::id, access_tokens::guard, access_tokens::subject_id, access_tokens::last_used_at))
        .load(connection)?;
    let stored: BTreeMap<i64, Row> = rows.into_iter().map(|row| (row.0, row)).collect();
    let (mut tokens, mut active_users) = (Vec::new(), BTreeMap::<i64, Activity>::new());
    for used in uses {
        let Some((id, kind, subject, last_used_at)) = stored.get(&used.token.get()) else { continue };
        let Some(active) = used.active_after(last_used_at.map(decode::moment)) else { continue };
        let last = used.last.naive_utc();
        tokens.push((*id, last));
        if kind == guard::USER {
            let activity = active_users.entry(*subject).or_default();
            activity.active += active;
            activity.last = activity.last.max(last);
        }
    }
    if !tokens.is_empty() {
        mark_tokens(connection, &tokens)?;
    }
    if !active_users.is_empty() {
        mark_users(connection, &active_users)?;
    }
    Ok(())
}

fn mark_tokens(connection: &mut AnyConnection, tokens: &[(i64, NaiveDateTime)]) -> Result<(), QueryError> {
    let ids: Vec<i64> = tokens.iter().map(|(id, _)| *id).collect();
    let mut update = Statement::new("UPDATE access_tokens SET last_used_at = CASE id");
    for (id, last) in tokens {
        update = update.sql(format!(" WHEN {id} THEN ")).value(*last);
    }
    update.sql(" ELSE last_used_at END WHERE id").among(&ids).once().execute(connection)?;
    Ok(())
}

/// Updates the activity of users. A login may have recorded a later time already.
fn mark_users(connection: &mut AnyConnection, users: &BTreeMap<i64, Activity>) -> Result<(), QueryError> {
    let ids: Vec<i64> = users.keys().copied().collect();
    lock_rows(connection, "users", &ids)?;
    let mut update = Statement::new("UPDATE users SET active_seconds = active_seconds + CASE id");
    for (id, activity) in users {
        update = update.sql(format!(" WHEN {id} THEN {}", activity.active.num_seconds()));
    }
    update = update.sql(" ELSE 0 END, last_activity_at = CASE");
    for (id, activity) in users {
        update = update
            .sql(format!(" WHEN id = {id} AND (last_activity_at IS NULL OR last_activity_at < "))
            .value(activity.last)
            .sql(") THEN ")
            .value(activity.last);
    }
    update.sql(" ELSE last_activity_at END WHERE id").among(&ids).once().execute(connection)?;
    Ok(())
}
