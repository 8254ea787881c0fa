// Written by generate.py from docs/openapi.json.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use super::*;
use crate::{Money, Numbered, Page, Patch};

/// Categories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CategoryList {
    pub categories: Vec<CategoryRecord>,
    #[serde(rename = "categoriesCount")]
    pub categories_count: i64,
}

/// Category as shown to staff.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CategoryRecord {
    /// Code of the category, unique in the project.
    pub code: i64,
    /// HTML.
    pub description: Option<String>,
    pub id: i64,
    pub name: String,
    /// Parent category. `null` for a root category.
    pub parent: Option<NamedRecord>,
    pub photo: Option<PhotoRecord>,
}

/// Category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CategoryResponse {
    pub category: CategoryRecord,
}

/// Changed category.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ChangedCategory {
    /// Unique code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// HTML.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub description: Patch<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `null` makes the category a root.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub parent_id: Patch<i64>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub photo: Patch<String>,
}

/// Change of an item.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ChangedNomenclature {
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub article: Patch<String>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub billing_period_months: Patch<i64>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub brand_id: Patch<i64>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub category_id: Patch<i64>,
    /// HTML.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub characteristics: Patch<String>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub country_id: Patch<i64>,
    /// HTML.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub description: Patch<String>,
    /// If set to `false`, the billing period is cleared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_subscription: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Parameters>,
    /// Replaces all photos of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub photos: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Money>,
    /// Link by which customers share the item.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub share_link: Patch<String>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub storage_unit_id: Patch<i64>,
    /// Replaces all tags of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub type_id: Patch<i64>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub vat_id: Patch<i64>,
}

/// Part of the changes of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChangedNomenclatures {
    /// Current records, ordered by the time of change, oldest first.
    pub data: Vec<NomenclatureRecord>,
    /// Ids of deleted records.
    pub deleted: Vec<i64>,
    /// Deletions before this time are not reported.
    pub deletions_since: DateTime<Utc>,
    /// `true` if more changes are available now.
    pub has_more: bool,
    /// Cursor of the next request. Send it at once if `has_more` is `true`, otherwise at the next check.
    pub next_cursor: String,
}

words! {
    /// History action.
    pub enum HistoryAction {
        Created = "created",
        Changed = "changed",
        Deleted = "deleted",
    }
}

/// Page of a history, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HistoryList {
    pub histories: Vec<HistoryRecord>,
    #[serde(rename = "historiesCount")]
    pub histories_count: i64,
    pub pagination: Pagination,
}

impl Page for HistoryList {
    type Item = HistoryRecord;

    fn total(&self) -> i64 {
        self.histories_count
    }

    fn into_items(self) -> Vec<HistoryRecord> {
        self.histories
    }
}

/// History entry. `user` is the employee or agent who made the change, `counterparty` the customer. Both are `null`
/// for changes by the service itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HistoryRecord {
    /// `created`, `changed` or `deleted`
    pub action: HistoryAction,
    pub changes: Vec<FieldChangeRecord>,
    pub counterparty: Option<AuthorRecord>,
    #[serde(rename = "dateTime")]
    pub date_time: DateTime<Utc>,
    pub id: i64,
    pub user: Option<AuthorRecord>,
}

/// Search text and maximum number of results.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ItemSearch {
    /// Maximum number of items, 20 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    /// Words of the name and the article, or parts of them, in any order and case.
    pub query: String,
}

/// New category.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewCategory {
    /// Unique code. By default, one more than the largest code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub name: String,
    /// Parent category. Without it, the category is a root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub photo: Option<String>,
}

/// Item to create.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewNomenclature {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub article: Option<String>,
    /// Required for subscription plans, not allowed for other items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub billing_period_months: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category_id: Option<i64>,
    /// HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub characteristics: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country_id: Option<i64>,
    /// HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `true` if the item is a subscription plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_subscription: Option<bool>,
    /// `1` service, `2` goods.
    pub kind_id: i64,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Parameters>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub photos: Option<Vec<String>>,
    /// Required for services and subscription plans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Money>,
    /// Link by which customers share the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_link: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_unit_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<i64>>,
    /// Type of the item, a classification by staff in addition to the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub type_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vat_id: Option<i64>,
}

/// One page of items, with the total number of items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NomenclatureList {
    pub nomenclatures: Vec<NomenclatureRecord>,
    #[serde(rename = "nomenclaturesCount")]
    pub nomenclatures_count: i64,
}

impl Page for NomenclatureList {
    type Item = NomenclatureRecord;

    fn total(&self) -> i64 {
        self.nomenclatures_count
    }

    fn into_items(self) -> Vec<NomenclatureRecord> {
        self.nomenclatures
    }
}

/// Nomenclature record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NomenclatureRecord {
    pub article: Option<String>,
    /// Length of a billing period, in months. `null` unless the item is a subscription plan.
    pub billing_period_months: Option<i64>,
    pub brand: Option<NamedRecord>,
    pub brand_id: Option<i64>,
    pub category: Option<NamedRecord>,
    pub category_id: Option<i64>,
    /// HTML.
    pub characteristics: Option<String>,
    pub country: Option<NamedRecord>,
    pub country_id: Option<i64>,
    pub created_at: DateTime<Utc>,
    /// HTML.
    pub description: Option<String>,
    pub id: i64,
    /// `true` if the item is a subscription plan.
    pub is_subscription: bool,
    pub kind: NamedRecord,
    /// `1` service, `2` goods.
    pub kind_id: i64,
    pub name: String,
    pub parameters: ParametersRecord,
    pub photos: Vec<PhotoRecord>,
    /// Price of the item. `null` if none is set.
    pub price: Option<Money>,
    /// Link by which customers share the item.
    pub share_link: Option<String>,
    pub storage_unit: Option<StorageUnitRecord>,
    pub storage_unit_id: Option<i64>,
    pub tags: Vec<NamedRecord>,
    pub r#type: Option<NamedRecord>,
    pub type_id: Option<i64>,
    pub updated_at: DateTime<Utc>,
    pub vat: Option<NamedRecord>,
    pub vat_id: Option<i64>,
}

/// Item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NomenclatureResponse {
    pub nomenclature: NomenclatureRecord,
}

/// Parameters record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ParametersRecord {
    /// Units in one pack.
    pub pieces_per_pack: i64,
    /// Packs in one unit of sale.
    pub quantity_pack: i64,
    /// `true` if the item is sold wholesale.
    pub wholesale: bool,
}

words! {
    /// Staff export nomenclatures format.
    pub enum StaffExportNomenclaturesFormat {
        Xlsx = "xlsx",
        Csv = "csv",
    }
}

/// Query of `export_nomenclatures`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffExportNomenclaturesQuery {
    /// `xlsx` or `csv`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<StaffExportNomenclaturesFormat>,
}

words! {
    /// Staff list categories table order by.
    pub enum StaffListCategoriesTableOrderBy {
        IdAsc = "id_asc",
        IdDesc = "id_desc",
        CodeAsc = "code_asc",
        CodeDesc = "code_desc",
        NameAsc = "name_asc",
        NameDesc = "name_desc",
        CreatedAtAsc = "created_at_asc",
        CreatedAtDesc = "created_at_desc",
        UpdatedAtAsc = "updated_at_asc",
        UpdatedAtDesc = "updated_at_desc",
    }
}

/// Query of `list_categories_table`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListCategoriesTableQuery {
    /// Part of the name, in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Right below these categories. A single value may be sent without the brackets.
    #[serde(rename = "parent_id[]", skip_serializing_if = "Vec::is_empty")]
    pub parent_id: Vec<i64>,
    /// From this day on, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_from: Option<NaiveDate>,
    /// Up to and including this day, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_to: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<StaffListCategoriesTableOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for StaffListCategoriesTableQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

/// Query of `list_changed_nomenclatures`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListChangedNomenclaturesQuery {
    /// Returns records changed at this time or later. Some records changed up to two minutes earlier may be included.
    /// Without it, all records are returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_since: Option<DateTime<Utc>>,
    /// `next_cursor` of the previous response. `updated_since` must be left out then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// At most 100, 100 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

words! {
    /// Staff list nomenclatures order by.
    pub enum StaffListNomenclaturesOrderBy {
        IdAsc = "id_asc",
        IdDesc = "id_desc",
        NameAsc = "name_asc",
        NameDesc = "name_desc",
        PriceAsc = "price_asc",
        PriceDesc = "price_desc",
        CreatedAtAsc = "created_at_asc",
        CreatedAtDesc = "created_at_desc",
        UpdatedAtAsc = "updated_at_asc",
        UpdatedAtDesc = "updated_at_desc",
    }
}

/// Query of `list_nomenclatures`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListNomenclaturesQuery {
    /// Words or parts of words of the name and the article, in any order and case. Without `order_by`, the best match
    /// comes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// In exactly these categories. A single value may be sent without the brackets.
    #[serde(rename = "category_id[]", skip_serializing_if = "Vec::is_empty")]
    pub category_id: Vec<i64>,
    /// Of these brands. A single value may be sent without the brackets.
    #[serde(rename = "brand_id[]", skip_serializing_if = "Vec::is_empty")]
    pub brand_id: Vec<i64>,
    /// Of these kinds. A single value may be sent without the brackets.
    #[serde(rename = "kind_id[]", skip_serializing_if = "Vec::is_empty")]
    pub kind_id: Vec<i64>,
    /// Of these types. A single value may be sent without the brackets.
    #[serde(rename = "type_id[]", skip_serializing_if = "Vec::is_empty")]
    pub type_id: Vec<i64>,
    /// With this card price. A single value may be sent without the brackets.
    #[serde(rename = "price[]", skip_serializing_if = "Vec::is_empty")]
    pub price: Vec<Money>,
    /// More than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_gt: Option<Money>,
    /// Less than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_lt: Option<Money>,
    /// From this day on, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_from: Option<NaiveDate>,
    /// Up to and including this day, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_to: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<StaffListNomenclaturesOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for StaffListNomenclaturesQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

words! {
    /// Staff list nomenclatures table order by.
    pub enum StaffListNomenclaturesTableOrderBy {
        IdAsc = "id_asc",
        IdDesc = "id_desc",
        NameAsc = "name_asc",
        NameDesc = "name_desc",
        PriceAsc = "price_asc",
        PriceDesc = "price_desc",
        CreatedAtAsc = "created_at_asc",
        CreatedAtDesc = "created_at_desc",
        UpdatedAtAsc = "updated_at_asc",
        UpdatedAtDesc = "updated_at_desc",
    }
}

/// Query of `list_nomenclatures_table`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListNomenclaturesTableQuery {
    /// Words or parts of words of the name and the article, in any order and case. Without `order_by`, the best match
    /// comes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// In exactly these categories. A single value may be sent without the brackets.
    #[serde(rename = "category_id[]", skip_serializing_if = "Vec::is_empty")]
    pub category_id: Vec<i64>,
    /// Of these brands. A single value may be sent without the brackets.
    #[serde(rename = "brand_id[]", skip_serializing_if = "Vec::is_empty")]
    pub brand_id: Vec<i64>,
    /// Of these kinds. A single value may be sent without the brackets.
    #[serde(rename = "kind_id[]", skip_serializing_if = "Vec::is_empty")]
    pub kind_id: Vec<i64>,
    /// Of these types. A single value may be sent without the brackets.
    #[serde(rename = "type_id[]", skip_serializing_if = "Vec::is_empty")]
    pub type_id: Vec<i64>,
    /// With this card price. A single value may be sent without the brackets.
    #[serde(rename = "price[]", skip_serializing_if = "Vec::is_empty")]
    pub price: Vec<Money>,
    /// More than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_gt: Option<Money>,
    /// Less than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_lt: Option<Money>,
    /// From this day on, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_from: Option<NaiveDate>,
    /// Up to and including this day, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_to: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<StaffListNomenclaturesTableOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for StaffListNomenclaturesTableQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

words! {
    /// Staff list subcategories table order by.
    pub enum StaffListSubcategoriesTableOrderBy {
        IdAsc = "id_asc",
        IdDesc = "id_desc",
        CodeAsc = "code_asc",
        CodeDesc = "code_desc",
        NameAsc = "name_asc",
        NameDesc = "name_desc",
        CreatedAtAsc = "created_at_asc",
        CreatedAtDesc = "created_at_desc",
        UpdatedAtAsc = "updated_at_asc",
        UpdatedAtDesc = "updated_at_desc",
    }
}
