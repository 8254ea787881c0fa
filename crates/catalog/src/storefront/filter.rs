use kontor_kernel::{BrandId, CategoryId, CountryId, Line, Money, TagId};

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

/// Order of products; equal products are ordered by identifier.
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
