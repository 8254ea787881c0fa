//! Promotions in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kontor_kernel::{
    DiscountId, Money, Name, NomenclatureId, Page, PageRequest, ProjectId, ProjectScoped, PromotionId, Reference,
    Stamp, StoreError,
};

use super::ports::scoped;
use super::{InMemoryStock, State};
use crate::model::{Promotion, PromotionChange, PromotionDraft, PromotionStats};
use crate::ports::PromotionRepository;
use crate::{PromotionError, PromotionList, PromotionReference, PromotionRefusal};

/// Both lists of a promotion.
type Lists = (Vec<Reference<DiscountId>>, Vec<Reference<NomenclatureId>>);

/// Returns the records of one list, each once. Notes those that may not be used.
fn listed<Id: Ord + Copy, T>(
    all: &BTreeMap<Id, (ProjectId, T)>,
    is_own: impl Fn(ProjectId) -> bool,
    name: impl Fn(&T) -> Name,
    (list, ids): (PromotionList, &[Id]),
    unknown: &mut Vec<PromotionReference>,
) -> Vec<Reference<Id>> {
    let mut records: Vec<Reference<Id>> = Vec::new();
    for (place, id) in ids.iter().enumerate() {
        match all.get(id).filter(|(owner, _)| is_own(*owner)) {
            None => unknown.push(PromotionReference { list, place }),
            Some(_) if records.iter().any(|known| known.id == *id) => {}
            Some((_, record)) => records.push(Reference { id: *id, name: name(record) }),
        }
    }
    records
}

impl State {
    fn promotion_lists(
        &self,
        project: ProjectId,
        discount_ids: &[DiscountId],
        nomenclature_ids: &[NomenclatureId],
    ) -> Result<Lists, PromotionError> {
        let (is_own, mut unknown) = (|owner| self.is_own(owner, project), Vec::new());
        let shown = (PromotionList::Discounts, discount_ids);
        let shown = listed(&self.discounts, is_own, |discount| discount.terms.name.clone(), shown, &mut unknown);
        let items = (PromotionList::Nomenclatures, nomenclature_ids);
        let items = listed(&self.items, is_own, |item| item.card.name.clone(), items, &mut unknown);
        if unknown.is_empty() { Ok((shown, items)) } else { Err(PromotionRefusal::UnknownReferences(unknown).into()) }
    }

    fn insert_promotion(&mut self, stamp: Stamp, draft: PromotionDraft) -> Result<Promotion, PromotionError> {
        let (discounts, nomenclatures) =
            self.promotion_lists(stamp.project_id, &draft.discount_ids, &draft.nomenclature_ids)?;
        let promotion = Promotion {
            id: self.ids.id(),
            name: draft.name,
            description: draft.description,
            photo: draft.photo,
            period: draft.period,
            discounts,
            nomenclatures,
            created_at: stamp.at,
            updated_at: stamp.at,
        };
        self.promotions.insert(promotion.id, (stamp.project_id, promotion.clone()));
        Ok(promotion)
    }

    fn own_promotion(&self, stamp: Stamp, id: PromotionId) -> Result<Promotion, PromotionError> {
        let own = self.promotions.get(&id).filter(|(owner, _)| self.owns(*owner, stamp));
        own.map(|(_, promotion)| promotion.clone()).ok_or(PromotionError::NotFound)
    }

    fn update_promotion(
        &mut self,
        stamp: Stamp,
        id: PromotionId,
        change: PromotionChange,
    ) -> Result<Promotion, PromotionError> {
        let before = self.own_promotion(stamp, id)?;
        let period = change.period(before.period).map_err(PromotionRefusal::Period)?;
        let shown = change.discount_ids.as_set().map(Vec::as_slice);
        let items = change.nomenclature_ids.as_set().map(Vec::as_slice);
        let (discounts, nomenclatures) =
            self.promotion_lists(stamp.project_id, shown.unwrap_or_default(), items.unwrap_or_default())?;
        let promotion = Promotion {
            discounts: if shown.is_some() { discounts } else { before.discounts },
            nomenclatures: if items.is_some() { nomenclatures } else { before.nomenclatures },
            id,
            name: change.name.or(before.name),
            description: change.description.or(before.description),
            photo: change.photo.or(before.photo),
            period,
            created_at: before.created_at,
            updated_at: stamp.at,
        };
        self.promotions.insert(id, (stamp.project_id, promotion.clone()));
        Ok(promotion)
    }
}

#[async_trait]
impl PromotionRepository for InMemoryStock {
    async fn list(&self, project: ProjectId, page: PageRequest) -> Result<Page<Promotion>, StoreError> {
        let own = self.state.with(|state| {
            let own = state.promotions.values().rev().filter(|(owner, _)| *owner == project);
            own.map(|(_, promotion)| promotion.clone()).collect()
        });
        Ok(Page::of(own, page))
    }

    async fn find(&self, id: PromotionId) -> Result<Option<ProjectScoped<Promotion>>, StoreError> {
        Ok(self.state.with(|state| scoped(state.promotions.get(&id))))
    }

    async fn stats(&self, id: PromotionId) -> Result<PromotionStats, StoreError> {
        self.state.with(|state| {
            let listed = state.promotions.get(&id).map(|(_, promotion)| promotion.discounts.as_slice());
            let mut stats = PromotionStats::default();
            for (_, discount) in listed.unwrap_or_default().iter().filter_map(|one| state.discounts.get(&one.id)) {
                stats.discounts += 1;
                stats.promo_codes += u64::from(discount.terms.promo.is_some());
                stats.usages += discount.used_count;
                stats.amount = stats.amount.checked_add(discount.used_amount).unwrap_or(Money::MAX);
            }
            Ok(stats)
        })
    }

    async fn insert(&self, stamp: Stamp, draft: PromotionDraft) -> Result<Promotion, PromotionError> {
        self.state.commit(|state| state.insert_promotion(stamp, draft))
    }

    async fn update(
        &self,
        stamp: Stamp,
        id: PromotionId,
        change: PromotionChange,
    ) -> Result<Promotion, PromotionError> {
        self.state.commit(|state| state.update_promotion(stamp, id, change))
    }

    async fn delete(&self, stamp: Stamp, id: PromotionId) -> Result<(), PromotionError> {
        self.state.commit(|state| {
            state.own_promotion(stamp, id)?;
            state.promotions.remove(&id);
            Ok(())
        })
    }
}
