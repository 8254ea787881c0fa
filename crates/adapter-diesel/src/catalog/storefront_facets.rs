//! Facets of the product list: filter values and the number of products of each.

use std::sync::Arc;

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
use crate::read_models::search::FrequentMatches;
use crate::statement::{Statement, by_place};

/// Returns the facets of a list. Those of long lists are cached.
pub(super) fn facets(
    (recent, frequent): (&Recent<Facets>, &Arc<FrequentMatches>),
    connection: &mut AnyConnection,
    app: AppScope,
    filter: &ProductFilter,
    at: DateTime<Utc>,
) -> Result<Facets, Abort<StoreError>> {
    let asked = format!("{} {filter:?}", app.application_id);
    if let Some(facets) = recent.get(&asked) {
        return Ok(facets);
    }
    let (facets, products) = read(connection, app, filter, at, frequent)?;
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
        name: Option<String>,
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
    frequent: &Arc<FrequentMatches>,
) -> Result<(Facets, i64), Abort<StoreError>> {
    let reductions = ActiveDiscounts::load(connection, app, at)?;
    let mut facets = Facets { is_complete: true, ..Facets::default() };
    let mut most = 0;
    for (filter, mut counted) in Facet::counted(filter) {
        let query =
            OfferQuery { visitor: app.into(), filter: &filter, order: None, at, discounted: reductions.as_ref() };
        let found = match &filter.query {
            Some(text) => query.search(text).cached(frequent).all_matches(connection)?,
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
        for facet in counted {
            match facet {
                Facet::Category => facets.categories = values(&rows, facet)?,
                Facet::Brand => facets.brands = values(&rows, facet)?,
                Facet::Country => facets.countries = values(&rows, facet)?,
                Facet::Tag => facets.tags = values(&rows, facet)?,
                Facet::Price => {
                    let ends = rows.iter().find(|row| row.facet == number(facet));
                    facets.price = ends.map(|ends| price_range(ends.id, ends.total)).transpose()?;
                }
            }
        }
        let products = rows.iter().find(|row| row.facet == 0).map_or(0, |row| row.total);
        facets.is_complete &= products <= i64::from(Facets::MAX_PRODUCTS);
        most = most.max(products);
    }
    Ok((facets, most))
}

/// Counts the products of each value, with its name, in one pass through `found`, a statement from `FROM` on. The facet of
/// prices has the lowest and the highest `price` in its row.
fn counts(found: Statement, facets: &[Facet], price: Statement) -> Statement {
    let one_more = Facets::MAX_PRODUCTS + 1;
    let mut counts = Statement::new(
        "WITH found AS MATERIALIZED (SELECT o.nomenclature_id AS item, o.category_id, o.brand_id, o.country_id",
    );
    if facets.contains(&Facet::Price) {
        counts = counts.sql(", ").then(price).sql(" AS price");
    }
    let counts = counts.then(found).sql(format!(
        " LIMIT {one_more}) SELECT CAST(0 AS BIGINT), CAST(0 AS BIGINT), count(*), CAST(NULL AS TEXT) FROM found"
    ));
    facets.iter().fold(counts, |counts, facet| {
        let counts = counts.sql(format!(" UNION ALL SELECT CAST({} AS BIGINT), ", number(*facet)));
        let (column, table, of_item) = match facet {
            Facet::Category => ("category_id", "categories", ""),
            Facet::Brand => ("brand_id", "brands", ""),
            Facet::Country => ("country_id", "countries", ""),
            Facet::Tag => ("tag_id", "tags", " JOIN nomenclature_tags t ON t.nomenclature_id = found.item"),
            Facet::Price => {
                return counts.sql("min(price), max(price), CAST(NULL AS TEXT) FROM found HAVING count(*) > 0");
            }
        };
        counts.sql(format!(
            "v.id, k.total, v.name FROM (SELECT {column} AS id, count(*) AS total FROM found{of_item} \
             WHERE {column} IS NOT NULL GROUP BY {column}) AS k JOIN {table} v ON v.id = k.id"
        ))
    })
}

/// Returns the most frequent values of a facet.
fn values<Id: TryFrom<i64, Error = InvalidId>>(
    rows: &[CountRow],
    facet: Facet,
) -> Result<Vec<FacetValue<Id>>, StoreError> {
    let mut rows: Vec<&CountRow> = rows.iter().filter(|row| row.facet == number(facet)).collect();
    rows.sort_unstable_by_key(|row| (-row.total, row.id));
    rows.truncate(Facets::MAX_VALUES);
    let value = |row: &CountRow| {
        let name = row.name.clone().unwrap_or_default();
        let record = Reference { id: decode::id(row.id)?, name: decode::owned(name)? };
        Ok(FacetValue { record, count: decode::count(row.total)? })
    };
    rows.into_iter().map(value).collect()
}
