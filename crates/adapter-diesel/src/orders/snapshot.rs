//! Everything needed to price and place a cart, read in one snapshot.

use std::collections::BTreeMap;

use async_trait::async_trait;
use diesel::prelude::*;
use kontor_kernel::{CategoryId, StoreError};
use kontor_orders::model::{
    DeliveryRequest, Discount, DiscountTarget, ParamReference, Promo, References, ShopReference, SubtypeReference,
    TypeReference,
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
    struct CardRow {
        id: i64,
        name: String,
        kind_id: i64,
        category_id: Option<i64>,
        price: Option<i64>,
        wholesale: bool,
        pieces_per_pack: i32,
        vat_id: Option<i64>,
        type_id: Option<i64>,
    }
}

by_place! {
    struct StockRow {
        id: i64,
        warehouse_id: i64,
        nomenclature_id: i64,
        quantity: i64,
        reserved: i64,
        price: Option<i64>,
    }
}

by_place! {
    struct AncestorRow {
        leaf: i64,
        id: i64,
    }
}

by_place! {
    /// Terms of a project, and its records with the ids that an order refers to; `None` for missing ones.
    struct TermsRow {
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
        self.expecting(Extent::Keys).snapshot(move |connection| read(connection, &query)).await
    }
}

fn read(connection: &mut AnyConnection, query: &CartQuery) -> Result<CartSnapshot, Failed> {
    let ids: Vec<i64> = query.items.iter().map(|item| item.get()).collect();
    let discounts = discounts(connection, query, &ids)?;
    let by_category = |discount: &Discount| matches!(discount.target, DiscountTarget::Category(_));
    let with_ancestors = discounts.iter().any(by_category);
    let items = items(connection, query, &ids, with_ancestors)?;
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
    let found = terms_and_references(connection, query)?;
    let missing = Missing {
        application: query.by_staff && !has_application(connection, query.point)?,
        customer: query.by_staff && query.customer.is_some() && found.customer_id.is_none(),
    };
    Ok(CartSnapshot {
        contact: unconfirmed::terms(found.contact_max_pieces, found.contact_max_value, found.contact_hold_hours)?,
        receipts: found.default_vat_code.map(|vat| receipt_terms(found.tax_system_code, vat)).transpose()?,
        items,
        automatic,
        promo,
        charges_delivery: found.charges_delivery,
        missing,
        phone: decode::optional_text(found.phone.as_deref())?,
        email: decode::optional_text(found.email.as_deref())?,
        references: match &query.delivery {
            None => References::default(),
            Some(delivery) => references(connection, query.point, delivery, &found)?,
        },
        currency: found.currency,
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

/// Returns these items. The application sells services with a price. It sells goods with a category and with priced
/// stock in one of its warehouses; other goods are returned without stock.
fn items(
    connection: &mut AnyConnection,
    query: &CartQuery,
    ids: &[i64],
    with_ancestors: bool,
) -> Result<Vec<OfferedItem>, Failed> {
    let cards: Vec<CardRow> = Statement::new(
        "SELECT id, name, kind_id, category_id, price, wholesale, pieces_per_pack, vat_id, type_id FROM nomenclatures WHERE project_id = ",
    )
    .value(query.point.project_id.get())
    .sql(" AND is_subscription = ")
    .value(false)
    .sql(" AND id")
    .among(ids)
    .rows(connection)?;
    let mut places = places(connection, query, ids)?;
    let ancestors = if with_ancestors { ancestors(connection, &cards)? } else { BTreeMap::new() };
    let mut items = Vec::with_capacity(cards.len());
    for card in cards {
        let kind = match card.kind_id {
            SERVICE => match decode::optional_money(card.price)? {
                Some(price) => ItemKind::Service { price },
                None => ItemKind::Goods { places: Vec::new() },
            },
            GOODS => match (card.category_id, places.remove(&card.id)) {
                (Some(_), Some(places)) => ItemKind::Goods { places },
                _ => ItemKind::Goods { places: Vec::new() },
            },
            other => return Err(decode::unknown("nomenclatures", card.id, "kind_id", other).into()),
        };
        let categories = card.category_id.and_then(|leaf| ancestors.get(&leaf).cloned()).unwrap_or_default();
        let pieces_per_pack = u32::try_from(card.pieces_per_pack).map_err(StoreError::corrupt)?;
        items.push(OfferedItem {
            id: decode::id(card.id)?,
            name: card.name,
            categories,
            kind,
            packaging: Packaging { wholesale: card.wholesale, pieces_per_pack },
            vat: card.vat_id.and_then(VatCode::of_dictionary),
            is_ticket: card.type_id == Some(TICKET),
        });
    }
    Ok(items)
}

fn places(
    connection: &mut AnyConnection,
    query: &CartQuery,
    ids: &[i64],
) -> Result<BTreeMap<i64, Vec<WarehouseStock>>, Failed> {
    let stock = Statement::new(
        "SELECT i.id, i.warehouse_id, i.nomenclature_id, i.quantity, i.reserved, i.price FROM inventories i ",
    );
    let stock = match query.point.application_id {
        Some(application) => stock
            .sql("JOIN warehouse_applications w ON w.warehouse_id = i.warehouse_id AND w.application_id = ")
            .value(application.get())
            .sql(" WHERE i.nomenclature_id"),
        None => stock
            .sql("WHERE i.project_id = ")
            .value(query.point.project_id.get())
            .sql(" AND i.deleted_at IS NULL AND i.nomenclature_id"),
    };
    let rows: Vec<StockRow> = stock.among(ids).rows(connection)?;
    let mut places: BTreeMap<i64, Vec<WarehouseStock>> = BTreeMap::new();
    for row in rows {
        let Some(price) = decode::optional_money(row.price)? else { continue };
        places.entry(row.nomenclature_id).or_default().push(WarehouseStock {
            inventory: decode::id(row.id)?,
            warehouse: decode::id(row.warehouse_id)?,
            price,
            available: u32::try_from(row.quantity - row.reserved).map_err(StoreError::corrupt)?,
        });
    }
    Ok(places)
}

/// Returns the categories of these items, each with its ancestors.
fn ancestors(connection: &mut AnyConnection, cards: &[CardRow]) -> Result<BTreeMap<i64, Vec<CategoryId>>, Failed> {
    let leaves: Vec<i64> = cards.iter().filter_map(|card| card.category_id).collect();
    let rows: Vec<AncestorRow> =
        Statement::new("WITH RECURSIVE up (leaf, id, parent_id) AS (SELECT id, id, parent_id FROM categories WHERE id")
            .among(&leaves)
            .sql(
                " UNION SELECT up.leaf, c.id, c.parent_id FROM up JOIN categories c ON c.id = up.parent_id) \
         SELECT leaf, id FROM up",
            )
            .rows(connection)?;
    let mut ancestors: BTreeMap<i64, Vec<CategoryId>> = BTreeMap::new();
    for row in rows {
        ancestors.entry(row.leaf).or_default().push(decode::id(row.id)?);
    }
    Ok(ancestors)
}

/// Reads all records that are found by one id each. Ids that are not set find nothing.
fn terms_and_references(connection: &mut AnyConnection, query: &CartQuery) -> QueryResult<TermsRow> {
    let delivery = query.delivery.as_ref();
    Statement::new(
        "SELECT p.currency, t.tax_system_code, t.default_vat_code, c.id, c.phone_1, c.email, dt.name, dt.price, dt.is_active, \
         ds.delivery_type_id, ds.price, ds.is_active, dp.delivery_subtype_id, dp.is_active, dp.address, sh.is_active, sh.address, \
         p.contact_max_pieces, p.contact_max_value, p.contact_hold_hours, p.charges_delivery FROM projects p LEFT JOIN receipt_settings t ON t.project_id = p.id \
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
    .sql(" WHERE p.id = ")
    .value(query.point.project_id.get())
    .row(connection)
}

fn references(
    connection: &mut AnyConnection,
    point: SalesPoint,
    delivery: &DeliveryRequest,
    found: &TermsRow,
) -> Result<References, Failed> {
    let payment_type = match delivery.payment_type_id {
        None => None,
        Some(id) => is_paid_online(connection, point.project_id, point.application_id, id)?,
    };
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
        payment_type,
    })
}
