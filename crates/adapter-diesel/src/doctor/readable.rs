//! Rows whose values are invalid, found by reading every record as the service does; and damage to the SQLite file.

use chrono::DateTime;
use kontor_customers::model::StaffCustomer;
use kontor_kernel::{ProjectId, StoreError};

use super::next;
use crate::database::{Abort, Database};
use crate::records::{Read, readable};
use crate::statement::Statement;
use crate::subscriptions::{Selection, cases};
use crate::unreadable::apart;
use crate::{auth, catalog, content, orders, organization};

/// Stored row that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableRow {
    /// Table name.
    pub table: &'static str,
    /// Number of the row.
    pub id: i64,
    /// Reason: the invalid value.
    pub reason: String,
}

/// Tables of records that several modules read.
const OTHERS: &[(&str, Read)] = &[
    readable::<StaffCustomer>(),
    ("orders", |connection, ids| orders::numbered(connection, ids).map(|_| Vec::new())),
    ("subscriptions", |connection, ids| {
        cases(connection, &Selection::These(ids.to_vec()), DateTime::UNIX_EPOCH).map(|_| Vec::new())
    }),
    ("users", auth::try_to_read),
    ("agent_actions", auth::try_to_read_calls),
    ("agent_policies", auth::try_to_read_policies),
];

/// Returns the rows of a table with their numbers in `id`. A policy for agents has the number of its project.
fn numbered(table: &'static str) -> &'static str {
    if table == "agent_policies" { "(SELECT project_id AS id, project_id FROM agent_policies)" } else { table }
}

impl Database {
    /// Reads every record of one project, or of all. Reports each row that cannot be read, and returns their number.
    pub async fn find_unreadable(
        &self,
        project: Option<ProjectId>,
        mut found: impl FnMut(UnreadableRow) + Send,
    ) -> Result<u64, StoreError> {
        let (project, mut count) = (project.map(ProjectId::get), 0);
        for (table, read) in [catalog::READABLE, OTHERS, organization::READABLE, content::READABLE].concat() {
            let mut last = Some(0);
            while let Some(after) = last {
                let looked = self.snapshot(move |connection| {
                    let ids: Vec<i64> = next("t.id", numbered(table), project, after).scalars(connection)?;
                    let (_, unreadable) = apart(connection, &ids, read)?;
                    Ok::<_, Abort<StoreError>>((ids.last().copied(), unreadable))
                });
                let (next, unreadable) = looked.await?;
                for (id, reason) in unreadable {
                    count += 1;
                    found(UnreadableRow { table, id, reason });
                }
                last = next;
            }
        }
        Ok(count)
    }

    /// Returns the damage that SQLite finds in its file. Empty on PostgreSQL, whose pages have checksums of their own.
    pub async fn file_damage(&self) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            if connection.is_postgres() {
                return Ok::<_, Abort<StoreError>>(Vec::new());
            }
            let mut findings: Vec<String> = Statement::new("PRAGMA quick_check(20)").scalars(connection)?;
            findings.retain(|finding| finding != "ok");
            Ok(findings)
        })
        .await
    }
}
