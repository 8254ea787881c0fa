//! Content pages for customers.

use async_trait::async_trait;
use chrono::NaiveDateTime;
use kontor_content::model::{Page, PageFilter, PageOrder, PageTag, PageType, Slug};
use kontor_content::ports::PageReader;
use kontor_kernel::listing::Sort;
use kontor_kernel::{Listing, Page as PageOf, PageId, PageRequest, PageTypeId, ProjectId, StoreError};

use super::pages;
use crate::database::{Abort, AnyConnection, Database, Extent};
use crate::decode;
use crate::listing::{Totals, of_project};
use crate::read_models::views::{VIEWED, add_views};
use crate::records::{self, ListedRecord as _};
use crate::statement::{Statement, by_place};
use crate::unreadable;

by_place! {
    struct NamedRow {
        id: i64,
        name: String,
        avatar: Option<String>,
        created_at: NaiveDateTime,
    }
}

fn sort(order: PageOrder) -> Sort {
    match order {
        PageOrder::DateAsc => Sort::ascending("created_at"),
        PageOrder::DateDesc => Sort::descending("created_at"),
        PageOrder::PopularityAsc => Sort::ascending("views_count"),
        PageOrder::PopularityDesc => Sort::descending("views_count"),
    }
}

#[async_trait]
impl PageReader for Database {
    async fn list(
        &self,
        project: ProjectId,
        filter: PageFilter,
        order: PageOrder,
        page: PageRequest,
    ) -> Result<PageOf<Page>, StoreError> {
        let totals = self.memory::<Totals>();
        // A text search may take long.
        let extent = if filter.query.is_some() { Extent::Any } else { Extent::Page };
        let work = move |connection: &mut AnyConnection| {
            let text = filter.query.as_ref().map(|text| text.line().clone());
            let mut listing = Listing { text, ..Listing::unfiltered(sort(order), page) };
            let mut shown = of_project(Page::PROJECT, project, &listing).sql(" AND p.is_active = TRUE");
            let mut source = Page::SOURCE;
            if let Some(text) = &listing.text {
                shown = shown.sql(" AND ").then(Page::found(connection, project, text));
                source = Page::source_of_found(connection);
            }
            let of_type = filter.page_type_id.map(PageTypeId::get);
            if let Some(of_type) = of_type {
                listing = listing.among("page_type_id", [of_type]);
            }
            let found = source.page_of_many(connection, shown, &listing, &totals)?;
            Ok(found.with_items(records::within(
                unreadable::records(connection, "pages", &found.items, pages::load)?,
                project,
            )))
        };
        self.expecting(extent).snapshot(work).await
    }

    async fn find(&self, project: ProjectId, slug: Option<Slug>) -> Result<Option<Page>, StoreError> {
        self.expecting(Extent::Keys)
            .snapshot(move |connection| {
                let of_project = || {
                    Statement::new("(SELECT id FROM pages WHERE is_active = TRUE AND project_id = ")
                        .value(project.get())
                };
                let instead = of_project().sql(" AND is_fallback = TRUE)");
                let which = match &slug {
                    Some(slug) => {
                        let own = of_project().sql(" AND slug = ").value(slug.as_str()).sql(")");
                        Statement::new("coalesce(").then(own).sql(", ").then(instead).sql(")")
                    }
                    None => instead,
                };
                Ok(pages::load_one(connection, Statement::new("SELECT ").then(which))?
                    .and_then(|page| page.within(project)))
            })
            .await
    }

    async fn types(&self) -> Result<Vec<PageType>, StoreError> {
        self.read(|connection| {
            let all =
                "SELECT id, name, avatar, created_at FROM dictionary_items WHERE dictionary = 'page_types' ORDER BY id";
            let rows: Vec<NamedRow> = Statement::new(all).rows(connection)?;
            let page_type = |row: NamedRow| {
                Ok(PageType {
                    id: decode::id(row.id)?,
                    name: decode::owned(row.name)?,
                    photo: row.avatar,
                    created_at: decode::moment(row.created_at),
                })
            };
            Ok(unreadable::rows("dictionary_items", rows, |row| row.id, page_type)?)
        })
        .await
    }

    async fn tags(&self, project: ProjectId) -> Result<Vec<PageTag>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<NamedRow> =
                Statement::new("SELECT id, name, NULL, created_at FROM page_tags WHERE project_id = ")
                    .value(project.get())
                    .sql(" ORDER BY name_key, id")
                    .rows(connection)?;
            let tag = |row: NamedRow| {
                let (id, name) = (decode::id(row.id)?, decode::owned(row.name)?);
                Ok(PageTag { id, name, created_at: decode::moment(row.created_at) })
            };
            Ok(unreadable::rows("page_tags", rows, |row| row.id, tag)?)
        })
        .await
    }

    async fn add_views(&self, views: Vec<(PageId, u64)>) -> Result<(), StoreError> {
        let mut views: Vec<(i64, u64)> = views.into_iter().map(|(id, count)| (id.get(), count)).collect();
        views.sort_unstable();
        self.write(move |connection| {
            for views in views.chunks(VIEWED) {
                add_views(connection, "pages", views)?;
            }
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }
}
