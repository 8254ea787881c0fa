//! Everything needed to price and place a cart.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use async_trait::async_trait;
use diesel::prelude::*;
use kontor_kernel::{CategoryId, StoreError};
use kontor_orders::model::{
    Discount, DiscountTarget, ParamReference, Promo, References, ShopReference, SubtypeReference, TypeReference,
};
use kontor_orders::ports::{CartQuery, CartReader, SalesPoint};
use kontor_orders::{CartSnapshot, ItemKind, Missing, OfferedItem, Packaging, WarehouseStock};
use kontor_payments::model::VatCode;

use super::discounts::{automatic, used_by};
use super::unconfirmed;
use crate::applications::is_paid_online;
use crate::database::{Abort, AnyConnection, Database, Extent, found};
use crate::decode;
use crate::discount_rows::{COLUMNS, DiscountRow};
use crate::payments::receipt_terms;
use crate::schema::applications;
use crate::statement::{Statement, by_place};

type Failed = Abort<StoreError>;

by_place! {
    struct AncestorRow {
        item: i64,
        id: i64,
    }
}

by_place! {
    /// Terms of a project, and its records with the ids that an order refers to; `None` for missing ones. One row per
    /// item of the cart and stock level of it, at least one.
    struct CartRow {
        currency: String,
        tax_system_code: Option<i32>,
        default_vat_code: Option<i32>,
        customer_id: Option<i64>,
        phone: Option<String>,
        email: Option<String>,
        type_name: Option<String>,
        type_price: Option<i64>,
        type_is_active: Option<bool>,
        subtype_of: Option<i64>,
        subtype_price: Option<i64>,
        subtype_is_active: Option<bool>,
        param_of: Option<i64>,
        param_is_active: Option<bool>,
        param_address: Option<String>,
        shop_is_active: Option<bool>,
        shop_address: Option<String>,
        contact_max_pieces: i64,
        contact_max_value: i64,
        contact_hold_hours: i64,
        charges_delivery: bool,
        is_online: Option<bool>,
        id: Option<i64>,
        name: Option<String>,
        kind_id: Option<i64>,
        category_id: Option<i64>,
        price: Option<i64>,
        wholesale: Option<bool>,
        pieces_per_pack: Option<i32>,
        vat_id: Option<i64>,
        item_type_id: Option<i64>,
        inventory_id: Option<i64>,
        warehouse_id: Option<i64>,
        available: Option<i64>,
        stock_price: Option<i64>,
    }
}

/// Kind of the items that are sold without a warehouse.
pub(super) const SERVICE: i64 = 1;
const GOODS: i64 = 2;
/// Type of the items that are tickets.
const TICKET: i64 = 6;

#[async_trait]
impl CartReader for Database {
    async fn snapshot(&self, query: CartQuery) -> Result<CartSnapshot, StoreError> {
        self.expecting(Extent::Keys).read(move |connection| read(connection, &query)).await
    }
}

/// Reads discounts first. Everything else is one statement, so it is one state. An order is only stored while its
/// discounts still have the versions read here: then they belong to that state, too.
fn read(connection: &mut AnyConnection, query: &CartQuery) -> Result<CartSnapshot, Failed> {
    let ids: Vec<i64> = query.items.iter().map(|item| item.get()).collect();
    let discounts = discounts(connection, query, &ids)?;
    let by_category = |discount: &Discount| matches!(discount.target, DiscountTarget::Category(_));
    let categories = if discounts.iter().any(by_category) { categories(connection, &ids)? } else { BTreeMap::new() };
    let (coded, automatic): (Vec<_>, Vec<_>) = discounts.into_iter().partition(|discount| discount.code.is_some());
    let promo = match (&query.promo, coded.into_iter().next()) {
        (None, _) => None,
        (Some(_), None) => Some(Promo { discount: None, used_by_customer: 0 }),
        (Some(_), Some(discount)) => {
            let used = query.customer.map(|customer| used_by(connection, discount.id.get(), customer.get()));
            let used_by_customer = decode::count(used.transpose()?.unwrap_or_default())?;
            Some(Promo { discount: Some(discount), used_by_customer })
        }
    };
    let rows: Vec<CartRow> = cart(query, &ids).rows(connection)?;
    let found = rows.first().ok_or(diesel::NotFound)?;
    let missing = Missing {
        application: query.by_staff && !has_application(connection, query.point)?,
        customer: query.by_staff && query.customer.is_some() && found.customer_id.is_none(),
    };
    Ok(CartSnapshot {
        contact: unconfirmed::terms(found.contact_max_pieces, found.contact_max_value, found.contact_hold_hours)?,
        receipts: found.default_vat_code.map(|vat| receipt_terms(found.tax_system_code, vat)).transpose()?,
        items: items(&rows, categories)?,
        automatic,
        promo,
        charges_delivery: found.charges_delivery,
        missing,
        phone: decode::optional_text(found.phone.as_deref())?,
        email: decode::optional_text(found.email.as_deref())?,
        references: if query.delivery.is_some() { references(found)? } else { References::default() },
        currency: found.currency.clone(),
    })
}

fn has_application(connection: &mut AnyConnection, point: SalesPoint) -> Result<bool, Failed> {
    let Some(application) = point.application_id else { return Ok(true) };
    let own = applications::table
        .filter(applications::id.eq(application.get()))
        .filter(applications::project_id.eq(point.project_id.get()));
    Ok(found!(connection, own)?)
}

/// Returns the automatic discounts that may apply to these items, and the discount with the promo code.
fn discounts(connection: &mut AnyConnection, query: &CartQuery, ids: &[i64]) -> Result<Vec<Discount>, Failed> {
    let project = query.point.project_id.get();
    let selected = || Statement::new("SELECT ").sql(COLUMNS);
    let automatic = selected().then(automatic(project, ids));
    let statement = match &query.promo {
        None => automatic,
        Some(code) => automatic
            .sql(" UNION ALL ")
            .then(selected())
            .sql(" FROM discounts WHERE project_id = ")
            .value(project)
            .sql(" AND code = ")
            .value(code.as_str()),
    };
    let rows: Vec<DiscountRow> = statement.rows(connection)?;
    rows.into_iter().map(|row| row.try_into().map_err(Abort::Store)).collect()
}

/// Returns the items of the cart. The application sells services with a price. It sells goods with a category and with
/// priced stock in one of its warehouses; other goods are returned without stock.
fn items(rows: &[CartRow], mut categories: BTreeMap<i64, Vec<CategoryId>>) -> Result<Vec<OfferedItem>, Failed> {
    let mut items: BTreeMap<i64, OfferedItem> = BTreeMap::new();
    for row in rows {
        let (Some(id), Some(name), Some(kind)) = (row.id, row.name.as_ref(), row.kind_id) else { continue };
        let item = match items.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(OfferedItem {
                id: decode::id(id)?,
                name: name.clone(),
                categories: categories.remove(&id).unwrap_or_default(),
                kind: match kind {
                    SERVICE => match decode::optional_money(row.price)? {
                        Some(price) => ItemKind::Service { price },
                        None => ItemKind::Goods { places: Vec::new() },
                    },
                    GOODS => ItemKind::Goods { places: Vec::new() },
                    other => return Err(decode::unknown("nomenclatures", id, "kind_id", other).into()),
                },
                packaging: Packaging {
                    wholesale: row.wholesale.unwrap_or_default(),
                    pieces_per_pack: u32::try_from(row.pieces_per_pack.unwrap_or_default())
                        .map_err(StoreError::corrupt)?,
                },
                vat: row.vat_id.and_then(VatCode::of_dictionary),
                is_ticket: row.item_type_id == Some(TICKET),
            }),
        };
        if let ItemKind::Goods { places } = &mut item.kind
            && kind == GOODS
            && row.category_id.is_some()
        {
            places.extend(place(row)?);
        }
    }
    Ok(items.into_values().collect())
}

/// Returns the stock level of a row, if it has a price.
fn place(row: &CartRow) -> Result<Option<WarehouseStock>, Failed> {
    let (Some(inventory), Some(warehouse), Some(available)) = (row.inventory_id, row.warehouse_id, row.available)
    else {
        return Ok(None);
    };
    let Some(price) = decode::optional_money(row.stock_price)? else { return Ok(None) };
    Ok(Some(WarehouseStock {
        inventory: decode::id(inventory)?,
        warehouse: decode::id(warehouse)?,
        price,
        available: u32::try_from(available).map_err(StoreError::corrupt)?,
    }))
}

/// Returns the category of each of these items, with its ancestors.
fn categories(connection: &mut AnyConnection, items: &[i64]) -> Result<BTreeMap<i64, Vec<CategoryId>>, Failed> {
    let rows: Vec<AncestorRow> = Statement::new(
        "WITH RECURSIVE up (item, id, parent_id) AS (SELECT n.id, c.id, c.parent_id FROM nomenclatures n \
         JOIN categories c ON c.id = n.category_id WHERE n.id",
    )
    .among(items)
    .sql(
        " UNION SELECT up.item, c.id, c.parent_id FROM up JOIN categories c ON c.id = up.parent_id) \
         SELECT item, id FROM up",
    )
    .rows(connection)?;
    let mut categories: BTreeMap<i64, Vec<CategoryId>> = BTreeMap::new();
    for row in rows {
        categories.entry(row.item).or_default().push(decode::id(row.id)?);
    }
    Ok(categories)
}

/// Selects the items with their stock, and all records that are found by one id each. Ids that are not set find nothing.
fn cart(query: &CartQuery, items: &[i64]) -> Statement {
    let (point, delivery) = (query.point, query.delivery.as_ref());
    let rows = Statement::new(
        "SELECT p.currency, t.tax_system_code, t.default_vat_code, c.id, c.phone_1, c.email, dt.name, dt.price, dt.is_active, \
         ds.delivery_type_id, ds.price, ds.is_active, dp.delivery_subtype_id, dp.is_active, dp.address, sh.is_active, sh.address, \
         p.contact_max_pieces, p.contact_max_value, p.contact_hold_hours, p.charges_delivery, (",
    )
    .then(is_paid_online(
        point.project_id,
        point.application_id,
        delivery.and_then(|delivery| delivery.payment_type_id),
    ))
    .sql(
        "), n.id, n.name, n.kind_id, n.category_id, n.price, n.wholesale, n.pieces_per_pack, n.vat_id, n.type_id, \
         i.id, i.warehouse_id, i.quantity - i.reserved, i.price \
         FROM projects p LEFT JOIN receipt_settings t ON t.project_id = p.id \
         LEFT JOIN counterparties c ON c.project_id = p.id AND c.deleted_at IS NULL AND c.id = ",
    )
    .value(query.customer.map(i64::from))
    .sql(" LEFT JOIN delivery_types dt ON dt.project_id = p.id AND dt.id = ")
    .value(delivery.map(|delivery| delivery.type_id.get()))
    .sql(" LEFT JOIN delivery_subtypes ds ON ds.project_id = p.id AND ds.id = ")
    .value(delivery.and_then(|delivery| delivery.subtype_id).map(i64::from))
    .sql(" LEFT JOIN delivery_subtype_params dp ON dp.project_id = p.id AND dp.id = ")
    .value(delivery.and_then(|delivery| delivery.subtype_param_id).map(i64::from))
    .sql(" LEFT JOIN shops sh ON sh.project_id = p.id AND sh.id = ")
    .value(delivery.and_then(|delivery| delivery.shop_id).map(i64::from))
    .sql(" LEFT JOIN nomenclatures n ON n.project_id = p.id AND n.is_subscription = ")
    .value(false)
    .sql(" AND n.id")
    .among(items)
    .sql(" LEFT JOIN inventories i ON i.nomenclature_id = n.id AND ");
    let rows = match point.application_id {
        Some(application) => rows
            .sql(
                "EXISTS (SELECT 1 FROM warehouse_applications w WHERE w.warehouse_id = i.warehouse_id \
                 AND w.application_id = ",
            )
            .value(application.get())
            .sql(")"),
        None => rows.sql("i.project_id = p.id AND i.deleted_at IS NULL"),
    };
    rows.sql(" WHERE p.id = ").value(point.project_id.get())
}

fn references(found: &CartRow) -> Result<References, Failed> {
    Ok(References {
        delivery_type: match found.type_is_active {
            None => None,
            Some(is_active) => Some(TypeReference {
                name: found.type_name.clone().unwrap_or_default(),
                price: decode::money(found.type_price.unwrap_or_default())?,
                is_active,
            }),
        },
        subtype: match found.subtype_of.zip(found.subtype_is_active) {
            None => None,
            Some((type_id, is_active)) => Some(SubtypeReference {
                type_id: decode::id(type_id)?,
                price: decode::money(found.subtype_price.unwrap_or_default())?,
                is_active,
            }),
        },
        subtype_param: match found.param_of.zip(found.param_is_active) {
            None => None,
            Some((subtype_id, is_active)) => Some(ParamReference {
                subtype_id: decode::id(subtype_id)?,
                is_active,
                address: found.param_address.clone(),
            }),
        },
        shop: found
            .shop_is_active
            .zip(found.shop_address.clone())
            .map(|(is_active, address)| ShopReference { is_active, address }),
        payment_type: found.is_online,
    })
}
