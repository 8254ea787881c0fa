// Written by generate.py from docs/openapi.json.

use super::*;
use crate::{Call, ClientSurface, Method, Pages, segment};

impl ClientSurface {
    /// Get a content block by identifier.
    ///
    /// Returns a block of the calling application with its children.
    ///
    /// `GET /api/counterparty/blocks/id/{identifier}`
    pub fn show_block_by_identifier(&self, identifier: &str) -> Call<ClientBlockResponse> {
        self.call(Method::GET, &format!("/api/counterparty/blocks/id/{}", segment(identifier)))
    }

    /// Get a content block by code.
    ///
    /// Returns a block of the calling application with its children.
    ///
    /// `GET /api/counterparty/blocks/{code}`
    pub fn show_block_by_code(&self, code: i64) -> Call<ClientBlockResponse> {
        self.call(Method::GET, &format!("/api/counterparty/blocks/{code}"))
    }

    /// Get the default menu.
    ///
    /// Returns the menu `navpanel` of the calling application.
    ///
    /// `GET /api/counterparty/menus`
    pub fn show_default_menu(&self) -> Call<Menu> {
        self.call(Method::GET, "/api/counterparty/menus")
    }

    /// List the items of the project's menu.
    ///
    /// The name must match exactly.
    ///
    /// `GET /api/counterparty/menus/{name}/items`
    pub fn list_project_menu(&self, name: &str) -> Call<ProjectMenu> {
        self.call(Method::GET, &format!("/api/counterparty/menus/{}/items", segment(name)))
    }

    /// Get a menu by slug.
    ///
    /// Returns the root item with this slug and its children.
    ///
    /// `GET /api/counterparty/menus/{slug}`
    pub fn show_menu(&self, slug: &str) -> Call<Menu> {
        self.call(Method::GET, &format!("/api/counterparty/menus/{}", segment(slug)))
    }

    /// List content page types.
    ///
    /// `GET /api/counterparty/page_types`
    pub fn list_page_types(&self) -> Call<ClientPageTypeList> {
        self.call(Method::GET, "/api/counterparty/page_types")
    }

    /// List content pages.
    ///
    /// Returns the visible content pages of the project.
    ///
    /// `GET /api/counterparty/pages`
    pub fn list_pages(&self, query: &ListPagesQuery) -> Call<ClientPages> {
        self.call(Method::GET, "/api/counterparty/pages").query(query)
    }

    /// Reads [`list_pages`](Self::list_pages) page by page, from the first page.
    pub fn list_pages_pages(&self, query: ListPagesQuery) -> Pages<ListPagesQuery, ClientPages> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_pages(query))
    }

    /// Get a content page.
    ///
    /// Counts a view, at most once in 10 minutes per IP address. A project can define a fallback page, which is
    /// returned instead of pages that do not exist. To detect it, compare `slug`.
    ///
    /// `GET /api/counterparty/pages/{slug}`
    pub fn show_page(&self, slug: &str) -> Call<ClientPageResponse> {
        self.call(Method::GET, &format!("/api/counterparty/pages/{}", segment(slug)))
    }
}
