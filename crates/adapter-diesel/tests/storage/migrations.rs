//! Both migration trees: apply, revert, apply again, and compare the results.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;
use kontor_adapter_diesel::testing::{Kind, TestDatabase, pool_options};
use kontor_adapter_diesel::{
    Abort, AnyConnection, Database, MigrationState, PoolOptions, database_tests, retry_until, tests_with,
};
use kontor_kernel::StoreError;

use crate::fixtures::number;

#[derive(diesel::QueryableByName)]
struct Column {
    #[diesel(sql_type = diesel::sql_types::Text)]
    owner: String,
    #[diesel(sql_type = diesel::sql_types::Text)]
    name: String,
    #[diesel(sql_type = diesel::sql_types::Bool)]
    nullable: bool,
}

// Data of FTS5 in SQLite is part of an index in PostgreSQL.
const SQLITE: &str = "SELECT m.name AS owner, p.name AS name, p.\"notnull\" = 0 AS nullable \
    FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' \
    AND m.name <> '__diesel_schema_migrations' \
    AND m.name NOT LIKE 'nomenclature_search%' AND m.name NOT LIKE 'counterparty_search%' AND m.name NOT LIKE 'page_search%'";
const POSTGRES: &str = "SELECT table_name::text AS owner, column_name::text AS name, \
    is_nullable = 'YES' AS nullable FROM information_schema.columns WHERE table_schema = 'public' \
    AND table_name <> '__diesel_schema_migrations'";

#[derive(diesel::QueryableByName)]
struct Index {
    #[diesel(sql_type = diesel::sql_types::Text)]
    owner: String,
    /// Empty for an index created by a key of the table.
    #[diesel(sql_type = diesel::sql_types::Text)]
    name: String,
    #[diesel(sql_type = diesel::sql_types::Bool)]
    distinct_values: bool,
    #[diesel(sql_type = diesel::sql_types::Bool)]
    partial: bool,
    /// In order; `(expression)` for an expression.
    #[diesel(sql_type = diesel::sql_types::Text)]
    columns: String,
}

// A primary key that is the row id needs no index in SQLite, so primary keys are left out.
const SQLITE_INDEXES: &str = "SELECT m.name AS owner, CASE i.origin WHEN 'c' THEN i.name ELSE '' END AS name, \
    i.\"unique\" = 1 AS distinct_values, i.partial = 1 AS partial, \
    (SELECT group_concat(coalesce(c.name, '(expression)'), ', ') \
     FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno) c) AS columns \
    FROM sqlite_master m JOIN pragma_index_list(m.name) i WHERE m.type = 'table' AND i.origin <> 'pk' \
    AND m.name <> '__diesel_schema_migrations'";
const POSTGRES_INDEXES: &str = "SELECT t.relname::text AS owner, \
    CASE WHEN k.oid IS NULL THEN x.relname::text ELSE '' END AS name, \
    i.indisunique AS distinct_values, i.indpred IS NOT NULL AS partial, \
    (SELECT string_agg(coalesce(a.attname::text, '(expression)'), ', ' ORDER BY c.place) \
     FROM unnest(i.indkey) WITH ORDINALITY AS c(number, place) \
     LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.number AND c.number > 0 \
     WHERE c.place <= i.indnkeyatts) AS columns \
    FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid \
    JOIN pg_namespace n ON n.oid = t.relnamespace LEFT JOIN pg_constraint k ON k.conindid = x.oid AND k.contype = 'u' \
    WHERE n.nspname = 'public' AND NOT i.indisprimary AND t.relname <> '__diesel_schema_migrations'";

/// References to a record contain its project and its id. SQLite needs a unique key with just these columns beside the row
/// id; in PostgreSQL the primary key is one.
const REFERENCED: &str = "project_id, id";

/// Objects that only one tree needs, with the reason.
const ONE_SIDED: [(&str, &str); 5] = [
    ("nomenclatures_search", "SQLite looks texts up in FTS5 tables"),
    ("counterparties_search", "SQLite looks texts up in FTS5 tables"),
    ("counterparties_by_grams", "SQLite looks texts up in FTS5 tables"),
    ("pages_search", "SQLite looks texts up in FTS5 tables"),
    ("pages_found", "PostgreSQL keeps long texts outside their rows"),
];

async fn indexes(db: &TestDatabase) -> BTreeSet<String> {
    let query = if db.kind == Kind::Sqlite { SQLITE_INDEXES } else { POSTGRES_INDEXES };
    db.database
        .read(move |connection| diesel::sql_query(query).load::<Index>(connection).map_err(Abort::<StoreError>::Query))
        .await
        .unwrap()
        .into_iter()
        .filter(|index| ONE_SIDED.iter().all(|(name, _)| *name != index.name))
        .filter(|index| !(index.name.is_empty() && index.columns == REFERENCED))
        .map(|Index { owner, name, distinct_values, partial, columns }| {
            let unique = if distinct_values && columns != REFERENCED { "unique " } else { "" };
            let part = if partial { " of some rows" } else { "" };
            format!("{owner}: {unique}index {name} on {columns}{part}")
        })
        .collect()
}

async fn columns(db: &TestDatabase) -> BTreeMap<(String, String), bool> {
    let query = if db.kind == Kind::Sqlite { SQLITE } else { POSTGRES };
    db.database
        .read(move |connection| diesel::sql_query(query).load::<Column>(connection).map_err(Abort::<StoreError>::Query))
        .await
        .unwrap()
        .into_iter()
        .map(|column| ((column.owner, column.name), column.nullable))
        .collect()
}

database_tests! {
    async fn everything_can_be_reverted_and_applied_again(db: TestDatabase) {
        let before = columns(&db).await;
        assert!(before.len() > 200, "{} columns", before.len());
        assert_eq!(db.database.migration_state().unwrap(), MigrationState::default());
        let count = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/sqlite")).unwrap().count();
        assert_eq!(db.database.revert(count).unwrap().len(), count);
        assert!(columns(&db).await.is_empty());
        assert_eq!(db.database.migrate().unwrap().len(), count);
        assert_eq!(columns(&db).await, before);
    }

    async fn a_database_of_an_older_history_is_rejected(db: TestDatabase) {
        let count = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/sqlite")).unwrap().count();
        db.database.revert(count).unwrap();
        let older = "INSERT INTO __diesel_schema_migrations (version) VALUES ('0001'), ('0114')";
        db.run_outside_transaction(older).unwrap();
        for outcome in [db.database.migrate().map(drop), db.database.migration_state().map(drop)] {
            let error = outcome.unwrap_err().to_string();
            assert!(error.contains("has migration 0114 but not 2001_organization"), "{error}");
        }
        assert!(columns(&db).await.is_empty(), "nothing was applied");
    }

    async fn eight_that_migrate_at_once_all_succeed(db: TestDatabase) {
        let before = columns(&db).await;
        let count = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/sqlite")).unwrap().count();
        db.database.revert(count).unwrap();
        let start = Arc::new(Barrier::new(8));
        let migrate = || {
            let (url, start) = (db.url(), Arc::clone(&start));
            std::thread::spawn(move || {
                let database = Database::open(url, PoolOptions { connections: 1, ..pool_options() }).unwrap();
                start.wait();
                database.migrate().map_err(|error| error.to_string())
            })
        };
        let all: Vec<_> = (0..8).map(|_| migrate()).collect();
        let mut applied = BTreeSet::new();
        for one in all {
            for version in one.join().unwrap().unwrap() {
                assert!(applied.insert(version.clone()), "{version} was applied twice");
            }
        }
        assert_eq!(applied.len(), count);
        assert_eq!(columns(&db).await, before);
        assert_eq!(db.database.migration_state().unwrap(), MigrationState::default());
    }
}

const LOCKED: &str = "SELECT count(*) AS value FROM pg_locks l JOIN pg_class c ON c.oid = l.relation \
     JOIN pg_database d ON d.oid = l.database AND d.datname = current_database() \
     WHERE c.relname = 'users' AND l.mode = 'RowExclusiveLock' AND l.granted";

async fn a_migration_takes_as_long_as_it_needs() {
    let db = TestDatabase::fresh(Kind::Postgres);
    let one = PoolOptions { connections: 1, ..pool_options() };
    let patient = Database::open(db.url(), one).unwrap();
    // Back to the version before tasks, which refer to users.
    let mut reverted = patient.revert(1).unwrap();
    while reverted.last().is_some_and(|version| version != "2010") {
        reverted.extend(patient.revert(1).unwrap());
    }
    let run = |database: &Database, statements: &'static str| {
        let database = database.clone();
        tokio::spawn(async move {
            let work = move |connection: &mut AnyConnection| {
                connection.batch_execute(statements).map_err(Abort::<StoreError>::Query)
            };
            database.read(work).await.unwrap();
        })
    };
    run(&patient, "SET statement_timeout = '300ms'").await.unwrap();
    let held = run(&db.database, "BEGIN; LOCK TABLE users IN ROW EXCLUSIVE MODE; SELECT pg_sleep(1.5); COMMIT");
    let until = Instant::now() + Duration::from_millis(1_400);
    while number(&db, LOCKED).await == 0 {
        retry_until!(until, "the table is locked");
    }
    assert_eq!(patient.migrate().unwrap().len(), reverted.len());
    held.await.unwrap();
    let limit = "SELECT setting::bigint AS value FROM pg_settings WHERE name = 'statement_timeout'";
    let again = patient
        .read(move |connection| Ok::<_, Abort<StoreError>>(diesel::sql_query(limit).get_result::<Limit>(connection)?));
    assert_eq!(again.await.unwrap().value, 300, "requests have their limit again");
}

#[derive(diesel::QueryableByName)]
struct Limit {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    value: i64,
}

async fn both_trees_make_the_same_tables() {
    let sqlite = TestDatabase::fresh(Kind::Sqlite);
    let postgres = TestDatabase::fresh(Kind::Postgres);
    let (left, right) = (columns(&sqlite).await, columns(&postgres).await);
    for (column, nullable) in &left {
        assert_eq!(right.get(column), Some(nullable), "{column:?} on PostgreSQL");
    }
    assert_eq!(left.len(), right.len());
    let (left, right) = (indexes(&sqlite).await, indexes(&postgres).await);
    let missing =
        |here: &BTreeSet<String>, there: &BTreeSet<String>| here.difference(there).cloned().collect::<Vec<_>>();
    let (only_sqlite, only_postgres) = (missing(&left, &right), missing(&right, &left));
    assert!(left.len() > 100, "{} indexes", left.len());
    assert_eq!((only_sqlite, only_postgres), (Vec::new(), Vec::new()), "only on SQLite, only on PostgreSQL");
}

#[test]
fn both_trees_have_the_same_migrations() {
    let names = |tree: &str| -> BTreeSet<String> {
        let folder = format!("{}/../../migrations/{tree}", env!("CARGO_MANIFEST_DIR"));
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    assert_eq!(names("sqlite"), names("postgres"));
}

tests_with!(postgres: both_trees_make_the_same_tables);

tests_with!(postgres_session: a_migration_takes_as_long_as_it_needs);
