//! Rights of the authors of jobs, checked again while the jobs run.

use std::collections::BTreeSet;

use diesel::prelude::*;
use kontor_catalog::bulk::JobKind;
use kontor_kernel::{JobId, Permission, StoreError};

use crate::customer_data::guard;
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::statement::{Statement, by_place};

by_place! {
    struct JobRow {
        project: i64,
        kind: String,
        user: Option<i64>,
        token: Option<i64>,
    }
}

by_place! {
    struct RoleRow {
        id: i64,
        is_owner: bool,
    }
}

/// Returns `true` if these names include every needed permission.
fn cover(names: &[String], needed: &[Permission]) -> bool {
    let granted: BTreeSet<Permission> =
        Permission::all().filter(|permission| names.contains(&permission.to_string())).collect();
    needed.iter().all(|permission| permission.is_covered_by(&granted))
}

/// Returns `true` if the author of a job of this table may still start it. A job from the command line has no author.
/// An agent needs the token that started the job and, for imports, a policy that lets agents write.
pub(super) fn may_continue<R>(
    connection: &mut AnyConnection,
    table: &'static str,
    id: JobId,
) -> Result<bool, Abort<R>> {
    let job: JobRow = Statement::new(format!("SELECT project_id, kind, user_id, token_id FROM {table} WHERE id = "))
        .value(id.get())
        .row(connection)?;
    let Some(user) = job.user else { return Ok(true) };
    let kind: JobKind = decode::word(table, id, "kind", &job.kind)?;
    let needed = kind.to_start();
    let role: Option<RoleRow> = Statement::new(
        "SELECT r.id, r.is_owner FROM users u JOIN roles r ON r.id = u.role_id AND r.project_id = u.project_id \
         WHERE u.is_banned = FALSE AND u.id = ",
    )
    .value(user)
    .sql(" AND u.project_id = ")
    .value(job.project)
    .row(connection)
    .optional()?;
    let Some(role) = role else { return Ok(false) };
    if !role.is_owner {
        let names: Vec<String> = Statement::new(
            "SELECT p.name FROM role_permissions g JOIN permissions p ON p.id = g.permission_id WHERE g.role_id = ",
        )
        .value(role.id)
        .scalars(connection)?;
        if !cover(&names, needed) {
            return Ok(false);
        }
    }
    let Some(token) = job.token else { return Ok(true) };
    let abilities: Option<Option<String>> = Statement::new("SELECT abilities FROM access_tokens WHERE guard = ")
        .value(guard::USER)
        .sql(" AND id = ")
        .value(token)
        .sql(" AND subject_id = ")
        .value(user)
        .scalar(connection)
        .optional()?;
    let Some(abilities) = abilities else { return Ok(false) };
    let names: Option<Vec<String>> =
        abilities.map(|text| serde_json::from_str(&text).map_err(StoreError::corrupt)).transpose()?;
    if names.is_some_and(|names| !cover(&names, needed)) {
        return Ok(false);
    }
    let refuses_writes: Option<bool> = Statement::new("SELECT refuses_writes FROM agent_policies WHERE project_id = ")
        .value(job.project)
        .scalar(connection)
        .optional()?;
    Ok(!(matches!(kind, JobKind::Import(_)) && refuses_writes.unwrap_or_default()))
}
