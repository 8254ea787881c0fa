// Written by generate.py from docs/openapi.json.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use super::*;
use crate::Numbered;

/// Query of `list_subcategories_table`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListSubcategoriesTableQuery {
    /// Part of the name, in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// From this day on, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_from: Option<NaiveDate>,
    /// Up to and including this day, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_to: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<StaffListSubcategoriesTableOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for StaffListSubcategoriesTableQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

/// Staff tag list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StaffTagList {
    pub tags: Vec<StaffTagRecord>,
    #[serde(rename = "tagsCount")]
    pub tags_count: i64,
}

/// Staff tag record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StaffTagRecord {
    pub created_at: DateTime<Utc>,
    pub id: i64,
    pub name: String,
    pub photo: Option<PhotoRecord>,
}
