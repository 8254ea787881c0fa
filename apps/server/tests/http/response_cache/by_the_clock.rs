//! Cached responses expire without a write: slides and discounts begin and end at set times.

use kontor_adapter_diesel::database_tests;
use kontor_kernel::Clock as _;
use serde_json::{Value, json};

use super::{Step, Store};

/// Returns the response and checks that it comes from the cache.
async fn remembered(store: &Store, path: &str) -> Value {
    let here = store.here();
    // Background data of requests is stored every few seconds, which also runs statements.
    let mut asked = Vec::new();
    loop {
        let first = store.read(&here, path).await;
        let before = store.front.server.db.database.statements();
        assert_eq!(store.read(&here, path).await, first);
        asked.push(store.front.server.db.database.statements() - before);
        if asked.last() == Some(&0) {
            return first.1;
        }
        assert!(asked.len() < 50, "{path} asked {asked:?}");
    }
}

async fn slide(store: &Store, title: &str, starts_in: Option<i64>, ends_in: Option<i64>) {
    let moment = |seconds: Option<i64>| {
        let at = seconds.map(|seconds| store.front.server.clock.now() + chrono::TimeDelta::seconds(seconds));
        at.map_or_else(|| "NULL".to_owned(), |at| format!("'{}'", at.naive_utc()))
    };
    let (project, application) = (store.front.project.id, store.front.project.application_id);
    let (starts_at, ends_at) = (moment(starts_in), moment(ends_in));
    let statement = format!(
        "INSERT INTO slides (project_id, application_id, title, position, is_active, starts_at, ends_at, created_at, \
         updated_at) VALUES ({project}, {application}, '{title}', 1, TRUE, {starts_at}, {ends_at}, \
         '2026-01-01 00:00:00', '2026-01-01 00:00:00')"
    );
    store.front.server.execute(&statement).await;
}

async fn titles(store: &Store) -> Vec<String> {
    let slides = remembered(store, "slides").await;
    let titles = slides["slides"].as_array().unwrap().iter();
    titles.map(|slide| slide["title"].as_str().unwrap().to_owned()).collect()
}

database_tests! {
    async fn slides_begin_and_end_while_their_list_is_cached(db: TestDatabase) {
        let store = Store::open(db).await;
        slide(&store, "always", None, None).await;
        slide(&store, "later", Some(1_000), None).await;
        slide(&store, "soon over", None, Some(2_000)).await;
        slide(&store, "for a while", Some(3_000), Some(4_000)).await;
        let mut seen = Vec::new();
        // Real time passes, too, but always less than there is between a read and the next change.
        for seconds in [900, 200, 800, 200, 800, 200, 800, 200] {
            seen.push(titles(&store).await.join(", "));
            store.front.server.clock.advance(seconds);
        }
        seen.push(titles(&store).await.join(", "));
        assert_eq!(seen, [
            "always, soon over",
            "always, soon over",
            "always, later, soon over",
            "always, later, soon over",
            "always, later",
            "always, later",
            "always, later, for a while",
            "always, later, for a while",
            "always, later",
        ]);
    }

    async fn a_discount_begins_and_ends_while_lists_are_cached(db: TestDatabase) {
        let mut store = Store::open(db).await;
        let here = store.here();
        store.take(&here, &Step::Discount { which: 0, percent: 1_000 }).await;
        let card = format!("products/{}", store.items[0]);
        let mut seen = Vec::new();
        for seconds in [0, 50, 100, 100] {
            store.front.server.clock.advance(seconds);
            let sale = remembered(&store, "products?sale=1").await["products"]["total"].clone();
            let lowest = remembered(&store, "prices").await["min_price"].clone();
            let price = remembered(&store, &card).await["product"]["price"].clone();
            seen.push(json!([sale, lowest, price]));
        }
        let (plain, reduced) = (json!([0, 10.0, "10.00"]), json!([1, 9.0, "9.00"]));
        assert_eq!(seen, [&plain, &plain, &reduced, &plain].map(Clone::clone));
    }
}
