//! Product details: one row with all single values, and the tags.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use kontor_catalog::model::{StorageUnit, Tag};
use kontor_catalog::storefront::{Product, ProductCard};
use kontor_kernel::{NomenclatureId, Prose, StoreError, Visitor};

use super::brands::TagRow;
use super::storefront::{ProductRow, reference};
use super::storefront_query::{JOINS, product};
use crate::database::{Abort, AnyConnection, on_each};
use crate::decode;
use crate::read_models::offers;
use crate::schema::{nomenclature_tags, tags};
use crate::statement::Statement;

#[derive(QueryableByName)]
struct CardRow {
    #[diesel(embed)]
    product: ProductRow,
    #[diesel(sql_type = Nullable<BigInt>)]
    country_id: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    country_name: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    unit_id: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    unit_name: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    unit_abbreviation: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    share_link: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    description: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    characteristics: Option<String>,
    #[diesel(sql_type = BigInt)]
    views_count: i64,
}

/// Selects one row of these offers.
fn card(offers: Statement, visitor: Visitor, id: NomenclatureId, at: DateTime<Utc>) -> Statement {
    product(visitor, at)
        .sql(
            ", k.id AS country_id, k.name AS country_name, u.id AS unit_id, u.name AS unit_name, \
             u.abbreviation AS unit_abbreviation, n.share_link, n.description, n.characteristics, n.views_count \
             FROM ",
        )
        .then(offers)
        .sql(" o JOIN nomenclatures n ON n.id = o.nomenclature_id")
        .sql(JOINS)
        .sql(
            " LEFT JOIN countries k ON k.id = n.country_id \
             LEFT JOIN storage_units u ON u.id = n.storage_unit_id WHERE o.application_id = ",
        )
        .value(visitor.app.application_id.get())
        .sql(" AND o.nomenclature_id = ")
        .value(id.get())
}

/// Offers that the application shows.
pub(super) fn shown() -> Statement {
    Statement::new("storefront_offers")
}

/// Goods that the application would show if they were in stock.
pub(super) fn sold_out(visitor: Visitor, id: NomenclatureId) -> Statement {
    Statement::new("(").then(offers::sold_out(visitor.app, id)).sql(")")
}

/// Reads the details of an item among these offers.
pub(super) fn read(
    connection: &mut AnyConnection,
    offers: Statement,
    visitor: Visitor,
    id: NomenclatureId,
    at: DateTime<Utc>,
) -> Result<Option<ProductCard<Prose>>, Abort<StoreError>> {
    let Some(row): Option<CardRow> = card(offers, visitor, id, at).row(connection).optional()? else { return Ok(None) };
    let tags: Vec<TagRow> = on_each!(connection, concrete => nomenclature_tags::table
        .inner_join(tags::table.on(tags::id.eq(nomenclature_tags::tag_id)))
        .filter(nomenclature_tags::nomenclature_id.eq(id.get()))
        .order(tags::id)
        .select(TagRow::as_select())
        .load(concrete))?;
    let unit = reference(row.unit_id, row.unit_name)?.zip(row.unit_abbreviation.as_deref());
    Ok(Some(ProductCard {
        product: Product::try_from(row.product)?,
        country: reference(row.country_id, row.country_name)?,
        storage_unit: unit
            .map(|(unit, abbreviation)| {
                Ok::<_, StoreError>(StorageUnit {
                    id: unit.id,
                    name: unit.name,
                    abbreviation: decode::text(abbreviation)?,
                })
            })
            .transpose()?,
        share_link: row.share_link,
        description: decode::optional_text(row.description.as_deref())?,
        characteristics: decode::optional_text(row.characteristics.as_deref())?,
        tags: tags.into_iter().map(Tag::try_from).collect::<Result<_, _>>()?,
        views_count: decode::count(row.views_count)?,
        unstored_views: 0,
    }))
}
