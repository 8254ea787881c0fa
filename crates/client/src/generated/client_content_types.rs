// Written by generate.py from docs/openapi.json.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::*;
use crate::{Numbered, Page};

/// Block with its child blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientBlockRecord {
    pub avatar: Option<PhotoRecord>,
    pub block_type: NamedRecord,
    /// Child blocks, ordered by code.
    pub children: Vec<ClientBlockRecord>,
    /// Code of the block, unique in the application.
    pub code: i64,
    pub created_at: DateTime<Utc>,
    pub file: Option<PhotoRecord>,
    pub id: i64,
    /// Text identifier of the block, unique in the application.
    pub identifier: String,
    pub link: Option<String>,
    pub name: String,
    /// Parent block. `null` for a root block.
    pub parent: Option<NamedRecord>,
    /// HTML, sanitized like the content of pages.
    pub text: Option<String>,
}

/// Content block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientBlockResponse {
    pub block: ClientBlockRecord,
}

/// Content page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientPageRecord {
    pub author: Option<NamedRecord>,
    /// HTML without scripts, styles and frames of other sites.
    pub content: String,
    pub created_at: DateTime<Utc>,
    pub description: Option<String>,
    pub id: i64,
    pub preview: Option<PhotoRecord>,
    pub slug: String,
    pub tags: Vec<PageTagRecord>,
    pub title: String,
    pub views_count: i64,
}

/// Content page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientPageResponse {
    pub page: ClientPageRecord,
}

/// Content page types.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientPageTypeList {
    pub items: Vec<PageTypeRecord>,
    #[serde(rename = "itemsCount")]
    pub items_count: i64,
}

/// Client pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientPages {
    pub pages: PagesRecord,
}

impl Page for ClientPages {
    type Item = ClientPageRecord;

    fn total(&self) -> i64 {
        self.pages.total
    }

    fn into_items(self) -> Vec<ClientPageRecord> {
        self.pages.data
    }
}

words! {
    /// List pages order by.
    pub enum ListPagesOrderBy {
        DateAsc = "date_asc",
        DateDesc = "date_desc",
        PopularityAsc = "popularity_asc",
        PopularityDesc = "popularity_desc",
    }
}

/// Query of `list_pages`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ListPagesQuery {
    /// Filter by page type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_type_id: Option<i64>,
    /// Words to search in title, description and content. Each word must match a part of a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// `date_asc`, `date_desc`, `popularity_asc` or `popularity_desc`. Newest first by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<ListPagesOrderBy>,
    /// Ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    /// At most 100, 10 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for ListPagesQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

/// Menu.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Menu {
    #[serde(rename = "menuItems")]
    pub menu_items: MenuNode,
}

/// Menu item with its child items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MenuNode {
    pub avatar: Option<PhotoRecord>,
    /// Child items, in menu order.
    pub children: Vec<MenuNode>,
    /// Code of the item, unique in the application.
    pub code: i64,
    pub name: String,
    /// URL of the picture, or of a placeholder if the item has none.
    pub preview: String,
    /// URL of the application followed by the slug. If the application has no URL: `/` and the slug.
    pub url: String,
}

/// Tag of a content page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PageTagRecord {
    pub id: i64,
    pub name: String,
}

/// Page type record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PageTypeRecord {
    pub created_at: DateTime<Utc>,
    pub id: i64,
    pub name: String,
    pub photo: Option<Picture>,
}

/// One page of the list of content pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PagesRecord {
    pub current_page: i64,
    pub data: Vec<ClientPageRecord>,
    pub last_page: i64,
    pub per_page: i64,
    pub total: i64,
}

/// Project menu.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProjectMenu {
    #[serde(rename = "menuItems")]
    pub menu_items: Vec<MenuNode>,
    #[serde(rename = "menuItemsCount")]
    pub menu_items_count: i64,
}
