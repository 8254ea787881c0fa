//! Assortments and subscription plans of applications in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::listing::Sort;
use kontor_kernel::{
    ApplicationId, BrandId, CategoryId, Line, Listing, Page, PageRequest, PlanAssignmentId, ProjectId, ProjectScoped,
    Stamp, StoreError,
};

use super::{Guard, InMemoryStock, State};
use crate::model::{
    AssignOutcome, Brand, CatalogPlan, Category, MoveDirection, Nomenclature, PlanAssignment, PlanChange, PlanDraft,
    PlanPosition, PlanSlug,
};
use crate::ports::{ApplicationDirectory, Assignable, AssortmentRepository, PlanRepository};
use crate::{AssortmentError, AssortmentRefusal, PlanError, PlanRefusal};

/// Records that applications show, each list in its order.
pub(super) type Order<Id> = BTreeMap<ApplicationId, Vec<Id>>;

fn is_plan(item: &Nomenclature) -> bool {
    item.card.subscription.is_some()
}

/// Record of an assortment, as the storage keeps it.
pub(super) trait Shown: Assignable<Id: Ord> + Clone {
    fn records(state: &State) -> &BTreeMap<Self::Id, (ProjectId, Self)>;

    fn order(state: &State) -> &Order<Self::Id>;

    fn order_mut(state: &mut State) -> &mut Order<Self::Id>;
}

impl Shown for Category {
    fn records(state: &State) -> &BTreeMap<CategoryId, (ProjectId, Self)> {
        &state.categories
    }

    fn order(state: &State) -> &Order<CategoryId> {
        &state.shown_categories
    }

    fn order_mut(state: &mut State) -> &mut Order<CategoryId> {
        &mut state.shown_categories
    }
}

impl Shown for Brand {
    fn records(state: &State) -> &BTreeMap<BrandId, (ProjectId, Self)> {
        &state.brands
    }

    fn order(state: &State) -> &Order<BrandId> {
        &state.shown_brands
    }

    fn order_mut(state: &mut State) -> &mut Order<BrandId> {
        &mut state.shown_brands
    }
}

impl State {
    /// Returns the records that an application shows, in its order.
    pub(super) fn assigned<R: Shown>(&self, application: ApplicationId) -> Vec<R> {
        let ids = R::order(self).get(&application).map(Vec::as_slice).unwrap_or_default();
        ids.iter().filter_map(|id| R::records(self).get(id)).map(|(_, record)| record.clone()).collect()
    }

    fn assigned_one<R: Shown>(&self, application: ApplicationId, id: R::Id) -> Option<R> {
        let is_shown = R::order(self).get(&application).is_some_and(|ids| ids.contains(&id));
        R::records(self).get(&id).filter(|_| is_shown).map(|(_, record)| record.clone())
    }

    fn assign<R: Shown>(&mut self, stamp: Stamp, application: ApplicationId, id: R::Id) -> Result<R, AssortmentError> {
        let own = R::records(self).get(&id).filter(|(owner, _)| self.owns(*owner, stamp));
        let (_, record) = own.cloned().ok_or(AssortmentRefusal::UnknownRecord)?;
        let again = !self.guards.has(Guard::Once);
        let order = R::order_mut(self).entry(application).or_default();
        if again || !order.contains(&id) {
            order.push(id);
        }
        Ok(record)
    }

    fn shift<R: Shown>(
        &mut self,
        application: ApplicationId,
        id: R::Id,
        shift: MoveDirection,
    ) -> Result<R, AssortmentError> {
        let order = R::order_mut(self).entry(application).or_default();
        let place = order.iter().position(|one| *one == id).ok_or(AssortmentError::NotFound)?;
        let beside = match shift {
            MoveDirection::Up => place.checked_sub(1),
            MoveDirection::Down => Some(place + 1).filter(|next| *next < order.len()),
        };
        if let Some(beside) = beside {
            order.swap(place, beside);
        }
        self.assigned_one(application, id).ok_or(AssortmentError::NotFound)
    }

    fn withdraw<R: Shown>(&mut self, application: ApplicationId, id: R::Id) -> Result<(), AssortmentError> {
        self.assigned_one::<R>(application, id).ok_or(AssortmentError::NotFound)?;
        R::order_mut(self).entry(application).or_default().retain(|one| *one != id);
        Ok(())
    }

    /// Assignments of an application, oldest first.
    pub(super) fn plans_of(&self, application: ApplicationId) -> impl Iterator<Item = &PlanAssignment> {
        self.plans.values().map(|(_, plan)| plan).filter(move |plan| plan.application_id == application)
    }

    /// Refuses the slug of another plan of the application; `but` is the assignment itself.
    fn require_slug(
        &self,
        application: ApplicationId,
        slug: &PlanSlug,
        but: Option<PlanAssignmentId>,
    ) -> Result<(), PlanError> {
        let mut others = self.plans_of(application).filter(|plan| Some(plan.id) != but);
        if self.guards.has(Guard::Code) && others.any(|plan| plan.slug == *slug) {
            return Err(PlanRefusal::SlugTaken.into());
        }
        Ok(())
    }

    fn assign_plan(
        &mut self,
        project: ProjectId,
        application_id: ApplicationId,
        draft: &PlanDraft,
        at: DateTime<Utc>,
    ) -> Result<AssignOutcome, PlanError> {
        let item = self.items.get(&draft.nomenclature_id).filter(|(owner, _)| self.is_own(*owner, project));
        let nomenclature_id = item.filter(|(_, item)| is_plan(item)).ok_or(PlanRefusal::UnknownPlan)?.1.id;
        let known = self.plans_of(application_id).find(|plan| plan.nomenclature_id == nomenclature_id);
        if let Some(known) = known.filter(|_| self.guards.has(Guard::Once)) {
            return Ok(AssignOutcome::Existing(known.clone()));
        }
        let is_counted =
            |plan: &&PlanAssignment| self.items.get(&plan.nomenclature_id).is_some_and(|(_, item)| is_plan(item));
        let count = i64::try_from(self.plans_of(application_id).filter(is_counted).count()).unwrap_or(i64::MAX);
        if count >= PlanAssignment::MAX_PER_APPLICATION {
            return Err(PlanRefusal::TooMany.into());
        }
        let slug = draft.slug();
        self.require_slug(application_id, &slug, None)?;
        let last = self.plans_of(application_id).map(|plan| plan.position).max();
        let plan = PlanAssignment {
            position: draft.position.unwrap_or_else(|| PlanPosition::after(last)),
            id: self.ids.id(),
            application_id,
            nomenclature_id,
            slug,
            is_active: draft.is_active,
            created_at: at,
            updated_at: at,
        };
        self.plans.insert(plan.id, (project, plan.clone()));
        Ok(AssignOutcome::Created(plan))
    }

    fn own_plan(
        &self,
        project: ProjectId,
        application: ApplicationId,
        id: PlanAssignmentId,
    ) -> Result<PlanAssignment, PlanError> {
        let own = self.plans.get(&id).filter(|(owner, plan)| {
            let is_here = plan.application_id == application || !self.guards.has(Guard::Project);
            is_here && self.is_own(*owner, project)
        });
        own.map(|(_, plan)| plan.clone()).ok_or(PlanError::NotFound)
    }

    fn update_plan(
        &mut self,
        project: ProjectId,
        application: ApplicationId,
        id: PlanAssignmentId,
        change: PlanChange,
        at: DateTime<Utc>,
    ) -> Result<PlanAssignment, PlanError> {
        let before = self.own_plan(project, application, id)?;
        let slug = change.slug.or(before.slug);
        self.require_slug(application, &slug, Some(id))?;
        let (position, is_active) = (change.position.or(before.position), change.is_active.or(before.is_active));
        let plan = PlanAssignment { slug, position, is_active, updated_at: at, ..before };
        self.plans.insert(id, (project, plan.clone()));
        Ok(plan)
    }
}

#[async_trait]
impl<R: Shown> AssortmentRepository<R> for InMemoryStock {
    async fn assigned(&self, application: ApplicationId) -> Result<Vec<R>, StoreError> {
        Ok(self.state.with(|state| state.assigned(application)))
    }

    async fn page(&self, application: ApplicationId, listing: Listing) -> Result<Page<R>, StoreError> {
        listing.page_of(self.state.with(|state| state.assigned(application)))
    }

    async fn shown(&self, application: ApplicationId, id: R::Id) -> Result<Option<R>, StoreError> {
        Ok(self.state.with(|state| state.assigned_one(application, id)))
    }

    async fn shift(
        &self,
        _: Stamp,
        application: ApplicationId,
        id: R::Id,
        shift: MoveDirection,
    ) -> Result<R, AssortmentError> {
        self.state.commit(|state| state.shift(application, id, shift))
    }

    async fn withdraw(&self, _: Stamp, application: ApplicationId, id: R::Id) -> Result<(), AssortmentError> {
        self.state.commit(|state| state.withdraw::<R>(application, id))
    }

    async fn assign(&self, stamp: Stamp, application: ApplicationId, id: R::Id) -> Result<R, AssortmentError> {
        self.state.commit(|state| state.assign(stamp, application, id))
    }
}

#[async_trait]
impl ApplicationDirectory for InMemoryStock {
    async fn owner(&self, application: ApplicationId) -> Result<Option<ProjectScoped<()>>, StoreError> {
        let owner = self.state.with(|state| state.applications.get(&application).copied());
        Ok(owner.map(|(project, _)| ProjectScoped::new(project, ())))
    }
}

#[async_trait]
impl PlanRepository for InMemoryStock {
    async fn catalog(
        &self,
        project: ProjectId,
        application: ApplicationId,
        text: Option<Line<255>>,
        page: PageRequest,
    ) -> Result<Page<CatalogPlan>, StoreError> {
        let all: Vec<CatalogPlan> = self.state.with(|state| {
            let own = state.items.values().filter(|(owner, item)| *owner == project && is_plan(item));
            let assignment =
                |item: &Nomenclature| state.plans_of(application).find(|plan| plan.nomenclature_id == item.id).cloned();
            own.map(|(_, item)| CatalogPlan {
                item: item.clone(),
                currency: State::CURRENCY.to_owned(),
                assignment: assignment(item),
            })
            .collect()
        });
        Listing { text, ..Listing::unfiltered(Sort::ascending("id"), page) }.page_of(all)
    }

    async fn assign(
        &self,
        project: ProjectId,
        application: ApplicationId,
        draft: PlanDraft,
        at: DateTime<Utc>,
    ) -> Result<AssignOutcome, PlanError> {
        self.state.commit(|state| state.assign_plan(project, application, &draft, at))
    }

    async fn find(
        &self,
        application: ApplicationId,
        id: PlanAssignmentId,
    ) -> Result<Option<PlanAssignment>, StoreError> {
        Ok(self.state.with(|state| state.plans_of(application).find(|plan| plan.id == id).cloned()))
    }

    async fn update(
        &self,
        project: ProjectId,
        application: ApplicationId,
        id: PlanAssignmentId,
        change: PlanChange,
        at: DateTime<Utc>,
    ) -> Result<PlanAssignment, PlanError> {
        self.state.commit(|state| state.update_plan(project, application, id, change, at))
    }

    async fn withdraw(
        &self,
        project: ProjectId,
        application: ApplicationId,
        id: PlanAssignmentId,
    ) -> Result<(), PlanError> {
        self.state.commit(|state| {
            state.own_plan(project, application, id)?;
            state.plans.remove(&id);
            Ok(())
        })
    }
}
