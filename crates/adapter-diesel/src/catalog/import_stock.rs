//! Stock from spreadsheets, in one transaction.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Text};
use kontor_catalog::model::NomenclatureKind;
use kontor_catalog::spreadsheet::ports::StockBook;
use kontor_catalog::spreadsheet::{
    ImportError, ImportMode, ImportReport, StockDecision, StockSheet, StockTarget, StockWrite,
};
use kontor_kernel::{ProjectId, StockLevel, StoreError};

use super::categories::reference;
use super::import::accept;
use super::import_writes::tuples;
use super::{offers, on_duplicate};
use crate::database::{Abort, AnyConnection, Database};
use crate::schema::warehouses;
use crate::statement::{Statement, Value};
use crate::stored;

const CHUNK: usize = 500;

#[derive(QueryableByName)]
struct ItemRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    article: String,
    #[diesel(sql_type = BigInt)]
    kind_id: i64,
    #[diesel(sql_type = Bool)]
    is_subscription: bool,
    #[diesel(sql_type = BigInt)]
    price: i64,
}

#[derive(QueryableByName)]
struct StockRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    nomenclature_id: i64,
    #[diesel(sql_type = BigInt)]
    warehouse_id: i64,
    #[diesel(sql_type = BigInt)]
    quantity: i64,
    #[diesel(sql_type = BigInt)]
    reserved: i64,
    #[diesel(sql_type = BigInt)]
    price: i64,
}

/// On PostgreSQL the records are held still until the end of the transaction.
fn held(connection: &AnyConnection, records: Statement) -> Statement {
    match connection {
        AnyConnection::Postgres(_) => records.sql(" ORDER BY id FOR NO KEY UPDATE").once(),
        AnyConnection::Sqlite(_) => records.once(),
    }
}

fn target(
    connection: &mut AnyConnection,
    project: ProjectId,
    sheet: &StockSheet,
) -> Result<StockTarget, Abort<ImportError>> {
    let mut target = StockTarget::default();
    let rows: Vec<(i64, String)> = warehouses::table
        .filter(warehouses::project_id.eq(project.get()))
        .order(warehouses::id)
        .select((warehouses::id, warehouses::name))
        .load(connection)?;
    for (id, name) in rows {
        target.add_warehouse(reference(id, &name)?);
    }
    for rows in sheet.rows.chunks(CHUNK) {
        let items = Statement::new(
            "SELECT id, article, kind_id, is_subscription, price FROM nomenclatures WHERE project_id = ",
        )
        .value(project.get())
        .sql(" AND article IN ")
        .tuple(rows.iter().map(|row| row.article.as_str().into()));
        let items: Vec<ItemRow> = held(connection, items).load(connection)?;
        let ids: Vec<i64> = items.iter().map(|item| item.id).collect();
        for item in items {
            let is_stocked = item.kind_id == NomenclatureKind::Goods.id() && !item.is_subscription;
            let price = stored::money(item.price)?;
            target.add_item(stored::text(&item.article)?, stored::id(item.id)?, is_stocked, price);
        }
        let stock = Statement::new(
            "SELECT id, nomenclature_id, warehouse_id, quantity, reserved, price FROM inventories WHERE nomenclature_id",
        )
        .among(&ids);
        let stock: Vec<StockRow> = held(connection, stock).load(connection)?;
        let level = |pieces: i64| StockLevel::new(pieces).map_err(StoreError::corrupt);
        for row in stock {
            let place = (stored::id(row.id)?, stored::id(row.nomenclature_id)?, stored::id(row.warehouse_id)?);
            target.add_stock(place, level(row.quantity)?, level(row.reserved)?, stored::money(row.price)?);
        }
    }
    Ok(target)
}

fn write(
    connection: &mut AnyConnection,
    project: ProjectId,
    writes: &[StockWrite],
    at: DateTime<Utc>,
) -> Result<(), Abort<ImportError>> {
    let at = at.naive_utc();
    let (known, new): (Vec<&StockWrite>, Vec<&StockWrite>) = writes.iter().partition(|write| write.id.is_some());
    for chunk in new.chunks(CHUNK) {
        let values = chunk.iter().map(|write| -> [Value; 8] {
            let (item, warehouse) = (write.nomenclature_id.get(), write.warehouse_id.get());
            let (quantity, price) = (write.quantity.get().into(), write.price.minor().into());
            [project.get().into(), item.into(), warehouse.into(), quantity, 0_i64.into(), price, at.into(), at.into()]
        });
        let statement = Statement::new(
            "INSERT INTO inventories (project_id, nomenclature_id, warehouse_id, quantity, reserved, price, created_at, \
             updated_at) VALUES ",
        );
        tuples(statement, values).execute(connection).map_err(on_duplicate(ImportError::Stale))?;
    }
    for chunk in known.chunks(CHUNK) {
        let values = chunk.iter().filter_map(|write| -> Option<[Value; 4]> {
            let (id, quantity) = (write.id?.get().into(), write.quantity.get().into());
            Some([id, quantity, write.price.minor().into(), at.into()])
        });
        let statement = Statement::new(
            "UPDATE inventories SET quantity = v.column2, price = v.column3, updated_at = v.column4 FROM (VALUES ",
        );
        let written = tuples(statement, values)
            .sql(") AS v WHERE inventories.id = v.column1 AND inventories.reserved <= v.column2")
            .execute(connection)?;
        if written != chunk.len() {
            return Err(Abort::Refused(ImportError::Stale));
        }
    }
    Ok(())
}

#[async_trait]
impl StockBook for Database {
    async fn upload(
        &self,
        project: ProjectId,
        sheet: Arc<StockSheet>,
        mode: ImportMode,
        at: DateTime<Utc>,
    ) -> Result<ImportReport, ImportError> {
        self.write(move |connection| {
            let target = target(connection, project, &sheet)?;
            let decision = StockDecision::of(&sheet, &target);
            accept(&decision.problems, mode)?;
            write(connection, project, &decision.writes, at)?;
            let mut items: Vec<i64> = decision.writes.iter().map(|write| write.nomenclature_id.get()).collect();
            items.sort_unstable();
            items.dedup();
            offers::refresh_availability(connection, &items)?;
            let created = decision.writes.iter().filter(|write| write.id.is_none()).count();
            Ok(ImportReport {
                created,
                updated: decision.writes.len() - created,
                unchanged: decision.unchanged,
                skipped: decision.skipped,
                problems: decision.problems,
                ignored_columns: sheet.ignored_columns.clone(),
            })
        })
        .await
    }
}
