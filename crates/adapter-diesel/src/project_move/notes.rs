//! Triggers in the source: they note changed rows while a project is copied, and refuse changes of a project that is
//! frozen or moved.
//!
//! Every trigger locks the row of the move. The freeze takes the table for itself first, so transactions in flight end
//! before it, and later ones see it. On SQLite writers are serial anyway.

use diesel::connection::SimpleConnection as _;
use kontor_kernel::StoreError;

use super::tables::Table;
use super::{FREEZE_SECONDS, ProjectMoveError};
use crate::database::{AnyConnection, MOVING};
use crate::statement::Statement;

/// Attempts to lock a table. Between them, transactions that wait behind the lock continue.
const ATTEMPTS: u32 = 20;

fn prefix(project: i64) -> String {
    format!("project_move_{project}_")
}

/// Runs statements that wait for locks of tables in use.
pub(super) fn patiently(connection: &mut AnyConnection, statements: &str) -> Result<(), ProjectMoveError> {
    let mut attempts = 1;
    while let Err(error) = connection.batch_execute(statements) {
        if attempts == ATTEMPTS {
            return Err(StoreError::Unavailable(error.to_string()).into());
        }
        attempts += 1;
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    Ok(())
}

/// Creates the triggers of a table. Changes of transactions that end later are noted.
pub(super) fn watch(source: &mut AnyConnection, table: &Table, project: i64) -> Result<(), ProjectMoveError> {
    let is_postgres = source.is_postgres();
    let (tenant, name, trigger) = (table.tenant, &table.name, format!("{}{}", prefix(project), table.name));
    let note = |row: &str| {
        let key = table.key_json(&format!("{row}."), is_postgres);
        format!(
            "INSERT INTO project_move_changes (project_id, table_name, row_key) VALUES ({project}, '{name}', {key});"
        )
    };
    // A row may enter or leave the project by an update.
    let events = [
        ("INSERT", format!("NEW.{tenant} = {project}"), note("NEW")),
        ("UPDATE", format!("OLD.{tenant} = {project} OR NEW.{tenant} = {project}"), note("OLD") + &note("NEW")),
        ("DELETE", format!("OLD.{tenant} = {project}"), note("OLD")),
    ];
    let triggers = events.map(|(event, condition, notes)| {
        if is_postgres {
            format!(
                "CREATE TRIGGER {trigger}_{event} AFTER {event} ON {name} FOR EACH ROW WHEN ({condition}) \
                 EXECUTE FUNCTION {trigger}();"
            )
        } else {
            format!(
                "CREATE TRIGGER IF NOT EXISTS {trigger}_{event} AFTER {event} ON {name} WHEN {condition} BEGIN \
                 SELECT RAISE(ABORT, '{MOVING}') FROM project_moves m WHERE m.project_id = {project} \
                 AND (m.state = 'moved' OR m.frozen_until > strftime('%Y-%m-%d %H:%M:%f', 'now')); {notes} END;"
            )
        }
    });
    let (old, new) = (table.key_columns("OLD."), table.key_columns("NEW."));
    let function = format!(
        "CREATE FUNCTION {trigger}() RETURNS trigger LANGUAGE plpgsql AS $move$ DECLARE refused boolean; BEGIN \
         SELECT m.state = 'moved' OR m.frozen_until > clock_timestamp() AT TIME ZONE 'UTC' INTO refused \
         FROM project_moves m WHERE m.project_id = {project} FOR SHARE; \
         IF refused THEN RAISE EXCEPTION '{MOVING}'; END IF; \
         IF TG_OP <> 'INSERT' THEN {} END IF; \
         IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND ({old}) IS DISTINCT FROM ({new})) THEN {} END IF; \
         RETURN NULL; END $move$;",
        note("OLD"),
        note("NEW"),
    );
    let create = if is_postgres { function + &triggers.concat() } else { triggers.concat() };
    patiently(source, &create)
}

/// Deletes the move of the project if it meets a condition, its triggers and all it noted. Refuses if the project is in
/// a move that does not meet it: the triggers belong to that one.
pub(super) fn forget(source: &mut AnyConnection, project: i64, of_move: &str) -> Result<(), ProjectMoveError> {
    // First, so that no run closes the source while its triggers are dropped.
    patiently(source, &format!("DELETE FROM project_moves WHERE project_id = {project} AND {of_move}"))?;
    if Statement::new("SELECT project_id FROM project_moves WHERE project_id = ").value(project).finds(source)? {
        return Err(ProjectMoveError::Refused(format!(
            "project {project} is in another move, or its switch has begun; run the same command again"
        )));
    }
    let is_postgres = source.is_postgres();
    let all = if is_postgres {
        "SELECT proname::text FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND starts_with(proname::text, "
    } else {
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND (instr(name, "
    };
    let end = if is_postgres { ")" } else { ") = 1)" };
    let names: Vec<String> = Statement::new(all).value(prefix(project)).sql(end).once().scalars(source)?;
    for name in names {
        // An aborted run drops them too.
        let (kind, end) = if is_postgres { ("FUNCTION", "() CASCADE") } else { ("TRIGGER", "") };
        patiently(source, &format!("DROP {kind} IF EXISTS {name}{end}"))?;
    }
    patiently(source, &format!("DELETE FROM project_move_changes WHERE project_id = {project}"))
}

/// Refuses changes of the project for [`FREEZE_SECONDS`] from now. Transactions in flight end before.
pub(super) fn freeze(source: &mut AnyConnection, project: i64, of_move: &str) -> Result<(), ProjectMoveError> {
    let freeze = if source.is_postgres() {
        format!(
            "LOCK TABLE project_moves IN EXCLUSIVE MODE; UPDATE project_moves SET frozen_until = \
             clock_timestamp() AT TIME ZONE 'UTC' + interval '{FREEZE_SECONDS} seconds' \
             WHERE project_id = {project} AND {of_move};"
        )
    } else {
        format!(
            "UPDATE project_moves SET frozen_until = strftime('%Y-%m-%d %H:%M:%f', 'now', '+{FREEZE_SECONDS} seconds') \
             WHERE project_id = {project} AND {of_move};"
        )
    };
    patiently(source, &freeze)
}

/// Ends the freeze early.
pub(super) fn thaw(source: &mut AnyConnection, project: i64, of_move: &str) -> Result<(), ProjectMoveError> {
    let thaw = format!("UPDATE project_moves SET frozen_until = NULL WHERE project_id = {project} AND {of_move}");
    patiently(source, &thaw)
}

/// Refuses changes for good, if the freeze has not ended. Returns `false` if it has, or if the move was aborted.
pub(super) fn close(source: &mut AnyConnection, project: i64, of_move: &str) -> Result<bool, ProjectMoveError> {
    // Writers who saw the end of the freeze end first, and the time is read after them.
    let (lock, now) = if source.is_postgres() {
        ("LOCK TABLE project_moves IN EXCLUSIVE MODE; ", "clock_timestamp() AT TIME ZONE 'UTC'")
    } else {
        ("", "strftime('%Y-%m-%d %H:%M:%f', 'now')")
    };
    source.batch_execute(&format!(
        "{lock}UPDATE project_moves SET state = 'moved' WHERE state = 'copying' AND project_id = {project} \
         AND {of_move} AND frozen_until > {now};"
    ))?;
    let closed = Statement::new("SELECT project_id FROM project_moves WHERE state = 'moved' AND project_id = ");
    Ok(closed.value(project).sql(format!(" AND {of_move}")).once().finds(source)?)
}
