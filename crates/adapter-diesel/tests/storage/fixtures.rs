//! Records that several tests start from.

use std::future::{Ready, ready};

use diesel::RunQueryDsl;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{Abort, Database};
use kontor_customers::model::Customer;
use kontor_customers::ports::CustomerRepository;
use kontor_kernel::{CounterpartyId, ProjectId, StoreError};

/// A migrated database without projects. Suites of contracts fill it.
pub struct EmptyDatabase<'a>(pub &'a TestDatabase);

impl<'a> EmptyDatabase<'a> {
    pub fn open(db: &'a TestDatabase) -> Ready<Self> {
        ready(Self(db))
    }
}

#[derive(diesel::QueryableByName)]
struct Inserted {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    id: i64,
}

/// An empty project.
pub async fn project(db: &TestDatabase) -> ProjectId {
    let statement = "INSERT INTO projects (name, currency, created_at) \
        VALUES ('Trial', 'RUB', '2026-01-01 00:00:00') RETURNING id";
    db.database
        .write_and_invalidate_all(move |connection| {
            let row: Inserted = diesel::sql_query(statement).get_result(connection)?;
            Ok::<_, Abort<StoreError>>(ProjectId::new(row.id).unwrap())
        })
        .await
        .unwrap()
}

/// A project with branch 1 and application 1.
pub async fn shop(db: &TestDatabase) -> ProjectId {
    let project = project(db).await;
    run(
        db,
        format!(
            "INSERT INTO branches (id, project_id, name, created_at, updated_at)
                 VALUES (1, {project}, 'Main', '2026-01-01 00:00:00', '2026-01-01 00:00:00');
             INSERT INTO applications
                 (id, project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at, updated_at)
                 VALUES (1, {project}, 1, 'Shop', 'x', TRUE, FALSE, '2026-01-01 00:00:00', '2026-01-01 00:00:00');"
        ),
    )
    .await;
    project
}

/// A customer of the project.
pub async fn customer(database: &Database, project: ProjectId, id: CounterpartyId) -> Customer {
    let found = CustomerRepository::find(database, id).await.unwrap();
    found.and_then(|found| found.within(project)).unwrap()
}

#[derive(diesel::QueryableByName)]
struct Number {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    value: i64,
}

/// Number that a statement selects as `value`.
pub async fn number(db: &TestDatabase, statement: &'static str) -> i64 {
    db.database
        .read(move |connection| {
            let row: Number = diesel::sql_query(statement).get_result(connection)?;
            Ok::<_, Abort<StoreError>>(row.value)
        })
        .await
        .unwrap()
}

/// Runs statements unchanged.
pub async fn run(db: &TestDatabase, statements: String) {
    db.run(statements).await;
}
