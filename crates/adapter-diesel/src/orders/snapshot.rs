//! Everything needed to price and place a cart, as of one moment.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kontor_kernel::{CategoryId, StoreError};
use kontor_orders::model::{
    Discount, ParamReference, Promo, References, ShopReference, SubtypeReference, TypeReference,
};
use kontor_orders::ports::{CartQuery, CartReader};
use kontor_orders::{CartSnapshot, ItemKind, Missing, OfferedItem, Packaging, WarehouseStock};
use kontor_payments::model::VatCode;

use super::cart_rows::{self, AncestorRow, CardRow, CartRows, StockRow, TermsRow};
use super::unconfirmed;
use crate::database::{Abort, Database, Extent};
use crate::decode;
use crate::discount_rows::DiscountRow;
use crate::payments::receipt_terms;

/// Kind of the items that are sold without a warehouse.
pub(super) const SERVICE: i64 = 1;
const GOODS: i64 = 2;
/// Type of the items that are tickets.
const TICKET: i64 = 6;

#[async_trait]
impl CartReader for Database {
    async fn snapshot(&self, query: CartQuery) -> Result<CartSnapshot, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let rows = cart_rows::read(connection, &query)?;
                of_rows(&query, rows).map_err(Abort::Store)
            })
            .await
    }
}

fn of_rows(query: &CartQuery, rows: CartRows) -> Result<CartSnapshot, StoreError> {
    let CartRows { terms, discounts, cards, stock, ancestors } = rows;
    let (automatic, promo) = promotions(query, discounts)?;
    Ok(CartSnapshot {
        contact: unconfirmed::terms(terms.contact_max_pieces, terms.contact_max_value, terms.contact_hold_hours)?,
        receipts: terms.default_vat_code.map(|vat| receipt_terms(terms.tax_system_code, vat)).transpose()?,
        items: items(cards, places(stock)?, &by_leaf(ancestors)?)?,
        automatic,
        promo,
        charges_delivery: terms.charges_delivery,
        missing: Missing {
            application: query.by_staff && query.point.application_id.is_some() && !terms.has_application,
            customer: query.by_staff && query.customer.is_some() && terms.customer_id.is_none(),
        },
        phone: decode::optional_text(terms.phone.as_deref())?,
        email: decode::optional_text(terms.email.as_deref())?,
        references: references(&terms)?,
        currency: terms.currency,
    })
}

/// Returns the automatic discounts, and the promo code of the query.
fn promotions(query: &CartQuery, rows: Vec<(DiscountRow, i64)>) -> Result<(Vec<Discount>, Option<Promo>), StoreError> {
    let mut automatic = Vec::new();
    let mut promo = query.promo.as_ref().map(|_| Promo { discount: None, used_by_customer: 0 });
    for (row, used) in rows {
        let discount = Discount::try_from(row)?;
        if discount.code.is_some() {
            promo = Some(Promo { discount: Some(discount), used_by_customer: decode::count(used)? });
        } else {
            automatic.push(discount);
        }
    }
    Ok((automatic, promo))
}

/// Returns these items. The application sells services with a price. It sells goods with a category and with priced
/// stock in one of its warehouses; other goods are returned without stock.
fn items(
    cards: Vec<CardRow>,
    mut places: BTreeMap<i64, Vec<WarehouseStock>>,
    ancestors: &BTreeMap<i64, Vec<CategoryId>>,
) -> Result<Vec<OfferedItem>, StoreError> {
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
            other => return Err(decode::unknown("nomenclatures", card.id, "kind_id", other)),
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

fn places(rows: Vec<StockRow>) -> Result<BTreeMap<i64, Vec<WarehouseStock>>, StoreError> {
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

/// Returns the ancestors of each category of an item, itself included.
fn by_leaf(rows: Vec<AncestorRow>) -> Result<BTreeMap<i64, Vec<CategoryId>>, StoreError> {
    let mut ancestors: BTreeMap<i64, Vec<CategoryId>> = BTreeMap::new();
    for row in rows {
        ancestors.entry(row.leaf).or_default().push(decode::id(row.id)?);
    }
    Ok(ancestors)
}

fn references(found: &TermsRow) -> Result<References, StoreError> {
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
        payment_type: found.payment_is_online,
    })
}
