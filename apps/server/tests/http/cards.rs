//! Card numbers and security codes are never stored, wherever they were sent.

use std::collections::BTreeMap;

use diesel::RunQueryDsl;
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{Abort, database_tests};
use kontor_kernel::StoreError;
use reqwest::Method;
use serde_json::{Value, json};

use crate::keyed::keyed;
use crate::subscription_fixture::{METHODS, ROOT, SubscriptionFixture};
use crate::support::send;

const NUMBER: &str = "4111111111111111";
const LAST_DIGITS: &str = "1111";
const CODE: &str = "0737";

#[derive(diesel::QueryableByName)]
struct Column {
    #[diesel(sql_type = diesel::sql_types::Text)]
    owner: String,
    #[diesel(sql_type = diesel::sql_types::Text)]
    name: String,
}

#[derive(diesel::QueryableByName)]
struct Count {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    rows_found: i64,
}

// FTS5 tables contain data of other tables.
const SQLITE: &str = "SELECT m.name AS owner, p.name AS name FROM sqlite_master m JOIN pragma_table_info(m.name) p \
    WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT LIKE 'nomenclature_search%' \
    AND m.name NOT LIKE 'counterparty_search%' AND m.name NOT LIKE 'page_search%'";
const POSTGRES: &str = "SELECT table_name::text AS owner, column_name::text AS name FROM information_schema.columns \
    WHERE table_schema = 'public'";

async fn tables(db: &TestDatabase) -> BTreeMap<String, Vec<String>> {
    let query = if db.kind == Kind::Sqlite { SQLITE } else { POSTGRES };
    let columns = db.database.read(move |connection| {
        diesel::sql_query(query).load::<Column>(connection).map_err(Abort::<StoreError>::Query)
    });
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Column { owner, name } in columns.await.unwrap() {
        tables.entry(owner).or_default().push(name);
    }
    tables
}

/// Short digit groups count only as a whole value, because they also occur in longer numbers.
fn stand_in(column: &str, digits: &str) -> String {
    let text = format!("CAST(\"{column}\" AS TEXT)");
    let inside = if digits.len() > 4 { format!("%{digits}%") } else { format!("%\"{digits}\"%") };
    format!("{text} = '{digits}' OR {text} LIKE '{inside}'")
}

/// Returns the tables that contain these digits.
async fn tables_with(db: &TestDatabase, digits: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (table, columns) in tables(db).await {
        let conditions: Vec<String> = columns.iter().map(|column| stand_in(column, digits)).collect();
        let query = format!("SELECT count(*) AS rows_found FROM \"{table}\" WHERE {}", conditions.join(" OR "));
        let count = db.database.read(move |connection| {
            diesel::sql_query(&query).get_result::<Count>(connection).map_err(Abort::<StoreError>::Query)
        });
        if count.await.unwrap().rows_found > 0 {
            found.push(table);
        }
    }
    found
}

fn with_card(mut body: Value) -> Value {
    body["autopay_consent"] = json!(true);
    body["card_number"] = json!(NUMBER);
    body["cvc"] = json!(CODE);
    body["card"] = json!({ "number": NUMBER, "csc": CODE });
    body
}

database_tests! {
    async fn a_card_is_kept_by_its_last_digits_alone(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        let checkout = subscription_fixture.request(Method::POST, &format!("{ROOT}/checkout"));
        let body = with_card(json!({ "nomenclature_id": subscription_fixture.gold }));
        send(keyed(checkout, "checkout").json(&body)).await.expect(201);
        let id = subscription_fixture.all().await[0]["id"].clone();
        let payment = subscription_fixture.shop.payments().await[0]["id"].as_str().unwrap().to_owned();
        let paid = json!({ "outcome": "succeed", "card": NUMBER });
        subscription_fixture.shop.control(&format!("/payments/{payment}"), paid).await;
        subscription_fixture.until(&id, "active").await;

        let (method, _) = subscription_fixture.saved().await;
        let at_once = json!({ "nomenclature_id": subscription_fixture.silver, "saved_payment_method_id": method });
        send(keyed(subscription_fixture.request(Method::POST, ROOT), "at-once").json(&with_card(at_once))).await.expect(201);
        let change = keyed(subscription_fixture.request(Method::PATCH, &format!("{ROOT}/{id}")), "terms");
        send(change.json(&with_card(json!({ "plan_slug": "gold" })))).await.expect(200);
        let change = keyed(subscription_fixture.request(Method::POST, &format!("{ROOT}/{id}/payment-method-change")), "method");
        send(change.json(&with_card(json!({})))).await.expect_invalid(&["card", "card_number", "cvc"]);

        assert_eq!(subscription_fixture.get(METHODS).await.expect(200)["data"][0]["card_last_4"], LAST_DIGITS);
        let db = subscription_fixture.shop.server.stop().await;
        assert!(tables_with(&db, LAST_DIGITS).await.contains(&"saved_payment_methods".to_owned()));
        for secret in [NUMBER, CODE] {
            let kept = tables_with(&db, secret).await;
            assert!(kept.is_empty(), "{secret} is in {kept:?}");
        }
    }
}
