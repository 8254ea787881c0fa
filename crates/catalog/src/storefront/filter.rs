use kontor_kernel::{BrandId, CategoryId, CountryId, Line, Money, TagId};

/// Which products a storefront lists. An empty list of numbers leaves that field open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProductFilter {
    /// Words of the name and the article, as [`SearchQuery`](crate::model::SearchQuery) finds them.
    pub query: Option<Line<255>>,
    /// Of exactly these categories, not of those below them.
    pub category_ids: Vec<CategoryId>,
    /// Of these brands.
    pub brand_ids: Vec<BrandId>,
    /// From these countries.
    pub country_ids: Vec<CountryId>,
    /// With at least one of these tags.
    pub tag_ids: Vec<TagId>,
    /// At this price or above.
    pub price_from: Option<Money>,
    /// At this price or below.
    pub price_to: Option<Money>,
    /// Only products that a discount makes cheaper right now.
    pub on_sale: bool,
}

impl ProductFilter {
    /// Whether nothing but categories narrows the list.
    pub fn is_by_category(&self) -> bool {
        let Self { query, category_ids: _, brand_ids, country_ids, tag_ids, price_from, price_to, on_sale } = self;
        let open = brand_ids.is_empty() && country_ids.is_empty() && tag_ids.is_empty();
        open && query.is_none() && price_from.is_none() && price_to.is_none() && !on_sale
    }
}

/// In which order products are listed; equal products by number.
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
    /// Whether it depends on how often products were looked at.
    pub fn is_by_popularity(self) -> bool {
        matches!(self, Self::PopularityAscending | Self::PopularityDescending)
    }
}
