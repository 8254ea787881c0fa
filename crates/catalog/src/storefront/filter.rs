use kontor_kernel::{BrandId, CategoryId, CountryId, Line, Money, TagId};

/// Which products a storefront lists. An empty list of numbers leaves that field open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProductFilter {
    /// Part of the name or of the article, in any case.
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

/// In which order products are listed; equal products by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProductOrder {
    /// `name_asc`
    NameAscending,
    /// `name_desc`
    NameDescending,
    /// `popularity_asc`
    PopularityAscending,
    /// `popularity_desc`
    PopularityDescending,
    /// `price_asc`
    PriceAscending,
    /// `price_desc`
    PriceDescending,
}

impl ProductOrder {
    /// Every order with its name in the contract.
    pub const ALL: [(&'static str, Self); 6] = [
        ("name_asc", Self::NameAscending),
        ("name_desc", Self::NameDescending),
        ("popularity_asc", Self::PopularityAscending),
        ("popularity_desc", Self::PopularityDescending),
        ("price_asc", Self::PriceAscending),
        ("price_desc", Self::PriceDescending),
    ];

    /// The order of this name in the contract.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, order)| *order)
    }
}
