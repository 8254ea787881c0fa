//! Everything a cart is priced and placed by, read in one snapshot.

use std::collections::BTreeMap;

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use kontor_kernel::{CategoryId, StoreError};
use kontor_orders::model::{
    DeliveryRequest, Discount, DiscountTarget, ParamReference, Promo, References, ShopReference, SubtypeReference,
};
use kontor_orders::ports::{CartQuery, CartReader, SalesPoint};
use kontor_orders::{CartSnapshot, ItemKind, Missing, OfferedItem, Packaging, WarehouseStock};
use kontor_payments::model::{ReceiptTerms, VatCode};

use super::discounts::{automatic, used_by};
use crate::applications::is_taken;
use crate::database::{Abort, AnyConnection, Database, found};
use crate::discount_rows::DiscountRow;
use crate::receipt_terms::terms;
use crate::schema::{
    applications, counterparties, delivery_subtype_params, delivery_subtypes, delivery_types, inventories,
    nomenclatures, projects, receipt_settings, shops,
};
use crate::statement::Statement;
use crate::stored;

type Failed = Abort<StoreError>;

#[derive(QueryableByName)]
#[diesel(table_name = nomenclatures)]
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

#[derive(QueryableByName)]
#[diesel(table_name = inventories)]
struct StockRow {
    id: i64,
    warehouse_id: i64,
    nomenclature_id: i64,
    quantity: i64,
    reserved: i64,
    price: Option<i64>,
}

#[derive(QueryableByName)]
struct AncestorRow {
    #[diesel(sql_type = BigInt)]
    leaf: i64,
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// The kind of cards that are sold without a warehouse.
pub(super) const SERVICE: i64 = 1;
const GOODS: i64 = 2;
/// The type of cards that are tickets.
const TICKET: i64 = 6;

#[async_trait]
impl CartReader for Database {
    async fn snapshot(&self, query: CartQuery) -> Result<CartSnapshot, StoreError> {
        self.read_brief_snapshot(move |connection| read(connection, &query)).await
    }
}

fn read(connection: &mut AnyConnection, query: &CartQuery) -> Result<CartSnapshot, Failed> {
    let project = query.point.project_id.get();
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
            let used_by_customer = stored::count(used.transpose()?.unwrap_or_default())?;
            Some(Promo { discount: Some(discount), used_by_customer })
        }
    };
    let contacts: Option<(Option<String>, Option<String>)> = match query.customer {
        None => None,
        Some(customer) => counterparties::table
            .find(customer.get())
            .filter(counterparties::project_id.eq(project))
            .filter(counterparties::deleted_at.is_null())
            .select((counterparties::phone_1, counterparties::email))
            .first(connection)
            .optional()?,
    };
    let missing = Missing {
        application: query.by_staff && !has_application(connection, query.point)?,
        customer: query.by_staff && query.customer.is_some() && contacts.is_none(),
    };
    let (phone, email) = contacts.unwrap_or_default();
    let (currency, receipts) = terms_of_trade(connection, project)?;
    Ok(CartSnapshot {
        currency,
        receipts,
        items,
        automatic,
        promo,
        missing,
        references: match &query.delivery {
            None => References::default(),
            Some(delivery) => references(connection, query.point, delivery)?,
        },
        phone: stored::optional_text(phone.as_deref())?,
        email: stored::optional_text(email.as_deref())?,
    })
}

/// The currency of a project, and how it has receipts made.
fn terms_of_trade(connection: &mut AnyConnection, project: i64) -> Result<(String, Option<ReceiptTerms>), Failed> {
    let (currency, receipts): (String, Option<(Option<i32>, i32)>) = projects::table
        .left_join(receipt_settings::table.on(receipt_settings::project_id.eq(projects::id)))
        .filter(projects::id.eq(project))
        .select((
            projects::currency,
            (receipt_settings::tax_system_code, receipt_settings::default_vat_code).nullable(),
        ))
        .first(connection)?;
    Ok((currency, receipts.map(|(tax_system, vat)| terms(tax_system, vat)).transpose()?))
}

fn has_application(connection: &mut AnyConnection, point: SalesPoint) -> Result<bool, Failed> {
    let Some(application) = point.application_id else { return Ok(true) };
    let own = applications::table
        .filter(applications::id.eq(application.get()))
        .filter(applications::project_id.eq(point.project_id.get()));
    Ok(found!(connection, own)?)
}

/// Automatic discounts that may concern these items, and the one with the promo code.
fn discounts(connection: &mut AnyConnection, query: &CartQuery, ids: &[i64]) -> Result<Vec<Discount>, Failed> {
    let project = query.point.project_id.get();
    let automatic = Statement::new("SELECT *").then(automatic(project, ids));
    let statement = match &query.promo {
        None => automatic,
        Some(code) => automatic
            .sql(" UNION ALL SELECT * FROM discounts WHERE project_id = ")
            .value(project)
            .sql(" AND code = ")
            .value(code.as_str()),
    };
    let rows: Vec<DiscountRow> = statement.load(connection)?;
    rows.into_iter().map(|row| row.try_into().map_err(Abort::Store)).collect()
}

/// These cards. The application sells services with a price, and goods with a category and a place with a price in one of its
/// warehouses; others come as goods that lie nowhere.
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
    .load(connection)?;
    let mut places = places(connection, query, ids)?;
    let ancestors = if with_ancestors { ancestors(connection, &cards)? } else { BTreeMap::new() };
    let mut items = Vec::with_capacity(cards.len());
    for card in cards {
        let kind = match card.kind_id {
            SERVICE => match stored::optional_money(card.price)? {
                Some(price) => ItemKind::Service { price },
                None => ItemKind::Goods { places: Vec::new() },
            },
            GOODS => match (card.category_id, places.remove(&card.id)) {
                (Some(_), Some(places)) => ItemKind::Goods { places },
                _ => ItemKind::Goods { places: Vec::new() },
            },
            other => return Err(stored::unknown("nomenclatures", card.id, "kind_id", other).into()),
        };
        let categories = card.category_id.and_then(|leaf| ancestors.get(&leaf).cloned()).unwrap_or_default();
        let pieces_per_pack = u32::try_from(card.pieces_per_pack).map_err(StoreError::corrupt)?;
        items.push(OfferedItem {
            id: stored::id(card.id)?,
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
    let rows: Vec<StockRow> = stock.among(ids).load(connection)?;
    let mut places: BTreeMap<i64, Vec<WarehouseStock>> = BTreeMap::new();
    for row in rows {
        let Some(price) = stored::optional_money(row.price)? else { continue };
        places.entry(row.nomenclature_id).or_default().push(WarehouseStock {
            inventory: stored::id(row.id)?,
            warehouse: stored::id(row.warehouse_id)?,
            price,
            available: u32::try_from(row.quantity - row.reserved).map_err(StoreError::corrupt)?,
        });
    }
    Ok(places)
}

/// The categories of these cards, each with those above it.
fn ancestors(connection: &mut AnyConnection, cards: &[CardRow]) -> Result<BTreeMap<i64, Vec<CategoryId>>, Failed> {
    let leaves: Vec<i64> = cards.iter().filter_map(|card| card.category_id).collect();
    let rows: Vec<AncestorRow> =
        Statement::new("WITH RECURSIVE up (leaf, id, parent_id) AS (SELECT id, id, parent_id FROM categories WHERE id")
            .among(&leaves)
            .sql(
                " UNION SELECT up.leaf, c.id, c.parent_id FROM up JOIN categories c ON c.id = up.parent_id) \
         SELECT leaf, id FROM up",
            )
            .load(connection)?;
    let mut ancestors: BTreeMap<i64, Vec<CategoryId>> = BTreeMap::new();
    for row in rows {
        ancestors.entry(row.leaf).or_default().push(stored::id(row.id)?);
    }
    Ok(ancestors)
}

fn references(
    connection: &mut AnyConnection,
    point: SalesPoint,
    delivery: &DeliveryRequest,
) -> Result<References, Failed> {
    let project = point.project_id.get();
    let delivery_type = delivery_types::table
        .find((project, delivery.type_id.get()))
        .select(delivery_types::is_active)
        .first(connection)
        .optional()?;
    let subtype: Option<(i64, bool)> = match delivery.subtype_id {
        None => None,
        Some(id) => delivery_subtypes::table
            .find((project, id.get()))
            .select((delivery_subtypes::delivery_type_id, delivery_subtypes::is_active))
            .first(connection)
            .optional()?,
    };
    let param: Option<(i64, bool, Option<String>)> = match delivery.subtype_param_id {
        None => None,
        Some(id) => delivery_subtype_params::table
            .find(id.get())
            .filter(delivery_subtype_params::project_id.eq(project))
            .select((
                delivery_subtype_params::delivery_subtype_id,
                delivery_subtype_params::is_active,
                delivery_subtype_params::address,
            ))
            .first(connection)
            .optional()?,
    };
    let shop: Option<(bool, String)> = match delivery.shop_id {
        None => None,
        Some(id) => shops::table
            .find(id.get())
            .filter(shops::project_id.eq(project))
            .select((shops::is_active, shops::address))
            .first(connection)
            .optional()?,
    };
    let payment_type = match delivery.payment_type_id {
        None => false,
        Some(id) => is_taken(connection, point.project_id, point.application_id, id)?,
    };
    Ok(References {
        delivery_type,
        subtype: match subtype {
            None => None,
            Some((type_id, is_active)) => Some(SubtypeReference { type_id: stored::id(type_id)?, is_active }),
        },
        subtype_param: match param {
            None => None,
            Some((subtype_id, is_active, address)) => {
                Some(ParamReference { subtype_id: stored::id(subtype_id)?, is_active, address })
            }
        },
        shop: shop.map(|(is_active, address)| ShopReference { is_active, address }),
        payment_type,
    })
}
