//! Order of change of the lists that programs keep a copy of.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use kontor_kernel::{Change, ChangeLog, ChangePosition, ChangedList, ProjectId, StoreError};

use crate::database::{Abort, Database};
use crate::decode;
use crate::statement::{Statement, by_place};

by_place! {
    struct ChangeRow {
        id: i64,
        updated_at: NaiveDateTime,
        is_deletion: bool,
    }
}

impl From<ChangeRow> for Change {
    fn from(row: ChangeRow) -> Self {
        let position = ChangePosition { at: decode::moment(row.updated_at), id: row.id };
        Self { position, is_deletion: row.is_deletion }
    }
}

/// Table of the list, and `true` if its deleted records stay in it.
fn table(list: ChangedList) -> (&'static str, bool) {
    match list {
        ChangedList::Counterparties => ("counterparties", true),
        ChangedList::Inventories => ("inventories", true),
        ChangedList::Nomenclatures => ("nomenclatures", false),
        ChangedList::Orders => ("orders", false),
        ChangedList::Subscriptions => ("subscriptions", false),
    }
}

fn changes(
    project: ProjectId,
    list: ChangedList,
    after: ChangePosition,
    deletions_since: DateTime<Utc>,
    limit: u32,
) -> Statement {
    let (table, keeps_deleted) = table(list);
    let is_deletion = if keeps_deleted { "deleted_at IS NOT NULL" } else { "FALSE" };
    let place = Statement::new(format!("SELECT id, updated_at, {is_deletion} FROM {table} WHERE project_id = "))
        .value(project.get())
        .sql(" AND (updated_at, id) > (")
        .value(after.at.naive_utc())
        .sql(", ")
        .value(after.id)
        .sql(")");
    let listed = if keeps_deleted {
        place.sql(" AND (deleted_at IS NULL OR deleted_at >= ").value(deletions_since.naive_utc()).sql(")")
    } else {
        place
    };
    listed.sql(" ORDER BY updated_at, id LIMIT ").value(i64::from(limit))
}

#[async_trait]
impl ChangeLog for Database {
    async fn changes(
        &self,
        project: ProjectId,
        list: ChangedList,
        after: ChangePosition,
        deletions_since: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<Change>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<ChangeRow> = changes(project, list, after, deletions_since, limit).rows(connection)?;
            Ok::<_, Abort<StoreError>>(rows.into_iter().map(Change::from).collect())
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use kontor_kernel::Word as _;

    use super::*;
    use crate::testing::{Kind, TestDatabase};

    #[tokio::test]
    async fn every_list_is_walked_by_its_index() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let after = ChangePosition { at: DateTime::UNIX_EPOCH, id: 0 };
        for list in ChangedList::all() {
            let walk = changes(ProjectId::new(1).unwrap(), *list, after, DateTime::UNIX_EPOCH, 10);
            let plan = db
                .database
                .read(move |connection| walk.clone().plan(connection).map_err(Abort::<StoreError>::Query))
                .await
                .unwrap();
            assert!(plan.contains("_by_change (project_id=? AND updated_at>?)"), "{plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{plan}");
        }
    }
}
