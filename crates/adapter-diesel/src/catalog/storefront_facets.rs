//! Facets of the product list: filter values and the number of products of each.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use kontor_catalog::model::Reference;
use kontor_catalog::storefront::{Facet, FacetValue, Facets, ProductFilter};
use kontor_kernel::{AppScope, InvalidId, StoreError};

use super::storefront::{RangeRow, price_range};
use super::storefront_query::OfferQuery;
use super::storefront_reductions::ActiveDiscounts;
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::listing::{ALWAYS_COUNTED, Recent};
use crate::statement::{Statement, by_place};

/// Returns the facets of a list. Those of long lists are cached.
pub(super) fn facets(
    recent: &Recent<Facets>,
    connection: &mut AnyConnection,
    app: AppScope,
    filter: &ProductFilter,
    at: DateTime<Utc>,
) -> Result<Facets, Abort<StoreError>> {
    let asked = format!("{} {filter:?}", app.application_id);
    if let Some(facets) = recent.get(&asked) {
        return Ok(facets);
    }
    let (facets, products) = read(connection, app, filter, at)?;
    if products > ALWAYS_COUNTED {
        recent.insert(asked, facets.clone());
    }
    Ok(facets)
}

by_place! {
    struct CountRow {
        facet: i64,
        id: i64,
        total: i64,
    }
}

by_place! {
    struct NameRow {
        id: i64,
        name: String,
    }
}

/// Returns the number of a facet in the result of a statement; 0 counts the products.
fn number(facet: Facet) -> i64 {
    match facet {
        Facet::Category => 1,
        Facet::Brand => 2,
        Facet::Country => 3,
        Facet::Tag => 4,
        Facet::Price => 5,
    }
}

/// Reads the facets, and the largest number of products counted for one of them.
fn read(
    connection: &mut AnyConnection,
    app: AppScope,
    filter: &ProductFilter,
    at: DateTime<Utc>,
) -> Result<(Facets, i64), Abort<StoreError>> {
    let reductions = ActiveDiscounts::load(connection, app, at)?;
    let mut facets = Facets { is_complete: true, ..Facets::default() };
    let mut most = 0;
    for (filter, mut counted) in Facet::counted(filter) {
        let query =
            OfferQuery { visitor: app.into(), filter: &filter, order: None, at, discounted: reductions.as_ref() };
        let found = match &filter.query {
            Some(text) => query.search(text).all_matches(connection)?,
            None => Some(Statement::new(" FROM storefront_offers o WHERE ").then(query.condition())),
        };
        let Some(found) = found else { continue };
        // Without a search text, an index shows the price range.
        if filter.query.is_none() && counted.contains(&Facet::Price) {
            facets.price = query.price_range().row::<RangeRow>(connection)?.range()?;
            counted.retain(|facet| *facet != Facet::Price);
            if counted.is_empty() {
                continue;
            }
        }
        let rows: Vec<CountRow> = counts(found, &counted, query.price()).rows(connection)?;
        let of =
            |facet: Facet| rows.iter().filter(move |row| row.facet == number(facet)).map(|row| (row.id, row.total));
        for facet in counted {
            match facet {
                Facet::Category => facets.categories = named(connection, "categories", of(facet))?,
                Facet::Brand => facets.brands = named(connection, "brands", of(facet))?,
                Facet::Country => facets.countries = named(connection, "countries", of(facet))?,
                Facet::Tag => facets.tags = named(connection, "tags", of(facet))?,
                Facet::Price => {
                    facets.price =
                        of(facet).next().map(|(lowest, highest)| price_range(lowest, highest)).transpose()?;
                }
            }
        }
        let products = rows.iter().find(|row| row.facet == 0).map_or(0, |row| row.total);
        facets.is_complete &= products <= i64::from(Facets::MAX_PRODUCTS);
        most = most.max(products);
    }
    Ok((facets, most))
}

/// Counts the products of each value in one pass through `found`, a statement from `FROM` on. The facet of prices has the
/// lowest and the highest `price` in its row.
fn counts(found: Statement, facets: &[Facet], price: Statement) -> Statement {
    let one_more = Facets::MAX_PRODUCTS + 1;
    let mut counts = Statement::new(
        "WITH found AS MATERIALIZED (SELECT o.nomenclature_id AS item, o.category_id, o.brand_id, o.country_id",
    );
    if facets.contains(&Facet::Price) {
        counts = counts.sql(", ").then(price).sql(" AS price");
    }
    let counts = counts
        .then(found)
        .sql(format!(" LIMIT {one_more}) SELECT CAST(0 AS BIGINT), CAST(0 AS BIGINT), count(*) FROM found"));
    facets.iter().fold(counts, |counts, facet| {
        let (values, rows) = match facet {
            Facet::Category => ("category_id, count(*)", "WHERE category_id IS NOT NULL GROUP BY category_id"),
            Facet::Brand => ("brand_id, count(*)", "WHERE brand_id IS NOT NULL GROUP BY brand_id"),
            Facet::Country => ("country_id, count(*)", "WHERE country_id IS NOT NULL GROUP BY country_id"),
            Facet::Tag => (
                "tag_id, count(*)",
                "JOIN nomenclature_tags t ON t.nomenclature_id = found.item WHERE tag_id IS NOT NULL GROUP BY tag_id",
            ),
            Facet::Price => ("min(price), max(price)", "HAVING count(*) > 0"),
        };
        counts.sql(format!(" UNION ALL SELECT CAST({} AS BIGINT), {values} FROM found {rows}", number(*facet)))
    })
}

/// Returns the most frequent values with their names.
fn named<Id: TryFrom<i64, Error = InvalidId>>(
    connection: &mut AnyConnection,
    table: &'static str,
    counts: impl Iterator<Item = (i64, i64)>,
) -> Result<Vec<FacetValue<Id>>, Abort<StoreError>> {
    let mut counts: Vec<(i64, i64)> = counts.collect();
    counts.sort_unstable_by_key(|(id, total)| (-total, *id));
    counts.truncate(Facets::MAX_VALUES);
    if counts.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<i64> = counts.iter().map(|(id, _)| *id).collect();
    let names: Vec<NameRow> =
        Statement::new(format!("SELECT id, name FROM {table} WHERE id")).among(&ids).rows(connection)?;
    let mut names: HashMap<i64, String> = names.into_iter().map(|row| (row.id, row.name)).collect();
    let mut values = Vec::with_capacity(counts.len());
    for (id, total) in counts {
        let Some(name) = names.remove(&id) else { continue };
        values.push(FacetValue {
            record: Reference { id: decode::id(id)?, name: decode::owned(name)? },
            count: decode::count(total)?,
        });
    }
    Ok(values)
}
