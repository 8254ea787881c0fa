//! Brands, categories, tags and discounts in memory.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    BrandId, CategoryId, DiscountId, DiscountStatus, DiscountTarget, Edit, Listing, Money, Name, Page, PageRequest,
    ProjectId, ProjectScoped, RecordRepository, Reference, Stamp, StoreError,
};

use super::ports::scoped;
use super::{Guard, InMemoryStock, State, list_of};
use crate::model::{
    Brand, BrandChange, BrandDraft, Category, CategoryChange, CategoryCode, CategoryDraft, Discount, DiscountState,
    DiscountStats, DiscountTerms, DiscountUsage, Tag, TagDraft,
};
use crate::ports::{CategoryRepository, DiscountRepository, DiscountRewrite, TagRepository};
use crate::{
    BrandError, BrandRefusal, CategoryError, CategoryRefusal, DiscountError, DiscountRefusal, TagError, TagRefusal,
};

/// Returns `true` if a record of the project has the property.
fn taken<'a, T: 'a>(
    mut all: impl Iterator<Item = &'a (ProjectId, T)>,
    project: ProjectId,
    is_same: impl Fn(&T) -> bool,
) -> bool {
    all.any(|(owner, record)| *owner == project && is_same(record))
}

/// Returns the records of a project, oldest first.
fn all_of<'a, T: Clone + 'a>(all: impl Iterator<Item = &'a (ProjectId, T)>, project: ProjectId) -> Vec<T> {
    all.filter(|(owner, _)| *owner == project).map(|(_, record)| record.clone()).collect()
}

impl State {
    /// Refuses the name of another brand; `but` is the brand itself.
    fn require_brand_name(&self, project: ProjectId, name: &Name, but: Option<BrandId>) -> Result<(), BrandError> {
        let same = |known: &Brand| Some(known.id) != but && known.name.key() == name.key();
        if self.guards.has(Guard::Name) && taken(self.brands.values(), project, same) {
            return Err(BrandRefusal::NameTaken.into());
        }
        Ok(())
    }

    pub(super) fn insert_brand(&mut self, stamp: Stamp, draft: BrandDraft) -> Result<Brand, BrandError> {
        self.require_brand_name(stamp.project_id, &draft.name, None)?;
        let BrandDraft { name, photo } = draft;
        let brand = Brand { id: self.ids.id(), name, photo, created_at: stamp.at, updated_at: stamp.at };
        self.brands.insert(brand.id, (stamp.project_id, brand.clone()));
        Ok(brand)
    }

    fn update_brand(&mut self, stamp: Stamp, id: BrandId, change: BrandChange) -> Result<Brand, BrandError> {
        let own = self.brands.get(&id).filter(|(owner, _)| *owner == stamp.project_id);
        let (project, before) = own.cloned().ok_or(BrandError::NotFound)?;
        let (name, photo) = (change.name.or(before.name), change.photo.or(before.photo));
        self.require_brand_name(project, &name, Some(id))?;
        let brand = Brand { id, name, photo, created_at: before.created_at, updated_at: stamp.at };
        self.brands.insert(id, (project, brand.clone()));
        Ok(brand)
    }

    pub(super) fn insert_tag(&mut self, stamp: Stamp, draft: TagDraft) -> Result<Tag, TagError> {
        if !self.projects.contains(&stamp.project_id) {
            return Err(TagError::NotFound);
        }
        let same = |known: &Tag| known.name.key() == draft.name.key();
        if self.guards.has(Guard::Name) && taken(self.tags.iter(), stamp.project_id, same) {
            return Err(TagRefusal::NameTaken.into());
        }
        let TagDraft { name, photo } = draft;
        let tag = Tag { id: self.ids.id(), name, photo, created_at: stamp.at };
        self.tags.push((stamp.project_id, tag.clone()));
        Ok(tag)
    }

    fn own_category(&self, project: ProjectId, id: CategoryId) -> Option<&Category> {
        self.categories.get(&id).filter(|(owner, _)| *owner == project).map(|(_, category)| category)
    }

    fn parent(
        &self,
        project: ProjectId,
        id: Option<CategoryId>,
    ) -> Result<Option<Reference<CategoryId>>, CategoryError> {
        let Some(id) = id else { return Ok(None) };
        let parent = self.own_category(project, id).ok_or(CategoryRefusal::UnknownParent)?;
        Ok(Some(Reference { id, name: parent.name.clone() }))
    }

    /// Returns the code, or the next one. Refuses that of another category; `but` is the category itself.
    fn category_code(
        &self,
        project: ProjectId,
        code: Option<CategoryCode>,
        but: Option<CategoryId>,
    ) -> Result<CategoryCode, CategoryError> {
        let Some(code) = code else {
            let codes = all_of(self.categories.values(), project).into_iter().map(|known| known.code.get());
            let next = codes.max().unwrap_or(0).saturating_add(1);
            return Ok(CategoryCode::new(next).map_err(StoreError::corrupt)?);
        };
        let same = |known: &Category| Some(known.id) != but && known.code == code;
        if self.guards.has(Guard::Code) && taken(self.categories.values(), project, same) {
            return Err(CategoryRefusal::CodeTaken.into());
        }
        Ok(code)
    }

    pub(super) fn insert_category(&mut self, stamp: Stamp, draft: CategoryDraft) -> Result<Category, CategoryError> {
        let category = Category {
            parent: self.parent(stamp.project_id, draft.parent_id)?,
            code: self.category_code(stamp.project_id, draft.code, None)?,
            id: self.ids.id(),
            name: draft.name,
            photo: draft.photo,
            description: draft.description,
            version: 1,
            created_at: stamp.at,
            updated_at: stamp.at,
        };
        self.categories.insert(category.id, (stamp.project_id, category.clone()));
        Ok(category)
    }

    /// Returns `true` if the category is this one or below it.
    pub(super) fn is_within(&self, category: CategoryId, above: CategoryId) -> bool {
        let parent = |id: &CategoryId| {
            self.categories.get(id).and_then(|(_, category)| category.parent.as_ref()).map(|parent| parent.id)
        };
        std::iter::successors(Some(category), parent).take(self.categories.len()).any(|id| id == above)
    }

    fn update_category(
        &mut self,
        stamp: Stamp,
        id: CategoryId,
        change: CategoryChange,
    ) -> Result<Category, CategoryError> {
        let project = stamp.project_id;
        let before = self.own_category(project, id).cloned().ok_or(CategoryError::NotFound)?;
        let parent = match change.parent_id {
            Edit::Keep => before.parent,
            Edit::Set(parent) => self.parent(project, parent)?,
        };
        if self.guards.has(Guard::Cycle) && parent.as_ref().is_some_and(|parent| self.is_within(parent.id, id)) {
            return Err(CategoryRefusal::Cycle.into());
        }
        let category = Category {
            id,
            name: change.name.or(before.name),
            photo: change.photo.or(before.photo),
            parent,
            code: self.category_code(project, Some(change.code.or(before.code)), Some(id))?,
            description: change.description.or(before.description),
            version: before.version + 1,
            created_at: before.created_at,
            updated_at: stamp.at,
        };
        self.categories.insert(id, (project, category.clone()));
        Ok(category)
    }

    /// Checks the target and the code of a discount; `but` is the discount itself. Returns the name of the target.
    fn admit_terms(
        &self,
        project: ProjectId,
        terms: &DiscountTerms,
        but: Option<DiscountId>,
    ) -> Result<Option<Name>, DiscountError> {
        let code = terms.promo.as_ref().map(|promo| &promo.code);
        let same = |known: &Discount| {
            let other = known.terms.promo.as_ref().map(|promo| &promo.code);
            Some(known.id) != but && code.is_some() && other == code
        };
        if self.guards.has(Guard::Code) && taken(self.discounts.values(), project, same) {
            return Err(DiscountRefusal::CodeTaken.into());
        }
        Ok(match terms.target {
            DiscountTarget::Cart => None,
            DiscountTarget::Category(id) => {
                let category = self.own_category(project, id).ok_or(DiscountRefusal::UnknownCategory)?;
                Some(category.name.clone())
            }
            DiscountTarget::Product(id) => {
                let item = self.items.get(&id).filter(|(owner, _)| *owner == project);
                Some(item.ok_or(DiscountRefusal::UnknownProduct)?.1.card.name.clone())
            }
        })
    }

    fn insert_discount(
        &mut self,
        stamp: Stamp,
        terms: DiscountTerms,
        status: DiscountStatus,
    ) -> Result<Discount, DiscountError> {
        let target_name = self.admit_terms(stamp.project_id, &terms, None)?;
        let discount = Discount {
            id: self.ids.id(),
            terms,
            target_name,
            status,
            used_count: 0,
            used_amount: Money::ZERO,
            version: 1,
            created_at: stamp.at,
            updated_at: stamp.at,
        };
        self.discounts.insert(discount.id, (stamp.project_id, discount.clone()));
        Ok(discount)
    }

    fn own_discount(&self, stamp: Stamp, id: DiscountId) -> Result<Discount, DiscountError> {
        let own = self.discounts.get(&id).filter(|(owner, _)| *owner == stamp.project_id);
        own.map(|(_, discount)| discount.clone()).ok_or(DiscountError::NotFound)
    }

    fn replace_discount(&mut self, stamp: Stamp, rewrite: DiscountRewrite) -> Result<Discount, DiscountError> {
        let DiscountRewrite { id, version, terms, status } = rewrite;
        let before = self.own_discount(stamp, id)?;
        if self.guards.has(Guard::Version) && before.version != version {
            return Err(DiscountRefusal::Stale.into());
        }
        let target_name = self.admit_terms(stamp.project_id, &terms, Some(id))?;
        let version = before.version + 1;
        let discount = Discount { terms, target_name, status, version, updated_at: stamp.at, ..before };
        self.discounts.insert(id, (stamp.project_id, discount.clone()));
        Ok(discount)
    }
}

#[async_trait]
impl RecordRepository<Brand> for InMemoryStock {
    async fn list(&self, project: ProjectId) -> Result<Vec<Brand>, StoreError> {
        Ok(self.state.with(|state| all_of(state.brands.values(), project)))
    }

    async fn find(&self, id: BrandId) -> Result<Option<ProjectScoped<Brand>>, StoreError> {
        Ok(self.state.with(|state| scoped(state.brands.get(&id))))
    }

    async fn insert(&self, stamp: Stamp, draft: BrandDraft) -> Result<Brand, BrandError> {
        self.state.commit(|state| state.insert_brand(stamp, draft))
    }

    async fn update(&self, stamp: Stamp, id: BrandId, change: BrandChange) -> Result<Brand, BrandError> {
        self.state.commit(|state| state.update_brand(stamp, id, change))
    }
}

#[async_trait]
impl TagRepository for InMemoryStock {
    async fn list(&self, project: ProjectId) -> Result<Vec<Tag>, StoreError> {
        Ok(self.state.with(|state| all_of(state.tags.iter(), project)))
    }

    async fn insert(&self, stamp: Stamp, draft: TagDraft) -> Result<Tag, TagError> {
        self.state.commit(|state| state.insert_tag(stamp, draft))
    }
}

#[async_trait]
impl CategoryRepository for InMemoryStock {
    async fn list(&self, project: ProjectId) -> Result<Vec<Category>, StoreError> {
        Ok(self.state.with(|state| all_of(state.categories.values(), project)))
    }

    async fn page(
        &self,
        project: ProjectId,
        parent: Option<CategoryId>,
        listing: Listing,
    ) -> Result<Page<Category>, StoreError> {
        self.state.with(|state| {
            let below = |(_, category): &&(ProjectId, Category)| {
                parent.is_none() || category.parent.as_ref().map(|above| above.id) == parent
            };
            list_of(state.categories.values().filter(below), project, &listing)
        })
    }

    async fn find(&self, id: CategoryId) -> Result<Option<ProjectScoped<Category>>, StoreError> {
        Ok(self.state.with(|state| scoped(state.categories.get(&id))))
    }

    async fn insert(&self, stamp: Stamp, draft: CategoryDraft) -> Result<Category, CategoryError> {
        self.state.commit(|state| state.insert_category(stamp, draft))
    }

    async fn update(&self, stamp: Stamp, id: CategoryId, change: CategoryChange) -> Result<Category, CategoryError> {
        self.state.commit(|state| state.update_category(stamp, id, change))
    }
}

#[async_trait]
impl DiscountRepository for InMemoryStock {
    async fn list(&self, project: ProjectId, listing: Listing, _: DateTime<Utc>) -> Result<Page<Discount>, StoreError> {
        self.state.with(|state| list_of(state.discounts.values(), project, &listing))
    }

    async fn stats(&self, project: ProjectId, at: DateTime<Utc>) -> Result<DiscountStats, StoreError> {
        let mut stats = DiscountStats::default();
        for discount in self.state.with(|state| all_of(state.discounts.values(), project)) {
            let count = match discount.state(at) {
                DiscountState::Active => &mut stats.active,
                DiscountState::Scheduled => &mut stats.scheduled,
                DiscountState::Expired => &mut stats.expired,
                DiscountState::Paused => &mut stats.paused,
                DiscountState::Archived => &mut stats.archived,
            };
            *count += 1;
            stats.promo_codes += u64::from(discount.terms.promo.is_some());
        }
        Ok(stats)
    }

    async fn find(&self, id: DiscountId) -> Result<Option<ProjectScoped<Discount>>, StoreError> {
        Ok(self.state.with(|state| scoped(state.discounts.get(&id))))
    }

    async fn usages(&self, _: DiscountId, page: PageRequest) -> Result<Page<DiscountUsage>, StoreError> {
        Ok(Page::of(Vec::new(), page))
    }

    async fn insert(
        &self,
        stamp: Stamp,
        terms: DiscountTerms,
        status: DiscountStatus,
    ) -> Result<Discount, DiscountError> {
        self.state.commit(|state| state.insert_discount(stamp, terms, status))
    }

    async fn replace(&self, stamp: Stamp, rewrite: DiscountRewrite) -> Result<Discount, DiscountError> {
        self.state.commit(|state| state.replace_discount(stamp, rewrite))
    }

    async fn delete(&self, stamp: Stamp, id: DiscountId) -> Result<(), DiscountError> {
        self.state.commit(|state| {
            state.own_discount(stamp, id)?;
            state.discounts.remove(&id);
            for (_, promotion) in state.promotions.values_mut() {
                promotion.discounts.retain(|listed| listed.id != id);
            }
            Ok(())
        })
    }
}
