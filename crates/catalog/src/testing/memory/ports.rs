//! Ports of the stock in memory.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kontor_kernel::{
    ApplicationId, BranchId, Edit, InventoryId, Listing, NomenclatureId, Page, PageRequest, ProjectId, ProjectScoped,
    Reference, Stamp, StoreError, TagId, WarehouseId,
};

use super::{Guard, InMemoryStock, State, list_of, named};
use crate::model::{
    Card, CardLabels, Inventory, InventoryDraft, Nomenclature, NomenclatureKind, StockChange, StockEntry, StockLevel,
    StockReason, StockedItem, Warehouse, WarehouseChange, WarehouseDraft,
};
use crate::ports::{InventoryRepository, NomenclatureRepository, WarehouseRepository};
use crate::{
    CardReference, InventoryError, InventoryReference, InventoryRefusal, NomenclatureError, NomenclatureRefusal,
    WarehouseError, WarehouseReference, WarehouseRefusal,
};

pub(super) fn scoped<T: Clone>(found: Option<&(ProjectId, T)>) -> Option<ProjectScoped<T>> {
    found.map(|(project, record)| ProjectScoped::new(*project, record.clone()))
}

impl State {
    pub(super) fn insert_stock(&mut self, stamp: Stamp, draft: &InventoryDraft) -> Result<Inventory, InventoryError> {
        let warehouse = self.warehouses.get(&draft.warehouse_id).filter(|(owner, _)| self.owns(*owner, stamp));
        let item = self.items.get(&draft.nomenclature_id).filter(|(owner, _)| self.owns(*owner, stamp));
        let (Some((_, warehouse)), Some((_, item))) = (warehouse, item) else {
            let missing = [
                warehouse.is_none().then_some(InventoryReference::Warehouse),
                item.is_none().then_some(InventoryReference::Nomenclature),
            ];
            return Err(InventoryRefusal::UnknownReferences(missing.into_iter().flatten().collect()).into());
        };
        if self.guards.has(Guard::Goods) && !item.card.is_stocked() {
            return Err(InventoryRefusal::NotStocked.into());
        }
        let same = |(_, stock): &(ProjectId, Inventory)| {
            stock.warehouse.id == draft.warehouse_id && stock.nomenclature.id == draft.nomenclature_id
        };
        if self.guards.has(Guard::Once) && self.stock.values().any(same) {
            return Err(InventoryRefusal::AlreadyStocked.into());
        }
        let warehouse = Reference { id: warehouse.id, name: warehouse.name.clone() };
        let nomenclature =
            StockedItem { id: item.id, name: item.card.name.clone(), article: item.card.article.clone() };
        let stock = Inventory {
            id: self.ids.id(),
            warehouse,
            nomenclature,
            quantity: draft.quantity,
            reserved: StockLevel::EMPTY,
            price: Some(draft.price),
            version: 1,
            created_at: stamp.at,
            updated_at: stamp.at,
        };
        self.stock.insert(stock.id, (stamp.project_id, stock.clone()));
        self.record(stamp, StockReason::Creation, None, &stock);
        Ok(stock)
    }

    pub(super) fn set_stock(
        &mut self,
        stamp: Stamp,
        id: InventoryId,
        change: StockChange,
    ) -> Result<Inventory, InventoryError> {
        let own = self.stock.get(&id).filter(|(owner, _)| self.owns(*owner, stamp));
        let (project, before) = own.cloned().ok_or(InventoryError::NotFound)?;
        let quantity = change.quantity.or(before.quantity);
        if self.guards.has(Guard::Reserved) && quantity < before.reserved {
            return Err(InventoryRefusal::BelowReserved { reserved: before.reserved }.into());
        }
        let price = change.price.as_set().copied().or(before.price);
        let version = before.version + 1;
        let after = Inventory { quantity, price, version, updated_at: stamp.at, ..before.clone() };
        self.stock.insert(id, (project, after.clone()));
        self.record(stamp, StockReason::Edit, Some(&before), &after);
        if let Some(entry) = self.movements.get_mut(&id).and_then(|entries| entries.last_mut()) {
            entry.comment = change.comment;
        }
        Ok(after)
    }

    /// Checks the references and the article of an item; `but` is the item itself.
    fn admit(&self, stamp: Stamp, card: &Card, but: Option<NomenclatureId>) -> Result<CardLabels, NomenclatureError> {
        let category = card.category_id.and_then(|id| self.categories.get(&id));
        let category = category.filter(|(owner, _)| self.owns(*owner, stamp)).map(|(_, category)| category);
        let brand = card.brand_id.and_then(|id| self.brands.get(&id));
        let brand = brand.filter(|(owner, _)| self.owns(*owner, stamp)).map(|(_, brand)| brand);
        let tag = |id: &TagId| self.tags.iter().find(|(owner, tag)| tag.id == *id && self.owns(*owner, stamp));
        let references = [
            (card.type_id.is_some(), CardReference::Type),
            (card.category_id.is_some() && category.is_none(), CardReference::Category),
            (card.brand_id.is_some() && brand.is_none(), CardReference::Brand),
            (card.country_id.is_some(), CardReference::Country),
            (card.storage_unit_id.is_some(), CardReference::StorageUnit),
            (card.vat_id.is_some(), CardReference::Vat),
        ];
        let unknown = references.into_iter().filter(|(is_unknown, _)| *is_unknown).map(|(_, reference)| reference);
        let unknown_tags = card.tags.iter().enumerate().filter(|(_, id)| tag(id).is_none());
        let unknown: Vec<_> = unknown.chain(unknown_tags.map(|(place, _)| CardReference::Tag(place))).collect();
        if !unknown.is_empty() {
            return Err(NomenclatureRefusal::UnknownReferences(unknown).into());
        }
        let taken = |(owner, item): &(ProjectId, Nomenclature)| {
            let same = card.article.is_some() && item.card.article == card.article;
            same && *owner == stamp.project_id && Some(item.id) != but
        };
        if self.guards.has(Guard::Article) && self.items.values().any(taken) {
            return Err(NomenclatureRefusal::ArticleTaken.into());
        }
        let kind = named(match card.kind {
            NomenclatureKind::Goods => "Goods",
            NomenclatureKind::Service => "Service",
        })?;
        let tags: BTreeSet<TagId> = card.tags.iter().copied().collect();
        let tags = tags.iter().filter_map(tag).map(|(_, tag)| Reference { id: tag.id, name: tag.name.clone() });
        Ok(CardLabels {
            kind,
            nomenclature_type: None,
            category: category.map(|category| Reference { id: category.id, name: category.name.clone() }),
            brand: brand.map(|brand| Reference { id: brand.id, name: brand.name.clone() }),
            country: None,
            storage_unit: None,
            vat: None,
            tags: tags.collect(),
        })
    }

    pub(super) fn insert_item(&mut self, stamp: Stamp, card: Card) -> Result<Nomenclature, NomenclatureError> {
        let labels = self.admit(stamp, &card, None)?;
        let (created_at, updated_at) = (stamp.at, stamp.at);
        let item = Nomenclature { id: self.ids.id(), card, labels, version: 1, created_at, updated_at };
        self.items.insert(item.id, (stamp.project_id, item.clone()));
        Ok(item)
    }

    pub(super) fn replace_item(
        &mut self,
        stamp: Stamp,
        seen: &Nomenclature,
        card: Card,
    ) -> Result<Nomenclature, NomenclatureError> {
        let labels = self.admit(stamp, &card, Some(seen.id))?;
        let own = self.items.get(&seen.id).filter(|(owner, _)| *owner == stamp.project_id);
        let current = own.filter(|(_, item)| item.version == seen.version || !self.guards.has(Guard::Version));
        let Some((_, before)) = current.cloned() else { return Err(NomenclatureRefusal::Stale.into()) };
        let stocked = self.stock.values().any(|(_, stock)| stock.nomenclature.id == seen.id);
        if self.guards.has(Guard::Goods) && stocked && !card.is_stocked() {
            return Err(NomenclatureRefusal::Stocked.into());
        }
        let item = Nomenclature { card, labels, version: before.version + 1, updated_at: stamp.at, ..before };
        self.items.insert(item.id, (stamp.project_id, item.clone()));
        Ok(item)
    }

    /// Checks the branch and the applications of a warehouse. Returns the applications, oldest first.
    fn require_places(
        &self,
        stamp: Stamp,
        branch: Option<BranchId>,
        applications: &[ApplicationId],
    ) -> Result<Vec<Reference<ApplicationId>>, WarehouseError> {
        let own = |branch: BranchId| self.branches.get(&branch).is_some_and(|owner| self.owns(*owner, stamp));
        let sells = |id: &ApplicationId| self.applications.get(id).is_some_and(|(owner, _)| self.owns(*owner, stamp));
        let branch = branch.filter(|branch| !own(*branch)).map(|_| WarehouseReference::Branch);
        let unknown = applications.iter().enumerate().filter(|(_, id)| !sells(id));
        let unknown = unknown.map(|(place, _)| WarehouseReference::Application(place));
        let unknown: Vec<_> = branch.into_iter().chain(unknown).collect();
        if !unknown.is_empty() {
            return Err(WarehouseRefusal::UnknownReferences(unknown).into());
        }
        let ids: BTreeSet<ApplicationId> = applications.iter().copied().collect();
        ids.into_iter().map(|id| Ok(Reference { id, name: named("Application")? })).collect()
    }

    fn insert_warehouse(&mut self, stamp: Stamp, draft: WarehouseDraft) -> Result<Warehouse, WarehouseError> {
        let of_branch = self.applications.iter().filter(|(_, (_, branch))| *branch == draft.branch_id);
        let ids = draft.application_ids.unwrap_or_else(|| of_branch.map(|(id, _)| *id).collect());
        let applications = self.require_places(stamp, Some(draft.branch_id), &ids)?;
        let warehouse = Warehouse {
            id: self.ids.id(),
            name: draft.name,
            address: draft.address,
            branch: Reference { id: draft.branch_id, name: named("Branch")? },
            applications,
            version: 1,
            created_at: stamp.at,
            updated_at: stamp.at,
        };
        self.warehouses.insert(warehouse.id, (stamp.project_id, warehouse.clone()));
        Ok(warehouse)
    }

    fn own_warehouse(&self, stamp: Stamp, id: WarehouseId) -> Result<Warehouse, WarehouseError> {
        let own = self.warehouses.get(&id).filter(|(owner, _)| self.owns(*owner, stamp));
        own.map(|(_, warehouse)| warehouse.clone()).ok_or(WarehouseError::NotFound)
    }

    fn update_warehouse(
        &mut self,
        stamp: Stamp,
        id: WarehouseId,
        change: WarehouseChange,
    ) -> Result<Warehouse, WarehouseError> {
        let before = self.own_warehouse(stamp, id)?;
        let wanted = change.application_ids.as_set().map(Vec::as_slice);
        let sold_by = self.require_places(stamp, change.branch_id.as_set().copied(), wanted.unwrap_or_default())?;
        let applications = if wanted.is_some() { sold_by } else { before.applications };
        let branch = match change.branch_id {
            Edit::Keep => before.branch,
            Edit::Set(id) => Reference { id, name: named("Branch")? },
        };
        let (name, address) = (change.name.or(before.name), change.address.or(before.address));
        let version = before.version + 1;
        let created_at = before.created_at;
        let after = Warehouse { id, name, address, branch, applications, version, created_at, updated_at: stamp.at };
        self.warehouses.insert(id, (stamp.project_id, after.clone()));
        Ok(after)
    }

    fn delete_warehouse(&mut self, stamp: Stamp, id: WarehouseId) -> Result<(), WarehouseError> {
        self.own_warehouse(stamp, id)?;
        let here = |(_, stock): &(ProjectId, Inventory)| stock.warehouse.id == id;
        let stocked = self.stock.values().any(|stock| here(stock) && stock.1.quantity > StockLevel::EMPTY);
        if self.guards.has(Guard::Empty) && stocked {
            return Err(WarehouseRefusal::Stocked.into());
        }
        self.stock.retain(|_, stock| !here(stock));
        self.warehouses.remove(&id);
        Ok(())
    }
}

#[async_trait]
impl InventoryRepository for InMemoryStock {
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Inventory>, StoreError> {
        self.state.with(|state| list_of(state.stock.values(), project, &listing))
    }

    async fn history(
        &self,
        project: ProjectId,
        id: InventoryId,
        page: PageRequest,
    ) -> Result<Page<StockEntry>, StoreError> {
        let entries = self.state.with(|state| {
            let own = state.stock.get(&id).is_some_and(|(owner, _)| *owner == project);
            state.movements.get(&id).filter(|_| own).cloned().unwrap_or_default()
        });
        Ok(Page::of(entries.into_iter().rev().collect(), page))
    }

    async fn find(&self, id: InventoryId) -> Result<Option<ProjectScoped<Inventory>>, StoreError> {
        Ok(self.state.with(|state| scoped(state.stock.get(&id))))
    }

    async fn insert(&self, stamp: Stamp, draft: InventoryDraft) -> Result<Inventory, InventoryError> {
        self.state.commit(|state| state.insert_stock(stamp, &draft))
    }

    async fn set_stock(&self, stamp: Stamp, id: InventoryId, change: StockChange) -> Result<Inventory, InventoryError> {
        self.state.commit(|state| state.set_stock(stamp, id, change))
    }
}

#[async_trait]
impl NomenclatureRepository for InMemoryStock {
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Nomenclature>, StoreError> {
        self.state.with(|state| list_of(state.items.values(), project, &listing))
    }

    async fn find(&self, id: NomenclatureId) -> Result<Option<ProjectScoped<Nomenclature>>, StoreError> {
        Ok(self.state.with(|state| scoped(state.items.get(&id))))
    }

    async fn insert(&self, stamp: Stamp, card: Card) -> Result<Nomenclature, NomenclatureError> {
        self.state.commit(|state| state.insert_item(stamp, card))
    }

    async fn replace(&self, stamp: Stamp, seen: Nomenclature, card: Card) -> Result<Nomenclature, NomenclatureError> {
        self.state.commit(|state| state.replace_item(stamp, &seen, card))
    }
}

#[async_trait]
impl WarehouseRepository for InMemoryStock {
    async fn find(&self, id: WarehouseId) -> Result<Option<ProjectScoped<Warehouse>>, StoreError> {
        Ok(self.state.with(|state| scoped(state.warehouses.get(&id))))
    }

    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Warehouse>, StoreError> {
        self.state.with(|state| list_of(state.warehouses.values(), project, &listing))
    }

    async fn insert(&self, stamp: Stamp, draft: WarehouseDraft) -> Result<Warehouse, WarehouseError> {
        self.state.commit(|state| state.insert_warehouse(stamp, draft))
    }

    async fn update(
        &self,
        stamp: Stamp,
        id: WarehouseId,
        change: WarehouseChange,
    ) -> Result<Warehouse, WarehouseError> {
        self.state.commit(|state| state.update_warehouse(stamp, id, change))
    }

    async fn delete(&self, stamp: Stamp, id: WarehouseId) -> Result<(), WarehouseError> {
        self.state.commit(|state| state.delete_warehouse(stamp, id))
    }
}
