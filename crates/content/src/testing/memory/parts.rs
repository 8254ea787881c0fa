//! Menu items and blocks.

use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    AppScope, ApplicationId, BlockId, Edit, InvalidId, Listing, MenuItemId, MoveDirection, Name, Page, ProjectId,
    ProjectScoped, Stamp, StoreError,
};

use super::{Guard, InMemoryContent, State, free_slug, list_of};
use crate::model::{
    ApplicationPart, Block, BlockChange, BlockDraft, Menu, MenuItem, MenuItemChange, MenuItemDraft, Node, PartCode,
    Place, PlaceChange, PlaceDraft, ShownItem, Slug, Tree, shifted,
};
use crate::ports::{BlockKey, PartOrder, PartReader, PartRepository};
use crate::{PartError, PartRefusal};

/// Records of one kind with their projects.
type Records<P> = BTreeMap<<P as ApplicationPart>::Id, (ProjectId, P)>;

/// Part of a tree, as the storage writes it.
trait TreePart: ApplicationPart<Id: TryFrom<i64, Error = InvalidId> + Ord> {
    const FALLBACK_SLUG: &'static str;

    fn records(state: &State) -> &Records<Self>;

    fn records_mut(state: &mut State) -> &mut Records<Self>;

    fn created(id: Self::Id, place: Place<Self::Id>, draft: Self::Draft, at: DateTime<Utc>) -> Self;

    fn change(&mut self, change: Self::Change, at: DateTime<Utc>);

    fn id(&self) -> Self::Id;

    fn name(&self) -> &Name;

    fn place(&self) -> &Place<Self::Id>;

    fn place_mut(&mut self) -> &mut Place<Self::Id>;

    /// Position among its siblings; 0 if the kind has none.
    fn position(&self) -> i64;

    fn set_position(&mut self, position: i64);

    fn drafted(draft: &Self::Draft) -> (&PlaceDraft<Self::Id>, &Name);

    fn moved(change: &Self::Change) -> &PlaceChange<Self::Id>;
}

impl TreePart for MenuItem {
    const FALLBACK_SLUG: &'static str = "item";

    fn records(state: &State) -> &Records<Self> {
        &state.menu_items
    }

    fn records_mut(state: &mut State) -> &mut Records<Self> {
        &mut state.menu_items
    }

    fn created(id: MenuItemId, place: Place<MenuItemId>, draft: MenuItemDraft, at: DateTime<Utc>) -> Self {
        let MenuItemDraft { name, avatar, preview, .. } = draft;
        Self { id, place, position: 0, name, avatar, preview, version: 1, created_at: at, updated_at: at }
    }

    fn change(&mut self, change: MenuItemChange, at: DateTime<Utc>) {
        self.name = change.name.or(self.name.clone());
        self.avatar = change.avatar.or(self.avatar.take());
        self.preview = change.preview.or(self.preview.take());
        self.version += 1;
        self.updated_at = at;
    }

    fn id(&self) -> MenuItemId {
        self.id
    }

    fn name(&self) -> &Name {
        &self.name
    }

    fn place(&self) -> &Place<MenuItemId> {
        &self.place
    }

    fn place_mut(&mut self) -> &mut Place<MenuItemId> {
        &mut self.place
    }

    fn position(&self) -> i64 {
        self.position
    }

    fn set_position(&mut self, position: i64) {
        self.position = position;
    }

    fn drafted(draft: &MenuItemDraft) -> (&PlaceDraft<MenuItemId>, &Name) {
        (&draft.place, &draft.name)
    }

    fn moved(change: &MenuItemChange) -> &PlaceChange<MenuItemId> {
        &change.place
    }
}

/// Name that every type of blocks has here.
#[expect(clippy::expect_used, reason = "the name is valid")]
fn type_name() -> Name {
    Name::parse("Text").expect("a valid name")
}

impl TreePart for Block {
    const FALLBACK_SLUG: &'static str = "block";

    fn records(state: &State) -> &Records<Self> {
        &state.blocks
    }

    fn records_mut(state: &mut State) -> &mut Records<Self> {
        &mut state.blocks
    }

    fn created(id: BlockId, place: Place<BlockId>, draft: BlockDraft, at: DateTime<Utc>) -> Self {
        let BlockDraft { name, avatar, block_type_id, link, file, text, .. } = draft;
        let block_type = (block_type_id, type_name());
        Self { id, place, name, avatar, block_type, link, file, text, version: 1, created_at: at, updated_at: at }
    }

    fn change(&mut self, change: BlockChange, at: DateTime<Utc>) {
        self.name = change.name.or(self.name.clone());
        self.avatar = change.avatar.or(self.avatar.take());
        self.block_type.0 = change.block_type_id.or(self.block_type.0);
        self.link = change.link.or(self.link.take());
        self.file = change.file.or(self.file.take());
        self.text = change.text.or(self.text.take());
        self.version += 1;
        self.updated_at = at;
    }

    fn id(&self) -> BlockId {
        self.id
    }

    fn name(&self) -> &Name {
        &self.name
    }

    fn place(&self) -> &Place<BlockId> {
        &self.place
    }

    fn place_mut(&mut self) -> &mut Place<BlockId> {
        &mut self.place
    }

    fn position(&self) -> i64 {
        0
    }

    fn set_position(&mut self, _: i64) {}

    fn drafted(draft: &BlockDraft) -> (&PlaceDraft<BlockId>, &Name) {
        (&draft.place, &draft.name)
    }

    fn moved(change: &BlockChange) -> &PlaceChange<BlockId> {
        &change.place
    }
}

fn parent_of<P: TreePart>(part: &P) -> Option<P::Id> {
    part.place().parent.as_ref().map(|(id, _)| *id)
}

impl State {
    pub(super) fn require_application(&self, stamp: Stamp, application: ApplicationId) -> Result<(), PartError> {
        let owner = self.applications.get(&application);
        let own = owner.is_some_and(|owner| self.owns(*owner, stamp.project_id));
        if own { Ok(()) } else { Err(PartError::NotFound) }
    }

    /// Parts of the application, oldest first.
    fn parts_of<P: TreePart>(&self, application: ApplicationId) -> impl Iterator<Item = &P> {
        let any = !self.guards.has(Guard::Owner);
        let all = P::records(self).values().map(|(_, part)| part);
        all.filter(move |part| part.application() == application || any)
    }

    fn own_part<P: TreePart>(&self, application: ApplicationId, id: P::Id) -> Result<P, PartError> {
        self.parts_of::<P>(application).find(|part| part.id() == id).cloned().ok_or(PartError::NotFound)
    }

    fn tree<P: TreePart>(&self, application: ApplicationId) -> Tree {
        let parent = |part: &P| -> Option<i64> { parent_of(part).map(Into::into) };
        Tree::new(self.parts_of::<P>(application).map(|part| (part.number(), parent(part))))
    }

    /// Refuses a code and a slug of another part of the application.
    fn require_free<P: TreePart>(
        &self,
        application: ApplicationId,
        but: Option<P::Id>,
        code: Option<PartCode>,
        slug: Option<&Slug>,
    ) -> Result<(), PartRefusal> {
        let others = || self.parts_of::<P>(application).filter(move |part| Some(part.id()) != but);
        if !self.guards.has(Guard::Unique) {
            return Ok(());
        }
        if others().any(|part| Some(part.place().code) == code) {
            return Err(PartRefusal::CodeTaken);
        }
        if others().any(|part| Some(&part.place().slug) == slug) {
            return Err(PartRefusal::SlugTaken);
        }
        Ok(())
    }

    /// Returns the parent with its name.
    fn named<P: TreePart>(&self, id: Option<P::Id>) -> Option<(P::Id, Name)> {
        let (_, part) = P::records(self).get(&id?)?;
        Some((part.id(), part.name().clone()))
    }

    /// Positions and numbers of the siblings below a parent, in their order.
    fn siblings<P: TreePart>(&self, application: ApplicationId, parent: Option<P::Id>) -> Vec<(i64, i64)> {
        let below = self.parts_of::<P>(application).filter(|part| parent_of(*part) == parent);
        let mut siblings: Vec<(i64, i64)> = below.map(|part| (part.position(), part.number())).collect();
        siblings.sort_unstable();
        siblings
    }

    /// Returns the position after all siblings below a parent.
    fn next_position<P: TreePart>(&self, application: ApplicationId, parent: Option<P::Id>) -> i64 {
        self.siblings::<P>(application, parent).last().map_or(1, |(position, _)| position + 1)
    }

    fn insert_part<P: TreePart>(
        &mut self,
        stamp: Stamp,
        application_id: ApplicationId,
        draft: P::Draft,
    ) -> Result<P, PartError> {
        self.require_application(stamp, application_id)?;
        let (place, name) = P::drafted(&draft);
        let PlaceDraft { parent_id, code, slug } = place.clone();
        if self.guards.has(Guard::Tree) {
            let tree = self.tree::<P>(application_id);
            tree.admit(parent_id.map(Into::into), P::MAX_PER_APPLICATION).map_err(PartRefusal::Tree)?;
        }
        self.require_free::<P>(application_id, None, code, slug.as_ref())?;
        let largest = self.parts_of::<P>(application_id).map(|part| part.place().code.get()).max();
        let next = PartCode::new(largest.unwrap_or_default() + 1).map_err(|_| PartRefusal::CodeTaken);
        let code = match code {
            Some(code) => code,
            None => next?,
        };
        let is_taken = |slug: &Slug| self.parts_of::<P>(application_id).any(|part| part.place().slug == *slug);
        let slug = slug.unwrap_or_else(|| free_slug(&Slug::of(name, P::FALLBACK_SLUG), is_taken));
        let (parent, position) = (self.named::<P>(parent_id), self.next_position::<P>(application_id, parent_id));
        let mut part = P::created(self.ids.id(), Place { application_id, parent, code, slug }, draft, stamp.at);
        part.set_position(position);
        P::records_mut(self).insert(part.id(), (stamp.project_id, part.clone()));
        Ok(part)
    }

    fn update_part<P: TreePart>(
        &mut self,
        stamp: Stamp,
        application: ApplicationId,
        id: P::Id,
        change: P::Change,
    ) -> Result<P, PartError> {
        self.require_application(stamp, application)?;
        let mut part = self.own_part::<P>(application, id)?;
        let PlaceChange { parent_id, code, slug } = P::moved(&change).clone();
        if let Edit::Set(parent) = parent_id {
            if self.guards.has(Guard::Tree) {
                let tree = self.tree::<P>(application);
                tree.accept(id.into(), parent.map(Into::into)).map_err(PartRefusal::Tree)?;
            }
            if parent != parent_of(&part) {
                let position = self.next_position::<P>(application, parent);
                part.place_mut().parent = self.named::<P>(parent);
                part.set_position(position);
            }
        }
        self.require_free::<P>(application, Some(id), code.as_set().copied(), slug.as_set())?;
        let place = part.place_mut();
        place.code = code.or(place.code);
        place.slug = slug.or(place.slug.clone());
        part.change(change, stamp.at);
        P::records_mut(self).insert(id, (stamp.project_id, part.clone()));
        for (_, child) in P::records_mut(self).values_mut() {
            if let Some((_, name)) = child.place_mut().parent.as_mut().filter(|(parent, _)| *parent == id) {
                *name = part.name().clone();
            }
        }
        Ok(part)
    }

    fn delete_part<P: TreePart>(
        &mut self,
        stamp: Stamp,
        application: ApplicationId,
        id: P::Id,
    ) -> Result<(), PartError> {
        self.require_application(stamp, application)?;
        self.own_part::<P>(application, id)?;
        if self.guards.has(Guard::Children) && self.parts_of::<P>(application).any(|part| parent_of(part) == Some(id)) {
            return Err(PartRefusal::HasChildren.into());
        }
        P::records_mut(self).remove(&id);
        Ok(())
    }

    fn shift(
        &mut self,
        stamp: Stamp,
        application: ApplicationId,
        id: MenuItemId,
        shift: MoveDirection,
    ) -> Result<MenuItem, PartError> {
        self.require_application(stamp, application)?;
        let item = self.own_part::<MenuItem>(application, id)?;
        let siblings = self.siblings::<MenuItem>(application, parent_of(&item));
        let siblings = siblings.into_iter().map(|(_, number)| number).collect();
        let alone = !self.guards.has(Guard::Neighbour);
        for (number, position) in shifted(siblings, id.get(), shift).into_iter().zip(1..) {
            let found = self.menu_items.values_mut().map(|(_, item)| item).find(|item| item.id.get() == number);
            if let Some(moved) = found.filter(|moved| moved.position != position && (moved.id == id || !alone)) {
                moved.position = position;
                moved.version += 1;
                moved.updated_at = stamp.at;
            }
        }
        self.own_part(application, id)
    }
}

/// The repositories of both kinds.
macro_rules! repositories {
    ($($part:ident)+) => {$(
        #[async_trait]
        impl PartRepository<$part> for InMemoryContent {
            async fn owner(&self, application: ApplicationId) -> Result<Option<ProjectScoped<()>>, StoreError> {
                let owner = self.state.with(|state| state.applications.get(&application).copied());
                Ok(owner.map(|project| ProjectScoped::new(project, ())))
            }

            async fn page(
                &self,
                project: ProjectId,
                application: ApplicationId,
                listing: Listing,
            ) -> Result<Page<$part>, StoreError> {
                let own: Vec<$part> = self.state.with(|state| {
                    let owner = state.applications.get(&application);
                    let is_own = owner.is_some_and(|owner| state.owns(*owner, project));
                    state.parts_of::<$part>(application).filter(|_| is_own).cloned().collect()
                });
                list_of(own, &listing)
            }

            async fn find(
                &self,
                id: <$part as ApplicationPart>::Id,
            ) -> Result<Option<ProjectScoped<$part>>, StoreError> {
                Ok(self.state.with(|state| {
                    let found = <$part as TreePart>::records(state).get(&id);
                    found.map(|(project, part)| ProjectScoped::new(*project, part.clone()))
                }))
            }

            async fn insert(
                &self,
                stamp: Stamp,
                application: ApplicationId,
                draft: <$part as ApplicationPart>::Draft,
            ) -> Result<$part, PartError> {
                self.state.with(|state| state.insert_part::<$part>(stamp, application, draft))
            }

            async fn update(
                &self,
                stamp: Stamp,
                application: ApplicationId,
                id: <$part as ApplicationPart>::Id,
                change: <$part as ApplicationPart>::Change,
            ) -> Result<$part, PartError> {
                self.state.with(|state| state.update_part::<$part>(stamp, application, id, change))
            }

            async fn delete(
                &self,
                stamp: Stamp,
                application: ApplicationId,
                id: <$part as ApplicationPart>::Id,
            ) -> Result<(), PartError> {
                self.state.with(|state| state.delete_part::<$part>(stamp, application, id))
            }
        }
    )+};
}

repositories! { MenuItem Block }

#[async_trait]
impl PartOrder<MenuItem> for InMemoryContent {
    async fn shift(
        &self,
        stamp: Stamp,
        application: ApplicationId,
        id: MenuItemId,
        shift: MoveDirection,
    ) -> Result<MenuItem, PartError> {
        self.state.with(|state| state.shift(stamp, application, id, shift))
    }
}

/// Item as customers see it.
fn shown(item: MenuItem) -> ShownItem {
    let MenuItem { place, name, avatar, preview, .. } = item;
    ShownItem { code: place.code, slug: place.slug, name, avatar, preview }
}

#[async_trait]
impl PartReader for InMemoryContent {
    async fn block(&self, app: AppScope, key: BlockKey) -> Result<Option<Node<Block>>, StoreError> {
        Ok(self.state.with(|state| {
            let mut blocks: Vec<Block> = state.parts_of::<Block>(app.application_id).cloned().collect();
            blocks.sort_by_key(|block| block.place.code);
            let is_wanted = |block: &&Block| match &key {
                BlockKey::Code(code) => block.place.code == *code,
                BlockKey::Identifier(slug) => block.place.slug == *slug,
            };
            let root = blocks.iter().find(is_wanted)?.id.get();
            let numbered = |block: Block| (block.id.get(), parent_of(&block).map(BlockId::get), block);
            Node::nested(blocks.into_iter().map(numbered), root)
        }))
    }

    async fn menu(&self, app: AppScope, slug: Slug) -> Result<Option<Menu>, StoreError> {
        Ok(self.state.with(|state| {
            let mut items: Vec<MenuItem> = state.parts_of::<MenuItem>(app.application_id).cloned().collect();
            items.sort_by_key(|item| (item.position, item.id));
            let root = items.iter().find(|item| item.place.slug == slug)?.id.get();
            let numbered = |item: MenuItem| (item.id.get(), parent_of(&item).map(MenuItemId::get), item);
            let nested = Node::nested(items.into_iter().map(numbered), root)?;
            Some(Menu { root: nested.map(&shown), address: None })
        }))
    }
}
