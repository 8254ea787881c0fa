//! Rows written by plain SQL: the database refuses a row that refers to a record of another project.

use diesel::RunQueryDsl;
use diesel::result::{DatabaseErrorKind, Error};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{Abort, AnyConnection, database_tests};
use kontor_kernel::StoreError;

use crate::stock_fixture::{Item, StockFixture};

const AT: &str = "'2026-01-01 00:00:00'";
const REFUSED: &str = "the project has no such record";

/// Tables, and columns and values of a row beside its project. A name in braces is the id of a record.
const ROWS: [(&str, &str, &str); 12] = [
    ("departments", "branch_id, name, created_at, updated_at", "{branch}, 'D', {at}, {at}"),
    (
        "users",
        "role_id, branch_id, login, email, password_hash, first_name, last_name, is_banned, is_sick, active_seconds, \
         created_at, updated_at",
        "{role}, {branch}, 'anna', 'a@example.com', 'h', 'A', 'A', FALSE, FALSE, 0, {at}, {at}",
    ),
    ("role_permissions", "role_id, permission_id", "{role}, 1"),
    ("warehouse_applications", "warehouse_id, application_id", "{warehouse}, {application}"),
    ("application_categories", "application_id, category_id, position", "{application}, {category}, 1"),
    ("nomenclature_tags", "nomenclature_id, tag_id", "{item}, {tag}"),
    ("nomenclature_photos", "nomenclature_id, position, url", "{item}, 1, 'https://example.com/1'"),
    (
        "inventories",
        "warehouse_id, nomenclature_id, quantity, reserved, created_at, updated_at",
        "{warehouse}, {item}, 1, 0, {at}, {at}",
    ),
    (
        "storefront_offers",
        "application_id, nomenclature_id, name_key, price, popularity",
        "{application}, {item}, 'n', 1, 0",
    ),
    ("favourites", "counterparty_id, nomenclature_id, created_at", "{customer}, {item}, {at}"),
    (
        "orders",
        "application_id, counterparty_id, status_id, original_price, product_discount, promo_discount, final_price, \
         delivery_type_id, version, created_at, updated_at",
        "{application}, {customer}, 1, 1, 0, 0, 1, 1, 1, {at}, {at}",
    ),
    (
        "charges",
        "application_id, counterparty_id, purpose, purpose_id, idempotence_key, state, amount, captured, refunded, \
         refunding, request, checks, asked_at, created_at, updated_at",
        "{application}, {customer}, 'order', 1, 'k', 'prepared', 1, 0, 0, 0, '-', 0, {at}, {at}, {at}",
    ),
];

/// Returns the ids of a new record of each kind, by the names in [`ROWS`].
async fn records(stock_fixture: &StockFixture<'_>) -> Vec<(&'static str, i64)> {
    let (project, db) = (stock_fixture.project, stock_fixture.db);
    let branch = db.number(format!("SELECT id AS number FROM branches WHERE project_id = {project}")).await;
    let category = stock_fixture.category("Vases", None).await;
    let item = stock_fixture.item(Item::goods("Vase", category)).await;
    let insert = async |table: &str, columns: &str, values: &str| {
        let into = format!("INSERT INTO {table} (project_id, created_at, {columns})");
        db.number(format!("{into} VALUES ({project}, {AT}, {values}) RETURNING id AS number")).await
    };
    vec![
        ("branch", branch),
        ("application", stock_fixture.second.application_id.get()),
        ("warehouse", stock_fixture.near),
        ("category", category),
        ("item", item),
        ("tag", insert("tags", "name", "'New'").await),
        ("customer", insert("counterparties", "is_company, updated_at", &format!("FALSE, {AT}")).await),
        ("role", insert("roles", "name, is_owner, updated_at", &format!("'Clerk', FALSE, {AT}")).await),
    ]
}

/// Returns `true` if a reference of the row is refused.
async fn is_refused(db: &TestDatabase, insert: String) -> bool {
    let step = move |connection: &mut AnyConnection| match diesel::sql_query(&insert).execute(connection) {
        Err(Error::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _)) => {
            Err(Abort::Refused(StoreError::Failed(REFUSED.to_owned())))
        }
        done => Ok(done?),
    };
    let outcome = db.database.write_and_invalidate_all(step).await.map_err(|error| error.to_string());
    match &outcome {
        Ok(written) => assert_eq!(*written, 1),
        Err(error) => assert!(error.contains(REFUSED), "{error}"),
    }
    outcome.is_err()
}

database_tests! {
    async fn every_reference_stays_in_the_project(db: TestDatabase) {
        let (stock_fixture, next_door) = (StockFixture::open(&db).await, StockFixture::open(&db).await);
        let (own, other) = (records(&stock_fixture).await, records(&next_door).await);
        let mut refused = 0;
        for (table, columns, values) in ROWS {
            let insert = |records: &[(&str, i64)]| {
                let filled = records.iter().fold(values.replace("{at}", AT), |values, (name, id)| {
                    values.replace(&format!("{{{name}}}"), &id.to_string())
                });
                format!("INSERT INTO {table} (project_id, {columns}) VALUES ({}, {filled})", stock_fixture.project)
            };
            for (place, foreign) in other.iter().enumerate().filter(|(_, (name, _))| values.contains(&format!("{{{name}}}"))) {
                let mut records = own.clone();
                records[place] = *foreign;
                assert!(is_refused(&db, insert(&records)).await, "{table} refers to a {} of another project", foreign.0);
                refused += 1;
            }
            assert!(!is_refused(&db, insert(&own)).await, "{table}");
        }
        assert_eq!(refused, 21);
    }
}
