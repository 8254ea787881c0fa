//! Uses of tokens, stored in batches.

use std::collections::BTreeMap;

use chrono::{NaiveDateTime, TimeDelta};
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_auth::model::TokenUse;
use kontor_kernel::StoreError;

use super::guard;
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::locks::lock_rows;
use crate::schema::access_tokens;
use crate::statement::Statement;

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
