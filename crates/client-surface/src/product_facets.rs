//! Facets of a product list: the values of its filters.

use kontor_catalog::storefront::{FacetValue, Facets, PriceRange};
use serde::Serialize;
use utoipa::ToSchema;

/// Value of a filter.
#[derive(Serialize, ToSchema)]
struct FacetValueRecord {
    /// Id to filter by.
    id: i64,
    name: String,
    /// Number of products in the list with this value.
    count: u64,
}

impl<Id: Into<i64>> From<FacetValue<Id>> for FacetValueRecord {
    fn from(value: FacetValue<Id>) -> Self {
        Self { id: value.record.id.into(), name: value.record.name.into(), count: value.count }
    }
}

/// Range of prices.
#[derive(Serialize, ToSchema)]
struct PriceFacet {
    /// Lowest price, decimal string.
    min: String,
    /// Highest price, decimal string.
    max: String,
}

impl From<PriceRange> for PriceFacet {
    fn from(range: PriceRange) -> Self {
        Self { min: range.lowest.to_string(), max: range.highest.to_string() }
    }
}

/// Values of the filters with their product counts, most frequent first, at most 100 for each filter. The counts of a
/// filter ignore the filter itself.
#[derive(Serialize, ToSchema)]
pub(super) struct FacetsRecord {
    categories: Vec<FacetValueRecord>,
    brands: Vec<FacetValueRecord>,
    countries: Vec<FacetValueRecord>,
    tags: Vec<FacetValueRecord>,
    /// `null` if there are no products.
    price: Option<PriceFacet>,
    /// `false` if the list has more than 10,000 products. In that case only 10,000 are counted.
    is_complete: bool,
}

impl From<Facets> for FacetsRecord {
    fn from(facets: Facets) -> Self {
        fn records<Id: Into<i64>>(values: Vec<FacetValue<Id>>) -> Vec<FacetValueRecord> {
            values.into_iter().map(Into::into).collect()
        }
        Self {
            categories: records(facets.categories),
            brands: records(facets.brands),
            countries: records(facets.countries),
            tags: records(facets.tags),
            price: facets.price.map(Into::into),
            is_complete: facets.is_complete,
        }
    }
}
