//! Rules for the rows of a scene after every meeting: the checks of `kontor doctor`, and the rules of the simulator.

use kontor_adapter_diesel::testing::TestDatabase;

#[path = "../../../../simulator/src/invariants.rs"]
#[allow(dead_code, reason = "the simulator looks at more")]
mod invariants;

/// Every rule that the rows violate.
pub async fn broken(db: &TestDatabase) -> Vec<String> {
    let mut broken = Vec::new();
    db.database.examine(None, |difference| broken.push(format!("{difference:?}"))).await.unwrap();
    let query = invariants::query(invariants::When::EveryDay, None, invariants::Dialect::Postgres);
    let counts = db.named_numbers(query).await;
    broken.extend(counts.into_iter().filter(|(_, rows)| *rows > 0).map(|(rule, rows)| format!("{rule}: {rows}")));
    broken
}
