//! Project with two applications and two warehouses, filled by plain SQL.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "tests fail by panicking"
)]

use diesel::RunQueryDsl;
use kontor_kernel::{AppScope, ApplicationId, ProjectId, StoreError};

use super::TestDatabase;
use crate::Abort;

const AT: &str = "'2026-01-01 00:00:00'";

#[derive(diesel::QueryableByName)]
struct OfferRow {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    application_id: i64,
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    nomenclature_id: i64,
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    price: i64,
}

/// Goods or a service, as a test describes it.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    /// Name.
    pub name: &'static str,
    /// Article.
    pub article: Option<&'static str>,
    /// 1 for a service, 2 for goods.
    pub kind: i64,
    /// Category.
    pub category: Option<i64>,
    /// Brand.
    pub brand: Option<i64>,
    /// Price of a service.
    pub price: i64,
    /// Number of views.
    pub views: i64,
}

impl Item {
    /// Creates goods that are sold at the price of their stock.
    pub const fn goods(name: &'static str, category: i64) -> Self {
        Self { name, article: None, kind: 2, category: Some(category), brand: None, price: 0, views: 0 }
    }
}

/// Applications 1 (both warehouses) and 2 (the second warehouse alone).
pub struct StockFixture<'a> {
    /// Database that holds it.
    pub db: &'a TestDatabase,
    /// Project.
    pub project: ProjectId,
    /// Application that sells from both warehouses.
    pub first: AppScope,
    /// Application that sells from the far warehouse.
    pub second: AppScope,
    /// Warehouse of the first application.
    pub near: i64,
    /// Warehouse of both applications.
    pub far: i64,
}

impl<'a> StockFixture<'a> {
    /// Creates a project.
    pub async fn open(db: &'a TestDatabase) -> Self {
        let new = format!(
            "INSERT INTO projects (name, currency, created_at) VALUES ('Trial', 'RUB', {AT}) RETURNING id AS number"
        );
        let project = ProjectId::new(db.number(new).await).unwrap();
        let p = project.get();
        let branch = db.number(
            format!("INSERT INTO branches (project_id, name, created_at, updated_at) VALUES ({p}, 'B', {AT}, {AT}) RETURNING id AS number"),
        )
        .await;
        let mut applications = Vec::new();
        let mut warehouses = Vec::new();
        for n in 1..=2 {
            let statement = format!(
                "INSERT INTO applications (project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at, \
                 updated_at) VALUES ({p}, {branch}, 'A{n}', 'token-{p}-{n}', TRUE, FALSE, {AT}, {AT}) RETURNING id AS number"
            );
            let id = db.number(statement).await;
            let application_id = ApplicationId::new(id).unwrap();
            applications.push(AppScope { project_id: project, application_id, wholesale: false });
            let statement = format!(
                "INSERT INTO warehouses (project_id, branch_id, name, created_at, updated_at) \
                 VALUES ({p}, {branch}, 'W{n}', {AT}, {AT}) RETURNING id AS number"
            );
            warehouses.push(db.number(statement).await);
        }
        let (first, second, near, far) = (applications[0], applications[1], warehouses[0], warehouses[1]);
        let fixture = Self { db, project, first, second, near, far };
        let (one, two) = (first.application_id, second.application_id);
        fixture
            .run(format!(
                "INSERT INTO warehouse_applications (project_id, warehouse_id, application_id) \
                 VALUES ({p}, {near}, {one}), ({p}, {far}, {one}), ({p}, {far}, {two})"
            ))
            .await;
        fixture
    }

    /// Creates a warehouse of the branch that serves this application.
    pub async fn another_warehouse(&self, app: AppScope) -> i64 {
        let warehouse = self
            .db
            .number(format!(
                "INSERT INTO warehouses (project_id, branch_id, name, created_at, updated_at) \
                 SELECT project_id, branch_id, 'W', {AT}, {AT} FROM warehouses WHERE id = {} RETURNING id AS number",
                self.near
            ))
            .await;
        let app = app.application_id;
        self.run(format!(
            "INSERT INTO warehouse_applications (project_id, warehouse_id, application_id) VALUES ({}, {warehouse}, {app})",
            self.project
        ))
        .await;
        warehouse
    }

    /// Runs statements unchanged.
    pub async fn run(&self, sql: String) {
        self.db.run(sql).await;
    }

    /// Creates a category.
    pub async fn category(&self, name: &str, parent: Option<i64>) -> i64 {
        let (p, key) = (self.project, name.to_lowercase());
        let parent = parent.map_or("NULL".to_owned(), |id| id.to_string());
        self.db.number(
            format!(
                "INSERT INTO categories (project_id, parent_id, name, name_key, code, created_at, updated_at) \
                 SELECT {p}, {parent}, '{name}', '{key}', count(*) + 1, {AT}, {AT} FROM categories WHERE project_id = {p} \
                 RETURNING id AS number"
            ),
        )
        .await
    }

    /// Creates a brand.
    pub async fn brand(&self, name: &str) -> i64 {
        let (p, key) = (self.project, name.to_lowercase());
        self.db
            .number(format!(
                "INSERT INTO brands (project_id, name, name_key, created_at, updated_at) \
                 VALUES ({p}, '{name}', '{key}', {AT}, {AT}) RETURNING id AS number"
            ))
            .await
    }

    /// Creates an item.
    pub async fn item(&self, item: Item) -> i64 {
        let number = |id: Option<i64>| id.map_or("NULL".to_owned(), |id| id.to_string());
        let article = item.article.map_or("NULL".to_owned(), |article| format!("'{article}'"));
        let article_key = article.to_lowercase();
        let (p, name, key) = (self.project, item.name, item.name.to_lowercase());
        let (category, brand) = (number(item.category), number(item.brand));
        let (kind, price, views) = (item.kind, item.price, item.views);
        self.db.number(
            format!(
                "INSERT INTO nomenclatures (project_id, article, article_key, name, name_key, kind_id, category_id, brand_id, price, \
                 is_subscription, wholesale, pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at) \
                 VALUES ({p}, {article}, {article_key}, '{name}', '{key}', {kind}, {category}, {brand}, {price}, FALSE, FALSE, 1, 1, \
                 {views}, 1, {AT}, {AT}) RETURNING id AS number"
            ),
        )
        .await
    }

    /// Creates a stock level of an item, with its movement.
    pub async fn stock(&self, warehouse: i64, item: i64, quantity: i64, price: i64) {
        self.run(format!(
            "INSERT INTO inventories (project_id, warehouse_id, nomenclature_id, quantity, reserved, price, created_at, \
             updated_at) VALUES ({}, {warehouse}, {item}, {quantity}, 0, {price}, {AT}, {AT})",
            self.project
        ))
        .await;
        self.db.database.correct_ledger(None, chrono::DateTime::UNIX_EPOCH).await.unwrap();
    }

    /// Returns `(application, item, price)` of every offer.
    pub async fn offers(&self) -> Vec<(i64, i64, i64)> {
        offers(self.db).await
    }

    /// Returns the column `number` of a query.
    pub async fn number(&self, query: String) -> i64 {
        self.db.number(query).await
    }
}

/// Returns `(application, item, price)` of every offer.
pub async fn offers(db: &TestDatabase) -> Vec<(i64, i64, i64)> {
    let query = "SELECT application_id, nomenclature_id, price FROM storefront_offers ORDER BY 1, 2";
    db.database
        .read(move |connection| {
            let rows: Vec<OfferRow> = diesel::sql_query(query).load(connection)?;
            Ok::<_, Abort<StoreError>>(
                rows.into_iter().map(|row| (row.application_id, row.nomenclature_id, row.price)).collect(),
            )
        })
        .await
        .unwrap()
}
