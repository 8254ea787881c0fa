use kontor_kernel::{BrandId, CategoryId, CountryId, TagId};

use super::{PriceRange, ProductFilter};
use crate::model::Reference;

/// Value of a filter, and the number of products that match it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FacetValue<Id> {
    /// Record of the filter value.
    pub record: Reference<Id>,
    /// Number of products.
    pub count: u64,
}

/// Values of the filters of a list, most frequent first, at most [`Facets::MAX_VALUES`] of each. A filter does not
/// narrow its own values: the other brands are listed beside the chosen one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facets {
    /// Categories of the products themselves, without their ancestors.
    pub categories: Vec<FacetValue<CategoryId>>,
    /// Brands.
    pub brands: Vec<FacetValue<BrandId>>,
    /// Countries.
    pub countries: Vec<FacetValue<CountryId>>,
    /// Tags.
    pub tags: Vec<FacetValue<TagId>>,
    /// Lowest and highest price, if there are products.
    pub price: Option<PriceRange>,
    /// `false` if the list has more than [`Facets::MAX_PRODUCTS`] products, of which only that many were counted.
    pub is_complete: bool,
}

impl Facets {
    /// Maximum number of values of a filter.
    pub const MAX_VALUES: usize = 100;
    /// Maximum number of counted products.
    pub const MAX_PRODUCTS: u32 = 10_000;
}

/// Filter with values to choose from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Facet {
    /// By category.
    Category,
    /// By brand.
    Brand,
    /// By country.
    Country,
    /// By tag.
    Tag,
    /// By price.
    Price,
}

impl Facet {
    const ALL: [Self; 5] = [Self::Category, Self::Brand, Self::Country, Self::Tag, Self::Price];

    /// Returns the filter without the values of this facet, if it has any.
    fn open(self, filter: &ProductFilter) -> Option<ProductFilter> {
        let mut open = filter.clone();
        match self {
            Self::Category => open.category_ids.clear(),
            Self::Brand => open.brand_ids.clear(),
            Self::Country => open.country_ids.clear(),
            Self::Tag => open.tag_ids.clear(),
            Self::Price => (open.price_from, open.price_to) = (None, None),
        }
        (open != *filter).then_some(open)
    }

    /// Returns the products to count, and the facets for which they are counted.
    pub fn counted(filter: &ProductFilter) -> Vec<(ProductFilter, Vec<Self>)> {
        let (own, shared): (Vec<_>, Vec<_>) =
            Self::ALL.into_iter().map(|facet| (facet.open(filter), facet)).partition(|(open, _)| open.is_some());
        let own = own.into_iter().filter_map(|(open, facet)| Some((open?, vec![facet])));
        let shared: Vec<Self> = shared.into_iter().map(|(_, facet)| facet).collect();
        let shared = (!shared.is_empty()).then(|| (filter.clone(), shared));
        shared.into_iter().chain(own).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_does_not_narrow_its_own_values() {
        let none = ProductFilter::default();
        assert_eq!(Facet::counted(&none), [(none.clone(), Facet::ALL.to_vec())]);
        let brand_ids = vec![BrandId::new(4).unwrap()];
        let of_brand = ProductFilter { brand_ids, ..ProductFilter::default() };
        let others = vec![Facet::Category, Facet::Country, Facet::Tag, Facet::Price];
        assert_eq!(Facet::counted(&of_brand), [(of_brand.clone(), others), (none, vec![Facet::Brand])]);
    }
}
