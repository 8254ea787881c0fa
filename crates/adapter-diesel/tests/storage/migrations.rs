//! Both migration trees: apply, revert, apply again, and compare what came out.

use std::collections::BTreeMap;

use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{Abort, AnyConnection, Database, PoolOptions, database_tests};
use kontor_kernel::StoreError;

#[derive(diesel::QueryableByName)]
struct Column {
    #[diesel(sql_type = diesel::sql_types::Text)]
    owner: String,
    #[diesel(sql_type = diesel::sql_types::Text)]
    name: String,
    #[diesel(sql_type = diesel::sql_types::Bool)]
    nullable: bool,
}

// What FTS5 keeps, PostgreSQL has in an index.
const SQLITE: &str = "SELECT m.name AS owner, p.name AS name, p.\"notnull\" = 0 AS nullable \
    FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' \
    AND m.name <> '__diesel_schema_migrations' \
    AND m.name NOT LIKE 'nomenclature_search%'";
const POSTGRES: &str = "SELECT table_name::text AS owner, column_name::text AS name, \
    is_nullable = 'YES' AS nullable FROM information_schema.columns WHERE table_schema = 'public' \
    AND table_name <> '__diesel_schema_migrations'";

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
        assert_eq!(db.database.pending_migrations().unwrap(), 0);
        let count = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/sqlite")).unwrap().count();
        assert_eq!(db.database.revert(count).unwrap().len(), count);
        assert!(columns(&db).await.is_empty());
        assert_eq!(db.database.migrate().unwrap().len(), count);
        assert_eq!(columns(&db).await, before);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_migration_takes_as_long_as_it_needs() {
    let Some(db) = TestDatabase::fresh(Kind::Postgres) else { return };
    let one = PoolOptions { connections: 1, ..PoolOptions::default() };
    let patient = Database::open(db.url(), one).unwrap();
    // Back to before the terms of discounts.
    let mut reverted = 1;
    while patient.revert(1).unwrap()[0] != "0020" {
        reverted += 1;
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
    let held = run(&db.database, "BEGIN; LOCK TABLE discounts IN ACCESS SHARE MODE; SELECT pg_sleep(1.5); COMMIT");
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    assert_eq!(patient.migrate().unwrap().len(), reverted);
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

#[tokio::test]
async fn both_trees_make_the_same_tables() {
    let sqlite = TestDatabase::fresh(Kind::Sqlite).unwrap();
    let Some(postgres) = TestDatabase::fresh(Kind::Postgres) else { return };
    let (left, right) = (columns(&sqlite).await, columns(&postgres).await);
    for (column, nullable) in &left {
        assert_eq!(right.get(column), Some(nullable), "{column:?} on PostgreSQL");
    }
    assert_eq!(left.len(), right.len());
}
