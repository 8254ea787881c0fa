//! The storefront in memory: products that applications offer, with their prices, plans and slides.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    AppScope, CategoryId, DiscountTarget, DiscountValue, Money, NomenclatureId, Page, PageRequest, Phase, Prose,
    StoreError, Visitor, WarehouseId,
};

use super::{Guard, InMemoryStock, State};
use crate::model::{
    Brand, Category, Discount, DiscountState, Inventory, Nomenclature, NomenclatureKind, PlanAssignment, Reference, Tag,
};
use crate::storefront::ports::{Showcase, StorefrontPlans, StorefrontReader, ViewCounter};
use crate::storefront::{
    Country, Facet, FacetValue, Facets, Plan, PlanCard, PriceRange, Product, ProductCard, ProductFilter, ProductOrder,
    Slide, StorefrontBrand, StorefrontCategory,
};

/// Product with its item.
type Offer<'a> = (&'a Nomenclature, Product);

/// Returns the price of one unit after a discount.
fn reduced(full: Money, value: DiscountValue) -> Money {
    let amount = match value {
        DiscountValue::Percent(points) => {
            Money::from_minor((full.minor() * i64::from(points) + 5_000) / 10_000).unwrap_or(full)
        }
        DiscountValue::Fixed(amount) => amount,
    };
    full.saturating_sub(amount)
}

fn is_among<Id: PartialEq>(wanted: &[Id], own: Option<&Id>) -> bool {
    wanted.is_empty() || own.is_some_and(|own| wanted.contains(own))
}

fn matches(filter: &ProductFilter, (item, product): &Offer<'_>) -> bool {
    let card = &item.card;
    is_among(&filter.category_ids, card.category_id.as_ref())
        && is_among(&filter.brand_ids, card.brand_id.as_ref())
        && is_among(&filter.country_ids, card.country_id.as_ref())
        && (filter.tag_ids.is_empty() || card.tags.iter().any(|tag| filter.tag_ids.contains(tag)))
        && filter.price_from.is_none_or(|from| product.price >= from)
        && filter.price_to.is_none_or(|to| product.price <= to)
        && (!filter.on_sale || product.old_price.is_some())
}

fn range(found: &[Offer<'_>]) -> Option<PriceRange> {
    let prices = || found.iter().map(|(_, product)| product.price);
    Some(PriceRange { lowest: prices().min()?, highest: prices().max()? })
}

/// Counts records, most frequent first.
fn values<'a, Id: Copy + Ord + 'a>(records: impl Iterator<Item = &'a Reference<Id>>) -> Vec<FacetValue<Id>> {
    let mut counts = BTreeMap::<Id, FacetValue<Id>>::new();
    for record in records {
        counts.entry(record.id).or_insert_with(|| FacetValue { record: record.clone(), count: 0 }).count += 1;
    }
    let mut values: Vec<FacetValue<Id>> = counts.into_values().collect();
    values.sort_by_key(|value| Reverse(value.count));
    values.truncate(Facets::MAX_VALUES);
    values
}

/// Returns the first records.
fn first<T>(records: impl Iterator<Item = T>, limit: Option<u32>) -> Vec<T> {
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    records.take(limit.unwrap_or(usize::MAX)).collect()
}

fn storefront_category(category: Category) -> StorefrontCategory {
    let Category { id, name, photo, parent, .. } = category;
    StorefrontCategory { id, name, photo, parent }
}

impl State {
    /// Stock of an item in the warehouses of an application.
    fn stock_of(&self, app: AppScope, item: NomenclatureId) -> impl Iterator<Item = &Inventory> {
        let serves = move |id: &WarehouseId| {
            let found = self.warehouses.get(id);
            found.is_some_and(|(_, place)| place.applications.iter().any(|one| one.id == app.application_id))
        };
        let own = self.stock.values().map(|(_, stock)| stock).filter(move |stock| stock.nomenclature.id == item);
        own.filter(move |stock| serves(&stock.warehouse.id))
    }

    /// Returns the price at which an application offers an item, before discounts.
    fn offered(&self, app: AppScope, item: &Nomenclature) -> Option<Money> {
        let any = !self.guards.has(Guard::Offered);
        match item.card.kind {
            _ if item.card.subscription.is_some() => None,
            NomenclatureKind::Service => item.card.price,
            NomenclatureKind::Goods => self.lowest(app, item, |stock| any || stock.available() > 0),
        }
    }

    /// Returns the lowest price of goods among this stock.
    fn lowest(&self, app: AppScope, item: &Nomenclature, like: impl Fn(&Inventory) -> bool) -> Option<Money> {
        let is_sold = item.card.category_id.is_some() || !self.guards.has(Guard::Offered);
        let stock = self.stock_of(app, item.id).filter(|stock| is_sold && item.card.is_stocked() && like(stock));
        stock.filter_map(|stock| stock.price).min()
    }

    /// Returns the price of one unit after the best automatic discount in force.
    fn price(&self, app: AppScope, item: &Nomenclature, full: Money, at: DateTime<Utc>) -> Money {
        let applies = |discount: &&Discount| {
            let terms = &discount.terms;
            let is_target = match terms.target {
                DiscountTarget::Cart => false,
                DiscountTarget::Category(id) => item.card.category_id.is_some_and(|own| self.is_within(own, id)),
                DiscountTarget::Product(id) => item.id == id,
            };
            let is_running = discount.state(at) == DiscountState::Active || !self.guards.has(Guard::Active);
            is_target && is_running && terms.promo.is_none() && terms.minimum_sum <= full
        };
        let own = self.discounts.values().filter(|(owner, _)| *owner == app.project_id).map(|(_, discount)| discount);
        own.filter(applies).map(|discount| reduced(full, discount.terms.value)).min().unwrap_or(full)
    }

    fn product(&self, visitor: Visitor, item: &Nomenclature, full: Money, at: DateTime<Utc>) -> Product {
        let (card, price) = (&item.card, self.price(visitor.app, item, full, at));
        Product {
            id: item.id,
            kind: card.kind,
            name: card.name.clone(),
            article: card.article.clone(),
            price,
            old_price: (price < full).then_some(full),
            quantity: self.stock_of(visitor.app, item.id).map(|stock| u64::from(stock.available())).sum(),
            photos: card.photos.photos().to_vec(),
            category: item.labels.category.clone(),
            brand: item.labels.brand.clone(),
            packaging: card.packaging,
            is_favourite: visitor.counterparty_id.is_some_and(|customer| self.is_favourite(customer, item.id)),
        }
    }

    /// Returns the item if it belongs to the project of the application.
    fn item_for(&self, app: AppScope, id: NomenclatureId) -> Option<&Nomenclature> {
        let own = self.items.get(&id).filter(|(owner, _)| self.is_own(*owner, app.project_id));
        own.map(|(_, item)| item)
    }

    /// Returns a product if the application shows it.
    pub(super) fn shown(&self, visitor: Visitor, id: NomenclatureId, at: DateTime<Utc>) -> Option<Product> {
        let item = self.item_for(visitor.app, id)?;
        Some(self.product(visitor, item, self.offered(visitor.app, item)?, at))
    }

    /// Returns a product if the application would show it with unreserved stock.
    pub(super) fn sold_out(&self, visitor: Visitor, id: NomenclatureId, at: DateTime<Utc>) -> Option<Product> {
        let item = self.item_for(visitor.app, id)?;
        Some(self.product(visitor, item, self.lowest(visitor.app, item, |_| true)?, at))
    }

    fn card(&self, product: Product) -> Option<ProductCard<Prose>> {
        let (_, item) = self.items.get(&product.id)?;
        let (card, labels) = (&item.card, &item.labels);
        let tags = self.tags.iter().map(|(_, tag)| tag).filter(|tag| card.tags.contains(&tag.id));
        Some(ProductCard {
            country: labels.country.clone(),
            storage_unit: labels.storage_unit.clone(),
            share_link: card.share_link.as_ref().map(|link| link.as_str().to_owned()),
            description: card.description.clone(),
            characteristics: card.characteristics.clone(),
            tags: tags.cloned().collect(),
            views_count: self.views_of(product.id),
            unstored_views: 0,
            product,
        })
    }

    fn views_of(&self, id: NomenclatureId) -> u64 {
        self.views.get(&id).copied().unwrap_or_default()
    }

    /// Products of a list, by identifier.
    fn selected(
        &self,
        visitor: Visitor,
        filter: &ProductFilter,
        at: DateTime<Utc>,
    ) -> Result<Vec<Offer<'_>>, StoreError> {
        if filter.query.is_some() {
            return Err(StoreError::Failed("the storefront in memory has no text search".to_owned()));
        }
        let all = self.items.iter().filter_map(|(id, (_, item))| Some((item, self.shown(visitor, *id, at)?)));
        Ok(all.filter(|offer| matches(filter, offer)).collect())
    }

    fn sorted(&self, mut found: Vec<Offer<'_>>, order: Option<ProductOrder>) -> Vec<Product> {
        use ProductOrder::{
            NameAscending, NameDescending, PopularityAscending, PopularityDescending, PriceAscending, PriceDescending,
        };
        match order {
            None => {}
            Some(NameAscending | NameDescending) => found.sort_by_cached_key(|(_, product)| product.name.key()),
            Some(PopularityAscending | PopularityDescending) => found.sort_by_key(|(item, _)| self.views_of(item.id)),
            Some(PriceAscending | PriceDescending) => found.sort_by_key(|(_, product)| product.price),
        }
        if matches!(order, Some(NameDescending | PopularityDescending | PriceDescending)) {
            found.reverse();
        }
        found.into_iter().map(|(_, product)| product).collect()
    }

    fn facets(&self, app: AppScope, filter: &ProductFilter, at: DateTime<Utc>) -> Result<Facets, StoreError> {
        let mut facets = Facets { is_complete: true, ..Facets::default() };
        for (filter, counted) in Facet::counted(filter) {
            let found = self.selected(app.into(), &filter, at)?;
            let labels = || found.iter().map(|(item, _)| &item.labels);
            for facet in counted {
                match facet {
                    Facet::Category => facets.categories = values(labels().filter_map(|of| of.category.as_ref())),
                    Facet::Brand => facets.brands = values(labels().filter_map(|of| of.brand.as_ref())),
                    Facet::Country => facets.countries = values(labels().filter_map(|of| of.country.as_ref())),
                    Facet::Tag => facets.tags = values(labels().flat_map(|of| &of.tags)),
                    Facet::Price => facets.price = range(&found),
                }
            }
        }
        Ok(facets)
    }

    fn subcategories(&self, app: AppScope, parent: CategoryId) -> Vec<Category> {
        let mut assigned = self.assigned::<Category>(app.application_id).into_iter();
        if !assigned.any(|above| self.is_within(parent, above.id)) {
            return Vec::new();
        }
        let below = self.categories.values().map(|(_, category)| category);
        let below = below.filter(|category| category.parent.as_ref().is_some_and(|above| above.id == parent));
        let mut below: Vec<Category> = below.cloned().collect();
        below.sort_by_cached_key(|category| (category.name.key(), category.id));
        below
    }

    fn plan_card(&self, plan: &PlanAssignment) -> Option<PlanCard<Prose>> {
        let (_, item) = self.items.get(&plan.nomenclature_id)?;
        let card = &item.card;
        Some(PlanCard {
            plan: Plan {
                id: plan.id,
                slug: plan.slug.clone(),
                nomenclature_id: item.id,
                name: card.name.clone(),
                amount: card.price.filter(|price| !price.is_zero())?,
                currency: Self::CURRENCY.to_owned(),
                period: card.subscription?,
            },
            article: card.article.clone(),
            description: card.description.clone(),
            characteristics: card.characteristics.clone(),
            photos: card.photos.photos().to_vec(),
            category: item.labels.category.clone(),
        })
    }

    fn offered_plans(&self, app: AppScope) -> Vec<PlanCard<Prose>> {
        let any = !self.guards.has(Guard::Active);
        let mut active: Vec<_> = self.plans_of(app.application_id).filter(|plan| plan.is_active || any).collect();
        active.sort_by_key(|plan| (plan.position, plan.id));
        active.into_iter().filter_map(|plan| self.plan_card(plan)).collect()
    }
}

#[async_trait]
impl StorefrontReader for InMemoryStock {
    async fn products(
        &self,
        visitor: Visitor,
        filter: ProductFilter,
        order: Option<ProductOrder>,
        page: PageRequest,
        at: DateTime<Utc>,
    ) -> Result<Page<Product>, StoreError> {
        self.state.with(|state| Ok(Page::of(state.sorted(state.selected(visitor, &filter, at)?, order), page)))
    }

    async fn product(
        &self,
        visitor: Visitor,
        id: NomenclatureId,
        at: DateTime<Utc>,
    ) -> Result<Option<ProductCard<Prose>>, StoreError> {
        Ok(self.state.with(|state| state.card(state.shown(visitor, id, at)?)))
    }

    async fn sold_out(
        &self,
        visitor: Visitor,
        id: NomenclatureId,
        at: DateTime<Utc>,
    ) -> Result<Option<ProductCard<Prose>>, StoreError> {
        Ok(self.state.with(|state| state.card(state.sold_out(visitor, id, at)?)))
    }

    async fn price_range(
        &self,
        app: AppScope,
        filter: ProductFilter,
        at: DateTime<Utc>,
    ) -> Result<Option<PriceRange>, StoreError> {
        self.state.with(|state| Ok(range(&state.selected(app.into(), &filter, at)?)))
    }

    async fn facets(&self, app: AppScope, filter: ProductFilter, at: DateTime<Utc>) -> Result<Facets, StoreError> {
        self.state.with(|state| state.facets(app, &filter, at))
    }

    async fn categories(
        &self,
        app: AppScope,
        parent: Option<CategoryId>,
        limit: Option<u32>,
    ) -> Result<Vec<StorefrontCategory>, StoreError> {
        let found = self.state.with(|state| {
            if let Some(parent) = parent {
                state.subcategories(app, parent)
            } else {
                let assigned = state.assigned::<Category>(app.application_id).into_iter();
                assigned.filter(|category| category.parent.is_none()).collect()
            }
        });
        Ok(first(found.into_iter().map(storefront_category), limit))
    }

    async fn brands(&self, app: AppScope, limit: Option<u32>) -> Result<Vec<StorefrontBrand>, StoreError> {
        let found = self.state.with(|state| state.assigned::<Brand>(app.application_id));
        let shown = found.into_iter().map(|brand| {
            let Brand { id, name, photo, created_at, .. } = brand;
            StorefrontBrand { id, name, photo, created_at }
        });
        Ok(first(shown, limit))
    }
}

#[async_trait]
impl ViewCounter for InMemoryStock {
    async fn add_views(&self, views: Vec<(NomenclatureId, u64)>) -> Result<(), StoreError> {
        self.state.with(|state| {
            for (id, count) in views.into_iter().filter(|(id, _)| state.items.contains_key(id)) {
                *state.views.entry(id).or_default() += count;
            }
            Ok(())
        })
    }
}

#[async_trait]
impl Showcase for InMemoryStock {
    async fn countries(&self) -> Result<Vec<Country>, StoreError> {
        Ok(Vec::new())
    }

    async fn tags(&self, app: AppScope) -> Result<Vec<Tag>, StoreError> {
        Ok(self.state.with(|state| {
            let own = state.tags.iter().filter(|(owner, _)| state.is_own(*owner, app.project_id));
            own.map(|(_, tag)| tag.clone()).collect()
        }))
    }

    async fn slides(&self, app: AppScope, at: DateTime<Utc>) -> Result<Vec<Slide<Prose>>, StoreError> {
        Ok(self.state.with(|state| {
            let any = !state.guards.has(Guard::Active);
            let own = state.slides.iter().filter(|stored| stored.application == app.application_id);
            let shown = own.filter(|stored| any || stored.is_active && stored.period.phase(at) == Phase::Running);
            shown.map(|stored| stored.slide.clone()).collect()
        }))
    }
}

#[async_trait]
impl StorefrontPlans for InMemoryStock {
    async fn plans(&self, app: AppScope) -> Result<Vec<Plan>, StoreError> {
        let offered = self.state.with(|state| state.offered_plans(app));
        Ok(offered.into_iter().map(|card| card.plan).collect())
    }

    async fn plan_cards(&self, app: AppScope) -> Result<Vec<PlanCard<Prose>>, StoreError> {
        Ok(self.state.with(|state| state.offered_plans(app)))
    }
}
