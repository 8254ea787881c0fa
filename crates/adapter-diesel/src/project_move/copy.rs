//! Copy of the rows of a project: all of one snapshot, then the noted ones.

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;
use diesel::connection::SimpleConnection as _;

use super::ProjectMoveError;
use super::tables::{self, PAGE, Table};
use crate::database::AnyConnection;
use crate::database::idempotency::number_before;
use crate::statement::{Statement, by_place};

/// Noted changes per round, which limits memory.
const ROUND: usize = 20_000;

/// Idempotency keys and their responses. They name no project, so those of all projects are copied.
const KEYS: [&str; 2] = ["idempotency_keys", "idempotency_answers"];

/// Ids of each table that the target leaves free beside a tenth of those of the source: for rows that are created while
/// the project moves.
const HEADROOM: i64 = 10_000;

/// Maximum age of a request when its key is committed, with room for clocks that differ.
const LATE: TimeDelta = TimeDelta::seconds(60);

/// Lets a transaction check references at its end. Other transactions still check them at once.
pub(super) const DEFERRABLE: &str = "DO $move$ DECLARE k record; BEGIN FOR k IN SELECT conrelid::regclass AS owner, conname \
     FROM pg_constraint WHERE contype = 'f' AND NOT condeferrable AND connamespace = current_schema()::regnamespace LOOP \
     EXECUTE format('ALTER TABLE %s ALTER CONSTRAINT %I DEFERRABLE INITIALLY IMMEDIATE', k.owner, k.conname); \
     END LOOP; END $move$";

/// References of rows of a project to rows that belong to no project.
const SHARED: &str = "SELECT t.relname::text, a.attname::text, r.relname::text FROM pg_constraint k \
     JOIN pg_class t ON t.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid \
     JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.conkey[1] \
    WHERE k.contype = 'f' AND k.connamespace = current_schema()::regnamespace AND array_length(k.conkey, 1) = 1 \
    AND r.relname <> 'projects'";

by_place! {
    struct ReferenceRow {
        table_name: String,
        column: String,
        shared: String,
    }
}

by_place! {
    struct ChangeRow {
        id: i64,
        table_name: String,
        key: String,
    }
}

by_place! {
    struct RangeRow {
        low: Option<i64>,
        high: Option<i64>,
    }
}

/// Result of a round.
pub(super) struct Round {
    /// Changes copied.
    pub done: usize,
    /// `true` if the target has all changes that the round saw.
    pub is_complete: bool,
}

/// Plan and progress of a copy.
pub(super) struct CopyPlan {
    project: i64,
    /// Condition that a row of the project in `project_moves` is of this move.
    of_move: String,
    tables: Vec<Table>,
    others: BTreeMap<String, Table>,
    shared: Vec<ReferenceRow>,
    /// Greatest id of each table that was compared with those of the target.
    ids: BTreeMap<String, i64>,
    /// Request number up to which all keys are copied.
    keys: i64,
}

/// Runs reads that see one state of the source.
fn in_snapshot<T>(
    source: &mut AnyConnection,
    read: impl FnOnce(&mut AnyConnection) -> Result<T, ProjectMoveError>,
) -> Result<T, ProjectMoveError> {
    let begin = if source.is_postgres() { "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" } else { "BEGIN" };
    source.batch_execute(begin)?;
    let outcome = read(source);
    let ended = source.batch_execute("ROLLBACK");
    let value = outcome?;
    ended?;
    Ok(value)
}

/// Copies the rows of a table that meet a condition, page by page. Returns their number.
fn copy_pages(
    source: &mut AnyConnection,
    table: &Table,
    condition: &str,
    mut write: impl FnMut(&[String]) -> Result<(), ProjectMoveError>,
) -> Result<usize, ProjectMoveError> {
    let (is_postgres, mut copied, mut last) = (source.is_postgres(), 0, None::<String>);
    loop {
        let mut rows: Vec<String> = table.page(condition, last.as_deref(), is_postgres)?.scalars(source)?;
        write(&rows)?;
        copied += rows.len();
        if rows.len() < PAGE {
            return Ok(copied);
        }
        last = rows.pop();
    }
}

/// Checks the references of all rows so far.
fn check_references(target: &mut AnyConnection) -> Result<(), ProjectMoveError> {
    target
        .batch_execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
        .map_err(|error| ProjectMoveError::Refused(format!("a row refers to one that the target lacks: {error}")))
}

impl CopyPlan {
    /// Reads the tables, and checks and reserves the ids in the target.
    pub fn plan(
        source: &mut AnyConnection,
        target: &mut AnyConnection,
        project: i64,
        of_move: &str,
    ) -> Result<Self, ProjectMoveError> {
        let (tables, others) = tables::read(target)?;
        let shared = Statement::new(SHARED).rows(target)?;
        let of_move = of_move.to_owned();
        let mut copy = Self { project, of_move, tables, others, shared, ids: BTreeMap::new(), keys: 0 };
        copy.reserve_ids(source, target)?;
        copy.claim_ids(source, target)?;
        Ok(copy)
    }

    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Moves the sequences of the target past the ids of the source, and past those that it issues during the move.
    fn reserve_ids(&self, source: &mut AnyConnection, target: &mut AnyConnection) -> Result<(), ProjectMoveError> {
        for Table { name, .. } in self.tables.iter().filter(|table| table.has_ids()) {
            let newest: Option<i64> = Statement::new(format!("SELECT max(id) FROM {name}")).once().scalar(source)?;
            let newest = newest.unwrap_or_default();
            let end = newest.saturating_add(newest / 10).saturating_add(HEADROOM);
            tables::raise_sequence(target, name, end)?;
        }
        Ok(())
    }

    /// Moves the sequences of the target past the ids of the project, and refuses ids that other projects have there.
    pub fn claim_ids(
        &mut self,
        source: &mut AnyConnection,
        target: &mut AnyConnection,
    ) -> Result<(), ProjectMoveError> {
        let Self { project, tables, ids, .. } = self;
        for Table { name, .. } in tables.iter().filter(|table| table.has_ids()) {
            let RangeRow { low, high } =
                Statement::new(format!("SELECT min(id), max(id) FROM {name} WHERE project_id = "))
                    .value(*project)
                    .once()
                    .row(source)?;
            let low = ids.get(name).map(|known| known + 1).or(low);
            let (Some(low), Some(high)) = (low, high) else { continue };
            if high < low {
                continue;
            }
            let taken = Statement::new(format!("SELECT id FROM {name} WHERE project_id IS DISTINCT FROM "))
                .value(*project)
                .sql(format!(" AND id BETWEEN {low} AND {high} LIMIT 1"));
            if taken.once().finds(target)? {
                return Err(ProjectMoveError::Refused(format!(
                    "the target has {name} of other projects between the ids {low} and {high} of this project"
                )));
            }
            tables::raise_sequence(target, name, high)?;
            ids.insert(name.clone(), high);
        }
        Ok(())
    }

    /// Copies all rows of one snapshot. Returns their number.
    pub fn all(&mut self, source: &mut AnyConnection, target: &mut AnyConnection) -> Result<usize, ProjectMoveError> {
        let (copied, keys) = in_snapshot(source, |source| {
            self.copy_shared(source, target)?;
            let keys = self.copy_keys(source, target)?;
            let mut copied = 0;
            for table in &self.tables {
                let own = format!("{} = {}", table.tenant, self.project);
                copied += copy_pages(source, table, &own, |rows| table.write(target, self.project, rows))?;
            }
            Ok((copied, keys))
        })?;
        self.keys = keys;
        check_references(target)?;
        Ok(copied)
    }

    /// Copies idempotency keys and responses of requests that may have been committed since the last time, so that a
    /// request repeated at the target does not run again. Returns the number to begin at next time.
    fn copy_keys(&self, source: &mut AnyConnection, target: &mut AnyConnection) -> Result<i64, ProjectMoveError> {
        for table in KEYS.into_iter().filter_map(|name| self.others.get(name)) {
            copy_pages(source, table, &format!("number > {}", self.keys), |rows| {
                // A key that was free again has a later number. The response of the earlier one expires.
                table.delete_same_keys(target, rows)?;
                table.replace(target, rows)
            })?;
        }
        let newest: Option<i64> = Statement::new("SELECT max(number) FROM idempotency_keys").once().scalar(source)?;
        Ok(newest.map_or(self.keys, |newest| number_before(newest, LATE).max(self.keys)))
    }

    /// Copies rows without a project that rows of the project refer to. The target keeps those it has; they must be
    /// equal.
    fn copy_shared(&self, source: &mut AnyConnection, target: &mut AnyConnection) -> Result<(), ProjectMoveError> {
        for ReferenceRow { table_name, column, shared } in &self.shared {
            let Some(owner) = self.tables.iter().find(|table| table.name == *table_name) else { continue };
            let of_projects = self.tables.iter().find(|table| table.name == *shared);
            let Some(table) = of_projects.or_else(|| self.others.get(shared)) else { continue };
            let unowned = if of_projects.is_some() { " AND project_id IS NULL" } else { "" };
            let select = |ids: &str, is_postgres: bool| {
                let row = table.row_json("", is_postgres);
                Statement::new(format!("SELECT {row} FROM {shared} WHERE id IN ({ids}){unowned}")).once()
            };
            let ids = Statement::new(format!(
                "SELECT DISTINCT {column} FROM {table_name} WHERE {column} IS NOT NULL AND {} = ",
                owner.tenant
            ))
            .value(self.project)
            .once();
            let ids: Vec<i64> = ids.scalars(source)?;
            for chunk in ids.chunks(PAGE) {
                let list = chunk.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                let rows: Vec<String> = select(&list, source.is_postgres()).scalars(source)?;
                table.add_shared(target, &rows)?;
            }
        }
        Ok(())
    }

    /// Copies the rows that were noted as changed, at most [`ROUND`] changes. If it saw no more, it compares the number
    /// of rows of every table, if asked.
    pub fn round(
        &mut self,
        source: &mut AnyConnection,
        target: &mut AnyConnection,
        compares: bool,
    ) -> Result<Round, ProjectMoveError> {
        let (ids, is_complete, keys) = in_snapshot(source, |source| {
            let own = Statement::new("SELECT project_id FROM project_moves WHERE project_id = ").value(self.project);
            if !own.sql(format!(" AND {}", self.of_move)).once().finds(source)? {
                return Err(ProjectMoveError::Refused("the move was aborted".to_owned()));
            }
            let noted: Vec<ChangeRow> =
                Statement::new("SELECT id, table_name, row_key FROM project_move_changes WHERE project_id = ")
                    .value(self.project)
                    .sql(format!(" ORDER BY id LIMIT {ROUND}"))
                    .rows(source)?;
            let is_complete = noted.len() < ROUND;
            let mut changed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            for ChangeRow { table_name, key, .. } in &noted {
                changed.entry(table_name).or_default().insert(key);
            }
            for table in &self.tables {
                if let Some(keys) = changed.get(table.name.as_str()) {
                    let copied = self.copy_noted(source, target, table, keys.iter().copied().collect());
                    // A unique value may have come from a row whose change belongs to a later round.
                    copied.map_err(|error| {
                        let again = format!("{error}; run the same command again");
                        if is_complete { error } else { ProjectMoveError::Refused(again) }
                    })?;
                }
            }
            if is_complete && compares {
                self.copy_shared(source, target)?;
                self.compare(source, target)?;
            }
            let keys = if is_complete { self.copy_keys(source, target)? } else { self.keys };
            Ok((noted.iter().map(|change| change.id).collect::<Vec<_>>(), is_complete, keys))
        })?;
        self.keys = keys;
        if is_complete {
            check_references(target)?;
        }
        // Transactions commit in any order, so a later one may have noted a smaller number.
        for chunk in ids.chunks(PAGE) {
            let copied = Statement::new("DELETE FROM project_move_changes WHERE project_id = ").value(self.project);
            copied.sql(" AND id").among(chunk).run(source)?;
        }
        Ok(Round { done: ids.len(), is_complete })
    }

    /// Copies rows with these keys, and deletes those that the source no longer has: first, because others may have
    /// taken over their unique values. So may rows that have changed.
    fn copy_noted(
        &self,
        source: &mut AnyConnection,
        target: &mut AnyConnection,
        table: &Table,
        keys: Vec<&str>,
    ) -> Result<(), ProjectMoveError> {
        let is_postgres = source.is_postgres();
        let select =
            |what: &str, keys: &[&str]| table.noted(what, self.project, format!("[{}]", keys.join(",")), is_postgres);
        for keys in keys.chunks(PAGE) {
            let there: Vec<String> = select(&table.key_json("t.", is_postgres), keys).scalars(source)?;
            let there: BTreeSet<&str> = there.iter().map(String::as_str).collect();
            let gone: Vec<&str> = keys.iter().copied().filter(|key| !there.contains(key)).collect();
            table.delete(target, self.project, &gone)?;
            table.set_aside(target, self.project, keys)?;
        }
        for keys in keys.chunks(PAGE) {
            let rows: Vec<String> = select(&table.row_json("t.", is_postgres), keys).scalars(source)?;
            table.write(target, self.project, &rows)?;
        }
        Ok(())
    }

    /// Compares the numbers of rows.
    fn compare(&self, source: &mut AnyConnection, target: &mut AnyConnection) -> Result<(), ProjectMoveError> {
        for Table { name, tenant, .. } in &self.tables {
            let count = |connection: &mut AnyConnection| {
                Statement::new(format!("SELECT CAST(count(*) AS BIGINT) FROM {name} WHERE {tenant} = "))
                    .value(self.project)
                    .once()
                    .scalar::<i64>(connection)
            };
            let (here, there) = (count(source)?, count(target)?);
            if here != there {
                return Err(ProjectMoveError::Refused(format!(
                    "the source has {here} rows of {name}, the target {there}"
                )));
            }
        }
        Ok(())
    }
}
