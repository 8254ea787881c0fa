// Written by generate.py from docs/openapi.json.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::*;
use crate::Money;

/// Suggested addresses, the most likely first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AddressList {
    pub addresses: Vec<AddressRecord>,
    #[serde(rename = "addressesCount")]
    pub addresses_count: i64,
}

/// Suggested address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AddressRecord {
    pub city: Option<String>,
    pub country: Option<String>,
    pub fias_id: Option<String>,
    pub flat: Option<String>,
    pub house: Option<String>,
    /// Degrees, as a decimal string.
    pub latitude: Option<String>,
    /// Degrees, as a decimal string.
    pub longitude: Option<String>,
    pub postal_code: Option<String>,
    pub region: Option<String>,
    pub settlement: Option<String>,
    pub street: Option<String>,
    pub unrestricted_value: String,
    pub value: String,
}

/// Country list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CountryList {
    pub countries: Vec<CountryRecord>,
    #[serde(rename = "countriesCount")]
    pub countries_count: i64,
}

/// Country record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CountryRecord {
    pub created_at: DateTime<Utc>,
    pub id: i64,
    pub name: String,
    pub photo: Option<PhotoRecord>,
}

/// Delivery type or subtype.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliveryOptionRecord {
    pub id: i64,
    /// `1` or `0`.
    pub is_active: i64,
    pub name: String,
    /// Decimal string.
    pub price: Money,
}

/// Delivery param list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliveryParamList {
    #[serde(rename = "deliverySubtypeParams")]
    pub delivery_subtype_params: Vec<DeliveryParamRecord>,
}

/// Delivery param record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliveryParamRecord {
    pub address: Option<String>,
    pub id: i64,
    /// `1` if active, otherwise `0`.
    pub is_active: i64,
    pub name: String,
}

/// Delivery subtype list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliverySubtypeList {
    #[serde(rename = "deliverySubtypes")]
    pub delivery_subtypes: Vec<DeliveryOptionRecord>,
    #[serde(rename = "deliverySubtypesCount")]
    pub delivery_subtypes_count: i64,
}

/// Delivery subtype response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliverySubtypeResponse {
    #[serde(rename = "deliverySubtype")]
    pub delivery_subtype: DeliveryOptionRecord,
}

/// Delivery type list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliveryTypeList {
    #[serde(rename = "deliveryTypes")]
    pub delivery_types: Vec<DeliveryOptionRecord>,
    #[serde(rename = "deliveryTypesCount")]
    pub delivery_types_count: i64,
}

/// Delivery type response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliveryTypeResponse {
    #[serde(rename = "deliveryType")]
    pub delivery_type: DeliveryOptionRecord,
}

/// Dictionaries of the storefront. Each has the same key and records as in the response of its own endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Dictionaries {
    pub brands: Vec<StorefrontBrandRecord>,
    #[serde(rename = "brandsCount")]
    pub brands_count: i64,
    /// Root categories only.
    pub categories: Vec<StorefrontCategoryRecord>,
    #[serde(rename = "categoriesCount")]
    pub categories_count: i64,
    pub countries: Vec<CountryRecord>,
    #[serde(rename = "countriesCount")]
    pub countries_count: i64,
    #[serde(rename = "deliveryTypes")]
    pub delivery_types: Vec<DeliveryOptionRecord>,
    #[serde(rename = "deliveryTypesCount")]
    pub delivery_types_count: i64,
    #[serde(rename = "paymentTypes")]
    pub payment_types: Vec<PaymentTypeRecord>,
    #[serde(rename = "paymentTypesCount")]
    pub payment_types_count: i64,
    pub shops: Vec<ShopRecord>,
    #[serde(rename = "shopsCount")]
    pub shops_count: i64,
    pub tags: Vec<TagRecord>,
    #[serde(rename = "tagsCount")]
    pub tags_count: i64,
}

/// Query of `list_brands`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ListBrandsQuery {
    /// Maximum number of records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
}

/// Query of `list_categories`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ListCategoriesQuery {
    /// Maximum number of records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    /// Without it, the root categories of the application are returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<i64>,
}

/// Payment type list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaymentTypeList {
    #[serde(rename = "paymentTypes")]
    pub payment_types: Vec<PaymentTypeRecord>,
    #[serde(rename = "paymentTypesCount")]
    pub payment_types_count: i64,
}

/// Payment type record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaymentTypeRecord {
    pub description: Option<String>,
    pub id: i64,
    /// `true` if the order is paid online. Orders with this type require `payment_method_type`; the contact form does
    /// not accept it.
    pub is_online: bool,
    pub name: String,
    pub photo: Option<Picture>,
}

/// Shop list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShopList {
    pub shops: Vec<ShopRecord>,
    #[serde(rename = "shopsCount")]
    pub shops_count: i64,
}

/// Shop record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShopRecord {
    pub address: String,
    pub created_at: DateTime<Utc>,
    pub id: i64,
    /// Degrees north, decimal string.
    pub latitude: Option<String>,
    /// Degrees east, decimal string.
    pub longitude: Option<String>,
    pub name: String,
    pub phone: Option<String>,
    pub photo: Option<Picture>,
}

/// Shop response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShopResponse {
    pub shop: ShopRecord,
}

/// Slide list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SlideList {
    pub slides: Vec<SlideRecord>,
    #[serde(rename = "slidesCount")]
    pub slides_count: i64,
}

/// Slide record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SlideRecord {
    pub created_at: DateTime<Utc>,
    /// HTML without scripts, event handlers and styles.
    pub description: Option<String>,
    pub id: i64,
    /// URL or a path of the site.
    pub link: Option<String>,
    pub photo: Option<PhotoRecord>,
    pub position: i64,
    pub title: String,
}

/// Storefront brand list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StorefrontBrandList {
    pub brands: Vec<StorefrontBrandRecord>,
    #[serde(rename = "brandsCount")]
    pub brands_count: i64,
}

/// Storefront brand record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StorefrontBrandRecord {
    pub created_at: DateTime<Utc>,
    pub id: i64,
    pub name: String,
    pub photo: Option<PhotoRecord>,
}

/// Storefront category list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StorefrontCategoryList {
    pub categories: Vec<StorefrontCategoryRecord>,
    #[serde(rename = "categoriesCount")]
    pub categories_count: i64,
}

/// Storefront category record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StorefrontCategoryRecord {
    pub id: i64,
    pub name: String,
    /// Parent category. `null` for a root category.
    pub parent: Option<NamedRecord>,
    pub photo: Option<PhotoRecord>,
}

/// Search input of a suggestion.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SuggestionInput {
    /// 1 to 300 characters in one line.
    pub query: String,
}

/// Tag list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TagList {
    pub tags: Vec<TagRecord>,
    #[serde(rename = "tagsCount")]
    pub tags_count: i64,
}
