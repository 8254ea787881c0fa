//! Server errors are recognized in any language of their messages.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};

use diesel::connection::SimpleConnection;
use kontor_adapter_diesel::testing::{OwnServer, TestDatabase};
use kontor_adapter_diesel::{Abort, AnyConnection, tests_with};
use kontor_kernel::StoreError;

use crate::fixtures::{number, run};

/// Runs a statement that fails, and counts its runs.
async fn failing(db: &TestDatabase, statement: &'static str) -> (StoreError, u64) {
    let before = db.database.repeated();
    let step = move |connection: &mut AnyConnection| Ok::<_, Abort<StoreError>>(connection.batch_execute(statement)?);
    let error = db.database.write_and_invalidate_all(step).await.unwrap_err();
    (error, db.database.repeated() - before + 1)
}

/// Two steps lock two records in opposite order.
async fn deadlock(db: &TestDatabase) {
    let both = Arc::new(Barrier::new(2));
    let steps = [(1, 2), (2, 1)].map(|(first, second)| {
        let (database, both, again) = (db.database.clone(), Arc::clone(&both), AtomicBool::new(false));
        let raise = |id| format!("UPDATE projects SET name = name || '+' WHERE id = {id}");
        let (first, second) = (raise(first), raise(second));
        tokio::spawn(async move {
            let step = move |connection: &mut AnyConnection| {
                connection.batch_execute(&first)?;
                if !again.swap(true, Ordering::SeqCst) {
                    both.wait();
                }
                Ok::<_, Abort<StoreError>>(connection.batch_execute(&second)?)
            };
            database.write_and_invalidate_all(step).await
        })
    });
    for step in steps {
        step.await.unwrap().unwrap();
    }
}

async fn a_deadlock_is_known_in_any_language() {
    let (server, languages) = OwnServer::speaking();
    let projects = "INSERT INTO projects (name, currency, created_at) VALUES \
         ('One', 'RUB', '2026-01-01 00:00:00'), ('Two', 'RUB', '2026-01-01 00:00:00');";
    run(&server.database(), projects.to_owned()).await;
    let mut notified = BTreeSet::new();
    for language in languages {
        run(&server.database(), format!("ALTER DATABASE postgres SET lc_messages = '{language}'")).await;
        let db = server.database();
        let (error, runs) = failing(&db, "SELECT 1 / 0").await;
        let is_english = error.to_string().contains("division by zero");
        assert!(!is_english && notified.insert(error.to_string()), "this is not {language}: {error}");
        assert_eq!(runs, 5, "nobody can tell whether it passes: {error}");
        let (error, runs) = failing(&db, "SELECT nothing").await;
        assert_eq!(runs, 1, "what is wrong in itself stays wrong: {error}");
        let before = db.database.repeated();
        deadlock(&db).await;
        // The server may abort both at once.
        assert!((1..=2).contains(&(db.database.repeated() - before)), "{language}");
    }
    let letters = number(&server.database(), "SELECT CAST(sum(length(name)) AS BIGINT) AS value FROM projects").await;
    assert_eq!(letters, 6 + 2 * 4, "every step was done once");
}

tests_with!(postgres_locales: a_deadlock_is_known_in_any_language);
