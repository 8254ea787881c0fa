//! A project moves to another database: whole, while it is in use, or not at all.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta};
use diesel::RunQueryDsl;
use kontor_adapter_diesel::testing::tenant_rows::TenantTables;
use kontor_adapter_diesel::testing::wire::{Break, Wire};
use kontor_adapter_diesel::testing::{Kind, TestDatabase, pool_options};
use kontor_adapter_diesel::upkeep::SWEPT_TABLES;
use kontor_adapter_diesel::{
    Abort, Database, MOVING, ProjectMoveError, ProjectMovePhase, ProjectMoved, retry_until, tests_with,
};
use kontor_kernel::{ProjectId, StoreError};
use tokio::task::JoinHandle;

use crate::stock_fixture::{Item, StockFixture};

const AT: &str = "'2026-01-01 00:00:00.25'";

/// Tables, and columns and values of a row beside its project. A name in braces is the id of a record. The other tables
/// are filled by their columns.
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
    (
        "exports",
        "id, kind, format, created_from, state, done_rows, file_bytes, tries, created_at",
        "700, 'orders_export', 'csv', '2026-01-31', 'queued', 0, 0, 0, {at}",
    ),
];

/// Number of a request with an idempotency key.
const KEY_NUMBER: i64 = 1_769_904_000_000 << 21;

/// Returns a project with rows in every table that refer to each other, also in circles.
async fn project(db: &TestDatabase, tables: &TenantTables) -> ProjectId {
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
    tables.fill(db, fixture.project).await;
    fixture.project
}

fn bytes(db: &TestDatabase) -> &'static str {
    if db.kind == Kind::Sqlite { "X'00ff'" } else { r"'\x00ff'" }
}

async fn moved(
    source: &TestDatabase,
    target: &TestDatabase,
    project: ProjectId,
) -> Result<ProjectMoved, ProjectMoveError> {
    source.database.move_project(&target.database, project, DateTime::UNIX_EPOCH, |_| {}).await
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
    let tables = TenantTables::read(&target).await;
    let (project, other) = (project(&source, &tables).await, crate::fixtures::project(&source).await);
    let before = tables.rows(&source, project).await;
    let empty: Vec<&String> = before.iter().filter(|(_, rows)| rows.is_empty()).map(|(table, _)| table).collect();
    assert!(empty.is_empty() && before.len() > 100, "{empty:?} of {} tables are empty", before.len());
    let phases = Arc::<Mutex<Vec<ProjectMovePhase>>>::default();
    let seen = Arc::clone(&phases);
    let report = move |phase| seen.lock().unwrap().push(phase);
    let done = source.database.move_project(&target.database, project, DateTime::UNIX_EPOCH, report).await.unwrap();
    let expected = [
        ProjectMovePhase::Copying,
        ProjectMovePhase::Copied(done.rows),
        ProjectMovePhase::CatchingUp(0),
        ProjectMovePhase::Frozen,
        ProjectMovePhase::Switched(done.frozen),
    ];
    assert_eq!(*phases.lock().unwrap(), expected);
    assert!(done.frozen < Duration::from_secs(5), "{done:?}");
    assert_eq!(usize::try_from(done.rows), Ok(before.values().map(Vec::len).sum::<usize>()));
    assert_eq!(tables.rows(&target, project).await, before);
    assert_eq!(tables.rows(&source, project).await, before, "reads go on");
    let values = target.named_numbers(VALUES.to_owned()).await;
    assert_eq!(values, source.named_numbers(VALUES.to_owned()).await);
    assert!(values[0].0.starts_with("anna a \"b\" \\ c sick 2026-01-01 00:00:00.25 Ёж 2 It's"), "{values:?}");
    assert!(tables.rows(&target, other).await.values().all(Vec::is_empty));

    let keys = format!(
        "SELECT k.id AS name, CAST(length(a.answer) AS BIGINT) AS number FROM idempotency_keys k JOIN idempotency_answers a ON a.number = k.number \
         WHERE k.number = {KEY_NUMBER}"
    );
    assert_eq!(target.named_numbers(keys).await, [("counterparty:500:h".to_owned(), 2)]);

    // New records of the target have ids of their own.
    let new = format!(
        "INSERT INTO brands (project_id, name, name_key, created_at, updated_at) VALUES ({project}, 'N', 'n', {AT}, {AT})"
    );
    // Imports and exports share theirs.
    for (table, last) in [("users", 500), ("jobs", 700)] {
        let next = format!("SELECT nextval(pg_get_serial_sequence('{table}', 'id')) AS number");
        assert!(target.number(next).await > last, "{table}");
    }
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
    for (to, why) in [(Some(&target.database), "has been moved"), (None, "may have been moved")] {
        let refused = source.database.abort_project_move(to, project).await.unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
    }
}

async fn nothing_written_meanwhile_is_lost(kind: Kind) {
    let (source, target) = (TestDatabase::fresh(kind), TestDatabase::fresh(Kind::Postgres));
    let tables = TenantTables::read(&target).await;
    let project = project(&source, &tables).await;
    let count = format!("SELECT count(*) AS number FROM brands WHERE project_id = {project}");
    let before = source.number(count.clone()).await;
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
    let mut kept = before;
    for writer in writers {
        kept += writer.await.unwrap();
    }
    assert_eq!((source.number(count.clone()).await, target.number(count).await), (kept, kept));
    assert_eq!(tables.rows(&target, project).await, tables.rows(&source, project).await);
}

/// Makes the first copy wait where it writes the project.
const SLOW_COPY: &str = "CREATE SEQUENCE pauses; \
     CREATE FUNCTION pause_once() RETURNS trigger LANGUAGE plpgsql AS $pause$ BEGIN \
     IF nextval('pauses') = 1 THEN PERFORM pg_sleep(3); END IF; RETURN NULL; END $pause$; \
     CREATE TRIGGER pause_once AFTER INSERT ON projects FOR EACH STATEMENT EXECUTE FUNCTION pause_once()";

/// Begins a move, which waits after its snapshot.
async fn paused_move(
    source: &TestDatabase,
    target: &TestDatabase,
    project: ProjectId,
) -> JoinHandle<Result<ProjectMoved, ProjectMoveError>> {
    target.run(SLOW_COPY.to_owned()).await;
    let (from, to) = (source.database.clone(), target.database.clone());
    let moving = tokio::spawn(async move { from.move_project(&to, project, DateTime::UNIX_EPOCH, |_| {}).await });
    let until = Instant::now() + Duration::from_secs(20);
    let paused = "SELECT count(*) AS number FROM pg_stat_activity \
         WHERE datname = current_database() AND wait_event = 'PgSleep'";
    while target.number(paused.to_owned()).await == 0 {
        retry_until!(until, "the copy does not begin");
    }
    moving
}

async fn changes_of_all_tables_during_the_copy_are_copied(kind: Kind) {
    let (source, target) = (TestDatabase::fresh(kind), TestDatabase::fresh(Kind::Postgres));
    let tables = TenantTables::read(&target).await;
    let project = project(&source, &tables).await;
    let before = tables.rows(&source, project).await;
    let moving = paused_move(&source, &target, project).await;
    source.run(tables.changes(project).join("; ")).await;
    let done = moving.await.unwrap().unwrap();
    let after = tables.rows(&source, project).await;
    let same: Vec<&String> = before.keys().filter(|table| before.get(*table) == after.get(*table)).collect();
    assert!(same.is_empty(), "these were not changed: {same:?}");
    assert!(usize::try_from(done.changes).unwrap() >= before.len(), "{done:?}");
    assert_eq!(tables.rows(&target, project).await, after);
}

async fn unique_values_may_pass_between_rows(kind: Kind) {
    let (source, target) = (TestDatabase::fresh(kind), TestDatabase::fresh(Kind::Postgres));
    let tables = TenantTables::read(&target).await;
    let project = project(&source, &tables).await;
    let copied = "INSERT INTO nomenclatures (project_id, article, article_key, name, name_key, kind_id, category_id, price, \
         is_subscription, wholesale, pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at) \
         SELECT project_id, 'A-2', 'a-2', name, name_key, kind_id, category_id, price, is_subscription, wholesale, \
         pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at FROM nomenclatures WHERE article = 'A-1'";
    source.run(copied.to_owned()).await;
    let moving = paused_move(&source, &target, project).await;
    // The first item has a photo, which would be deleted with it.
    let named = |old: &str, new: &str| format!("UPDATE nomenclatures SET article = '{new}' WHERE article = '{old}'");
    source.run([named("A-1", "A-0"), named("A-2", "A-1"), named("A-0", "A-2")].join("; ")).await;
    // The key expires and is claimed again.
    let later = KEY_NUMBER + (TimeDelta::hours(49).num_milliseconds() << 21);
    for table in ["idempotency_keys", "idempotency_answers"] {
        source.run(format!("UPDATE {table} SET number = {later} WHERE number = {KEY_NUMBER}")).await;
    }
    moving.await.unwrap().unwrap();
    let after = tables.rows(&target, project).await;
    assert_eq!(after, tables.rows(&source, project).await);
    assert!(!after["nomenclature_photos"].is_empty());
    let keys = "SELECT id AS name, number FROM idempotency_keys".to_owned();
    assert_eq!(target.named_numbers(keys).await, [("counterparty:500:h".to_owned(), later)]);
}

async fn other_projects_of_the_target_may_write_meanwhile(kind: Kind) {
    let (source, target) = (TestDatabase::fresh(kind), TestDatabase::fresh(Kind::Postgres));
    let tables = TenantTables::read(&target).await;
    let project = project(&source, &tables).await;
    target
        .run(format!("INSERT INTO projects (id, name, currency, created_at) VALUES (900, 'Other', 'RUB', {AT})"))
        .await;
    let brand = |project: i64, key: &str| {
        format!(
            "INSERT INTO brands (project_id, name, name_key, created_at, updated_at) \
             VALUES ({project}, '{key}', '{key}', {AT}, {AT})"
        )
    };
    let moving = paused_move(&source, &target, project).await;
    for key in ["first", "second"] {
        target.run(brand(900, key)).await;
        source.run(brand(project.get(), key)).await;
    }
    moving.await.unwrap().unwrap();
    assert_eq!(tables.rows(&target, project).await, tables.rows(&source, project).await);
}

async fn a_move_is_aborted_without_its_target(kind: Kind) {
    let (source, target) = (TestDatabase::fresh(kind), TestDatabase::fresh(Kind::Postgres));
    let tables = TenantTables::read(&target).await;
    let project = project(&source, &tables).await;
    let abort = async || source.database.abort_project_move(None, project).await;
    assert!(!abort().await.unwrap(), "none was begun");
    let moving = paused_move(&source, &target, project).await;
    assert!(abort().await.unwrap());
    // A run that has not died notices it.
    let refused = moving.await.unwrap().unwrap_err().to_string();
    assert!(refused.contains("was aborted"), "{refused}");
    assert!(tables.rows(&target, project).await.values().all(Vec::is_empty));
    for table in ["project_moves", "project_move_changes"] {
        assert_eq!(source.number(format!("SELECT count(*) AS number FROM {table}")).await, 0, "{table}");
    }
    let change = format!("UPDATE brands SET name = 'changed' WHERE project_id = {project}");
    assert_eq!(write(&source.database, change).await.unwrap(), 1, "the shop goes on");
    let noted = source.number("SELECT count(*) AS number FROM project_move_changes".to_owned()).await;
    assert_eq!(noted, 0, "no trigger is left");
    moved(&source, &target, project).await.unwrap();
}

async fn a_refused_move_leaves_no_trace(kind: Kind) {
    let (source, target) = (TestDatabase::fresh(kind), TestDatabase::fresh(Kind::Postgres));
    let tables = TenantTables::read(&target).await;
    let project = project(&source, &tables).await;
    let before = tables.rows(&target, project).await;
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
        assert_eq!(tables.rows(&target, project).await, before);
        assert_eq!(write(&source.database, brand(&number.to_string())).await.unwrap(), 1, "the shop goes on");
        for table in ["project_moves", "project_move_changes"] {
            assert_eq!(source.number(format!("SELECT count(*) AS number FROM {table}")).await, 0, "{table}");
        }
        target.run(removal.to_owned()).await;
    }
    moved(&source, &target, project).await.unwrap();
    assert_eq!(tables.rows(&target, project).await, tables.rows(&source, project).await);
}

async fn a_move_that_died_begins_again_or_ends(kind: Kind) {
    let (source, target) = (TestDatabase::fresh(kind), TestDatabase::fresh(Kind::Postgres));
    let project = project(&source, &TenantTables::read(&target).await).await;
    let abort = async || source.database.abort_project_move(Some(&target.database), project).await.unwrap();
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

/// Repeats a run while the server still ends the transaction of one whose connection was lost.
async fn repeated<T>(run: impl AsyncFn() -> Result<T, ProjectMoveError>) -> Result<T, ProjectMoveError> {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        match run().await {
            Err(ProjectMoveError::Refused(why)) if why.contains("another move") => {
                retry_until!(until, "{why}");
            }
            outcome => return outcome,
        }
    }
}

async fn a_lost_commit_is_settled_by_the_next_run(kind: Kind) {
    for (way, is_there) in [(Break::Before, false), (Break::After, true)] {
        let (source, target) = (TestDatabase::fresh(kind), TestDatabase::fresh(Kind::Postgres));
        let tables = TenantTables::read(&target).await;
        let project = project(&source, &tables).await;
        let wire = Wire::before(&target.url());
        let to = Database::open(wire.url(), pool_options()).unwrap();
        wire.lose("COMMIT", way, 1);
        let unknown = source.database.move_project(&to, project, DateTime::UNIX_EPOCH, |_| {}).await.unwrap_err();
        assert!(matches!(unknown, ProjectMoveError::Unknown(_)) && wire.lost() == 1, "{unknown}");
        let change = format!("UPDATE brands SET name = 'changed' WHERE project_id = {project}");
        assert!(is_moving(&write(&source.database, change.clone()).await.unwrap_err()), "only one may take orders");
        let aborted = repeated(async || source.database.abort_project_move(Some(&to), project).await).await;
        if is_there {
            assert!(aborted.unwrap_err().to_string().contains("has been moved"));
            assert!(is_moving(&write(&source.database, change).await.unwrap_err()));
        } else {
            assert!(aborted.unwrap());
            assert_eq!(write(&source.database, change).await.unwrap(), 1, "the shop goes on");
        }
        let done = source.database.move_project(&to, project, DateTime::UNIX_EPOCH, |_| {}).await.unwrap();
        assert_eq!(done.rows == 0, is_there, "{done:?}");
        assert_eq!(tables.rows(&target, project).await, tables.rows(&source, project).await);
    }
}

async fn a_payment_that_waits_for_its_subscription_prevents_a_move(kind: Kind) {
    let (source, target) = (TestDatabase::fresh(kind), TestDatabase::fresh(Kind::Postgres));
    let project = project(&source, &TenantTables::read(&target).await).await;
    let known = format!(
        "INSERT INTO known_renewals (provider_payment_id, subscription_id, period, number, idempotence_key, \
         is_canceled, created_at) SELECT 'known', id, 7, 1, 'k', FALSE, {AT} FROM subscriptions WHERE project_id = {project}"
    );
    source.run(known).await;
    let refused = moved(&source, &target, project).await.unwrap_err().to_string();
    assert!(refused.contains("takes over a payment"), "{refused}");
    source.run("UPDATE charges SET provider_payment_id = 'known' WHERE id = 500".to_owned()).await;
    moved(&source, &target, project).await.unwrap();
}

async fn only_postgresql_is_a_target() {
    let (source, target) = (TestDatabase::fresh(Kind::Postgres), TestDatabase::fresh(Kind::Sqlite));
    let project = project(&source, &TenantTables::read(&source).await).await;
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
    changes_of_all_tables_during_the_copy_are_copied
    unique_values_may_pass_between_rows
    other_projects_of_the_target_may_write_meanwhile
    a_move_is_aborted_without_its_target
    a_refused_move_leaves_no_trace
    a_move_that_died_begins_again_or_ends
    a_lost_commit_is_settled_by_the_next_run
    a_payment_that_waits_for_its_subscription_prevents_a_move
}

tests_with!(postgres: only_postgresql_is_a_target);
