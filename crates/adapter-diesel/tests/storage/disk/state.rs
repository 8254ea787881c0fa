//! State of a database: every row of every table, and its consistency.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use diesel::connection::{Connection, SimpleConnection};
use diesel::sql_types::{Integer, Text};
use diesel::{QueryableByName, RunQueryDsl, SqliteConnection};
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{Database, DatabaseUrl, PoolOptions};
use kontor_faulty_disk::{Disk, Image};

pub const FILE: &str = "kontor.db";

/// Every row of every table, as text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State(String);

#[derive(QueryableByName)]
struct TextRow {
    #[diesel(sql_type = Text)]
    text: String,
}

const COLUMNS: &str = "SELECT 'SELECT ''' || t.name || ': '' || ' || group_concat('quote(\"' || c.name || '\")', '||'',''||') \
    || ' AS line FROM \"' || t.name || '\"' AS text \
    FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' GROUP BY t.name ORDER BY t.name";

/// Returns the query for every row. It takes longer to create than to run, and is the same for the same schema.
fn everything(connection: &mut SqliteConnection) -> diesel::QueryResult<String> {
    static KNOWN: Mutex<BTreeMap<i32, String>> = Mutex::new(BTreeMap::new());
    let version: Version = diesel::sql_query("PRAGMA schema_version").get_result(connection)?;
    if let Some(known) = KNOWN.lock().unwrap().get(&version.schema_version) {
        return Ok(known.clone());
    }
    let tables: Vec<TextRow> = diesel::sql_query(COLUMNS).load(connection)?;
    let lines: Vec<String> = tables.into_iter().map(|table| table.text).collect();
    let all = format!(
        "SELECT coalesce(group_concat(line, char(10)), '') AS text FROM ({} ORDER BY line)",
        lines.join(" UNION ALL ")
    );
    KNOWN.lock().unwrap().insert(version.schema_version, all.clone());
    Ok(all)
}

impl State {
    /// Reads the state that a connection sees now.
    pub fn of(disk: &Disk) -> Result<Self, String> {
        let mut connection = connect(disk)?;
        Self::seen(&mut connection).map_err(reported)
    }

    fn seen(connection: &mut SqliteConnection) -> diesel::QueryResult<Self> {
        let row: TextRow = diesel::sql_query(everything(connection)?).get_result(connection)?;
        Ok(Self(row.text))
    }

    /// Rows that only one of the two states has.
    pub fn difference(&self, other: &Self) -> String {
        let lines = |state: &Self| state.0.lines().map(str::to_owned).collect::<BTreeSet<_>>();
        let (own, others) = (lines(self), lines(other));
        let shown = |sign: char| move |line: &String| format!("{sign} {line:.200}");
        let gone = own.difference(&others).map(shown('-'));
        gone.chain(others.difference(&own).map(shown('+'))).take(20).collect::<Vec<_>>().join("\n")
    }
}

fn reported(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn connect(disk: &Disk) -> Result<SqliteConnection, String> {
    SqliteConnection::establish(&disk.url(FILE).to_string_lossy()).map_err(reported)
}

/// Opens a disk like a starting process.
pub fn open(disk: &Disk) -> Result<TestDatabase, String> {
    let options = PoolOptions { connections: 1, wait: Duration::from_secs(5), ..PoolOptions::default() };
    let database = Database::open(DatabaseUrl::Sqlite(disk.url(FILE)), options).map_err(reported)?;
    Ok(TestDatabase::borrowed(database, Kind::Sqlite))
}

/// View of another process that opens these files.
pub struct Found {
    pub disk: Arc<Disk>,
    pub state: State,
    connection: SqliteConnection,
}

impl Found {
    pub fn of(files: Image) -> Result<Self, String> {
        let disk = Disk::new(files);
        let mut connection = connect(&disk)?;
        let answers: Vec<Check> = diesel::sql_query("PRAGMA quick_check").load(&mut connection).map_err(reported)?;
        if answers.iter().any(|answer| answer.quick_check != "ok") {
            return Err(format!("the file is damaged: {:?}", answers.first().map(|answer| &answer.quick_check)));
        }
        let state = State::seen(&mut connection).map_err(reported)?;
        Ok(Self { disk, state, connection })
    }

    /// Returns `true` if a query finds anything.
    pub fn has(&mut self, query: &str) -> Result<bool, String> {
        let query = format!("SELECT 'found' AS text WHERE EXISTS ({query})");
        let rows: Vec<TextRow> = diesel::sql_query(query).load(&mut self.connection).map_err(reported)?;
        Ok(!rows.is_empty())
    }

    /// Checks that the doctor finds nothing, that every reference is valid, and that writes work. If the scenario is
    /// repaired by repetition, interrupted work is repeated first.
    pub async fn is_sound(&mut self, repairs: bool) -> Result<(), String> {
        self.connection.batch_execute("PRAGMA integrity_check").map_err(reported)?;
        let dangling: Vec<Dangling> =
            diesel::sql_query("PRAGMA foreign_key_check").load(&mut self.connection).map_err(reported)?;
        if let Some(first) = dangling.first() {
            return Err(format!("a row of {} refers to nothing", first.table));
        }
        let db = open(&self.disk)?;
        if repairs {
            db.database.migrate().map_err(reported)?;
            db.database.correct(None, chrono::DateTime::UNIX_EPOCH).await.map_err(reported)?;
        } else if !db.database.migration_state().map_err(reported)?.missing.is_empty() {
            return Err("the schema is an older one".to_owned());
        }
        let mut differences = Vec::new();
        db.database.examine(None, |difference| differences.push(difference)).await.map_err(reported)?;
        if !differences.is_empty() {
            return Err(format!("the doctor finds {differences:?}"));
        }
        db.database.record_heartbeat("afterwards", chrono::DateTime::UNIX_EPOCH).await.map_err(reported)
    }
}

#[derive(QueryableByName)]
struct Version {
    #[diesel(sql_type = Integer)]
    schema_version: i32,
}

#[derive(QueryableByName)]
struct Check {
    #[diesel(sql_type = Text)]
    quick_check: String,
}

#[derive(QueryableByName)]
struct Dangling {
    #[diesel(sql_type = Text)]
    table: String,
}
