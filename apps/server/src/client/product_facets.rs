//! The values of the filters of a list of products.

use kontor_catalog::storefront::{FacetValue, Facets, PriceRange};
use serde::Serialize;
use utoipa::ToSchema;

/// A value of a filter.
#[derive(Serialize, ToSchema)]
struct FacetValueRecord {
    id: i64,
    name: String,
    /// Products of the list that have it.
    count: u64,
}

impl<Id: Into<i64>> From<FacetValue<Id>> for FacetValueRecord {
    fn from(value: FacetValue<Id>) -> Self {
        Self { id: value.record.id.into(), name: value.record.name.into(), count: value.count }
    }
}

/// The ends of a range of prices.
#[derive(Serialize, ToSchema)]
struct PriceFacet {
    /// Decimal string.
    min: String,
    /// Decimal string.
    max: String,
}

impl From<PriceRange> for PriceFacet {
    fn from(range: PriceRange) -> Self {
        Self { min: range.lowest.to_string(), max: range.highest.to_string() }
    }
}

/// Values of the filters with the number of products, the most frequent first, at most 100 of each. A filter does not narrow
/// its own values.
#[derive(Serialize, ToSchema)]
pub(super) struct FacetsRecord {
    categories: Vec<FacetValueRecord>,
    brands: Vec<FacetValueRecord>,
    countries: Vec<FacetValueRecord>,
    tags: Vec<FacetValueRecord>,
    /// `null` if there are no products.
    price: Option<PriceFacet>,
    /// `false` if the list has more than 10,000 products: that many were counted.
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
