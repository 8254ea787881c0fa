//! Contract of what customers see of the catalog: products with their prices, filters, categories, brands, plans and
//! slides.
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a broken promise fails the test that runs it")]

use async_trait::async_trait;
use chrono::TimeDelta;
use futures_util::future::join_all;
use kontor_kernel::{
    AppScope, BranchId, BrandId, CategoryId, DiscountStatus, DiscountTarget, DiscountValue, InventoryId, Money,
    MoveDirection, Name, NomenclatureId, PageRequest, Period, ProjectId, RecordRepository, SlideId, WarehouseId,
};

use super::names::{brand, terms};
use super::stock::{self, item, level};
use super::{fresh, noon, nothing, stamp};
use crate::model::{
    BillingPeriod, Brand, Card, Category, CategoryDraft, DiscountTerms, Edit, InventoryDraft, NomenclatureKind,
    PlanDraft, PlanPosition, PlanSlug, StockChange, TagDraft, WarehouseDraft,
};
use crate::ports::{
    ApplicationDirectory, AssortmentRepository, CategoryRepository, DiscountRepository, InventoryRepository,
    NomenclatureRepository, PlanRepository, TagRepository, WarehouseRepository,
};
use crate::storefront::ports::{Showcase, StorefrontPlans, StorefrontReader, ViewCounter};
use crate::storefront::{FacetValue, Facets, PriceRange, ProductFilter, ProductOrder};

/// Storage under test that also shows the catalog to customers.
#[async_trait]
pub trait Fixture:
    stock::Fixture<
        Store: CategoryRepository
                   + RecordRepository<Brand>
                   + TagRepository
                   + DiscountRepository
                   + AssortmentRepository<Category>
                   + AssortmentRepository<Brand>
                   + PlanRepository
                   + ApplicationDirectory
                   + StorefrontReader
                   + StorefrontPlans
                   + Showcase
                   + ViewCounter,
    >
{
    /// Returns a new application of a branch.
    async fn application(&self, place: (ProjectId, BranchId)) -> AppScope;

    /// Adds a slide after the others of the application.
    async fn slide(&self, app: AppScope, is_active: bool, period: Period) -> SlideId;
}

fn money(minor: i64) -> Money {
    Money::from_minor(minor).unwrap()
}

fn page(number: i64, size: i64) -> PageRequest {
    PageRequest::new(number, size, 100).unwrap()
}

fn all() -> ProductFilter {
    ProductFilter::default()
}

async fn category<F: Fixture>(
    fixture: &F,
    project: ProjectId,
    name: Name,
    parent_id: Option<CategoryId>,
) -> CategoryId {
    let draft = CategoryDraft { name, photo: None, parent_id, code: None, description: None };
    CategoryRepository::insert(&*fixture.store(), stamp(project), draft).await.unwrap().id
}

async fn brand_of<F: Fixture>(fixture: &F, project: ProjectId) -> BrandId {
    let draft = brand(fresh("Brand"));
    RecordRepository::<Brand>::insert(&*fixture.store(), stamp(project), draft).await.unwrap().id
}

/// Warehouse of one application.
async fn warehouse<F: Fixture>(fixture: &F, branch_id: BranchId, app: AppScope) -> WarehouseId {
    let application_ids = Some(vec![app.application_id]);
    let draft = WarehouseDraft { name: fresh("Warehouse"), address: None, branch_id, application_ids };
    WarehouseRepository::insert(&*fixture.store(), stamp(app.project_id), draft).await.unwrap().id
}

fn service() -> Card {
    Card { price: Some(money(900)), ..Card::new(fresh("Service"), NomenclatureKind::Service) }
}

fn plan() -> Card {
    Card { subscription: BillingPeriod::months(1).ok(), ..service() }
}

/// Application with a warehouse of its own.
#[derive(Clone, Copy)]
struct Shop {
    app: AppScope,
    warehouse: WarehouseId,
    category: CategoryId,
}

impl Shop {
    /// Opens a shop in a new project.
    async fn open<F: Fixture>(fixture: &F) -> Self {
        Self::within(fixture, fixture.project().await).await
    }

    async fn within<F: Fixture>(fixture: &F, place: (ProjectId, BranchId)) -> Self {
        let app = fixture.application(place).await;
        let warehouse = warehouse(fixture, place.1, app).await;
        Self { app, warehouse, category: category(fixture, place.0, fresh("Category"), None).await }
    }

    fn goods(self) -> Card {
        Card { category_id: Some(self.category), ..Card::new(fresh("Goods"), NomenclatureKind::Goods) }
    }

    async fn put<F: Fixture>(self, fixture: &F, item: NomenclatureId, units: i64, price: i64) -> InventoryId {
        let (quantity, price) = (level(units), money(price));
        let draft = InventoryDraft { warehouse_id: self.warehouse, nomenclature_id: item, quantity, price };
        InventoryRepository::insert(&*fixture.store(), stamp(self.app.project_id), draft).await.unwrap().id
    }

    /// Adds an item with two units in the warehouse.
    async fn sell<F: Fixture>(self, fixture: &F, card: Card, price: i64) -> NomenclatureId {
        let id = item(fixture, self.app.project_id, card).await.id;
        self.put(fixture, id, 2, price).await;
        id
    }

    async fn listed<F: Fixture>(self, fixture: &F, filter: ProductFilter) -> Vec<NomenclatureId> {
        let found = fixture.store().products(self.app.into(), filter, None, page(1, 100), noon()).await.unwrap();
        assert_eq!(found.total, u64::try_from(found.items.len()).unwrap());
        found.items.iter().map(|product| product.id).collect()
    }

    /// Returns `true` for an item that is shown, and for goods that are shown when they are in stock.
    async fn details<F: Fixture>(self, fixture: &F, id: NomenclatureId) -> (bool, bool) {
        let (store, visitor) = (fixture.store(), self.app.into());
        let shown = store.product(visitor, id, noon()).await.unwrap();
        (shown.is_some(), store.sold_out(visitor, id, noon()).await.unwrap().is_some())
    }
}

/// Customers see goods with a category and unreserved stock, and services. Of other items only sold-out goods have
/// details.
pub async fn only_offered_products_are_shown<F: Fixture>(fixture: &F) {
    let (store, shop) = (fixture.store(), Shop::open(fixture).await);
    let project = shop.app.project_id;
    let vase = item(fixture, project, shop.goods()).await;
    let stock = shop.put(fixture, vase.id, 2, 500).await;
    let uncategorized = shop.sell(fixture, Card::new(fresh("Goods"), NomenclatureKind::Goods), 500).await;
    let empty = item(fixture, project, shop.goods()).await.id;
    shop.put(fixture, empty, 0, 500).await;
    let unstocked = item(fixture, project, shop.goods()).await.id;
    let (repair, club) = (item(fixture, project, service()).await.id, item(fixture, project, plan()).await.id);
    assert_eq!(shop.listed(fixture, all()).await, [vase.id, repair]);
    for (id, expected) in [
        (repair, (true, false)),
        (uncategorized, (false, false)),
        (empty, (false, true)),
        (unstocked, (false, false)),
        (club, (false, false)),
        (nothing(), (false, false)),
    ] {
        assert_eq!(shop.details(fixture, id).await, expected, "{id}");
    }
    fixture.reserve(stock, 1).await;
    let left = store.product(shop.app.into(), vase.id, noon()).await.unwrap().unwrap().product;
    assert_eq!((left.kind, left.price, left.quantity), (NomenclatureKind::Goods, money(500), 1));
    for (units, listed) in [(1, vec![repair]), (2, vec![vase.id, repair])] {
        let change = StockChange { quantity: Edit::Set(level(units)), ..StockChange::default() };
        store.set_stock(stamp(project), stock, change).await.unwrap();
        assert_eq!(shop.listed(fixture, all()).await, listed);
        assert_eq!(shop.details(fixture, vase.id).await, (units > 1, true));
    }
    let (id, card) = (vase.id, Card { category_id: None, ..vase.card.clone() });
    NomenclatureRepository::replace(&*store, stamp(project), vase, card).await.unwrap();
    assert_eq!(shop.listed(fixture, all()).await, [repair]);
    assert_eq!(shop.details(fixture, id).await, (false, false));
}

/// An application shows no records of another project, and no goods of warehouses that do not serve it. Each
/// application has one owner.
pub async fn foreign_records_are_not_shown<F: Fixture>(fixture: &F) {
    let place = fixture.project().await;
    let (store, ours, beside) =
        (fixture.store(), Shop::within(fixture, place).await, Shop::within(fixture, place).await);
    let theirs = Shop::open(fixture).await;
    let vase = ours.sell(fixture, ours.goods(), 500).await;
    let repair = item(fixture, place.0, service()).await.id;
    let draft = TagDraft { name: fresh("Tag"), photo: None };
    let tag = TagRepository::insert(&*store, stamp(place.0), draft).await.unwrap();
    for (shop, products, tags) in
        [(ours, vec![vase, repair], vec![tag.clone()]), (beside, vec![repair], vec![tag]), (theirs, vec![], vec![])]
    {
        assert_eq!(shop.listed(fixture, all()).await, products);
        assert_eq!(store.tags(shop.app).await.unwrap(), tags);
    }
    for id in [vase, repair] {
        assert_eq!(theirs.details(fixture, id).await, (false, false));
    }
    assert_eq!(beside.details(fixture, vase).await, (false, false));
    assert_eq!(store.price_range(theirs.app, all(), noon()).await.unwrap(), None);
    let none = Facets { is_complete: true, ..Facets::default() };
    assert_eq!(store.facets(theirs.app, all(), noon()).await.unwrap(), none);
    let owner = async |shop: Shop| store.owner(shop.app.application_id).await.unwrap().unwrap();
    assert!(owner(ours).await.within(place.0).is_some());
    assert!(owner(theirs).await.within(place.0).is_none());
    assert!(store.owner(nothing()).await.unwrap().is_none());
}

/// In every order, pages follow each other without gaps and repetitions. Equal products are ordered by identifier, in
/// the direction of the order.
pub async fn pages_are_stable<F: Fixture>(fixture: &F) {
    let (store, shop) = (fixture.store(), Shop::open(fixture).await);
    let mut ids = Vec::new();
    for (name, price) in [("Cup", 500), ("Bowl", 300), ("Vase", 500), ("Lamp", 300), ("Dish", 500)] {
        let card = Card { name: Name::parse(name).unwrap(), ..shop.goods() };
        ids.push(shop.sell(fixture, card, price).await);
    }
    let views = ids.iter().copied().zip([1, 0, 0, 2, 0]).filter(|(_, count)| *count > 0);
    store.add_views(views.collect()).await.unwrap();
    for (order, expected) in [
        (None, [0, 1, 2, 3, 4]),
        (Some(ProductOrder::PriceAscending), [1, 3, 0, 2, 4]),
        (Some(ProductOrder::PriceDescending), [4, 2, 0, 3, 1]),
        (Some(ProductOrder::NameAscending), [1, 0, 4, 3, 2]),
        (Some(ProductOrder::NameDescending), [2, 3, 4, 0, 1]),
        (Some(ProductOrder::PopularityAscending), [1, 2, 4, 0, 3]),
        (Some(ProductOrder::PopularityDescending), [3, 0, 4, 2, 1]),
    ] {
        let mut listed = Vec::new();
        for number in 1..=4 {
            let found = store.products(shop.app.into(), all(), order, page(number, 2), noon()).await.unwrap();
            assert_eq!(found.total, 5);
            listed.extend(found.items.iter().map(|product| ids.iter().position(|id| *id == product.id)));
        }
        assert_eq!(listed, expected.map(Some), "{order:?}");
    }
}

/// An application sells at the lowest price among its own warehouses, after the best automatic discount in force.
/// Prices are the same for wholesale applications.
pub async fn prices_are_those_of_the_application<F: Fixture>(fixture: &F) {
    let (store, place) = (fixture.store(), fixture.project().await);
    let (near, far) = (Shop::within(fixture, place).await, Shop::within(fixture, place).await);
    let second = Shop { warehouse: warehouse(fixture, place.1, near.app).await, ..near };
    let below = category(fixture, place.0, fresh("Category"), Some(near.category)).await;
    let vase = near.sell(fixture, Card { category_id: Some(below), ..near.goods() }, 500).await;
    second.put(fixture, vase, 3, 300).await;
    far.put(fixture, vase, 1, 700).await;
    let price = async |app: AppScope, seconds| {
        let at = noon() + TimeDelta::seconds(seconds);
        let shown = store.product(app.into(), vase, at).await.unwrap().unwrap().product;
        (shown.price.minor(), shown.old_price.map(Money::minor), shown.quantity)
    };
    assert_eq!(price(near.app, 0).await, (300, None, 5));
    assert_eq!(price(far.app, 0).await, (700, None, 1));
    let (hour, always) = (noon() + TimeDelta::hours(1), Period::default());
    let automatic = |value, target, period| DiscountTerms { value, target, period, promo: None, ..terms("NONE") };
    let (tenth, product) = (DiscountValue::Percent(1_000), DiscountTarget::Product(vase));
    let running = Period::new(Some(noon()), Some(hour)).unwrap();
    let on_category = automatic(tenth, DiscountTarget::Category(near.category), running);
    let half = automatic(DiscountValue::Percent(5_000), product, always);
    let promo = DiscountTerms { value: DiscountValue::Fixed(money(250)), target: product, ..terms("SPRING") };
    for (terms, status) in [
        (on_category, DiscountStatus::Active),
        (automatic(DiscountValue::Fixed(money(20)), product, always), DiscountStatus::Active),
        (automatic(DiscountValue::Fixed(money(200)), product, always), DiscountStatus::Paused),
        (promo, DiscountStatus::Active),
        (DiscountTerms { minimum_sum: money(400), ..half }, DiscountStatus::Active),
    ] {
        DiscountRepository::insert(&*store, stamp(place.0), terms, status).await.unwrap();
    }
    assert_eq!(price(near.app, -1).await, (280, Some(300), 5));
    assert_eq!(price(near.app, 0).await, (270, Some(300), 5));
    assert_eq!(price(near.app, 3_600).await, (280, Some(300), 5));
    assert_eq!(price(far.app, 0).await, (350, Some(700), 1));
    assert_eq!(price(AppScope { wholesale: true, ..near.app }, 0).await, (270, Some(300), 5));
    let range = Some(PriceRange { lowest: money(270), highest: money(270) });
    assert_eq!(store.price_range(near.app, all(), noon()).await.unwrap(), range);
    for (filter, listed) in [
        (ProductFilter { on_sale: true, ..all() }, vec![vase]),
        (ProductFilter { price_to: Some(money(270)), ..all() }, vec![vase]),
        (ProductFilter { price_from: Some(money(271)), ..all() }, vec![]),
    ] {
        assert_eq!(near.listed(fixture, filter).await, listed);
    }
}

fn counts<Id: Copy>(values: &[FacetValue<Id>]) -> Vec<(Id, u64)> {
    values.iter().map(|value| (value.record.id, value.count)).collect()
}

/// Filters narrow the list together. A filter does not narrow its own values.
pub async fn filters_narrow_the_list<F: Fixture>(fixture: &F) {
    let (store, shop) = (fixture.store(), Shop::open(fixture).await);
    let project = shop.app.project_id;
    let other = category(fixture, project, fresh("Category"), None).await;
    let (elbe, rhine) = (brand_of(fixture, project).await, brand_of(fixture, project).await);
    let draft = TagDraft { name: fresh("Tag"), photo: None };
    let tag = TagRepository::insert(&*store, stamp(project), draft).await.unwrap().id;
    let of_brand = |brand| Card { brand_id: Some(brand), ..shop.goods() };
    let cup = shop.sell(fixture, Card { tags: vec![tag], ..of_brand(elbe) }, 300).await;
    let bowl = shop.sell(fixture, of_brand(rhine), 500).await;
    let lamp = shop.sell(fixture, Card { category_id: Some(other), ..of_brand(elbe) }, 700).await;
    let by_brand = ProductFilter { brand_ids: vec![elbe], ..all() };
    for (filter, listed) in [
        (by_brand.clone(), vec![cup, lamp]),
        (ProductFilter { category_ids: vec![shop.category], ..by_brand.clone() }, vec![cup]),
        (ProductFilter { category_ids: vec![other, shop.category], ..all() }, vec![cup, bowl, lamp]),
        (ProductFilter { tag_ids: vec![tag], ..all() }, vec![cup]),
        (ProductFilter { price_from: Some(money(400)), ..all() }, vec![bowl, lamp]),
        (ProductFilter { price_from: Some(money(400)), price_to: Some(money(600)), ..all() }, vec![bowl]),
        (ProductFilter { on_sale: true, ..all() }, vec![]),
    ] {
        assert_eq!(shop.listed(fixture, filter).await, listed);
    }
    let range = Some(PriceRange { lowest: money(300), highest: money(700) });
    let (every, of_elbe) = ([(shop.category, 2), (other, 1)], [(shop.category, 1), (other, 1)]);
    for (filter, categories) in [(all(), every), (by_brand, of_elbe)] {
        let facets = store.facets(shop.app, filter, noon()).await.unwrap();
        assert_eq!(counts(&facets.categories), categories);
        assert_eq!(counts(&facets.brands), [(elbe, 2), (rhine, 1)]);
        assert_eq!(counts(&facets.tags), [(tag, 1)]);
        assert_eq!((facets.price, facets.is_complete), (range, true));
    }
}

/// Customers see the root categories and the brands of their application in its order, and subcategories by name.
pub async fn categories_and_brands_are_those_of_the_application<F: Fixture>(fixture: &F) {
    let (store, place) = (fixture.store(), fixture.project().await);
    let (app, beside) = (fixture.application(place).await, fixture.application(place).await);
    let named = async |name: &str, parent| category(fixture, place.0, Name::parse(name).unwrap(), parent).await;
    let (first, last, hidden) = (named("Cups", None).await, named("Bowls", None).await, named("Vases", None).await);
    let (zinc, amber) = (named("Zinc", Some(first)).await, named("Amber", Some(first)).await);
    let (deep, under) = (named("Deep", Some(amber)).await, named("Under", Some(hidden)).await);
    for id in [first, last, zinc] {
        AssortmentRepository::<Category>::assign(&*store, stamp(place.0), app.application_id, id).await.unwrap();
    }
    for (app, parent, limit, expected) in [
        (app, None, None, vec![first, last]),
        (app, None, Some(1), vec![first]),
        (app, Some(first), None, vec![amber, zinc]),
        (app, Some(first), Some(1), vec![amber]),
        (app, Some(amber), None, vec![deep]),
        (app, Some(hidden), None, vec![]),
        (app, Some(under), None, vec![]),
        (beside, None, None, vec![]),
        (beside, Some(first), None, vec![]),
    ] {
        let found = store.categories(app, parent, limit).await.unwrap();
        assert_eq!(found.iter().map(|category| category.id).collect::<Vec<_>>(), expected, "{parent:?}");
        assert!(found.iter().all(|category| category.parent.as_ref().map(|above| above.id) == parent));
    }
    let (elbe, rhine) = (brand_of(fixture, place.0).await, brand_of(fixture, place.0).await);
    let brands: &dyn AssortmentRepository<Brand> = &*store;
    for id in [elbe, rhine] {
        brands.assign(stamp(place.0), app.application_id, id).await.unwrap();
    }
    brands.shift(stamp(place.0), app.application_id, rhine, MoveDirection::Up).await.unwrap();
    for (app, limit, expected) in [(app, None, vec![rhine, elbe]), (app, Some(1), vec![rhine]), (beside, None, vec![])]
    {
        let found = store.brands(app, limit).await.unwrap();
        assert_eq!(found.iter().map(|brand| brand.id).collect::<Vec<_>>(), expected);
    }
}

/// An application offers its active plans by position, while they are plans with a price.
pub async fn plans_are_offered_in_order<F: Fixture>(fixture: &F) {
    let (store, place) = (fixture.store(), fixture.project().await);
    let (app, beside) = (fixture.application(place).await, fixture.application(place).await);
    let club = item(fixture, place.0, plan()).await;
    for (slug, position, is_active, nomenclature_id) in [
        ("gold", 2, true, item(fixture, place.0, plan()).await.id),
        ("silver", 1, true, item(fixture, place.0, plan()).await.id),
        ("club", 2, true, club.id),
        ("hidden", 1, false, item(fixture, place.0, plan()).await.id),
        ("free", 1, true, item(fixture, place.0, Card { price: Some(Money::ZERO), ..plan() }).await.id),
    ] {
        let (slug, position) = (PlanSlug::parse(slug).ok(), PlanPosition::new(position).ok());
        let draft = PlanDraft { nomenclature_id, slug, position, is_active };
        PlanRepository::assign(&*store, place.0, app.application_id, draft, noon()).await.unwrap();
    }
    let slugs = async || {
        let offered = store.plans(app).await.unwrap();
        let detailed = store.plan_cards(app).await.unwrap();
        assert_eq!(detailed.into_iter().map(|card| card.plan).collect::<Vec<_>>(), offered);
        assert!(offered.iter().all(|plan| (plan.amount, plan.period.get()) == (money(900), 1)));
        offered.into_iter().map(|plan| plan.slug.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(slugs().await, ["silver", "gold", "club"]);
    let card = Card { subscription: None, ..club.card.clone() };
    NomenclatureRepository::replace(&*store, stamp(place.0), club, card).await.unwrap();
    assert_eq!(slugs().await, ["silver", "gold"], "an item that is no plan is not offered");
    assert!(store.plans(beside).await.unwrap().is_empty());
    assert!(store.plan_cards(beside).await.unwrap().is_empty());
}

/// Customers see the active slides of their application in their period, in the order of staff.
pub async fn slides_are_shown_in_their_period<F: Fixture>(fixture: &F) {
    let (store, app, other) = (fixture.store(), Shop::open(fixture).await.app, Shop::open(fixture).await.app);
    let (hour, always) = (noon() + TimeDelta::hours(1), Period::default());
    let first = fixture.slide(app, true, always).await;
    fixture.slide(app, false, always).await;
    let running = fixture.slide(app, true, Period::new(Some(noon()), Some(hour)).unwrap()).await;
    let later = fixture.slide(app, true, Period::new(Some(hour), None).unwrap()).await;
    let foreign = fixture.slide(other, true, always).await;
    for (app, at, expected) in [
        (app, noon() - TimeDelta::seconds(1), vec![first]),
        (app, noon(), vec![first, running]),
        (app, hour, vec![first, later]),
        (other, noon(), vec![foreign]),
    ] {
        let shown = store.slides(app, at).await.unwrap();
        assert_eq!(shown.iter().map(|slide| slide.id).collect::<Vec<_>>(), expected);
    }
    assert!(store.countries().await.unwrap().is_sorted_by_key(|country| country.id));
}

/// Under concurrent calls, views add up. Views of products that do not exist are skipped.
pub async fn views_add_up<F: Fixture>(fixture: &F) {
    let (store, shop) = (fixture.store(), Shop::open(fixture).await);
    let vase = shop.sell(fixture, shop.goods(), 500).await;
    let lamp = shop.sell(fixture, shop.goods(), 500).await;
    let outcomes = join_all((1..=8).map(|count| store.add_views(vec![(vase, count), (nothing(), 1)]))).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    for (id, views) in [(vase, 36), (lamp, 0)] {
        let shown = store.product(shop.app.into(), id, noon()).await.unwrap().unwrap();
        assert_eq!((shown.views_count, shown.unstored_views), (views, 0));
    }
}
