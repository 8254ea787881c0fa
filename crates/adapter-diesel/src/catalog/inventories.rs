use std::collections::HashMap;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::model::{
    Inventory, InventoryDraft, InventoryFilter, InventorySort, NomenclatureKind, StockChange, StockedItem,
};
use kontor_catalog::ports::InventoryRepository;
use kontor_catalog::{InventoryError, InventoryReference};
use kontor_kernel::{InventoryId, Page, PageRequest, ProjectId, StockLevel, StoreError};

use super::categories::reference;
use super::search::{Backend, end, item_contains, start};
use super::{found, hold, offers, on_duplicate};
use crate::database::{Abort, AnyConnection, Database};
use crate::schema::{inventories, nomenclatures, warehouses};
use crate::stored;

#[derive(Queryable, Selectable)]
#[diesel(table_name = inventories)]
struct InventoryRow {
    id: i64,
    project_id: i64,
    warehouse_id: i64,
    nomenclature_id: i64,
    quantity: i64,
    reserved: i64,
    price: i64,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

fn level(pieces: i64) -> Result<StockLevel, StoreError> {
    StockLevel::new(pieces).map_err(StoreError::corrupt)
}

fn inventory(row: &InventoryRow, warehouse: &str, item: &str, article: Option<&str>) -> Result<Inventory, StoreError> {
    Ok(Inventory {
        id: stored::id(row.id)?,
        project_id: stored::id(row.project_id)?,
        warehouse: reference(row.warehouse_id, warehouse)?,
        nomenclature: StockedItem {
            id: stored::id(row.nomenclature_id)?,
            name: stored::text(item)?,
            article: stored::optional_text(article)?,
        },
        quantity: level(row.quantity)?,
        reserved: level(row.reserved)?,
        price: stored::money(row.price)?,
        created_at: stored::moment(row.created_at),
        updated_at: stored::moment(row.updated_at),
    })
}

/// These stock records in this order.
fn load<R>(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<Inventory>, Abort<R>> {
    let rows: Vec<(InventoryRow, String, String, Option<String>)> = inventories::table
        .inner_join(warehouses::table.on(inventories::warehouse_id.eq(warehouses::id)))
        .inner_join(nomenclatures::table.on(inventories::nomenclature_id.eq(nomenclatures::id)))
        .filter(inventories::id.eq_any(ids.to_vec()))
        .select((InventoryRow::as_select(), warehouses::name, nomenclatures::name, nomenclatures::article))
        .load(connection)?;
    let mut records = HashMap::with_capacity(rows.len());
    for (row, warehouse, item, article) in rows {
        records.insert(row.id, inventory(&row, &warehouse, &item, article.as_deref())?);
    }
    Ok(ids.iter().filter_map(|id| records.remove(id)).collect())
}

/// The stock a filter lets through.
fn matching(project: ProjectId, filter: &InventoryFilter) -> inventories::BoxedQuery<'static, Backend> {
    let mut query = inventories::table.filter(inventories::project_id.eq(project.get())).into_boxed();
    if let Some(text) = &filter.query {
        let items = nomenclatures::table
            .filter(nomenclatures::project_id.eq(project.get()))
            .filter(item_contains!(text))
            .select(nomenclatures::id);
        query = query.filter(inventories::nomenclature_id.eq_any(items));
    }
    if !filter.warehouse_ids.is_empty() {
        let ids: Vec<i64> = filter.warehouse_ids.iter().map(|id| id.get()).collect();
        query = query.filter(inventories::warehouse_id.eq_any(ids));
    }
    if !filter.nomenclature_ids.is_empty() {
        let ids: Vec<i64> = filter.nomenclature_ids.iter().map(|id| id.get()).collect();
        query = query.filter(inventories::nomenclature_id.eq_any(ids));
    }
    if let Some(day) = filter.created_from {
        query = query.filter(inventories::created_at.ge(start(day)));
    }
    if let Some(day) = filter.created_to {
        query = query.filter(inventories::created_at.lt(end(day)));
    }
    query
}

/// The filtered stock in the order asked for; equal records by number.
fn ordered(project: ProjectId, filter: &InventoryFilter) -> inventories::BoxedQuery<'static, Backend> {
    let query = matching(project, filter);
    let query = match (filter.order.by, filter.order.descending) {
        (InventorySort::Id, false) => return query.order(inventories::id.asc()),
        (InventorySort::Id, true) => return query.order(inventories::id.desc()),
        (InventorySort::Quantity, false) => query.order(inventories::quantity.asc()),
        (InventorySort::Quantity, true) => query.order(inventories::quantity.desc()),
        (InventorySort::Reserved, false) => query.order(inventories::reserved.asc()),
        (InventorySort::Reserved, true) => query.order(inventories::reserved.desc()),
        (InventorySort::Price, false) => query.order(inventories::price.asc()),
        (InventorySort::Price, true) => query.order(inventories::price.desc()),
        (InventorySort::CreatedAt, false) => query.order(inventories::created_at.asc()),
        (InventorySort::CreatedAt, true) => query.order(inventories::created_at.desc()),
        (InventorySort::UpdatedAt, false) => query.order(inventories::updated_at.asc()),
        (InventorySort::UpdatedAt, true) => query.order(inventories::updated_at.desc()),
    };
    query.then_order_by(inventories::id)
}

/// Refuses records that are not of the project, and items that are not kept in warehouses. The card is held still: it
/// must not stop being goods before the stock is there.
fn require_stockable(
    connection: &mut AnyConnection,
    project: ProjectId,
    draft: &InventoryDraft,
) -> Result<(), Abort<InventoryError>> {
    let own = warehouses::table.find(draft.warehouse_id.get()).filter(warehouses::project_id.eq(project.get()));
    let has_warehouse = found!(connection, own)?;
    let item =
        nomenclatures::table.find(draft.nomenclature_id.get()).filter(nomenclatures::project_id.eq(project.get()));
    hold!(connection, item.select(nomenclatures::id));
    let card: Option<(i64, bool)> =
        item.select((nomenclatures::kind_id, nomenclatures::is_subscription)).first(connection).optional()?;
    let unknown: Vec<InventoryReference> =
        [(has_warehouse, InventoryReference::Warehouse), (card.is_some(), InventoryReference::Nomenclature)]
            .into_iter()
            .filter_map(|(known, reference)| (!known).then_some(reference))
            .collect();
    if !unknown.is_empty() {
        return Err(Abort::Refused(InventoryError::UnknownReferences(unknown)));
    }
    if card == Some((NomenclatureKind::Goods.id(), false)) {
        Ok(())
    } else {
        Err(Abort::Refused(InventoryError::NotStocked))
    }
}

#[async_trait]
impl InventoryRepository for Database {
    async fn list(
        &self,
        project: ProjectId,
        filter: InventoryFilter,
        page: PageRequest,
    ) -> Result<Page<Inventory>, StoreError> {
        self.read_snapshot(move |connection| {
            let total: i64 = matching(project, &filter).count().get_result(connection)?;
            let ids: Vec<i64> = ordered(project, &filter)
                .limit(page.limit())
                .offset(page.offset())
                .select(inventories::id)
                .load(connection)?;
            let items = load(connection, &ids)?;
            Ok(Page { items, total: u64::try_from(total).map_err(StoreError::corrupt)?, request: page })
        })
        .await
    }

    async fn find(&self, id: InventoryId) -> Result<Option<Inventory>, StoreError> {
        self.read(move |connection| Ok(load(connection, &[id.get()])?.pop())).await
    }

    async fn insert(
        &self,
        project: ProjectId,
        draft: InventoryDraft,
        at: DateTime<Utc>,
    ) -> Result<Inventory, InventoryError> {
        self.write(move |connection| {
            require_stockable(connection, project, &draft)?;
            let id: i64 = diesel::insert_into(inventories::table)
                .values((
                    inventories::project_id.eq(project.get()),
                    inventories::warehouse_id.eq(draft.warehouse_id.get()),
                    inventories::nomenclature_id.eq(draft.nomenclature_id.get()),
                    inventories::quantity.eq(i64::from(draft.quantity.get())),
                    inventories::reserved.eq(0),
                    inventories::price.eq(draft.price.minor()),
                    inventories::created_at.eq(at.naive_utc()),
                    inventories::updated_at.eq(at.naive_utc()),
                ))
                .returning(inventories::id)
                .get_result(connection)
                .map_err(on_duplicate(InventoryError::AlreadyStocked))?;
            offers::refresh_availability(connection, &[draft.nomenclature_id.get()])?;
            load(connection, &[id])?.pop().ok_or(Abort::Refused(InventoryError::NotFound))
        })
        .await
    }

    async fn set_stock(
        &self,
        project: ProjectId,
        id: InventoryId,
        change: StockChange,
        at: DateTime<Utc>,
    ) -> Result<Inventory, InventoryError> {
        self.write(move |connection| {
            let own = inventories::table.find(id.get()).filter(inventories::project_id.eq(project.get()));
            let quantity = change.quantity.as_set().map(|pieces| i64::from(pieces.get()));
            let enough = inventories::reserved.le(quantity.unwrap_or(i64::MAX));
            let written = diesel::update(own.filter(enough))
                .set((
                    quantity.map(|pieces| inventories::quantity.eq(pieces)),
                    change.price.as_set().map(|price| inventories::price.eq(price.minor())),
                    inventories::updated_at.eq(at.naive_utc()),
                ))
                .execute(connection)?;
            if written == 0 {
                let reserved: Option<i64> = own.select(inventories::reserved).first(connection).optional()?;
                return Err(Abort::Refused(match reserved {
                    Some(reserved) => InventoryError::BelowReserved { reserved: level(reserved)? },
                    None => InventoryError::NotFound,
                }));
            }
            let stock: Inventory =
                load(connection, &[id.get()])?.pop().ok_or(Abort::Refused(InventoryError::NotFound))?;
            offers::refresh_availability(connection, &[stock.nomenclature.id.get()])?;
            Ok(stock)
        })
        .await
    }
}
