//! Slides of an application: their order, their period, their number and their owner.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use kontor_kernel::listing::Sort;
use kontor_kernel::{AppScope, Edit, Listing, MoveDirection, Name, PageRequest, Period, RecordError, SlideId};

use super::{Fixture, after, noon, stamp};
use crate::model::{ApplicationPart as _, Slide, SlideChange, SlideContent, TreeRefusal};
use crate::ports::{PartOrder, PartRepository};
use crate::{PartError, PartRefusal};

/// A slide from noon on.
fn content() -> SlideContent {
    SlideContent {
        title: Name::parse("Sale").unwrap(),
        description: None,
        photo: None,
        link: None,
        is_active: true,
        period: Period::new(Some(noon()), None).unwrap(),
    }
}

async fn inserted<S: PartRepository<Slide>>(store: &S, app: AppScope) -> Result<Slide, PartError> {
    store.insert(stamp(app.project_id), app.application_id, content()).await
}

/// Slides of an application in their order.
async fn ordered<S: PartRepository<Slide>>(store: &S, app: AppScope) -> Vec<SlideId> {
    let listing = Listing::unfiltered(Sort::ascending("id"), PageRequest::new(1, 100, 100).unwrap());
    let mut slides = store.page(app.project_id, app.application_id, listing).await.unwrap().items;
    slides.sort_by_key(|slide| slide.position);
    let positions: BTreeSet<i64> = slides.iter().map(|slide| slide.position).collect();
    assert_eq!(positions.len(), slides.len(), "{slides:?}");
    slides.into_iter().map(|slide| slide.id).collect()
}

/// A new slide comes last, a move swaps two neighbours, and concurrent calls lose no position.
pub async fn slides_keep_their_order<F>(fixture: &F)
where
    F: Fixture<Store: PartRepository<Slide> + PartOrder<Slide>>,
{
    let (store, app) = (fixture.store(), fixture.app().await);
    let order: &dyn PartOrder<Slide> = &*store;
    let mut slides = Vec::new();
    for _ in 0..3 {
        slides.push(inserted(&*store, app).await.unwrap().id);
    }
    assert_eq!(ordered(&*store, app).await, slides);
    let [a, b, c] = [slides[0], slides[1], slides[2]];
    for (id, shift, expected) in [
        (c, MoveDirection::Up, [a, c, b]),
        (a, MoveDirection::Up, [a, c, b]),
        (b, MoveDirection::Down, [a, c, b]),
        (a, MoveDirection::Down, [c, a, b]),
    ] {
        order.shift(stamp(app.project_id), app.application_id, id, shift).await.unwrap();
        assert_eq!(ordered(&*store, app).await, expected);
    }
    for outcome in join_all((0..4).map(|_| inserted(&*store, app))).await {
        slides.push(outcome.unwrap().id);
    }
    let moves = slides.iter().flat_map(|id| [(*id, MoveDirection::Up), (*id, MoveDirection::Down)]);
    let moves = moves.map(|(id, shift)| order.shift(stamp(app.project_id), app.application_id, id, shift));
    for outcome in join_all(moves).await {
        outcome.unwrap();
    }
    let left: BTreeSet<SlideId> = ordered(&*store, app).await.into_iter().collect();
    assert_eq!(left, slides.into_iter().collect());
}

/// Other applications neither list, change, move nor delete a slide.
pub async fn slides_stay_in_their_application<F>(fixture: &F)
where
    F: Fixture<Store: PartRepository<Slide> + PartOrder<Slide>>,
{
    let (store, app, other) = (fixture.store(), fixture.app().await, fixture.app().await);
    let (slides, order): (&dyn PartRepository<Slide>, &dyn PartOrder<Slide>) = (&*store, &*store);
    let slide = inserted(&*store, app).await.unwrap();
    let is_missing = |outcome: Result<(), PartError>| matches!(outcome, Err(RecordError::NotFound));
    for (project, application) in [(other.project_id, other.application_id), (other.project_id, app.application_id)] {
        let stamp = stamp(project);
        let changed = slides.update(stamp, application, slide.id, SlideChange::default()).await;
        assert!(is_missing(changed.map(drop)));
        let moved = order.shift(stamp, application, slide.id, MoveDirection::Down).await;
        assert!(is_missing(moved.map(drop)));
        assert!(is_missing(slides.delete(stamp, application, slide.id).await));
    }
    let foreign = AppScope { project_id: other.project_id, ..app };
    assert!(is_missing(inserted(&*store, foreign).await.map(drop)));
    assert!(ordered(&*store, other).await.is_empty() && ordered(&*store, foreign).await.is_empty());
    assert!(slides.owner(app.application_id).await.unwrap().unwrap().within(other.project_id).is_none());
    assert_eq!(slides.find(slide.id).await.unwrap().unwrap().within(app.project_id), Some(slide));
}

/// A change that would end a slide before it begins is refused as a whole. Under concurrent calls, a slide is deleted
/// once.
pub async fn a_slide_ends_after_it_begins<F>(fixture: &F)
where
    F: Fixture<Store: PartRepository<Slide>>,
{
    let (store, app) = (fixture.store(), fixture.app().await);
    let slides: &dyn PartRepository<Slide> = &*store;
    let (slide, at) = (inserted(&*store, app).await.unwrap(), stamp(app.project_id));
    let hidden = SlideChange { is_active: Edit::Set(false), ..SlideChange::default() };
    let early = SlideChange { ends_at: Edit::Set(Some(noon())), ..hidden.clone() };
    let refused = slides.update(at, app.application_id, slide.id, early).await;
    assert!(matches!(refused, Err(RecordError::Refused(PartRefusal::Period(_)))), "{refused:?}");
    assert_eq!(slides.find(slide.id).await.unwrap().unwrap().within(app.project_id).as_ref(), Some(&slide));
    let later = SlideChange { ends_at: Edit::Set(Some(after(1))), ..hidden };
    let changed = slides.update(at, app.application_id, slide.id, later).await.unwrap();
    let period = Period::new(Some(noon()), Some(after(1))).unwrap();
    assert_eq!(changed.content, SlideContent { is_active: false, period, ..content() });
    assert_eq!((changed.position, changed.version > slide.version), (slide.position, true));
    let outcomes = join_all((0..4).map(|_| slides.delete(at, app.application_id, slide.id))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    assert!(slides.find(slide.id).await.unwrap().is_none());
}

/// Under concurrent calls, an application has at most the maximum number of slides.
pub async fn an_application_has_a_limited_number_of_slides<F>(fixture: &F)
where
    F: Fixture<Store: PartRepository<Slide>>,
{
    let (store, app, other) = (fixture.store(), fixture.app().await, fixture.app().await);
    for _ in 2..Slide::MAX_PER_APPLICATION {
        inserted(&*store, app).await.unwrap();
    }
    let outcomes = join_all((0..8).map(|_| inserted(&*store, app))).await;
    let full =
        |outcome: &&Result<_, _>| matches!(outcome, Err(RecordError::Refused(PartRefusal::Tree(TreeRefusal::Full))));
    assert_eq!(outcomes.iter().filter(full).count(), 6, "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 2, "{outcomes:?}");
    inserted(&*store, other).await.unwrap();
}
