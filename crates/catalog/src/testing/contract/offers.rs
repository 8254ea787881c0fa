//! Contract of assortments, subscription plans and promotions: order, scopes and references.
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a broken promise fails the test that runs it")]

use std::fmt::Debug;

use async_trait::async_trait;
use futures_util::future::join_all;
use kontor_kernel::listing::Sort;
use kontor_kernel::{
    ApplicationId, BrandId, DiscountId, DiscountStatus, Listing, Money, NomenclatureId, PageRequest, Period, ProjectId,
    RecordError, RecordRepository,
};

use super::names::{self, brand, categories, terms};
use super::{fresh, is_refused, noon, nothing, stamp};
use crate::model::{
    AssignOutcome, BillingPeriod, Brand, Card, Category, DiscountTerms, Edit, MoveDirection, NomenclatureKind,
    PlanAssignment, PlanChange, PlanDraft, PlanSlug, PromotionChange, PromotionDraft, PromotionStats,
};
use crate::ports::{
    Assignable, AssortmentRepository, DiscountRepository, NomenclatureRepository, PlanRepository, PromotionRepository,
};
use crate::{
    AssortmentError, AssortmentRefusal, PlanError, PlanRefusal, PromotionError, PromotionList, PromotionReference,
    PromotionRefusal,
};

/// Storage under test that also keeps what applications offer.
#[async_trait]
pub trait Fixture:
    names::Fixture<
        Store: AssortmentRepository<Category>
                   + AssortmentRepository<Brand>
                   + NomenclatureRepository
                   + PlanRepository
                   + PromotionRepository,
    >
{
    /// Returns a new application of the project.
    async fn application(&self, project: ProjectId) -> ApplicationId;
}

fn page(number: i64, size: i64) -> PageRequest {
    PageRequest::new(number, size, 100).unwrap()
}

async fn item<F: Fixture>(fixture: &F, project: ProjectId, card: Card) -> NomenclatureId {
    NomenclatureRepository::insert(&*fixture.store(), stamp(project), card).await.unwrap().id
}

async fn goods<F: Fixture>(fixture: &F, project: ProjectId) -> NomenclatureId {
    item(fixture, project, Card::new(fresh("Goods"), NomenclatureKind::Goods)).await
}

/// Subscription plan of one month.
async fn plan<F: Fixture>(fixture: &F, project: ProjectId) -> NomenclatureId {
    let (price, subscription) = (Money::from_minor(49_900).ok(), BillingPeriod::months(1).ok());
    let card = Card { price, subscription, ..Card::new(fresh("Plan"), NomenclatureKind::Service) };
    item(fixture, project, card).await
}

async fn discount<F: Fixture>(fixture: &F, project: ProjectId, terms: DiscountTerms) -> DiscountId {
    let stored = DiscountRepository::insert(&*fixture.store(), stamp(project), terms, DiscountStatus::Active).await;
    stored.unwrap().id
}

/// Checks the order of three records of a project that no application shows yet.
async fn shown_in_order<S, R>(
    store: &S,
    (project, application): (ProjectId, ApplicationId),
    ids: [R::Id; 3],
    numbers: [i64; 3],
    number: fn(&R) -> i64,
    sort: Sort,
) where
    S: AssortmentRepository<R>,
    R: Assignable + Debug,
{
    let stamp = stamp(project);
    let order = async || store.assigned(application).await.unwrap().iter().map(number).collect::<Vec<_>>();
    let [a, b, c] = numbers;
    for id in ids {
        let outcomes = join_all((0..4).map(|_| store.assign(stamp, application, id))).await;
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    }
    assert_eq!(order().await, [a, b, c], "each once, in the order of their assignment");
    for (id, shift, expected) in [
        (ids[2], MoveDirection::Up, [a, c, b]),
        (ids[0], MoveDirection::Up, [a, c, b]),
        (ids[1], MoveDirection::Down, [a, c, b]),
        (ids[0], MoveDirection::Down, [c, a, b]),
    ] {
        store.shift(stamp, application, id, shift).await.unwrap();
        assert_eq!(order().await, expected);
    }
    store.assign(stamp, application, ids[1]).await.unwrap();
    assert_eq!(order().await, [c, a, b], "a record that is shown keeps its position");
    let second = store.page(application, Listing::unfiltered(sort, page(2, 2))).await.unwrap();
    assert_eq!((second.items.iter().map(number).collect::<Vec<_>>(), second.total), (vec![b], 3));
    let directions = [MoveDirection::Up, MoveDirection::Down].into_iter().cycle();
    let moves = ids.into_iter().cycle().zip(directions).take(12);
    let outcomes = join_all(moves.map(|(id, shift)| store.shift(stamp, application, id, shift))).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    let (mut left, mut all) = (order().await, numbers);
    left.sort_unstable();
    all.sort_unstable();
    assert_eq!(left, all, "concurrent moves lose no record");
    store.withdraw(stamp, application, ids[0]).await.unwrap();
    assert!(store.shown(application, ids[0]).await.unwrap().is_none());
    assert_eq!(store.shown(application, ids[1]).await.unwrap().as_ref().map(number), Some(b));
    let gone = store.withdraw(stamp, application, ids[0]).await;
    assert!(matches!(gone, Err(AssortmentError::NotFound)), "{gone:?}");
    let gone = store.shift(stamp, application, ids[0], MoveDirection::Up).await;
    assert!(matches!(gone, Err(AssortmentError::NotFound)), "{gone:?}");
}

/// An application shows each category once, in an order that moves change.
pub async fn categories_are_shown_in_order<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let at = (project, fixture.application(project).await);
    let shown: [Category; 3] = categories(fixture, project, 3).await.try_into().unwrap();
    let ids = shown.each_ref().map(|category| category.id);
    let number = |category: &Category| category.id.get();
    shown_in_order::<_, Category>(&*store, at, ids, shown.each_ref().map(number), number, Sort::ascending("position"))
        .await;
    let elsewhere = fixture.application(project).await;
    assert!(AssortmentRepository::<Category>::assigned(&*store, elsewhere).await.unwrap().is_empty());
    let foreign = categories(fixture, fixture.project().await, 1).await;
    for id in foreign.into_iter().map(|category| category.id).chain([nothing()]) {
        let refused = AssortmentRepository::<Category>::assign(&*store, stamp(project), at.1, id).await;
        assert!(is_refused(&refused, &AssortmentRefusal::UnknownRecord), "{refused:?}");
    }
}

/// An application shows each brand once, in an order that moves change.
pub async fn brands_are_shown_in_order<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let at = (project, fixture.application(project).await);
    let insert = async |project| {
        RecordRepository::<Brand>::insert(&*store, stamp(project), brand(fresh("Brand"))).await.unwrap().id
    };
    let ids = [insert(project).await, insert(project).await, insert(project).await];
    let number = |brand: &Brand| brand.id.get();
    shown_in_order::<_, Brand>(&*store, at, ids, ids.map(BrandId::get), number, Sort::descending("priority")).await;
    let foreign = insert(fixture.project().await).await;
    let refused = AssortmentRepository::<Brand>::assign(&*store, stamp(project), at.1, foreign).await;
    assert!(is_refused(&refused, &AssortmentRefusal::UnknownRecord), "{refused:?}");
}

fn draft(nomenclature_id: NomenclatureId, slug: &str) -> PlanDraft {
    PlanDraft { nomenclature_id, slug: PlanSlug::parse(slug).ok(), position: None, is_active: true }
}

async fn assign_plan<F: Fixture>(
    fixture: &F,
    project: ProjectId,
    application: ApplicationId,
    draft: PlanDraft,
) -> Result<AssignOutcome, PlanError> {
    PlanRepository::assign(&*fixture.store(), project, application, draft, noon()).await
}

async fn assigned<F: Fixture>(
    fixture: &F,
    (project, application): (ProjectId, ApplicationId),
    draft: PlanDraft,
) -> PlanAssignment {
    match assign_plan(fixture, project, application, draft).await.unwrap() {
        AssignOutcome::Created(plan) | AssignOutcome::Existing(plan) => plan,
    }
}

/// Under concurrent calls, a plan is assigned once to an application, after the others, and a slug names one plan.
pub async fn a_plan_is_assigned_once<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let at = (project, fixture.application(project).await);
    let [first, second] = [plan(fixture, project).await, plan(fixture, project).await];
    let outcomes = join_all((0..8).map(|_| assign_plan(fixture, project, at.1, draft(first, "gold")))).await;
    let created = outcomes.iter().filter(|outcome| matches!(outcome, Ok(AssignOutcome::Created(_))));
    let existing = outcomes.iter().filter(|outcome| matches!(outcome, Ok(AssignOutcome::Existing(_))));
    assert_eq!((created.count(), existing.count()), (1, 7), "{outcomes:?}");
    let again = assigned(fixture, at, draft(first, "silver")).await;
    assert_eq!(again.slug.as_str(), "gold", "an existing assignment is unchanged");
    let refused = assign_plan(fixture, project, at.1, draft(second, "gold")).await;
    assert!(is_refused(&refused, &PlanRefusal::SlugTaken), "{refused:?}");
    let other = assigned(fixture, at, draft(second, "silver")).await;
    assert!(other.position > again.position, "a new plan comes last");
    let change = PlanChange { slug: Edit::Set(PlanSlug::parse("gold").unwrap()), ..PlanChange::default() };
    let refused = PlanRepository::update(&*store, project, at.1, other.id, change, noon()).await;
    assert!(is_refused(&refused, &PlanRefusal::SlugTaken), "{refused:?}");
    let elsewhere = (project, fixture.application(project).await);
    assert_eq!(assigned(fixture, elsewhere, draft(first, "gold")).await.slug.as_str(), "gold");
    let goods = goods(fixture, project).await;
    let foreign = plan(fixture, fixture.project().await).await;
    for unknown in [goods, foreign, nothing()] {
        let refused = assign_plan(fixture, project, at.1, draft(unknown, "bronze")).await;
        assert!(is_refused(&refused, &PlanRefusal::UnknownPlan), "{refused:?}");
    }
}

/// An assignment is found, changed and removed only in its application and its project.
pub async fn an_assignment_stays_in_its_application<F: Fixture>(fixture: &F) {
    let (store, project, theirs) = (fixture.store(), fixture.project().await, fixture.project().await);
    let (at, elsewhere) = (fixture.application(project).await, fixture.application(project).await);
    let item = plan(fixture, project).await;
    let stored = assigned(fixture, (project, at), draft(item, "gold")).await;
    let hidden = || PlanChange { is_active: Edit::Set(false), ..PlanChange::default() };
    for (project, application) in [(project, elsewhere), (theirs, at)] {
        let refused = PlanRepository::update(&*store, project, application, stored.id, hidden(), noon()).await;
        assert!(matches!(refused, Err(PlanError::NotFound)), "{refused:?}");
        let refused = PlanRepository::withdraw(&*store, project, application, stored.id).await;
        assert!(matches!(refused, Err(PlanError::NotFound)), "{refused:?}");
    }
    assert_eq!(PlanRepository::find(&*store, elsewhere, stored.id).await.unwrap(), None);
    assert_eq!(PlanRepository::find(&*store, at, stored.id).await.unwrap(), Some(stored.clone()));
    let changed = PlanRepository::update(&*store, project, at, stored.id, hidden(), noon()).await.unwrap();
    assert_eq!(changed, PlanAssignment { is_active: false, ..stored.clone() });
    plan(fixture, theirs).await;
    let other = plan(fixture, project).await;
    let catalog = async |application, number| store.catalog(project, application, None, page(number, 1)).await.unwrap();
    let mut listed = Vec::new();
    for (application, number) in [(at, 1), (at, 2), (elsewhere, 1)] {
        let page = catalog(application, number).await;
        assert_eq!(page.total, 2, "the plans of the project");
        listed.extend(page.items.into_iter().map(|plan| (plan.item.id, plan.assignment.is_some())));
    }
    assert_eq!(listed, [(item, true), (other, false), (item, false)]);
    PlanRepository::withdraw(&*store, project, at, stored.id).await.unwrap();
    let gone = PlanRepository::withdraw(&*store, project, at, stored.id).await;
    assert!(matches!(gone, Err(PlanError::NotFound)), "{gone:?}");
}

fn promotion(discount_ids: Vec<DiscountId>, nomenclature_ids: Vec<NomenclatureId>) -> PromotionDraft {
    let (name, period) = (fresh("Promotion"), Period::new(Some(noon()), None).unwrap());
    PromotionDraft { name, description: None, photo: None, period, discount_ids, nomenclature_ids }
}

/// A promotion lists records of its project, each once, in the order of staff. A refused write changes nothing.
pub async fn a_promotion_refers_to_records_of_its_project<F: Fixture>(fixture: &F) {
    let (store, project, theirs) = (fixture.store(), fixture.project().await, fixture.project().await);
    let automatic = discount(fixture, project, DiscountTerms { promo: None, ..terms("NONE") }).await;
    let coded = discount(fixture, project, terms("SPRING")).await;
    let (item, foreign) = (goods(fixture, project).await, discount(fixture, theirs, terms("SPRING")).await);
    let unknown = |list, place| PromotionReference { list, place };
    let expected = PromotionRefusal::UnknownReferences(vec![
        unknown(PromotionList::Discounts, 1),
        unknown(PromotionList::Nomenclatures, 0),
    ]);
    let wrong = promotion(vec![coded, foreign], vec![nothing(), item]);
    let refused = PromotionRepository::insert(&*store, stamp(project), wrong).await;
    assert!(is_refused(&refused, &expected), "{refused:?}");
    assert_eq!(PromotionRepository::list(&*store, project, page(1, 9)).await.unwrap().total, 0);
    let draft = promotion(vec![coded, automatic, coded], vec![item]);
    let stored = PromotionRepository::insert(&*store, stamp(project), draft).await.unwrap();
    assert_eq!(stored.discounts.iter().map(|one| one.id).collect::<Vec<_>>(), [coded, automatic]);
    assert_eq!(stored.nomenclatures.iter().map(|one| one.id).collect::<Vec<_>>(), [item]);
    let stats = PromotionStats { discounts: 2, promo_codes: 1, usages: 0, amount: Money::ZERO };
    assert_eq!(PromotionRepository::stats(&*store, stored.id).await.unwrap(), stats);
    let renamed = PromotionChange { name: Edit::Set(fresh("Promotion")), ..PromotionChange::default() };
    let update = async |change| PromotionRepository::update(&*store, stamp(project), stored.id, change).await;
    let refused = update(PromotionChange { discount_ids: Edit::Set(vec![foreign]), ..renamed.clone() }).await;
    let expected = PromotionRefusal::UnknownReferences(vec![unknown(PromotionList::Discounts, 0)]);
    assert!(is_refused(&refused, &expected), "{refused:?}");
    let refused = update(PromotionChange { ends_at: Edit::Set(Some(noon())), ..renamed }).await;
    assert!(matches!(refused, Err(RecordError::Refused(PromotionRefusal::Period(_)))), "{refused:?}");
    let found = PromotionRepository::find(&*store, stored.id).await.unwrap().unwrap();
    assert_eq!(found.within(project), Some(stored.clone()), "a refused change writes nothing");
    let changed = update(PromotionChange { discount_ids: Edit::Set(Vec::new()), ..PromotionChange::default() }).await;
    let changed = changed.unwrap();
    assert_eq!((changed.discounts.len(), changed.nomenclatures), (0, stored.nomenclatures));
}

/// A promotion belongs to one project, is listed newest first and is deleted once. Its discounts stay.
pub async fn a_promotion_stays_in_its_project<F: Fixture>(fixture: &F) {
    let (store, project, theirs) = (fixture.store(), fixture.project().await, fixture.project().await);
    let coded = discount(fixture, project, terms("SPRING")).await;
    let insert = async |project, discounts| {
        let draft = promotion(discounts, Vec::new());
        PromotionRepository::insert(&*store, stamp(project), draft).await.unwrap().id
    };
    let ids = [insert(project, vec![coded]).await, insert(project, Vec::new()).await, insert(theirs, Vec::new()).await];
    let list = async |number| PromotionRepository::list(&*store, project, page(number, 1)).await.unwrap();
    for (number, id) in [(1, ids[1]), (2, ids[0])] {
        let page = list(number).await;
        assert_eq!((page.total, page.items.first().map(|one| one.id)), (2, Some(id)));
    }
    let renamed = || PromotionChange { name: Edit::Set(fresh("New")), ..PromotionChange::default() };
    let refused = PromotionRepository::update(&*store, stamp(theirs), ids[0], renamed()).await;
    assert!(matches!(refused, Err(PromotionError::NotFound)), "{refused:?}");
    let refused = PromotionRepository::delete(&*store, stamp(theirs), ids[0]).await;
    assert!(matches!(refused, Err(PromotionError::NotFound)), "{refused:?}");
    PromotionRepository::delete(&*store, stamp(project), ids[0]).await.unwrap();
    let gone = PromotionRepository::delete(&*store, stamp(project), ids[0]).await;
    assert!(matches!(gone, Err(PromotionError::NotFound)), "{gone:?}");
    assert_eq!(list(1).await.total, 1);
    assert!(DiscountRepository::find(&*store, coded).await.unwrap().is_some());
}
