//! Mails to employees about calls of agents that wait for their approval.

use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::result::QueryResult;
use kontor_auth::APPROVAL_MAIL_DELAY;
use kontor_auth::model::{AgentActionState, ApprovalMail, WaitingCall};
use kontor_auth::ports::ApprovalMailQueue;
use kontor_kernel::{Permission, ProjectId, StoreError, Word};

use super::tokens::permission;
use crate::database::{Abort, AnyConnection, Database};
use crate::decode;
use crate::lease::{Leased, Queue};
use crate::statement::{Statement, by_place};

/// Queue of employees to be mailed.
pub(crate) const APPROVAL_MAILS: Queue = Queue {
    table: "approval_mails",
    key: "user_id",
    due: Some("next_attempt_at"),
    open: "wanted > 0",
    on_park: "",
    of_projects: true,
};

/// Maximum calls in one mail: the newest ones.
const MAX_CALLS: usize = 100;

const REQUEST: &str =
    "INSERT INTO approval_mails (project_id, user_id, wanted, next_attempt_at) SELECT u.project_id, u.id, 1, ";
const APPROVERS: &str = " FROM users u JOIN roles r ON r.id = u.role_id AND r.project_id = u.project_id \
    WHERE u.kind = 'employee' AND u.is_banned = FALSE AND u.deleted_at IS NULL AND u.email <> '' AND u.project_id = ";
const WITH_PERMISSION: &str = " AND (r.is_owner = TRUE OR EXISTS (SELECT 1 FROM role_permissions g \
    JOIN permissions p ON p.id = g.permission_id WHERE g.project_id = r.project_id AND g.role_id = r.id AND p.name = ";
/// All writers lock the rows of the same employees in the same order.
const OR_ONE_MORE: &str = ")) ORDER BY u.id ON CONFLICT (project_id, user_id) DO UPDATE SET \
    wanted = approval_mails.wanted + 1, next_attempt_at = CASE \
    WHEN approval_mails.wanted = 0 AND approval_mails.next_attempt_at < excluded.next_attempt_at \
    THEN excluded.next_attempt_at ELSE approval_mails.next_attempt_at END";

/// Requests a mail to every employee of the project who may approve calls.
pub(super) fn request<R>(
    connection: &mut AnyConnection,
    project: ProjectId,
    at: DateTime<Utc>,
) -> Result<(), Abort<R>> {
    Statement::new(REQUEST)
        .value((at + APPROVAL_MAIL_DELAY).naive_utc())
        .sql(APPROVERS)
        .value(project.get())
        .sql(WITH_PERMISSION)
        .value(Permission::APPROVE_AGENT_ACTIONS.to_string())
        .sql(OR_ONE_MORE)
        .run(connection)?;
    Ok(())
}

by_place! {
    struct MailRow {
        user_id: i64,
        project_id: i64,
        wanted: i64,
        email: Option<String>,
        is_owner: Option<bool>,
    }
}

by_place! {
    struct CallRow {
        public_id: String,
        agent: String,
        operation: String,
        expires_at: NaiveDateTime,
    }
}

/// Rows of a mail: the employee, the names of the permissions of their role, and the calls of the project.
type MailRows = (MailRow, Vec<String>, Vec<CallRow>);

const LEASED: Leased<i64, MailRows, ApprovalMail> = Leased { load, read: mail };

/// Loads the rows of the queue before the calls. A concurrent proposal raises `wanted` above the value that was read.
fn load(connection: &mut AnyConnection, users: &[i64]) -> QueryResult<Vec<(i64, MailRows)>> {
    let mails: Vec<MailRow> = Statement::new(
        "SELECT m.user_id, m.project_id, m.wanted, u.email, r.is_owner FROM approval_mails m LEFT JOIN users u \
         ON u.id = m.user_id AND u.project_id = m.project_id AND u.kind = 'employee' AND u.is_banned = FALSE \
         AND u.deleted_at IS NULL \
         LEFT JOIN roles r ON r.id = u.role_id AND r.project_id = u.project_id WHERE m.user_id",
    )
    .among(users)
    .rows(connection)?;
    let mut loaded = Vec::new();
    for mail in mails {
        let granted = Statement::new(
            "SELECT p.name FROM users u JOIN role_permissions g ON g.role_id = u.role_id \
             AND g.project_id = u.project_id \
             JOIN permissions p ON p.id = g.permission_id WHERE u.id = ",
        )
        .value(mail.user_id)
        .scalars(connection)?;
        let mut calls: Vec<CallRow> = Statement::new(
            "SELECT a.public_id, u.first_name, a.operation, a.expires_at FROM agent_actions a \
             JOIN users u ON u.id = a.agent_id AND u.project_id = a.project_id WHERE a.project_id = ",
        )
        .value(mail.project_id)
        .sql(" AND a.state = ")
        .value(AgentActionState::Proposed.word())
        .sql(format!(" ORDER BY a.id DESC LIMIT {MAX_CALLS}"))
        .rows(connection)?;
        calls.reverse();
        loaded.push((mail.user_id, (mail, granted, calls)));
    }
    Ok(loaded)
}

fn mail((row, granted, calls): MailRows) -> Result<ApprovalMail, StoreError> {
    let granted: BTreeSet<Permission> = granted.iter().filter_map(|name| permission(name)).collect();
    let call = |row: CallRow| -> Result<WaitingCall, StoreError> {
        let (public_id, expires_at) = (decode::text(&row.public_id)?, decode::moment(row.expires_at));
        Ok(WaitingCall { public_id, agent: row.agent, operation: row.operation, expires_at })
    };
    Ok(ApprovalMail {
        project_id: decode::id(row.project_id)?,
        user_id: decode::id(row.user_id)?,
        to: decode::optional_text(row.email.as_deref())?,
        permissions: if row.is_owner == Some(true) { Permission::all().collect() } else { granted },
        calls: calls.into_iter().map(call).collect::<Result<_, StoreError>>()?,
        wanted: row.wanted,
    })
}

#[async_trait]
impl ApprovalMailQueue for Database {
    async fn lease(
        &self,
        owner: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<ApprovalMail>, StoreError> {
        self.lease_row(&APPROVAL_MAILS, owner, at, until, Statement::new(""), LEASED).await
    }

    async fn release(
        &self,
        mail: &ApprovalMail,
        owner: &str,
        settled: i64,
        next: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let released =
            Statement::new("UPDATE approval_mails SET lease_owner = NULL, leased_until = NULL, next_attempt_at = ")
                .value(next.naive_utc())
                .sql(", wanted = wanted - ")
                .value(settled)
                .sql(" WHERE project_id = ")
                .value(mail.project_id.get())
                .sql(" AND user_id = ")
                .value(mail.user_id.get())
                .sql(" AND lease_owner = ")
                .value(owner);
        self.write(move |connection| {
            released.clone().run(connection)?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }
}
