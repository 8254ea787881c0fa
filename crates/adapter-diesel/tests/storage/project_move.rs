//! A project moves to another database: whole, while it is in use, or not at all.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta};
use diesel::RunQueryDsl;
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::upkeep::SWEPT_TABLES;
use kontor_adapter_diesel::{Abort, Database, MOVING, ProjectMoveError, ProjectMoved, retry_until, tests_with};
use kontor_kernel::{ProjectId, StoreError};

use crate::stock_fixture::{Item, StockFixture};

const AT: &str = "'2026-01-01 00:00:00.25'";

/// Tables, and columns and values of a row beside its project. A name in braces is the id of a record.
const ROWS: &[(&str, &str, &str)] = &[
    ("roles", "id, name, is_owner, created_at, updated_at", "500, 'Clerk', FALSE, {at}, {at}"),
    ("role_permissions", "role_id, permission_id", "500, 1"),
    ("permissions", "id, screen_id, name, description", "5000, 1, 'own', ''"),
    ("role_permissions", "role_id, permission_id", "500, 5000"),
    (
        "users",
        "id, role_id, branch_id, login, email, password_hash, first_name, last_name, is_banned, is_sick, active_seconds, \
         created_at, updated_at",
        "500, 500, {branch}, 'anna', 'a@example.com', 'h', 'A', '', FALSE, TRUE, 0, {at}, {at}",
    ),
    (
        "files",
        "id, file_type_id, state, file_key, name, mime_type, size, sha256, creator_id, created_at",
        "500, 2, 'ready', 'key', 'a \"b\" \\ c', 'image/png', 5, 'f', 500, {at}",
    ),
    (
        "counterparties",
        "id, is_company, first_name, avatar_id, created_at, updated_at",
        "500, FALSE, 'Ёж', 500, {at}, {at}",
    ),
    ("favourites", "id, counterparty_id, nomenclature_id, created_at", "500, 500, {item}, {at}"),
    ("nomenclature_photos", "nomenclature_id, position, url", "{item}, 1, 'https://example.com/1'"),
    (
        "orders",
        "id, application_id, counterparty_id, status_id, original_price, product_discount, promo_discount, final_price, \
         delivery_type_id, version, created_at, updated_at",
        "500, {application}, 500, 1, 1, 0, 0, 1, 1, 1, {at}, {at}",
    ),
    (
        "charges",
        "id, application_id, counterparty_id, purpose, purpose_id, idempotence_key, state, amount, captured, refunded, \
         refunding, request, checks, asked_at, created_at, updated_at",
        "500, {application}, 500, 'order', 500, 'k', 'prepared', 1, 0, 0, 0, '-', 0, {at}, {at}, {at}",
    ),
    (
        "one_time_codes",
        "contact, fingerprint, attempts_left, expires_at, created_at",
        "'79005550001', 'f', 3, {at}, {at}",
    ),
];

/// Number of a request with an idempotency key.
const KEY_NUMBER: i64 = 1_769_904_000_000 << 21;

/// Returns a project with records that refer to each other, also in circles.
async fn project(db: &TestDatabase) -> ProjectId {
    let fixture = StockFixture::open(db).await;
    let top = fixture.category("Vases", None).await;
    // A parent with a greater id than its child.
    let category = fixture.category("Blue", Some(top)).await;
    let later = fixture.category("All", None).await;
    fixture.run(format!("UPDATE categories SET parent_id = {later}, sort_key = {} WHERE id = {top}", bytes(db))).await;
    let item = fixture.item(Item { article: Some("A-1"), ..Item::goods("It''s", category) }).await;
    fixture.stock(fixture.near, item, 3, 1_000).await;
    let branch =
        fixture.number(format!("SELECT id AS number FROM branches WHERE project_id = {}", fixture.project)).await;
    let ids = [("{branch}", branch), ("{item}", item), ("{application}", fixture.first.application_id.get())];
    for (table, columns, values) in ROWS {
        let values =
            ids.iter().fold(values.replace("{at}", AT), |values, (name, id)| values.replace(name, &id.to_string()));
        fixture
            .run(format!("INSERT INTO {table} (project_id, {columns}) VALUES ({}, {values})", fixture.project))
            .await;
    }
    let number = KEY_NUMBER;
    for request in [
        format!(
            "INSERT INTO idempotency_keys (number, id, fingerprint, lease_owner, leased_until) VALUES ({number}, 'counterparty:500:h', 'f', 'p', {AT})"
        ),
        format!("INSERT INTO idempotency_answers (number, answer) VALUES ({number}, {})", bytes(db)),
    ] {
        fixture.run(request).await;
    }
    fixture.run("UPDATE users SET avatar_id = 500, creator_id = 500 WHERE id = 500".to_owned()).await;
    fixture.run("UPDATE files SET order_id = 500 WHERE id = 500".to_owned()).await;
    fixture.project
}

fn bytes(db: &TestDatabase) -> &'static str {
    if db.kind == Kind::Sqlite { "X'00ff'" } else { r"'\x00ff'" }
}

/// Returns the tables with a project, by the target.
async fn tables(target: &TestDatabase) -> Vec<String> {
    let all = "SELECT table_name::text AS name, CAST(0 AS BIGINT) AS number FROM information_schema.columns \
         WHERE column_name = 'project_id' AND table_schema = current_schema() AND table_name NOT LIKE 'project_move%'";
    target.named_numbers(all.to_owned()).await.into_iter().map(|(name, _)| name).collect()
}

/// Returns the number of rows of each table, and their digest if both databases have the same text forms.
async fn rows(
    db: &TestDatabase,
    tables: &[String],
    project: ProjectId,
    digests: bool,
) -> BTreeMap<String, (String, i64)> {
    let digest = if digests {
        "coalesce(md5(string_agg(row_to_json(t)::text, ',' ORDER BY row_to_json(t)::text)), '')"
    } else {
        "''"
    };
    let mut found = BTreeMap::new();
    for (table, tenant) in tables.iter().map(|table| (table.as_str(), "project_id")).chain([("projects", "id")]) {
        let query = format!("SELECT {digest} AS name, count(*) AS number FROM {table} t WHERE {tenant} = {project}");
        found.insert(table.to_owned(), db.named_numbers(query).await.remove(0));
    }
    found
}

async fn moved(
    source: &TestDatabase,
    target: &TestDatabase,
    project: ProjectId,
) -> Result<ProjectMoved, ProjectMoveError> {
    source.database.move_project(&target.database, project, DateTime::UNIX_EPOCH).await
}

/// Runs a statement as a service does.
async fn write(database: &Database, statement: String) -> Result<usize, StoreError> {
    database
        .write_and_invalidate_all(move |connection| {
            Ok::<_, Abort<StoreError>>(diesel::sql_query(&statement).execute(connection)?)
        })
        .await
}

fn is_moving(error: &StoreError) -> bool {
    matches!(error, StoreError::Unavailable(reason) if reason.contains(MOVING))
}

/// Values of every type, in a text form that both databases share.
const VALUES: &str = "SELECT u.login || ' ' || f.name || ' ' || CASE WHEN u.is_sick THEN 'sick' ELSE '' END || ' ' \
     || substr(CAST(u.created_at AS text), 1, 22) || ' ' || c.first_name || ' ' || length(k.sort_key) || ' ' || n.name \
     AS name, u.active_seconds AS number FROM users u JOIN files f ON f.id = u.avatar_id \
     JOIN counterparties c ON c.avatar_id = f.id JOIN categories k ON k.name = 'Vases' JOIN nomenclatures n ON n.article = 'A-1'";

async fn everything_moves(kind: Kind) {
    let (source, target) = (TestDatabase::fresh(kind), TestDatabase::fresh(Kind::Postgres));
    let (project, other) = (project(&source).await, crate::fixtures::project(&source).await);
    let (tables, digests) = (tables(&target).await, kind == Kind::Postgres);
    let before = rows(&source, &tables, project, digests).await;
    let done = moved(&source, &target, project).await.unwrap();
    assert!(done.rows > 20 && done.frozen < Duration::from_secs(5), "{done:?}");
    assert_eq!(rows(&target, &tables, project, digests).await, before);
    assert_eq!(rows(&source, &tables, project, digests).await, before, "reads go on");
    let values = target.named_numbers(VALUES.to_owned()).await;
    assert_eq!(values, source.named_numbers(VALUES.to_owned()).await);
    assert!(values[0].0.starts_with("anna a \"b\" \\ c sick 2026-01-01 00:00:00.25 Ёж 2 It's"), "{values:?}");
    assert_eq!(rows(&target, &tables, other, false).await.values().map(|(_, count)| count).sum::<i64>(), 0);

    let keys = format!(
        "SELECT k.id AS name, CAST(length(a.answer) AS BIGINT) AS number FROM idempotency_keys k JOIN idempotency_answers a ON a.number = k.number \
         WHERE k.number = {KEY_NUMBER}"
    );
    assert_eq!(target.named_numbers(keys).await, [("counterparty:500:h".to_owned(), 2)]);

    // New records of the target have ids of their own.
    let new = format!(
        "INSERT INTO brands (project_id, name, name_key, created_at, updated_at) VALUES ({project}, 'N', 'n', {AT}, {AT})"
    );
    let user = "SELECT nextval(pg_get_serial_sequence('users', 'id')) AS number".to_owned();
    assert!(target.number(user).await > 500);
    assert!(is_moving(&write(&source.database, new.clone()).await.unwrap_err()));
    assert_eq!(write(&target.database, new.clone()).await.unwrap(), 1);
    assert_eq!(write(&source.database, new.replace(&format!("({project},"), &format!("({other},"))).await.unwrap(), 1);

    // Background work leaves the old rows alone, so those of other projects do not wait.
    let codes = SWEPT_TABLES.iter().find(|swept| swept.table == "one_time_codes").unwrap();
    let now = DateTime::from_timestamp(1_769_904_000, 0).unwrap();
    assert_eq!(source.database.sweep(codes, now, TimeDelta::days(1)).await.unwrap(), 0);
    assert_eq!(target.database.sweep(codes, now, TimeDelta::days(1)).await.unwrap(), 1);

    // A repeated command finds it done.
    let again = moved(&source, &target, project).await.unwrap();
    assert_eq!(again, ProjectMoved { rows: 0, changes: 0, frozen: Duration::ZERO });
    let refused = source.database.abort_project_move(&target.database, project).await.unwrap_err();
    assert!(refused.to_string().contains("has been moved"), "{refused}");
}

async fn nothing_written_meanwhile_is_lost(kind: Kind) {
    let (source, target) = (TestDatabase::fresh(kind), TestDatabase::fresh(Kind::Postgres));
    let project = project(&source).await;
    let written = Arc::new(AtomicI64::new(0));
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let (database, written) = (source.database.clone(), Arc::clone(&written));
            tokio::spawn(async move {
                let (mut kept, mut number) = (0, 0);
                loop {
                    number += 1;
                    let key = format!("{writer}-{number}");
                    let statements = [
                        format!(
                            "INSERT INTO brands (project_id, name, name_key, created_at, updated_at) \
                             VALUES ({project}, '{key}', '{key}', {AT}, {AT})"
                        ),
                        format!("UPDATE brands SET name = 'changed' WHERE name_key = '{key}'"),
                        format!("DELETE FROM brands WHERE name_key = '{key}' AND {number} % 3 = 0"),
                        // The same unique value under another id.
                        format!("DELETE FROM favourites WHERE counterparty_id = 500 AND {writer} = 0"),
                        format!(
                            "INSERT INTO favourites (project_id, counterparty_id, nomenclature_id, created_at) \
                             SELECT project_id, 500, id, {AT} FROM nomenclatures WHERE project_id = {project} AND {writer} = 0"
                        ),
                    ];
                    for (step, statement) in statements.into_iter().enumerate() {
                        match write(&database, statement).await {
                            Ok(done) => kept += i64::from(step == 0) - i64::from(step == 2 && done == 1),
                            Err(error) if is_moving(&error) => return kept,
                            Err(error) => panic!("{error}"),
                        }
                    }
                    written.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let until = Instant::now() + Duration::from_secs(20);
    while written.load(Ordering::Relaxed) < 20 {
        retry_until!(until, "the writers write");
    }
    let done = moved(&source, &target, project).await.unwrap();
    assert!(done.frozen < Duration::from_secs(5), "{done:?}");
    let mut kept = 0;
    for writer in writers {
        kept += writer.await.unwrap();
    }
    let count = format!("SELECT count(*) AS number FROM brands WHERE project_id = {project}");
    assert_eq!((source.number(count.clone()).await, target.number(count).await), (kept, kept));
    let (tables, digests) = (tables(&target).await, kind == Kind::Postgres);
    assert_eq!(rows(&target, &tables, project, digests).await, rows(&source, &tables, project, digests).await);
}

async fn a_refused_move_leaves_no_trace(kind: Kind) {
    let (source, target) = (TestDatabase::fresh(kind), TestDatabase::fresh(Kind::Postgres));
    let project = project(&source).await;
    let tables = tables(&target).await;
    let before = rows(&target, &tables, project, true).await;
    // A token of another project is equal, and later the same ids belong to another project.
    let obstacles = [
        (
            "refuses rows of applications",
            format!(
                "INSERT INTO projects (id, name, currency, created_at) VALUES (900, 'Other', 'RUB', {AT}); \
                 INSERT INTO branches (id, project_id, name, created_at, updated_at) VALUES (900, 900, 'B', {AT}, {AT}); \
                 INSERT INTO applications (id, project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at, \
                 updated_at) VALUES (900, 900, 900, 'A', 'token-{project}-1', TRUE, FALSE, {AT}, {AT})"
            ),
            "DELETE FROM applications",
        ),
        (
            "the target has brands of other projects",
            format!(
                "INSERT INTO brands (id, project_id, name, name_key, created_at, updated_at) VALUES (1, 900, 'B', 'b', {AT}, {AT})"
            ),
            "DELETE FROM brands",
        ),
    ];
    let brand = |key: &str| {
        format!(
            "INSERT INTO brands (project_id, name, name_key, created_at, updated_at) \
             VALUES ({project}, '{key}', '{key}', {AT}, {AT})"
        )
    };
    write(&source.database, brand("first")).await.unwrap();
    for (number, (why, obstacle, removal)) in obstacles.into_iter().enumerate() {
        target.run(obstacle).await;
        let refused = moved(&source, &target, project).await.unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
        assert_eq!(rows(&target, &tables, project, true).await, before);
        assert_eq!(write(&source.database, brand(&number.to_string())).await.unwrap(), 1, "the shop goes on");
        for table in ["project_moves", "project_move_changes"] {
            assert_eq!(source.number(format!("SELECT count(*) AS number FROM {table}")).await, 0, "{table}");
        }
        target.run(removal.to_owned()).await;
    }
    moved(&source, &target, project).await.unwrap();
    assert_eq!(rows(&target, &tables, project, false).await, rows(&source, &tables, project, false).await);
}

async fn a_move_that_died_begins_again_or_ends(kind: Kind) {
    let (source, target) = (TestDatabase::fresh(kind), TestDatabase::fresh(Kind::Postgres));
    let project = project(&source).await;
    let abort = async || source.database.abort_project_move(&target.database, project).await.unwrap();
    assert!(!abort().await, "none was begun");
    for state in ["copying", "moved"] {
        let died = |to: &str| {
            format!(
                "INSERT INTO project_moves (project_id, state, target, started_at) VALUES ({project}, '{state}', '{to}', {AT})"
            )
        };
        source.run(died(&target.url().to_string())).await;
        assert!(abort().await, "{state}");
        source.run(died("postgres://elsewhere/kontor")).await;
        let refused = moved(&source, &target, project).await.unwrap_err().to_string();
        assert!(refused.contains("in a move to postgres://elsewhere/kontor"), "{refused}");
        source.run("DELETE FROM project_moves".to_owned()).await;
    }
    source
        .run(format!(
            "INSERT INTO project_moves (project_id, state, target, started_at) VALUES ({project}, 'moved', '{}', {AT})",
            target.url()
        ))
        .await;
    assert!(moved(&source, &target, project).await.unwrap().rows > 20);
}

async fn only_postgresql_is_a_target() {
    let (source, target) = (TestDatabase::fresh(Kind::Postgres), TestDatabase::fresh(Kind::Sqlite));
    let project = project(&source).await;
    let refused = moved(&source, &target, project).await.unwrap_err();
    assert!(matches!(&refused, ProjectMoveError::Refused(why) if why.contains("PostgreSQL")), "{refused}");
    let unknown = ProjectId::new(77).unwrap();
    let target = TestDatabase::fresh(Kind::Postgres);
    assert!(moved(&source, &target, unknown).await.unwrap_err().to_string().contains("project 77 not found"));
}

/// Writes a test per kind of source. The target is always PostgreSQL.
macro_rules! from_each {
    ($($name:ident)+) => {$(
        mod $name {
            use super::*;

            async fn from_sqlite() {
                super::$name(Kind::Sqlite).await;
            }

            async fn from_postgres() {
                super::$name(Kind::Postgres).await;
            }

            tests_with!(postgres: from_sqlite, from_postgres);
        }
    )+};
}

from_each! {
    everything_moves
    nothing_written_meanwhile_is_lost
    a_refused_move_leaves_no_trace
    a_move_that_died_begins_again_or_ends
}

tests_with!(postgres: only_postgresql_is_a_target);
