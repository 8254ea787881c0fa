//! Contract of the storage ports of files, content pages, menus, blocks and slides, for every implementation.
//!
//! Each function checks one promise of the ports and panics if it is broken. An adapter implements [`Fixture`]
//! on a fresh storage and runs every function with a storage of its own.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a broken promise fails the test that runs it"
)]

mod reading;
mod slides;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kontor_kernel::listing::Sort;
use kontor_kernel::{
    AppScope, Edit, FileId, ListedDeletableRepository, Listing, MenuItemId, MoveDirection, Name, PageRequest,
    ProjectId, RecordError, Stamp, UserId,
};

use crate::model::{
    Block, FileKey, FileType, MediaType, MenuItem, MenuItemChange, MenuItemDraft, NewFile, Page, PartCode, PlaceChange,
    PlaceDraft, Sha256, Slug, StoredContent, TreeRefusal,
};
use crate::ports::{FileRepository, PageReader, PartOrder, PartReader, PartRepository};
use crate::{PartError, PartRefusal};

pub use reading::*;
pub use slides::*;

/// Storage under test.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// Type of the storage.
    type Store: FileRepository
        + PartRepository<MenuItem>
        + PartRepository<Block>
        + PartOrder<MenuItem>
        + PartReader
        + ListedDeletableRepository<Page>
        + PageReader
        + 'static;

    /// Returns the storage under test. At the beginning it has no files.
    fn store(&self) -> Arc<Self::Store>;

    /// Returns an application of a new project.
    async fn app(&self) -> AppScope;

    /// Returns a new employee of the project.
    async fn employee(&self, project: ProjectId) -> UserId;
}

/// Number that never repeats in a process.
fn fresh() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn noon() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::hours(12)
}

fn after(minutes: i64) -> DateTime<Utc> {
    noon() + TimeDelta::minutes(minutes)
}

fn stamp(project: ProjectId) -> Stamp {
    Stamp::of_system(project, noon())
}

fn content() -> StoredContent {
    StoredContent { size: 1_000, sha256: Sha256::parse(&"ab".repeat(32)).unwrap() }
}

/// A record that waits an hour for its content.
async fn pending<F: Fixture>(fixture: &F, project_id: ProjectId) -> FileId {
    let new = NewFile {
        project_id,
        file_type: FileType::EmploymentContract,
        key: FileKey::parse(&format!("{:0>40}", fresh())).unwrap(),
        name: Name::parse("contract.pdf").unwrap(),
        media: MediaType::Pdf,
        dimensions: None,
        order_id: None,
        creator_id: fixture.employee(project_id).await,
        created_at: noon(),
        expires_at: after(60),
    };
    fixture.store().insert_pending(new).await.unwrap()
}

async fn stored<F: Fixture>(fixture: &F, project: ProjectId) -> FileId {
    let id = pending(fixture, project).await;
    fixture.store().complete(stamp(project), id, content()).await.unwrap().unwrap();
    id
}

/// Files whose content is to be removed, leased for five minutes.
async fn orphaned<F: Fixture>(fixture: &F, owner: &str, now: DateTime<Utc>) -> Vec<FileId> {
    let again_at = now + TimeDelta::minutes(5);
    let taken = fixture.store().take_orphaned_files(owner, now, again_at, 100).await.unwrap();
    taken.into_iter().map(|file| file.id).collect()
}

/// A file is found after its content is stored, and until it is deleted. Under concurrent calls, both happen once.
pub async fn a_file_is_found_with_its_content<F: Fixture>(fixture: &F) {
    let (store, app, other) = (fixture.store(), fixture.app().await, fixture.app().await);
    let id = pending(fixture, app.project_id).await;
    assert!(FileRepository::find(&*store, id).await.unwrap().is_none());
    assert!(store.complete(stamp(other.project_id), id, content()).await.unwrap().is_none());
    let outcomes = join_all((0..4).map(|_| store.complete(stamp(app.project_id), id, content()))).await;
    let completed: Vec<_> = outcomes.into_iter().filter_map(Result::unwrap).collect();
    assert_eq!(completed.len(), 1);
    let found = FileRepository::find(&*store, id).await.unwrap().unwrap();
    assert_eq!(found.within(app.project_id).as_ref(), completed.first());
    assert_eq!(store.find_by_key(completed[0].key.clone()).await.unwrap().as_ref(), completed.first());
    assert!(orphaned(fixture, "worker", after(600)).await.is_empty());
    let refused = FileRepository::delete(&*store, stamp(other.project_id), id).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    let outcomes = join_all((0..4).map(|_| FileRepository::delete(&*store, stamp(app.project_id), id))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    assert!(FileRepository::find(&*store, id).await.unwrap().is_none());
}

/// A record that was abandoned, or waited for too long, is swept. It can no longer be completed.
pub async fn a_swept_file_is_not_completed<F: Fixture>(fixture: &F) {
    let (store, app) = (fixture.store(), fixture.app().await);
    let (abandoned, waiting) = (pending(fixture, app.project_id).await, pending(fixture, app.project_id).await);
    store.give_up(abandoned, noon()).await.unwrap();
    assert!(store.complete(stamp(app.project_id), abandoned, content()).await.unwrap().is_none());
    assert_eq!(orphaned(fixture, "worker", after(59)).await, [abandoned]);
    assert!(orphaned(fixture, "worker", after(60)).await.contains(&waiting));
    assert!(store.complete(stamp(app.project_id), waiting, content()).await.unwrap().is_none());
}

/// Under concurrent calls, the content of a deleted file is removed by one worker at a time, until it is removed.
pub async fn an_orphaned_file_has_one_lease<F: Fixture>(fixture: &F) {
    let (store, app) = (fixture.store(), fixture.app().await);
    let mut deleted = BTreeSet::new();
    for _ in 0..6 {
        let id = stored(fixture, app.project_id).await;
        FileRepository::delete(&*store, stamp(app.project_id), id).await.unwrap();
        deleted.insert(id);
    }
    let owners: Vec<String> = (0..4).map(|number| format!("worker {number}")).collect();
    let rounds = join_all(owners.iter().map(|owner| orphaned(fixture, owner, after(1)))).await;
    let rest = orphaned(fixture, "last", after(1)).await;
    let all: Vec<_> = rounds.into_iter().flatten().chain(rest).collect();
    assert_eq!(all.len(), 6, "each is leased once");
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), deleted);
    assert!(orphaned(fixture, "late", after(5)).await.is_empty());
    let again = orphaned(fixture, "late", after(6)).await;
    assert_eq!(again.iter().copied().collect::<BTreeSet<_>>(), deleted, "the first worker may have stopped");
    for id in again {
        store.forget(id, after(6)).await.unwrap();
    }
    assert!(orphaned(fixture, "late", after(600)).await.is_empty());
}

/// Other projects neither list nor delete a file.
pub async fn a_file_stays_in_its_project<F: Fixture>(fixture: &F) {
    let (store, ours, theirs) = (fixture.store(), fixture.app().await.project_id, fixture.app().await.project_id);
    let id = stored(fixture, ours).await;
    pending(fixture, ours).await;
    let refused = FileRepository::delete(&*store, stamp(theirs), id).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    for (project, files) in [(ours, vec![id]), (theirs, Vec::new())] {
        let listing = Listing::unfiltered(Sort::descending("id"), PageRequest::new(1, 100, 100).unwrap());
        let page = FileRepository::page(&*store, project, listing).await.unwrap();
        assert_eq!(page.items.iter().map(|listed| listed.file.id).collect::<Vec<_>>(), files);
    }
}

fn place() -> PlaceDraft<MenuItemId> {
    PlaceDraft { parent_id: None, code: None, slug: Slug::parse(&format!("item-{}", fresh())).ok() }
}

async fn inserted<F: Fixture>(
    fixture: &F,
    app: AppScope,
    place: PlaceDraft<MenuItemId>,
) -> Result<MenuItem, PartError> {
    let draft = MenuItemDraft { place, name: Name::parse("Item").unwrap(), avatar: None, preview: None };
    PartRepository::<MenuItem>::insert(&*fixture.store(), stamp(app.project_id), app.application_id, draft).await
}

/// Menu items without a parent.
async fn items<F: Fixture>(fixture: &F, app: AppScope, count: usize) -> Vec<MenuItem> {
    let inserting = (0..count).map(|_| inserted(fixture, app, place()));
    join_all(inserting).await.into_iter().map(Result::unwrap).collect()
}

fn refused(outcomes: &[Result<MenuItem, PartError>], refusal: PartRefusal) -> (usize, usize) {
    let refused =
        outcomes.iter().filter(|outcome| matches!(outcome, Err(RecordError::Refused(why)) if *why == refusal));
    (outcomes.iter().filter(|outcome| outcome.is_ok()).count(), refused.count())
}

/// Under concurrent calls, a code and a slug belong to one record of an application.
pub async fn codes_and_slugs_are_unique<F: Fixture>(fixture: &F) {
    let (app, other) = (fixture.app().await, fixture.app().await);
    let codes: BTreeSet<i64> = items(fixture, app, 8).await.iter().map(|item| item.place.code.get()).collect();
    assert_eq!(codes.len(), 8, "records without a code get different ones");
    let with_code = || PlaceDraft { code: PartCode::new(1_000).ok(), ..place() };
    let outcomes = join_all((0..4).map(|_| inserted(fixture, app, with_code()))).await;
    assert_eq!(refused(&outcomes, PartRefusal::CodeTaken), (1, 3), "{outcomes:?}");
    let named = || PlaceDraft { slug: Slug::parse("navigation").ok(), ..place() };
    let outcomes = join_all((0..4).map(|_| inserted(fixture, app, named()))).await;
    assert_eq!(refused(&outcomes, PartRefusal::SlugTaken), (1, 3), "{outcomes:?}");
    inserted(fixture, other, with_code()).await.unwrap();
    inserted(fixture, other, named()).await.unwrap();
}

/// Under concurrent calls, no record becomes its own ancestor. A record with children is not deleted.
pub async fn a_tree_stays_a_tree<F: Fixture>(fixture: &F) {
    let (store, app, other) = (fixture.store(), fixture.app().await, fixture.app().await);
    let ring = items(fixture, app, 4).await;
    let moving = ring.iter().zip(ring.iter().cycle().skip(1)).map(|(one, parent)| {
        let place = PlaceChange { parent_id: Edit::Set(Some(parent.id)), ..PlaceChange::default() };
        let change = MenuItemChange { place, ..MenuItemChange::default() };
        PartRepository::<MenuItem>::update(&*store, stamp(app.project_id), app.application_id, one.id, change)
    });
    let outcomes = join_all(moving).await;
    assert_eq!(refused(&outcomes, PartRefusal::Tree(TreeRefusal::Cycle)), (3, 1), "{outcomes:?}");
    let parent = outcomes.iter().find_map(|outcome| outcome.as_ref().ok()?.place.parent.as_ref()).unwrap().0;
    let deleted = PartRepository::<MenuItem>::delete(&*store, stamp(app.project_id), app.application_id, parent).await;
    assert!(matches!(deleted, Err(RecordError::Refused(PartRefusal::HasChildren))), "{deleted:?}");
    let foreign = inserted(fixture, other, PlaceDraft { parent_id: Some(parent), ..place() }).await;
    let unknown = PartRefusal::Tree(TreeRefusal::UnknownParent);
    assert_eq!(refused(&[foreign], unknown), (0, 1));
}

/// Concurrent moves of records among their siblings lose no position.
pub async fn no_position_is_lost<F: Fixture>(fixture: &F) {
    let (store, app) = (fixture.store(), fixture.app().await);
    let siblings = items(fixture, app, 5).await;
    let moving = siblings.iter().flat_map(|item| [(item, MoveDirection::Up), (item, MoveDirection::Down)]);
    let moving = moving.map(|(item, shift)| store.shift(stamp(app.project_id), app.application_id, item.id, shift));
    for outcome in join_all(moving).await {
        outcome.unwrap();
    }
    let listing = Listing::unfiltered(Sort::ascending("id"), PageRequest::new(1, 100, 100).unwrap());
    let page = PartRepository::<MenuItem>::page(&*store, app.project_id, app.application_id, listing).await.unwrap();
    assert_eq!(page.items.len(), 5);
    assert_eq!(page.items.iter().map(|item| item.position).collect::<BTreeSet<_>>().len(), 5, "{:?}", page.items);
}
