//! Content as customers see it: pages, menus and blocks.

use futures_util::future::join_all;
use kontor_kernel::listing::Sort;
use kontor_kernel::{
    AppScope, BlockTypeId, Edit, ListedDeletableRepository, Listing, MoveDirection, Name, PageRequest, PageTypeId,
    ProjectId, RecordError,
};

use super::{Fixture, fresh, inserted, place, stamp};
use crate::model::{
    Block, BlockDraft, MenuItem, MenuItemChange, Page, PageChange, PageDraft, PageFilter, PageOrder, PageQueryText,
    PartCode, PlaceDraft, Slug, TagName, TagNames,
};
use crate::ports::{BlockKey, PageReader, PartOrder, PartReader, PartRepository};
use crate::{PageError, PageRefusal, PartError};

fn all() -> PageRequest {
    PageRequest::new(1, 100, 100).unwrap()
}

fn oldest_first() -> Listing {
    Listing::unfiltered(Sort::ascending("id"), all())
}

fn is_missing<T>(outcome: &Result<T, PartError>) -> bool {
    matches!(outcome, Err(RecordError::NotFound))
}

/// Other applications neither show, change nor delete the parts of an application.
pub async fn parts_stay_in_their_application<F: Fixture>(fixture: &F) {
    let (store, app, other) = (fixture.store(), fixture.app().await, fixture.app().await);
    let item = inserted(fixture, app, place()).await.unwrap();
    let items: &dyn PartRepository<MenuItem> = &*store;
    let owner = items.owner(app.application_id).await.unwrap().unwrap();
    assert_eq!(owner.within(other.project_id), None);
    for (project, application) in [(other.project_id, other.application_id), (other.project_id, app.application_id)] {
        let changed = items.update(stamp(project), application, item.id, MenuItemChange::default()).await;
        assert!(is_missing(&changed), "{changed:?}");
        let deleted = items.delete(stamp(project), application, item.id).await;
        assert!(is_missing(&deleted), "{deleted:?}");
        let moved = store.shift(stamp(project), application, item.id, MoveDirection::Up).await;
        assert!(is_missing(&moved), "{moved:?}");
        assert_eq!(items.page(project, application, oldest_first()).await.unwrap().total, 0);
    }
    let found = items.find(item.id).await.unwrap().unwrap();
    assert_eq!(found.within(app.project_id), Some(item.clone()));
    items.delete(stamp(app.project_id), app.application_id, item.id).await.unwrap();
    assert!(items.find(item.id).await.unwrap().is_none());
}

async fn block<F: Fixture>(fixture: &F, app: AppScope, code: i64, parent: Option<&Block>) -> Block {
    let draft = BlockDraft {
        place: PlaceDraft {
            parent_id: parent.map(|parent| parent.id),
            code: PartCode::new(code).ok(),
            slug: Slug::parse(&format!("block-{}", fresh())).ok(),
        },
        name: Name::parse("Banner").unwrap(),
        avatar: None,
        block_type_id: BlockTypeId::new(1).unwrap(),
        link: None,
        file: None,
        text: None,
    };
    PartRepository::<Block>::insert(&*fixture.store(), stamp(app.project_id), app.application_id, draft).await.unwrap()
}

/// Customers see a menu item and a block of their application with all descendants: items by position, blocks by code.
pub async fn customers_see_whole_trees<F: Fixture>(fixture: &F) {
    let (store, app, other) = (fixture.store(), fixture.app().await, fixture.app().await);
    let root = inserted(fixture, app, place()).await.unwrap();
    let mut items = Vec::new();
    for _ in 0..3 {
        items.push(inserted(fixture, app, PlaceDraft { parent_id: Some(root.id), ..place() }).await.unwrap());
    }
    let below = inserted(fixture, app, PlaceDraft { parent_id: Some(items[0].id), ..place() }).await.unwrap();
    let shift = store.shift(stamp(app.project_id), app.application_id, items[2].id, MoveDirection::Up);
    shift.await.unwrap();
    let menu = store.menu(app, root.place.slug.clone()).await.unwrap().unwrap().root;
    let slugs: Vec<_> = menu.children.iter().map(|child| &child.record.slug).collect();
    assert_eq!(slugs, [&items[0].place.slug, &items[2].place.slug, &items[1].place.slug]);
    assert_eq!(menu.children[0].children[0].record.slug, below.place.slug);
    assert_eq!(store.menu(app, items[0].place.slug.clone()).await.unwrap().unwrap().root, menu.children[0]);
    assert!(store.menu(other, root.place.slug).await.unwrap().is_none());

    let banner = block(fixture, app, 5, None).await;
    let (last, first) = (block(fixture, app, 30, Some(&banner)).await, block(fixture, app, 20, Some(&banner)).await);
    block(fixture, app, 40, None).await;
    let identifier = BlockKey::Identifier(banner.place.slug.clone());
    let code = BlockKey::Code(banner.place.code);
    let shown = store.block(app, identifier.clone()).await.unwrap().unwrap();
    assert_eq!(shown.children.iter().map(|child| child.record.id).collect::<Vec<_>>(), [first.id, last.id]);
    assert_eq!(store.block(app, code.clone()).await.unwrap(), Some(shown));
    for key in [identifier, code] {
        assert!(store.block(other, key).await.unwrap().is_none());
    }
}

fn tags(names: &[&str]) -> TagNames {
    TagNames::new(names.iter().map(|name| TagName::parse(name).unwrap()).collect()).unwrap()
}

/// An active page of type 1.
fn draft(slug: Option<&str>) -> PageDraft {
    PageDraft {
        slug: slug.map(|slug| Slug::parse(slug).unwrap()),
        title: Name::parse("Delivery").unwrap(),
        description: None,
        preview: None,
        html: None,
        page_type_id: PageTypeId::new(1).ok(),
        tags: TagNames::default(),
        is_active: true,
        is_fallback: false,
    }
}

async fn page<F: Fixture>(fixture: &F, project: ProjectId, draft: PageDraft) -> Result<Page, PageError> {
    let store = fixture.store();
    let pages: &dyn ListedDeletableRepository<Page> = &*store;
    pages.insert(stamp(project), draft).await
}

/// Numbers of the pages that customers see.
async fn listed<F: Fixture>(fixture: &F, project: ProjectId, filter: PageFilter, order: PageOrder) -> Vec<i64> {
    let page = PageReader::list(&*fixture.store(), project, filter, order, all()).await.unwrap();
    assert_eq!(page.total, u64::try_from(page.items.len()).unwrap());
    page.items.into_iter().map(|page| page.id.get()).collect()
}

async fn found<F: Fixture>(fixture: &F, project: ProjectId, slug: &str) -> Option<i64> {
    let found = PageReader::find(&*fixture.store(), project, Slug::parse(slug).ok()).await.unwrap();
    found.map(|page| page.id.get())
}

/// Under concurrent calls, a slug belongs to one page of a project.
pub async fn a_slug_leads_to_one_page<F: Fixture>(fixture: &F) {
    let (ours, theirs) = (fixture.app().await.project_id, fixture.app().await.project_id);
    let outcomes = join_all((0..4).map(|_| page(fixture, ours, draft(Some("delivery"))))).await;
    let taken = outcomes.iter().filter(|outcome| matches!(outcome, Err(RecordError::Refused(PageRefusal::SlugTaken))));
    assert_eq!(taken.count(), 3, "{outcomes:?}");
    let own = outcomes.into_iter().find_map(Result::ok).unwrap();
    let foreign = page(fixture, theirs, draft(Some("delivery"))).await.unwrap();
    let derived = page(fixture, ours, draft(None)).await.unwrap();
    assert_ne!(derived.content.slug, own.content.slug, "a derived slug avoids those that are taken");
    let change = PageChange { slug: Edit::Set(own.content.slug.clone()), ..PageChange::default() };
    let store = fixture.store();
    let pages: &dyn ListedDeletableRepository<Page> = &*store;
    let refused = pages.update(stamp(ours), derived.id, change).await;
    assert!(matches!(refused, Err(RecordError::Refused(PageRefusal::SlugTaken))), "{refused:?}");
    assert_eq!(found(fixture, ours, "delivery").await, Some(own.id.get()));
    assert_eq!(found(fixture, theirs, "delivery").await, Some(foreign.id.get()));
}

/// Under concurrent calls, a project has one fallback page. It is shown instead of pages that do not exist.
pub async fn a_project_has_one_fallback_page<F: Fixture>(fixture: &F) {
    let (ours, theirs) = (fixture.app().await.project_id, fixture.app().await.project_id);
    assert_eq!(found(fixture, ours, "missing").await, None);
    let fallback = |number: usize| PageDraft { is_fallback: true, ..draft(Some(&format!("fallback-{number}"))) };
    for outcome in join_all((0..4).map(|number| page(fixture, ours, fallback(number)))).await {
        outcome.unwrap();
    }
    let store = fixture.store();
    let pages: &dyn ListedDeletableRepository<Page> = &*store;
    let marked = pages.page(ours, oldest_first()).await.unwrap().items;
    let marked: Vec<i64> = marked.iter().filter(|page| page.content.is_fallback).map(|page| page.id.get()).collect();
    assert_eq!(marked.len(), 1);
    assert_eq!(found(fixture, ours, "missing").await, marked.first().copied());
    let without_slug = PageReader::find(&*store, ours, None).await.unwrap().unwrap();
    assert_eq!(Some(&without_slug.id.get()), marked.first());
    assert_eq!(found(fixture, theirs, "missing").await, None);
}

/// Customers see the active pages of their project, until they are deleted.
pub async fn customers_see_active_pages<F: Fixture>(fixture: &F) {
    let (ours, theirs) = (fixture.app().await.project_id, fixture.app().await.project_id);
    let text = PageDraft { title: Name::parse("Oak tables").unwrap(), tags: tags(&["Wood", "care"]), ..draft(None) };
    let first = page(fixture, ours, text).await.unwrap().id;
    let news = PageDraft { page_type_id: PageTypeId::new(3).ok(), tags: tags(&["wood"]), ..draft(None) };
    let second = page(fixture, ours, news).await.unwrap().id;
    let hidden = page(fixture, ours, PageDraft { is_active: false, ..draft(Some("hidden")) }).await.unwrap();
    page(fixture, theirs, PageDraft { tags: tags(&["metal"]), ..draft(Some("theirs")) }).await.unwrap();
    let any = PageFilter::default;
    let (first, second, deleted) = (first.get(), second.get(), second);
    assert_eq!(listed(fixture, ours, any(), PageOrder::DateDesc).await, [second, first]);
    assert_eq!(listed(fixture, ours, any(), PageOrder::DateAsc).await, [first, second]);
    let of_type = PageFilter { page_type_id: PageTypeId::new(3).ok(), ..any() };
    assert_eq!(listed(fixture, ours, of_type, PageOrder::DateAsc).await, [second]);
    let with_words = PageFilter { query: PageQueryText::parse("tables").ok(), ..any() };
    assert_eq!(listed(fixture, ours, with_words, PageOrder::DateAsc).await, [first]);
    assert_eq!((found(fixture, ours, "hidden").await, found(fixture, ours, "theirs").await), (None, None));
    let store = fixture.store();
    let names: Vec<String> = store.tags(ours).await.unwrap().into_iter().map(|tag| tag.name.to_string()).collect();
    assert_eq!(names, ["care", "Wood"]);
    assert!(store.types().await.unwrap().iter().any(|page_type| page_type.id.get() == 3));
    let pages: &dyn ListedDeletableRepository<Page> = &*store;
    let refused = pages.delete(stamp(theirs), deleted).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    pages.delete(stamp(ours), deleted).await.unwrap();
    let change = PageChange { is_active: Edit::Set(true), ..PageChange::default() };
    pages.update(stamp(ours), hidden.id, change).await.unwrap();
    assert_eq!(listed(fixture, ours, any(), PageOrder::DateAsc).await, [first, hidden.id.get()]);
}

/// Concurrent views are all counted; those of deleted pages are skipped.
pub async fn views_are_added<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.app().await.project_id);
    let [seldom, often, gone] = [
        page(fixture, project, draft(None)).await.unwrap().id,
        page(fixture, project, draft(None)).await.unwrap().id,
        page(fixture, project, draft(None)).await.unwrap().id,
    ];
    let pages: &dyn ListedDeletableRepository<Page> = &*store;
    pages.delete(stamp(project), gone).await.unwrap();
    let adding = (0..4).map(|_| store.add_views(vec![(gone, 9), (often, 2), (seldom, 1)]));
    for outcome in join_all(adding).await {
        outcome.unwrap();
    }
    let order = [seldom.get(), often.get()];
    assert_eq!(listed(fixture, project, PageFilter::default(), PageOrder::PopularityAsc).await, order);
    let shown = PageReader::list(&*store, project, PageFilter::default(), PageOrder::PopularityDesc, all()).await;
    let views: Vec<u64> = shown.unwrap().items.iter().map(|page| page.views_count).collect();
    assert_eq!(views, [8, 4]);
}
