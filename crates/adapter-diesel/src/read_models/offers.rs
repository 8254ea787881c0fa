//! Offers of each application: the rows of `storefront_offers`, derived from items, stock and warehouse links.
//!
//! - Goods are shown with a category and with available stock in a warehouse that serves the application, at the lowest
//!   price among those warehouses.
//! - Services are shown in every application of their project at the price of the item.
//! - Subscription plans and items without a price are not shown.
//!
//! An offer repeats the columns of the item and its photos that lists need. Names of categories and brands change
//! independently, and stock changes with every order: lists look these up.
//!
//! The number of offers of each application, in total and per category, is stored beside the offers.

use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_kernel::{AppScope, NomenclatureId, StoreError};

use super::search;
use crate::collation::fill_sort_keys;
use crate::database::{Abort, AnyConnection, Database};
use crate::locks::lock_items;
use crate::statement::{Statement, by_place};

/// Category id for the total, which includes offers without a category.
pub(crate) const ALL_CATEGORIES: i64 = 0;

/// Rows per count on PostgreSQL. Each connection uses its own row, so that writers do not wait for each other.
const SLOTS: i64 = 16;

const INSERT_COUNTS: &str = "INSERT INTO offer_counts (project_id, application_id, category_id, slot, total)";

const ON_CONFLICT_ADD: &str = " ON CONFLICT (application_id, category_id, slot, project_id) \
                     DO UPDATE SET total = offer_counts.total + excluded.total";

/// Returns the row that this connection writes to.
fn slot(connection: &AnyConnection) -> String {
    if connection.is_postgres() { format!("pg_backend_pid() % {SLOTS}") } else { "0".to_owned() }
}

by_place! {
    /// Columns of `RETURNING project_id, application_id, category_id` of offers.
    #[expect(clippy::struct_field_names, reason = "the names of the columns")]
    pub(crate) struct OfferPlace {
        project_id: i64,
        application_id: i64,
        category_id: Option<i64>,
    }
}

/// Changes of the counts in one transaction, by application, category and project.
#[derive(Default)]
pub(crate) struct CountChanges(BTreeMap<(i64, i64, i64), i64>);

impl CountChanges {
    /// Adds offers that appeared (`1`) or disappeared (`-1`).
    pub fn add(&mut self, offers: Vec<OfferPlace>, by: i64) {
        for offer in offers {
            for category in [Some(ALL_CATEGORIES), offer.category_id].into_iter().flatten() {
                *self.0.entry((offer.application_id, category, offer.project_id)).or_default() += by;
            }
        }
    }

    /// Writes the non-zero changes, always in the same order.
    pub fn write(self, connection: &mut AnyConnection) -> Result<(), QueryError> {
        let slot = slot(connection);
        let changes: Vec<[i64; 4]> = self
            .0
            .into_iter()
            .filter(|(_, change)| *change != 0)
            .map(|((application, category, project), change)| [project, application, category, change])
            .collect();
        for chunk in changes.chunks(CHUNK) {
            let insert =
                format!("{INSERT_COUNTS} SELECT v.column1, v.column2, v.column3, {slot}, v.column4 FROM (VALUES ");
            let rows = Statement::new(insert).tuples(chunk.iter().map(|row| row.map(Into::into))).once();
            rows.sql(") AS v WHERE TRUE").sql(ON_CONFLICT_ADD).run(connection)?;
        }
        Ok(())
    }
}

by_place! {
    /// A count that differs from the number of offers. The category is 0 for all offers.
    pub(crate) struct CountDifference {
        pub project: i64,
        pub application: i64,
        pub category: i64,
        pub kept: i64,
        pub counted: i64,
    }
}

/// Selects `application_id, category_id, kept, counted` of the wrong counts of these applications.
fn differing_counts(applications: &[i64]) -> Statement {
    let places = [
        "SELECT application_id, category_id, total AS kept, 0 AS counted FROM offer_counts WHERE application_id",
        " UNION ALL SELECT application_id, category_id, 0, count(*) FROM storefront_offers \
         WHERE category_id IS NOT NULL AND application_id",
        " GROUP BY application_id, category_id UNION ALL SELECT application_id, 0, 0, count(*) FROM storefront_offers \
         WHERE application_id",
    ];
    let select = "SELECT application_id, category_id, CAST(sum(kept) AS BIGINT) AS kept, \
                  CAST(sum(counted) AS BIGINT) AS counted FROM (";
    let union = places.into_iter().fold(Statement::new(select), |union, place| union.sql(place).among(applications));
    union.sql(" GROUP BY application_id) AS x GROUP BY application_id, category_id HAVING sum(kept) <> sum(counted)")
}

/// Selects the wrong counts of these applications.
pub(crate) fn wrong_counts(applications: &[i64]) -> Statement {
    Statement::new("SELECT a.project_id, y.application_id, y.category_id, y.kept, y.counted FROM (")
        .then(differing_counts(applications))
        .sql(") AS y JOIN applications a ON a.id = y.application_id ORDER BY y.application_id, y.category_id")
        .once()
}

/// Corrects the counts of these applications, which the caller has locked. Returns the number of wrong ones.
pub(crate) fn correct_counts(connection: &mut AnyConnection, applications: &[i64]) -> Result<usize, QueryError> {
    let slot = slot(connection);
    let insert = format!("{INSERT_COUNTS} SELECT a.project_id, a.id, y.category_id, {slot}, y.counted - y.kept FROM (");
    Statement::new(insert)
        .then(differing_counts(applications))
        .sql(") AS y JOIN applications a ON a.id = y.application_id WHERE TRUE")
        .sql(ON_CONFLICT_ADD)
        .once()
        .run(connection)
}

const CHUNK: usize = 500;

const RETURNING_PLACE: &str = " RETURNING project_id, application_id, category_id";

/// Recreates the offers of these items in all applications. Part of the transaction that changed the items.
pub(crate) fn refresh(connection: &mut AnyConnection, items: &[i64]) -> Result<(), QueryError> {
    lock_items(connection, items)?;
    let mut changes = CountChanges::default();
    for items in items.chunks(CHUNK) {
        derive(connection, items, &mut changes)?;
    }
    changes.write(connection)
}

/// Like [`refresh`], after a change of stock only: writes only items whose offer appears, disappears or changes its
/// price. Costs one small read if nothing changes.
pub(crate) fn refresh_availability(connection: &mut AnyConnection, items: &[i64]) -> Result<u64, QueryError> {
    lock_items(connection, items)?;
    refresh_locked(connection, items)
}

/// The same for items that are locked already. Two transactions that change stock of one item in different warehouses
/// see each other's changes only one after the other.
pub(crate) fn refresh_locked(connection: &mut AnyConnection, items: &[i64]) -> Result<u64, QueryError> {
    let mut changes = CountChanges::default();
    let mut touched = 0;
    for items in items.chunks(CHUNK) {
        let ids: Vec<i64> = differing(items).scalars(connection)?;
        if !ids.is_empty() {
            derive(connection, &ids, &mut changes)?;
            touched += u64::try_from(ids.len()).unwrap_or(u64::MAX);
        }
    }
    changes.write(connection)?;
    Ok(touched)
}

/// Recreates the offers. The counts are written last and together, so that they are locked in one order, too.
fn derive(connection: &mut AnyConnection, items: &[i64], changes: &mut CountChanges) -> Result<(), QueryError> {
    let old = Statement::new("DELETE FROM storefront_offers WHERE nomenclature_id").among(items);
    changes.add(old.sql(RETURNING_PLACE).rows(connection)?, -1);
    changes.add(insert_due(items).sql(RETURNING_PLACE).rows(connection)?, 1);
    Ok(())
}

/// Selects `application_id, nomenclature_id, price` of every offer these items should have.
fn due(items: &[i64]) -> Statement {
    goods(" AND i.quantity > i.reserved")
        .among(items)
        .sql(
            " GROUP BY w.application_id, i.nomenclature_id UNION ALL SELECT a.id, n.id, n.price FROM nomenclatures n \
         JOIN applications a ON a.project_id = n.project_id WHERE n.kind_id = 1 AND n.is_subscription = FALSE \
         AND n.price IS NOT NULL AND n.id",
        )
        .among(items)
}

/// The same for goods with stock that matches the condition `like`; the caller appends the items.
fn goods(like: &'static str) -> Statement {
    Statement::new(
        "SELECT w.application_id, i.nomenclature_id, min(i.price) AS price FROM inventories i \
         JOIN warehouse_applications w ON w.warehouse_id = i.warehouse_id \
         JOIN nomenclatures n ON n.id = i.nomenclature_id \
         WHERE n.kind_id = 2 AND n.category_id IS NOT NULL AND n.is_subscription = FALSE AND i.price IS NOT NULL",
    )
    .sql(like)
    .sql(" AND i.nomenclature_id")
}

/// Selects the offer an item would have if the application's warehouses had stock of it. Returns no row if the
/// application does not sell the item.
pub(crate) fn sold_out(app: AppScope, item: NomenclatureId) -> Statement {
    let due = goods("")
        .sql(" = ")
        .value(item.get())
        .sql(" AND w.application_id = ")
        .value(app.application_id.get())
        .sql(" GROUP BY w.application_id, i.nomenclature_id");
    offers_of(due)
}

fn insert_due(items: &[i64]) -> Statement {
    Statement::new(
        "INSERT INTO storefront_offers \
         (project_id, application_id, nomenclature_id, category_id, brand_id, country_id, name_key, sort_key, price, \
         popularity, kind_id, name, article, wholesale, pieces_per_pack, quantity_pack, photos) ",
    )
    .then(offers_of(due(items)))
}

fn offers_of(due: Statement) -> Statement {
    Statement::new(
        "SELECT n.project_id, d.application_id, n.id AS nomenclature_id, n.category_id, n.brand_id, n.country_id, n.name_key, n.sort_key, \
         d.price, n.views_count AS popularity, n.kind_id, n.name, n.article, n.wholesale, n.pieces_per_pack, \
         n.quantity_pack, (SELECT string_agg(p.url, '\n') FROM (SELECT url FROM nomenclature_photos \
         WHERE nomenclature_id = n.id ORDER BY position) AS p) AS photos \
         FROM (",
    )
    .then(due)
    .sql(") AS d JOIN nomenclatures n ON n.id = d.nomenclature_id")
}

/// Defines `shown` and `due`: the existing and the expected offers of these items.
fn compared(items: &[i64]) -> Statement {
    Statement::new(
        "WITH shown AS (SELECT application_id, nomenclature_id, price FROM storefront_offers WHERE nomenclature_id",
    )
    .among(items)
    .sql("), due AS (")
    .then(due(items))
    .sql(")")
}

fn differing(items: &[i64]) -> Statement {
    compared(items).sql(
        ", gone AS (SELECT * FROM shown EXCEPT SELECT * FROM due), \
             new AS (SELECT * FROM due EXCEPT SELECT * FROM shown) \
             SELECT nomenclature_id AS id FROM gone UNION SELECT nomenclature_id AS id FROM new ORDER BY 1",
    )
}

by_place! {
    /// An offer that differs from the expected one, with the shown and the expected price, if any.
    pub(crate) struct DifferingOffer {
        project: i64,
        application: i64,
        item: i64,
        shown: Option<i64>,
        due: Option<i64>,
    }
}

impl DifferingOffer {
    /// Returns project, application and item.
    pub(crate) fn place(&self) -> (i64, i64, i64) {
        (self.project, self.application, self.item)
    }

    /// Returns the shown and the expected price.
    pub(crate) fn prices(&self) -> (Option<i64>, Option<i64>) {
        (self.shown, self.due)
    }
}

/// Selects the offers of these items that differ from the expected ones.
pub(crate) fn outdated_offers(items: &[i64]) -> Statement {
    compared(items).sql(
        " SELECT n.project_id, f.application, f.item, f.shown, f.due FROM (SELECT \
         COALESCE(s.application_id, d.application_id) AS application, \
         COALESCE(s.nomenclature_id, d.nomenclature_id) AS item, s.price AS shown, d.price AS due \
         FROM shown s FULL JOIN due d ON d.application_id = s.application_id AND d.nomenclature_id = s.nomenclature_id) \
         AS f JOIN nomenclatures n ON n.id = f.item \
         WHERE f.shown IS NULL OR f.due IS NULL OR f.shown <> f.due ORDER BY f.item, f.application",
    )
}

fn items_after(connection: &mut AnyConnection, last: i64) -> Result<Vec<i64>, QueryError> {
    use crate::schema::nomenclatures::{id, table};
    let limit = i64::try_from(CHUNK).unwrap_or(i64::MAX);
    table.filter(id.gt(last)).order(id).limit(limit).select(id).load(connection)
}

/// Functions for the operator.
impl Database {
    /// Recreates all offers and the search index, for example after a bulk load by other means than this service.
    /// Returns the number of checked items.
    pub async fn rebuild_offers(&self) -> Result<u64, StoreError> {
        self.fill(of_items(|connection, items| {
            search::refill(connection, items)?;
            fill_sort_keys(connection)?;
            refresh(connection, items)?;
            Ok(u64::try_from(items.len()).unwrap_or(u64::MAX))
        }))
        .await
    }

    /// Compares all offers with stock and prices, and corrects differences. Returns the number of items that differed.
    pub async fn reconcile_offers(&self) -> Result<u64, StoreError> {
        self.walk(of_items(|connection, items| Ok(refresh_availability(connection, items)?))).await
    }
}

/// Returns a step through all items, [`CHUNK`] at a time.
fn of_items(
    work: impl Fn(&mut AnyConnection, &[i64]) -> Result<u64, Abort<StoreError>> + Copy + Send + 'static,
) -> impl Fn(&mut AnyConnection, i64) -> Result<(Option<i64>, u64), Abort<StoreError>> + Copy + Send + 'static {
    move |connection, last| {
        connection.invalidate_everything();
        let items = items_after(connection, last)?;
        let count = work(connection, &items)?;
        Ok((items.last().copied(), count))
    }
}
