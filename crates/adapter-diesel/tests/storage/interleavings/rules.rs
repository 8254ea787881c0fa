//! What holds of the rows of a scene after every meeting: what `kontor doctor` compares, and the rules of the simulator.

use kontor_adapter_diesel::testing::TestDatabase;

#[path = "../../../../simulator/src/invariants.rs"]
#[allow(dead_code, reason = "the simulator looks at more")]
mod invariants;

/// Every rule that the rows break.
pub async fn broken(db: &TestDatabase) -> Vec<String> {
    let mut broken = Vec::new();
    db.database.examine(None, |difference| broken.push(format!("{difference:?}"))).await.unwrap();
    let rules = invariants::INVARIANTS.iter().filter(|rule| rule.when < invariants::When::AtRest);
    let counts = rules.map(|rule| {
        let rows = rule.rows.replace("{since}", "TRUE").replace("{moment}", "'2000-01-01 00:00:00'").replace(
            "json_extract(payload, '$.data.order_id')",
            "CAST(CAST(payload AS json) -> 'data' ->> 'order_id' AS bigint)",
        );
        format!("SELECT '{}' AS name, count(*) AS number FROM {rows}", rule.name.replace('\'', "''"))
    });
    let counts = db.named_numbers(counts.collect::<Vec<_>>().join(" UNION ALL ")).await;
    broken.extend(counts.into_iter().filter(|(_, rows)| *rows > 0).map(|(rule, rows)| format!("{rule}: {rows}")));
    broken
}
