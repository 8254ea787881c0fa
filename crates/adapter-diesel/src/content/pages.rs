//! Content pages, for staff and for customers.

use std::collections::HashMap;

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_content::model::{
    Page, PageChange, PageContent, PageDraft, PageFilter, PageOrder, PageTag, PageType, Slug, TagNames,
};
use kontor_content::ports::PageReader;
use kontor_content::{PageError, PageRefusal};
use kontor_kernel::listing::Sort;
use kontor_kernel::{
    Edit, Line, Listing, Page as PageOf, PageId, PageRequest, PageTypeId, PhotoUrl, ProjectId, ProjectScoped, Stamp,
    StoreError,
};

use super::parts::Slugs;
use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, Database, Extent, on_duplicate};
use crate::listing::{Source, Totals, of_project, unsearched};
use crate::locks::lock_project;
use crate::read_models::search::{delete_page, note_page, page_text, pages_found, pages_to_find};
use crate::read_models::{VIEW_BATCH, add_views};
use crate::records::{self, DeletableRecord, ListedRecord, RepositoryRecord, StoredRecord};
use crate::schema::{keyed, pages};
use crate::statement::{Statement, by_place};
use crate::{decode, histories, unreadable};

by_place! {
    struct PageRow {
        id: i64,
        project_id: i64,
        type_id: Option<i64>,
        type_name: Option<String>,
        slug: String,
        title: String,
        description: Option<String>,
        preview: Option<String>,
        content: Option<String>,
        is_active: bool,
        is_fallback: bool,
        author_id: Option<i64>,
        author_name: Option<String>,
        views_count: i64,
        version: i64,
        created_at: NaiveDateTime,
        updated_at: NaiveDateTime,
    }
}

const PAGES: &str = "SELECT p.id, p.project_id, p.page_type_id, t.name, p.slug, p.title, p.description, p.preview, p.content, \
    p.is_active, p.is_fallback, p.author_id, u.first_name || ' ' || u.last_name, p.views_count, p.version, p.created_at, \
    p.updated_at FROM pages p \
    LEFT JOIN dictionary_items t ON t.dictionary = 'page_types' AND t.id = p.page_type_id \
    LEFT JOIN users u ON u.id = p.author_id AND u.project_id = p.project_id WHERE p.id";

by_place! {
    struct TagRow {
        page: i64,
        id: i64,
        name: String,
        created_at: NaiveDateTime,
    }
}

fn page(row: PageRow, tags: Vec<PageTag>) -> Result<Page, StoreError> {
    let page_type = row.type_id.zip(row.type_name);
    let author = row.author_id.zip(row.author_name);
    Ok(Page {
        id: decode::id(row.id)?,
        content: PageContent {
            slug: decode::text(&row.slug)?,
            title: decode::owned(row.title)?,
            description: row.description.map(decode::owned).transpose()?,
            preview: decode::optional_text(row.preview.as_deref())?,
            html: decode::optional_text(row.content.as_deref())?,
            is_active: row.is_active,
            is_fallback: row.is_fallback,
        },
        page_type: page_type
            .map(|(id, name)| Ok::<_, StoreError>((decode::id(id)?, decode::owned(name)?)))
            .transpose()?,
        tags,
        author: author.map(|(id, name)| Ok::<_, StoreError>((decode::id(id)?, name.trim().to_owned()))).transpose()?,
        views_count: decode::count(row.views_count)?,
        version: decode::count(row.version)?,
        created_at: decode::moment(row.created_at),
        updated_at: decode::moment(row.updated_at),
    })
}

/// Loads these content pages in this order, those that are left out.
pub(super) fn load<R>(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<ProjectScoped<Page>>, Abort<R>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<PageRow> = Statement::new(PAGES).among(ids).rows(connection)?;
    Ok(records::in_order_of(ids, with_tags(connection, rows, ids)?)?)
}

/// Loads the content page whose id this statement selects.
fn load_one<R>(connection: &mut AnyConnection, which: Statement) -> Result<Option<ProjectScoped<Page>>, Abort<R>> {
    let found = Statement::new(PAGES).sql(" = (").then(which).sql(")");
    let row: Option<PageRow> = found.row(connection).optional()?;
    let Some(row) = row else { return Ok(None) };
    let ids = [row.id];
    Ok(records::in_order_of(&ids, with_tags(connection, vec![row], &ids)?)?.pop())
}

/// A content page with its id and its project id.
type Numbered = (i64, i64, Result<Page, StoreError>);

fn with_tags<R>(connection: &mut AnyConnection, rows: Vec<PageRow>, ids: &[i64]) -> Result<Vec<Numbered>, Abort<R>> {
    let tags: Vec<TagRow> = Statement::new(
        "SELECT l.page_id, g.id, g.name, g.created_at FROM page_tag_links l JOIN page_tags g ON g.id = l.page_tag_id \
         AND g.project_id = l.project_id \
         WHERE l.page_id",
    )
    .among(ids)
    .sql(" ORDER BY l.page_id, l.position")
    .rows(connection)?;
    let mut tagged: HashMap<i64, Vec<PageTag>> = HashMap::new();
    for TagRow { page, id, name, created_at } in tags {
        let tag = PageTag { id: decode::id(id)?, name: decode::owned(name)?, created_at: decode::moment(created_at) };
        tagged.entry(page).or_default().push(tag);
    }
    let with_tags = rows.into_iter().map(|row| {
        let tags = tagged.remove(&row.id).unwrap_or_default();
        (row.id, row.project_id, page(row, tags))
    });
    Ok(with_tags.collect())
}

impl StoredRecord for Page {
    const TABLE: &'static str = "pages";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        Ok(load(connection, &[id])?.pop())
    }
}

const SLUGS: Slugs = Slugs { table: "pages", within: "project_id" };

fn require_type(connection: &mut AnyConnection, id: Option<PageTypeId>) -> Result<(), Abort<PageError>> {
    let Some(id) = id else { return Ok(()) };
    let known = Statement::new("SELECT id FROM dictionary_items WHERE dictionary = 'page_types' AND id = ");
    if known.value(id.get()).finds(connection)? { Ok(()) } else { Err(Abort::refused(PageRefusal::UnknownType)) }
}

/// Removes the fallback flag from the other content pages of the project.
fn clear_other_fallbacks(connection: &mut AnyConnection, stamp: &Stamp, but: Option<i64>) -> QueryResult<()> {
    lock_project(connection, stamp.project_id)?;
    let others = pages::table
        .filter(pages::project_id.eq(stamp.project_id.get()))
        .filter(pages::is_fallback.eq(true))
        .filter(pages::id.ne(but.unwrap_or_default()));
    diesel::update(others)
        .set((
            pages::is_fallback.eq(false),
            pages::version.eq(pages::version + 1),
            pages::updated_at.eq(stamp.at.naive_utc()),
        ))
        .execute(connection)?;
    Ok(())
}

/// Returns the ids of these tags, creating new ones.
fn tags(connection: &mut AnyConnection, stamp: &Stamp, names: &TagNames) -> QueryResult<Vec<i64>> {
    let mut ids = Vec::with_capacity(names.names().len());
    for name in names.names() {
        let id = Statement::new("INSERT INTO page_tags (project_id, name, name_key, created_at) VALUES ")
            .tuple([
                stamp.project_id.get().into(),
                name.as_str().into(),
                name.key().into(),
                stamp.at.naive_utc().into(),
            ])
            .sql(" ON CONFLICT (project_id, name_key) DO UPDATE SET name_key = page_tags.name_key RETURNING id")
            .scalar(connection)?;
        ids.push(id);
    }
    Ok(ids)
}

fn link_tags(connection: &mut AnyConnection, stamp: &Stamp, page: i64, names: &TagNames) -> QueryResult<()> {
    unlink_tags(connection, stamp, page)?;
    let tags = tags(connection, stamp, names)?;
    if tags.is_empty() {
        return Ok(());
    }
    let project = stamp.project_id.get();
    let rows =
        tags.into_iter().zip(1_i64..).map(|(tag, place)| [project.into(), page.into(), place.into(), tag.into()]);
    Statement::new("INSERT INTO page_tag_links (project_id, page_id, position, page_tag_id) VALUES ")
        .tuples(rows)
        .run(connection)?;
    Ok(())
}

fn unlink_tags(connection: &mut AnyConnection, stamp: &Stamp, page: i64) -> QueryResult<usize> {
    let linked = Statement::new("DELETE FROM page_tag_links WHERE project_id = ").value(stamp.project_id.get());
    linked.sql(" AND page_id = ").value(page).run(connection)
}

impl RepositoryRecord for Page {
    fn of_project(connection: &mut AnyConnection, project: i64) -> Result<Vec<Self>, Abort<StoreError>> {
        let ids = pages::table.filter(pages::project_id.eq(project)).order(pages::id).select(pages::id);
        let ids: Vec<i64> = ids.load(connection)?;
        let project = decode::id(project)?;
        Ok(records::within(unreadable::records(connection, Self::TABLE, &ids, load)?, project))
    }

    fn insert(connection: &mut AnyConnection, stamp: &Stamp, draft: &PageDraft) -> Result<i64, Abort<PageError>> {
        require_type(connection, draft.page_type_id)?;
        let slug = if let Some(slug) = &draft.slug {
            slug.clone()
        } else {
            lock_project(connection, stamp.project_id)?;
            SLUGS.free(connection, stamp.project_id.get(), &Slug::of(&draft.title, "page"))?
        };
        if draft.is_fallback {
            clear_other_fallbacks(connection, stamp, None)?;
        }
        let content = PageContent {
            slug,
            title: draft.title.clone(),
            description: draft.description.clone(),
            preview: draft.preview.clone(),
            html: draft.html.clone(),
            is_active: draft.is_active,
            is_fallback: draft.is_fallback,
        };
        let readable = content.readable();
        let text = page_text(readable.iter().map(String::as_str));
        let (author, _) = histories::author(stamp);
        let id: i64 = diesel::insert_into(pages::table)
            .values((
                (
                    pages::project_id.eq(stamp.project_id.get()),
                    pages::page_type_id.eq(draft.page_type_id.map(PageTypeId::get)),
                    pages::slug.eq(content.slug.as_str()),
                    pages::title.eq(content.title.as_str()),
                    pages::sort_key.eq(sort_key(&content.title)),
                    pages::description.eq(content.description.as_deref()),
                    pages::preview.eq(content.preview.as_ref().map(PhotoUrl::as_str)),
                    pages::content.eq(content.html.as_deref()),
                ),
                (
                    pages::is_active.eq(content.is_active),
                    pages::is_fallback.eq(content.is_fallback),
                    pages::author_id.eq(author),
                    pages::search_text.eq(text.line()),
                    pages::version.eq(1),
                    pages::created_at.eq(stamp.at.naive_utc()),
                    pages::updated_at.eq(stamp.at.naive_utc()),
                ),
            ))
            .returning(pages::id)
            .get_result(connection)
            .map_err(on_duplicate(PageRefusal::SlugTaken))?;
        note_page(connection, stamp.project_id, id, &text)?;
        link_tags(connection, stamp, id, &draft.tags)?;
        Ok(id)
    }

    fn update(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        before: &Self,
        change: &PageChange,
    ) -> Result<usize, Abort<PageError>> {
        let id = before.id.get();
        require_type(connection, change.page_type_id.set_value().copied())?;
        if change.is_fallback == Edit::Set(true) {
            clear_other_fallbacks(connection, stamp, Some(id))?;
        }
        let old = before.content.clone();
        let content = PageContent {
            slug: change.slug.clone().or(old.slug),
            title: change.title.clone().or(old.title),
            description: change.description.clone().or(old.description),
            preview: change.preview.clone().or(old.preview),
            html: change.html.clone().or(old.html),
            is_active: change.is_active.or(old.is_active),
            is_fallback: change.is_fallback.or(old.is_fallback),
        };
        let reads_alike = |page: &PageContent| {
            let own = &before.content;
            (&page.title, &page.description, &page.html) == (&own.title, &own.description, &own.html)
        };
        let text = (!reads_alike(&content)).then(|| page_text(content.readable().iter().map(String::as_str)));
        if let Some(text) = &text {
            note_page(connection, stamp.project_id, id, text)?;
        }
        if let Edit::Set(names) = &change.tags {
            link_tags(connection, stamp, id, names)?;
        }
        diesel::update(keyed!(pages, id, stamp.project_id))
            .set((
                pages::slug.eq(content.slug.as_str()),
                pages::title.eq(content.title.as_str()),
                pages::sort_key.eq(sort_key(&content.title)),
                pages::description.eq(content.description.as_deref()),
                pages::preview.eq(content.preview.as_ref().map(PhotoUrl::as_str)),
                pages::content.eq(content.html.as_deref()),
                pages::is_active.eq(content.is_active),
                pages::is_fallback.eq(content.is_fallback),
                text.map(|text| pages::search_text.eq(text.line())),
                change.page_type_id.as_set().map(|id| pages::page_type_id.eq(id.map(PageTypeId::get))),
                pages::version.eq(pages::version + 1),
                pages::updated_at.eq(stamp.at.naive_utc()),
            ))
            .execute(connection)
            .map_err(on_duplicate(PageRefusal::SlugTaken))
    }
}

impl DeletableRecord for Page {
    fn delete(connection: &mut AnyConnection, stamp: &Stamp, before: &Self) -> Result<usize, Abort<PageError>> {
        let id = before.id.get();
        unlink_tags(connection, stamp, id)?;
        delete_page(connection, id)?;
        Ok(diesel::delete(keyed!(pages, id, stamp.project_id)).execute(connection)?)
    }
}

impl ListedRecord for Page {
    const SOURCE: Source = Source {
        from: "pages p",
        id: "p.id",
        fields: &[
            ("id", "p.id"),
            ("title", "p.sort_key"),
            ("page_type_id", "p.page_type_id"),
            ("is_active", "p.is_active"),
            ("views_count", "p.views_count"),
            ("created_at", "p.created_at"),
            ("updated_at", "p.updated_at"),
        ],
        search: unsearched,
    };
    const PROJECT: &'static str = "p.project_id";

    fn load_many(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<ProjectScoped<Self>>, Abort<StoreError>> {
        load(connection, ids)
    }

    fn source_of_found(connection: &AnyConnection) -> Source {
        Source { from: pages_to_find(connection), ..Self::SOURCE }
    }

    fn found(connection: &AnyConnection, project: ProjectId, text: &Line<255>) -> Statement {
        pages_found(connection, project, text)
    }
}

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
            Ok(found
                .with_items(records::within(unreadable::records(connection, "pages", &found.items, load)?, project)))
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
                Ok(load_one(connection, Statement::new("SELECT ").then(which))?.and_then(|page| page.within(project)))
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
            for views in views.chunks(VIEW_BATCH) {
                add_views(connection, "pages", views)?;
            }
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use kontor_kernel::listing::Sort;
    use kontor_kernel::{Listing, PageRequest};

    use super::*;
    use crate::listing::of_project;
    use crate::testing::{Kind, TestDatabase};

    #[tokio::test]
    async fn matches_are_counted_and_sorted_without_their_texts() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        for text in ["oak table", "*"] {
            for field in ["created_at", "views_count", "updated_at", "id"] {
                let read = db.database.read(move |connection| {
                    let project = ProjectId::new(1).unwrap();
                    let text = Line::parse(text).unwrap();
                    let all = Listing::unfiltered(Sort::descending(field), PageRequest::new(1, 15, 100).unwrap());
                    let listing = Listing { text: Some(text.clone()), ..all }.among("page_type_id", [1]);
                    let source = Page::source_of_found(connection);
                    let own = of_project(Page::PROJECT, project, &listing)
                        .sql(" AND p.is_active = TRUE AND ")
                        .then(Page::found(connection, project, &text));
                    source.plan_of(connection, own, &listing)
                });
                let plan = read.await.unwrap();
                assert!(plan.contains("USING COVERING INDEX pages_found (id=?"), "{text}, {field}: {plan}");
            }
        }
    }
}
