//! Table of content pages.

use kontor_content::model::Page;
use kontor_kernel::PageTypeId;
use kontor_kernel::listing::Sort;

use crate::table::{Cell, Column, Filter, Table, list_params};

/// Table of `GET /api/tables/pages`.
pub(super) const TABLE: Table<Page> = Table {
    id: 51,
    resource: "pages",
    version: Some(|row| row.version.into()),
    columns: &[
        Column::new("id", "No.", |page| Cell::plain(page.id.get())),
        Column::with_icon("title", "Title", |page| Cell::Linked {
            value: page.content.title.as_str().into(),
            icon: page.content.preview.as_ref().map(ToString::to_string),
            link: Some(format!("/api/pages/{}", page.id)),
        }),
        Column::new("slug", "Slug", |page| Cell::plain(page.content.slug.as_str())),
        Column::new("page_type", "Type", |page| Cell::plain(page.page_type.as_ref().map(|(_, name)| name.as_str()))),
        Column::new("tags", "Tags", |page| {
            let names: Vec<&str> = page.tags.iter().map(|tag| tag.name.as_str()).collect();
            Cell::plain(names.join(", "))
        }),
        Column::new("author", "Author", |page| Cell::plain(page.author.as_ref().map(|(_, name)| name.as_str()))),
        Column::new("views_count", "Views", |page| Cell::plain(page.views_count)),
        Column::new("is_active", "Shown", |page| Cell::plain(page.content.is_active)),
        Column::new("is_fallback", "Fallback", |page| Cell::plain(page.content.is_fallback)),
        Column::new("created_at", "Created", |page| Cell::moment(page.created_at)),
        Column::new("updated_at", "Changed", |page| Cell::moment(page.updated_at)),
    ],
    sorts: &["id", "title", "views_count", "created_at", "updated_at"],
    filters: &[
        Filter::id::<PageTypeId>("page_type_id", "Of these types."),
        Filter::flag("is_active", "Whether customers see it."),
    ],
    search: Some("Words or parts of words. Each must occur in the title, description or text."),
    period: Some("created_at"),
    order: Sort::descending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tables/pages`.
    PageParams of TABLE
}
