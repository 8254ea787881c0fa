use std::collections::HashMap;

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_catalog::model::{
    Inventory, InventoryDraft, NomenclatureKind, StockChange, StockEntry, StockLevel, StockedItem,
};
use kontor_catalog::ports::InventoryRepository;
use kontor_catalog::{InventoryError, InventoryReference, InventoryRefusal};
use kontor_kernel::{InventoryId, Listing, Page, PageRequest, ProjectId, ProjectScoped, Stamp, StoreError};

use crate::database::{Abort, AnyConnection, Database, Topic, found, on_duplicate};
use crate::decode::{self, reference};
use crate::listing::{Source, Totals, unsearched};
use crate::locks::lock_item_of_stock;
use crate::read_models::offers;
use crate::read_models::search::items_found;
use crate::records;
use crate::schema::{inventories, nomenclatures, referred, warehouses};
use crate::statement::Statement;
use crate::stock::{self, Cause, NewStock, Reason, StockLevels};
use crate::unreadable;

#[derive(Queryable, Selectable)]
#[diesel(table_name = inventories)]
struct InventoryRow {
    id: i64,
    project_id: i64,
    warehouse_id: i64,
    nomenclature_id: i64,
    quantity: i64,
    reserved: i64,
    price: Option<i64>,
    version: i64,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

fn level(pieces: i64) -> Result<StockLevel, StoreError> {
    StockLevel::new(pieces).map_err(StoreError::corrupt)
}

fn inventory(row: &InventoryRow, warehouse: &str, item: &str, article: Option<&str>) -> Result<Inventory, StoreError> {
    Ok(Inventory {
        id: decode::id(row.id)?,
        warehouse: reference(row.warehouse_id, warehouse)?,
        nomenclature: StockedItem {
            id: decode::id(row.nomenclature_id)?,
            name: decode::text(item)?,
            article: decode::optional_text(article)?,
        },
        quantity: level(row.quantity)?,
        reserved: level(row.reserved)?,
        price: decode::optional_money(row.price)?,
        version: decode::count(row.version)?,
        created_at: decode::moment(row.created_at),
        updated_at: decode::moment(row.updated_at),
    })
}

/// Loads these stock levels in this order.
pub(crate) fn load<R>(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<ProjectScoped<Inventory>>, Abort<R>> {
    let rows: Vec<(InventoryRow, String, String, Option<String>)> = inventories::table
        .inner_join(referred!(warehouses, inventories::warehouse_id))
        .inner_join(referred!(nomenclatures, inventories::nomenclature_id))
        .filter(inventories::id.eq_any(ids.to_vec()))
        .filter(inventories::deleted_at.is_null())
        .select((InventoryRow::as_select(), warehouses::name, nomenclatures::name, nomenclatures::article))
        .load(connection)?;
    let mut found = HashMap::with_capacity(rows.len());
    for (row, warehouse, item, article) in rows {
        let record = inventory(&row, &warehouse, &item, article.as_deref());
        found.insert(row.id, records::of_project(row.project_id, record)?);
    }
    Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
}

fn one(connection: &mut AnyConnection, project: ProjectId, ids: &[i64]) -> Result<Inventory, Abort<InventoryError>> {
    records::within(load(connection, ids)?, project).pop().ok_or(Abort::Refused(InventoryError::NotFound))
}

/// Source of the stock list for staff.
const STOCK: Source = Source {
    from: "inventories i",
    id: "i.id",
    fields: &[
        ("id", "i.id"),
        ("warehouse_id", "i.warehouse_id"),
        ("nomenclature_id", "i.nomenclature_id"),
        ("quantity", "i.quantity"),
        ("reserved", "i.reserved"),
        ("price", "i.price"),
        ("created_at", "i.created_at"),
        ("updated_at", "i.updated_at"),
    ],
    // Searched by item.
    search: unsearched,
};

/// Locks a record of a project until the transaction ends, on PostgreSQL.
fn hold(
    connection: &mut AnyConnection,
    table: &'static str,
    project: ProjectId,
    id: i64,
    clause: &'static str,
) -> QueryResult<()> {
    let own = Statement::new(format!("SELECT id FROM {table} WHERE project_id = ")).value(project.get());
    own.sql(" AND id = ").value(id).hold(connection, clause)
}

/// Requires that the records belong to the project and that the item is kept in warehouses. The item is locked: it must
/// remain goods until its stock level is stored.
fn require_stockable(
    connection: &mut AnyConnection,
    project: ProjectId,
    draft: &InventoryDraft,
) -> Result<(), Abort<InventoryError>> {
    let own = warehouses::table
        .find(draft.warehouse_id.get())
        .filter(warehouses::project_id.eq(project.get()))
        .filter(warehouses::deleted_at.is_null());
    hold(connection, "warehouses", project, draft.warehouse_id.get(), " AND deleted_at IS NULL FOR SHARE")?;
    let has_warehouse = found!(connection, own)?;
    let item =
        nomenclatures::table.find(draft.nomenclature_id.get()).filter(nomenclatures::project_id.eq(project.get()));
    hold(connection, "nomenclatures", project, draft.nomenclature_id.get(), " FOR NO KEY UPDATE")?;
    let card: Option<(i64, bool)> =
        item.select((nomenclatures::kind_id, nomenclatures::is_subscription)).first(connection).optional()?;
    let unknown: Vec<InventoryReference> =
        [(has_warehouse, InventoryReference::Warehouse), (card.is_some(), InventoryReference::Nomenclature)]
            .into_iter()
            .filter_map(|(known, reference)| (!known).then_some(reference))
            .collect();
    if !unknown.is_empty() {
        return Err(Abort::refused(InventoryRefusal::UnknownReferences(unknown)));
    }
    if card == Some((NomenclatureKind::Goods.id(), false)) {
        Ok(())
    } else {
        Err(Abort::refused(InventoryRefusal::NotStocked))
    }
}

#[async_trait]
impl InventoryRepository for Database {
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Inventory>, StoreError> {
        let totals = self.memory::<Totals>();
        self.snapshot(move |connection| {
            let mut own = Statement::new("i.deleted_at IS NULL AND i.project_id = ").value(project.get());
            if let Some(text) = &listing.text {
                own = own.sql(" AND i.nomenclature_id IN ").then(items_found(connection, project, text)?);
            }
            let found = STOCK.page_of_many(connection, own, &listing, &totals)?;
            let items = unreadable::records(connection, "inventories", &found.items, load)?;
            Ok(found.with_items(records::within(items, project)))
        })
        .await
    }

    async fn history(
        &self,
        project: ProjectId,
        id: InventoryId,
        page: PageRequest,
    ) -> Result<Page<StockEntry>, StoreError> {
        self.snapshot(move |connection| stock::history(connection, project, id, page)).await
    }

    async fn find(&self, id: InventoryId) -> Result<Option<ProjectScoped<Inventory>>, StoreError> {
        self.read(move |connection| Ok(load(connection, &[id.get()])?.pop())).await
    }

    async fn insert(&self, stamp: Stamp, draft: InventoryDraft) -> Result<Inventory, InventoryError> {
        self.write(move |connection| {
            connection.invalidate(Topic::Storefront, stamp.project_id.get());
            require_stockable(connection, stamp.project_id, &draft)?;
            let new = NewStock {
                item: draft.nomenclature_id.get(),
                warehouse: draft.warehouse_id.get(),
                quantity: draft.quantity.get().into(),
                price: Some(draft.price.minor()),
            };
            let cause = Cause::new(Reason::Creation, &stamp);
            let ids = stock::create(connection, stamp.project_id.get(), &[new], &cause)
                .map_err(on_duplicate(InventoryRefusal::AlreadyStocked))?;
            offers::refresh_locked(connection, &[new.item])?;
            for id in &ids {
                connection.note_created("inventories", *id);
            }
            one(connection, stamp.project_id, &ids)
        })
        .await
    }

    async fn set_stock(&self, stamp: Stamp, id: InventoryId, change: StockChange) -> Result<Inventory, InventoryError> {
        self.write(move |connection| {
            connection.invalidate(Topic::Storefront, stamp.project_id.get());
            let own = inventories::table
                .find(id.get())
                .filter(inventories::project_id.eq(stamp.project_id.get()))
                .filter(inventories::deleted_at.is_null());
            lock_item_of_stock(connection, stamp.project_id, id.get())?;
            let held = " AND deleted_at IS NULL FOR NO KEY UPDATE";
            hold(connection, "inventories", stamp.project_id, id.get(), held)?;
            let reserved: Option<i64> = own.select(inventories::reserved).first(connection).optional()?;
            let reserved = level(reserved.ok_or(Abort::Refused(InventoryError::NotFound))?)?;
            let wanted = StockLevels {
                inventory: id.get(),
                quantity: change.quantity.as_set().map(|pieces| i64::from(pieces.get())),
                price: change.price.as_set().map(|price| price.minor()),
            };
            let comment = change.comment.as_deref().map(str::to_owned);
            let cause = Cause { comment, ..Cause::new(Reason::Edit, &stamp) };
            if stock::set(connection, stamp.project_id.get(), &[wanted], &cause)? == 0 {
                return Err(Abort::refused(InventoryRefusal::BelowReserved { reserved }));
            }
            let record = one(connection, stamp.project_id, &[id.get()])?;
            offers::refresh_locked(connection, &[record.nomenclature.id.get()])?;
            Ok(record)
        })
        .await
    }
}
