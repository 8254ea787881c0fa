// Written by generate.py from docs/openapi.json.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::*;
use crate::{Money, Numbered, Page};

/// Value of a filter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FacetValueRecord {
    /// Number of products in the list with this value.
    pub count: i64,
    /// Id to filter by.
    pub id: i64,
    pub name: String,
}

/// Values of the filters with their product counts, most frequent first, at most 100 for each filter. The counts of a
/// filter ignore the filter itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FacetsRecord {
    pub brands: Vec<FacetValueRecord>,
    pub categories: Vec<FacetValueRecord>,
    pub countries: Vec<FacetValueRecord>,
    /// `false` if the list has more than 10,000 products. In that case only 10,000 are counted.
    pub is_complete: bool,
    /// `null` if there are no products.
    pub price: Option<PriceFacet>,
    pub tags: Vec<FacetValueRecord>,
}

/// One page of products, with the values of the filters if requested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FilteredProducts {
    /// Present if requested with `facets`.
    pub facets: Option<FacetsRecord>,
    pub products: ProductPage,
}

impl Page for FilteredProducts {
    type Item = ProductRecord;

    fn total(&self) -> i64 {
        self.products.total
    }

    fn into_items(self) -> Vec<ProductRecord> {
        self.products.data
    }
}

/// Grouped plans.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GroupedPlans {
    pub data: Vec<PlanGroupRecord>,
}

words! {
    /// List products order by.
    pub enum ListProductsOrderBy {
        NameAsc = "name_asc",
        NameDesc = "name_desc",
        PopularityAsc = "popularity_asc",
        PopularityDesc = "popularity_desc",
        PriceAsc = "price_asc",
        PriceDesc = "price_desc",
    }
}

/// Query of `list_products`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ListProductsQuery {
    /// Words of the name and the article, or parts of them, in any order and case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Products of any of these categories, not of their subcategories. At most 200 ids.
    #[serde(rename = "category_id[]", skip_serializing_if = "Vec::is_empty")]
    pub category_id: Vec<i64>,
    /// Products of any of these brands, at most 200 ids.
    #[serde(rename = "brand_id[]", skip_serializing_if = "Vec::is_empty")]
    pub brand_id: Vec<i64>,
    /// Products from any of these countries, at most 200 ids.
    #[serde(rename = "country_id[]", skip_serializing_if = "Vec::is_empty")]
    pub country_id: Vec<i64>,
    /// Products with any of these tags, at most 200 ids.
    #[serde(rename = "tag_id[]", skip_serializing_if = "Vec::is_empty")]
    pub tag_id: Vec<i64>,
    /// `name_asc`, `name_desc`, `popularity_asc`, `popularity_desc`, `price_asc` or `price_desc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<ListProductsOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_from: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_to: Option<Money>,
    /// `1` returns only products with a current discount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale: Option<bool>,
    /// `1` adds `facets` to the response: the values of the filters with their product counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    /// At most 100, 10 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for ListProductsQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

/// New favourite.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewFavourite {
    /// Id of the product.
    pub product_id: i64,
}

/// Plan card record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanCardRecord {
    /// Price of one period.
    pub amount: Money,
    /// Length of a period, in months.
    pub billing_period_months: i64,
    /// ISO 4217 code.
    pub currency: String,
    /// Id of the assignment of the plan to the application.
    pub id: i64,
    pub name: String,
    /// Id of the item that is the plan.
    pub nomenclature_id: i64,
    /// Identifier of the plan for programs, unique in the application.
    pub plan_slug: String,
    pub article: Option<String>,
    pub category: Option<NamedRecord>,
    /// HTML without scripts, event handlers and styles. Empty if there are none.
    pub characteristics: String,
    /// HTML without scripts, event handlers and styles.
    pub description: Option<String>,
    pub photos: Vec<PhotoRecord>,
}

/// Plan catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanCatalog {
    pub data: Vec<PlanCardRecord>,
}

/// Plan group record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanGroupRecord {
    /// `null` for plans without a category.
    pub category: Option<NamedRecord>,
    pub plans: Vec<PlanCardRecord>,
}

/// Plan list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanList {
    pub data: Vec<PlanRecord>,
}

/// Plan record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanRecord {
    /// Price of one period.
    pub amount: Money,
    /// Length of a period, in months.
    pub billing_period_months: i64,
    /// ISO 4217 code.
    pub currency: String,
    /// Id of the assignment of the plan to the application.
    pub id: i64,
    pub name: String,
    /// Id of the item that is the plan.
    pub nomenclature_id: i64,
    /// Identifier of the plan for programs, unique in the application.
    pub plan_slug: String,
}

/// Range of prices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PriceFacet {
    /// Highest price, decimal string.
    pub max: Money,
    /// Lowest price, decimal string.
    pub min: Money,
}

/// Prices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Prices {
    /// Highest price.
    pub max_price: Money,
    /// Lowest price.
    pub min_price: Money,
}

/// Product card record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProductCardRecord {
    pub article: Option<String>,
    pub brand: Option<NamedRecord>,
    pub category: Option<NamedRecord>,
    pub id: i64,
    /// `true` if the product is a favourite of the customer. Requires a customer token.
    pub is_favourite: bool,
    /// `1` service, `2` goods.
    pub kind_id: i64,
    pub name: String,
    /// Price without discount, decimal string. `null` if there is no discount.
    pub old_price: Option<Money>,
    pub parameters: Parameters,
    pub photos: Vec<PhotoRecord>,
    /// Current price with discount, decimal string.
    pub price: Money,
    /// Units that can be ordered. `0` for a service, which needs no stock.
    pub quantity: i64,
    /// HTML without scripts, event handlers and styles. Empty if there are none.
    pub characteristics: String,
    pub country: Option<NamedRecord>,
    /// HTML without scripts, event handlers and styles.
    pub description: Option<String>,
    /// Link by which customers share the product.
    pub share_link: Option<String>,
    pub storage_unit: Option<StorageUnitRecord>,
    pub tags: Vec<TagRecord>,
    /// Number of views.
    pub views_count: i64,
}

/// Product list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProductList {
    pub products: ProductPage,
}

impl Page for ProductList {
    type Item = ProductRecord;

    fn total(&self) -> i64 {
        self.products.total
    }

    fn into_items(self) -> Vec<ProductRecord> {
        self.products.data
    }
}

/// One page of products.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProductPage {
    pub current_page: i64,
    pub data: Vec<ProductRecord>,
    pub last_page: i64,
    pub per_page: i64,
    pub total: i64,
}

/// Product response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProductResponse {
    pub product: ProductCardRecord,
}

/// Search request list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchRequestList {
    #[serde(rename = "searchRequests")]
    pub search_requests: Vec<SearchRequestRecord>,
    #[serde(rename = "searchRequestsCount")]
    pub search_requests_count: i64,
}

/// Search request record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchRequestRecord {
    pub created_at: DateTime<Utc>,
    pub id: i64,
    pub value: String,
}

words! {
    /// Show prices order by.
    pub enum ShowPricesOrderBy {
        NameAsc = "name_asc",
        NameDesc = "name_desc",
        PopularityAsc = "popularity_asc",
        PopularityDesc = "popularity_desc",
        PriceAsc = "price_asc",
        PriceDesc = "price_desc",
    }
}

/// Query of `show_prices`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ShowPricesQuery {
    /// Words of the name and the article, or parts of them, in any order and case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Products of any of these categories, not of their subcategories. At most 200 ids.
    #[serde(rename = "category_id[]", skip_serializing_if = "Vec::is_empty")]
    pub category_id: Vec<i64>,
    /// Products of any of these brands, at most 200 ids.
    #[serde(rename = "brand_id[]", skip_serializing_if = "Vec::is_empty")]
    pub brand_id: Vec<i64>,
    /// Products from any of these countries, at most 200 ids.
    #[serde(rename = "country_id[]", skip_serializing_if = "Vec::is_empty")]
    pub country_id: Vec<i64>,
    /// Products with any of these tags, at most 200 ids.
    #[serde(rename = "tag_id[]", skip_serializing_if = "Vec::is_empty")]
    pub tag_id: Vec<i64>,
    /// `name_asc`, `name_desc`, `popularity_asc`, `popularity_desc`, `price_asc` or `price_desc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<ShowPricesOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_from: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_to: Option<Money>,
    /// `1` returns only products with a current discount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale: Option<bool>,
    /// `1` adds `facets` to the response: the values of the filters with their product counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    /// At most 100, 10 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}
