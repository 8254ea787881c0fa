//! Contract of categories, brands, tags and discounts: unique names and codes, versions and deletion.
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a broken promise fails the test that runs it")]

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use kontor_kernel::{
    DiscountStatus, DiscountTarget, DiscountValue, Money, Name, Period, ProjectId, PromoCode, RecordRepository,
};

use super::{counted, fresh, is_refused, nothing, stamp};
use crate::model::{
    Brand, BrandChange, BrandDraft, Category, CategoryChange, CategoryCode, CategoryDraft, DiscountTerms, Edit,
    PromoTerms, TagDraft,
};
use crate::ports::{CategoryRepository, DiscountRepository, DiscountRewrite, TagRepository};
use crate::{BrandError, BrandRefusal, CategoryRefusal, DiscountError, DiscountRefusal, TagError, TagRefusal};

/// Storage under test.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// Type of the storage.
    type Store: CategoryRepository + RecordRepository<Brand> + TagRepository + DiscountRepository + 'static;

    /// Returns the storage under test.
    fn store(&self) -> Arc<Self::Store>;

    /// Returns a new project.
    async fn project(&self) -> ProjectId;
}

/// The same name in small and in capital letters, in turn.
fn elbe(number: i64) -> Name {
    Name::parse(if number % 2 == 0 { "Elbe" } else { "ELBE" }).unwrap()
}

pub(super) fn brand(name: Name) -> BrandDraft {
    BrandDraft { name, photo: None }
}

fn category() -> CategoryDraft {
    CategoryDraft { name: fresh("Category"), photo: None, parent_id: None, code: None, description: None }
}

pub(super) async fn categories<F: Fixture>(fixture: &F, project: ProjectId, count: usize) -> Vec<Category> {
    let store = fixture.store();
    let inserted = join_all((0..count).map(|_| CategoryRepository::insert(&*store, stamp(project), category()))).await;
    inserted.into_iter().map(Result::unwrap).collect()
}

/// Terms of 10 percent of a cart with this code.
pub(super) fn terms(code: &str) -> DiscountTerms {
    DiscountTerms {
        name: fresh("Discount"),
        description: None,
        value: DiscountValue::Percent(1_000),
        target: DiscountTarget::Cart,
        minimum_sum: Money::ZERO,
        period: Period::new(None, None).unwrap(),
        promo: Some(PromoTerms { code: PromoCode::parse(code).unwrap(), usage_limit: None, customer_limit: None }),
    }
}

/// Under concurrent calls, a brand name belongs to one brand of a project, without regard to case.
pub async fn a_brand_name_is_unique_in_its_project<F: Fixture>(fixture: &F) {
    let (store, ours, theirs) = (fixture.store(), fixture.project().await, fixture.project().await);
    let insert = |project, name| RecordRepository::<Brand>::insert(&*store, stamp(project), brand(name));
    let outcomes = join_all((0..8).map(|number| insert(ours, elbe(number)))).await;
    assert_eq!(counted(&outcomes, &BrandRefusal::NameTaken), (1, 7), "{outcomes:?}");
    let other = insert(ours, fresh("Brand")).await.unwrap();
    let change = BrandChange { name: Edit::Set(elbe(1)), ..BrandChange::default() };
    let refused = RecordRepository::<Brand>::update(&*store, stamp(ours), other.id, change.clone()).await;
    assert!(is_refused(&refused, &BrandRefusal::NameTaken), "{refused:?}");
    let refused = RecordRepository::<Brand>::update(&*store, stamp(theirs), other.id, change).await;
    assert!(matches!(refused, Err(BrandError::NotFound)), "{refused:?}");
    insert(theirs, elbe(0)).await.unwrap();
}

/// Under concurrent calls, a tag name belongs to one tag of a project, without regard to case.
pub async fn a_tag_name_is_unique_in_its_project<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let insert = |project, name| TagRepository::insert(&*store, stamp(project), TagDraft { name, photo: None });
    let outcomes = join_all((0..8).map(|number| insert(project, elbe(number)))).await;
    assert_eq!(counted(&outcomes, &TagRefusal::NameTaken), (1, 7), "{outcomes:?}");
    assert_eq!(TagRepository::list(&*store, project).await.unwrap().len(), 1);
    let refused = insert(nothing(), fresh("Tag")).await;
    assert!(matches!(refused, Err(TagError::NotFound)), "{refused:?}");
    insert(fixture.project().await, elbe(0)).await.unwrap();
}

/// Under concurrent calls, categories without a code get different codes, and a code belongs to one category.
pub async fn a_category_code_is_unique_in_its_project<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let numbered = categories(fixture, project, 8).await;
    assert_eq!(numbered.iter().map(|category| category.code).collect::<BTreeSet<_>>().len(), 8);
    let code = CategoryCode::new(1_000).ok();
    let insert = |project| CategoryRepository::insert(&*store, stamp(project), CategoryDraft { code, ..category() });
    let outcomes = join_all((0..8).map(|_| insert(project))).await;
    assert_eq!(counted(&outcomes, &CategoryRefusal::CodeTaken), (1, 7), "{outcomes:?}");
    insert(fixture.project().await).await.unwrap();
}

/// Under concurrent calls, no category becomes its own ancestor. A parent of another project is unknown.
pub async fn categories_form_no_cycle<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let ring = categories(fixture, project, 4).await;
    let next = ring.iter().cycle().skip(1);
    let below = ring.iter().zip(next).map(|(one, parent)| {
        let change = CategoryChange { parent_id: Edit::Set(Some(parent.id)), ..CategoryChange::default() };
        CategoryRepository::update(&*store, stamp(project), one.id, change)
    });
    let outcomes = join_all(below).await;
    assert_eq!(counted(&outcomes, &CategoryRefusal::Cycle), (3, 1), "{outcomes:?}");
    let elsewhere = fixture.project().await;
    let parent_id = ring.first().map(|category| category.id);
    let refused =
        CategoryRepository::insert(&*store, stamp(elsewhere), CategoryDraft { parent_id, ..category() }).await;
    assert!(is_refused(&refused, &CategoryRefusal::UnknownParent), "{refused:?}");
}

/// Under concurrent calls, a promo code belongs to one discount of a project.
pub async fn a_promo_code_is_unique_in_its_project<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let insert = |project| DiscountRepository::insert(&*store, stamp(project), terms("SPRING"), DiscountStatus::Active);
    let outcomes = join_all((0..8).map(|_| insert(project))).await;
    assert_eq!(counted(&outcomes, &DiscountRefusal::CodeTaken), (1, 7), "{outcomes:?}");
    insert(fixture.project().await).await.unwrap();
}

/// Under concurrent calls, a discount is changed once per version, and deleted once.
pub async fn a_stale_discount_is_not_replaced<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let seen =
        DiscountRepository::insert(&*store, stamp(project), terms("AUTUMN"), DiscountStatus::Active).await.unwrap();
    let rewrite = || DiscountRewrite {
        id: seen.id,
        version: seen.version,
        terms: terms("AUTUMN"),
        status: DiscountStatus::Paused,
    };
    let outcomes = join_all((0..8).map(|_| store.replace(stamp(project), rewrite()))).await;
    assert_eq!(counted(&outcomes, &DiscountRefusal::Stale), (1, 7), "{outcomes:?}");
    let found = DiscountRepository::find(&*store, seen.id).await.unwrap().unwrap().within(project).unwrap();
    assert_eq!(found.status, DiscountStatus::Paused);
    assert!(found.version > seen.version, "the version grows");
    let outcomes = join_all((0..4).map(|_| DiscountRepository::delete(&*store, stamp(project), seen.id))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let gone = outcomes.iter().filter(|outcome| matches!(outcome, Err(DiscountError::NotFound)));
    assert_eq!(gone.count(), 3, "{outcomes:?}");
}
