use kontor_kernel::{BrandId, CategoryId, CountryId, Line, Money, TagId};

use super::PriceRange;
use crate::model::Reference;

/// Filter of the products of a storefront. An empty list of identifiers does not filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProductFilter {
    /// Words of the name and the article, matched as by [`SearchQuery`](crate::model::SearchQuery).
    pub query: Option<Line<255>>,
    /// Categories, without their subcategories.
    pub category_ids: Vec<CategoryId>,
    /// Brands.
    pub brand_ids: Vec<BrandId>,
    /// Countries.
    pub country_ids: Vec<CountryId>,
    /// Tags; a product needs at least one of them.
    pub tag_ids: Vec<TagId>,
    /// Minimum price.
    pub price_from: Option<Money>,
    /// Maximum price.
    pub price_to: Option<Money>,
    /// `true` for only products that an automatic discount currently reduces.
    pub on_sale: bool,
}

impl ProductFilter {
    /// Returns `true` if only categories narrow the list.
    pub fn is_by_category(&self) -> bool {
        let Self { query, category_ids: _, brand_ids, country_ids, tag_ids, price_from, price_to, on_sale } = self;
        let open = brand_ids.is_empty() && country_ids.is_empty() && tag_ids.is_empty();
        open && query.is_none() && price_from.is_none() && price_to.is_none() && !on_sale
    }
}

/// Order of products; equal products are ordered by identifier, in the same direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
pub enum ProductOrder {
    /// `name_asc`
    #[strum(serialize = "name_asc")]
    NameAscending,
    /// `name_desc`
    #[strum(serialize = "name_desc")]
    NameDescending,
    /// `popularity_asc`
    #[strum(serialize = "popularity_asc")]
    PopularityAscending,
    /// `popularity_desc`
    #[strum(serialize = "popularity_desc")]
    PopularityDescending,
    /// `price_asc`
    #[strum(serialize = "price_asc")]
    PriceAscending,
    /// `price_desc`
    #[strum(serialize = "price_desc")]
    PriceDescending,
}

impl ProductOrder {
    /// Returns `true` if the order depends on the number of views.
    pub fn is_by_popularity(self) -> bool {
        matches!(self, Self::PopularityAscending | Self::PopularityDescending)
    }
}

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
