//! Stock ledger of a project.

use diesel::RunQueryDsl;
use kontor_adapter_diesel::Abort;
use kontor_adapter_diesel::doctor::Difference;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_kernel::StoreError;

#[derive(diesel::QueryableByName, Debug, PartialEq, Eq)]
pub struct Movement {
    #[diesel(sql_type = diesel::sql_types::Text)]
    pub reason: String,
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    pub quantity: i64,
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    pub reserved: i64,
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    pub quantity_after: i64,
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    pub reserved_after: i64,
    #[diesel(sql_type = diesel::sql_types::Nullable<diesel::sql_types::BigInt>)]
    pub price_before: Option<i64>,
    #[diesel(sql_type = diesel::sql_types::Nullable<diesel::sql_types::BigInt>)]
    pub price_after: Option<i64>,
    #[diesel(sql_type = diesel::sql_types::Nullable<diesel::sql_types::Text>)]
    pub source: Option<String>,
    #[diesel(sql_type = diesel::sql_types::Nullable<diesel::sql_types::BigInt>)]
    pub source_id: Option<i64>,
    #[diesel(sql_type = diesel::sql_types::Text)]
    pub actor: String,
    #[diesel(sql_type = diesel::sql_types::Nullable<diesel::sql_types::BigInt>)]
    pub actor_id: Option<i64>,
    #[diesel(sql_type = diesel::sql_types::Nullable<diesel::sql_types::Text>)]
    pub comment: Option<String>,
}

/// Every movement of an item, in the order of their commits.
pub async fn movements(db: &TestDatabase, item: i64) -> Vec<Movement> {
    let query = format!("SELECT * FROM stock_movements WHERE nomenclature_id = {item} ORDER BY id");
    db.database
        .read(move |connection| Ok::<_, Abort<StoreError>>(diesel::sql_query(&query).load(connection)?))
        .await
        .unwrap()
}

/// Reason and the two changes of every movement of an item.
pub async fn changes(db: &TestDatabase, item: i64) -> Vec<(String, i64, i64)> {
    let all = movements(db, item).await;
    all.into_iter().map(|movement| (movement.reason, movement.quantity, movement.reserved)).collect()
}

/// Differences that the doctor finds in all projects.
pub async fn differences(db: &TestDatabase) -> Vec<Difference> {
    let mut found = Vec::new();
    let examined = db.database.examine(None, |difference| found.push(difference)).await.unwrap();
    assert_eq!(usize::try_from(examined.differences).unwrap(), found.len());
    found
}
