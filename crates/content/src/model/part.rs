use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{
    ApplicationId, BlockId, BlockTypeId, Edit, Link, MenuItemId, MoveDirection, Name, PhotoUrl, Prose, Resource,
};

use super::Slug;

/// Reason why a position in the tree is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TreeRefusal {
    /// The parent does not exist in the tree.
    #[error("there is no such parent")]
    UnknownParent,
    /// The parent is a descendant of the record.
    #[error("is below the record")]
    Cycle,
    /// The tree would be too deep.
    #[error("the tree would have more than {} levels", Tree::MAX_DEPTH)]
    TooDeep,
    /// The tree has the maximum number of records.
    #[error("there are too many records")]
    Full,
}

/// Parents of records, by identifier.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    parents: HashMap<i64, Option<i64>>,
}

impl Tree {
    /// Maximum number of levels.
    pub const MAX_DEPTH: usize = 16;

    /// Creates a tree from records with their parents.
    pub fn new(records: impl IntoIterator<Item = (i64, Option<i64>)>) -> Self {
        Self { parents: records.into_iter().collect() }
    }

    /// Returns an error unless one more record may be added below this parent.
    pub fn admit(&self, parent: Option<i64>, most: usize) -> Result<(), TreeRefusal> {
        if self.parents.len() >= most {
            return Err(TreeRefusal::Full);
        }
        let Some(parent) = parent else { return Ok(()) };
        if self.level(parent).ok_or(TreeRefusal::UnknownParent)? >= Self::MAX_DEPTH {
            return Err(TreeRefusal::TooDeep);
        }
        Ok(())
    }

    /// Returns an error unless a record may be moved below this parent, with its descendants.
    pub fn accept(&self, record: i64, parent: Option<i64>) -> Result<(), TreeRefusal> {
        let Some(parent) = parent else { return Ok(()) };
        let level = self.level(parent).ok_or(TreeRefusal::UnknownParent)?;
        if self.above(parent).any(|above| above == record) {
            return Err(TreeRefusal::Cycle);
        }
        if level + self.height(record) > Self::MAX_DEPTH { Err(TreeRefusal::TooDeep) } else { Ok(()) }
    }

    /// Returns a record, its parent, and so on to the root. Stops also if stored parents form a cycle.
    fn above(&self, record: i64) -> impl Iterator<Item = i64> {
        let mut seen = HashSet::new();
        std::iter::successors(Some(record), |below| self.parents.get(below).copied().flatten())
            .take_while(move |one| seen.insert(*one))
    }

    /// Returns the level of a record, 1 for a root; `None` if it does not exist.
    fn level(&self, record: i64) -> Option<usize> {
        self.parents.contains_key(&record).then(|| self.above(record).count())
    }

    /// Returns the number of levels from a record down to its lowest descendant.
    fn height(&self, record: i64) -> usize {
        let below = self.parents.keys().filter_map(|one| self.above(*one).position(|above| above == record));
        below.max().unwrap_or_default() + 1
    }
}

/// Record with its children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node<T> {
    /// Record.
    pub record: T,
    /// Children, in the order of the input.
    pub children: Vec<Self>,
}

impl<T> Node<T> {
    /// Builds the tree below the record `root` from records with identifiers and parents. Records that are not below it
    /// are left out, and so are records deeper than [`Tree::MAX_DEPTH`].
    pub fn nested(records: impl IntoIterator<Item = (i64, Option<i64>, T)>, root: i64) -> Option<Self> {
        let (mut top, mut below) = (None, HashMap::<i64, Vec<(i64, T)>>::new());
        for (id, parent, record) in records {
            if id == root {
                top = Some(record);
            } else if let Some(parent) = parent {
                below.entry(parent).or_default().push((id, record));
            }
        }
        top.map(|record| Self::grown(record, root, &mut below, Tree::MAX_DEPTH))
    }

    /// Returns the tree with each value converted.
    pub fn map<U>(self, to: &impl Fn(T) -> U) -> Node<U> {
        let children = self.children.into_iter().map(|child| child.map(to)).collect();
        Node { record: to(self.record), children }
    }

    fn grown(record: T, id: i64, below: &mut HashMap<i64, Vec<(i64, T)>>, levels: usize) -> Self {
        let own = if levels > 1 { below.remove(&id).unwrap_or_default() } else { Vec::new() };
        let children = own.into_iter().map(|(id, record)| Self::grown(record, id, below, levels - 1)).collect();
        Self { record, children }
    }
}

/// Error: the number is not a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 1 to {}", PartCode::MAX_CODE)]
pub struct InvalidPartCode;

/// Code of a block or a menu item in an application: 1 to 1,000,000,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartCode(i64);

impl PartCode {
    /// Largest code.
    pub const MAX_CODE: i64 = 1_000_000_000;

    /// Accepts 1 to 1,000,000,000.
    pub fn new(value: i64) -> Result<Self, InvalidPartCode> {
        if (1..=Self::MAX_CODE).contains(&value) { Ok(Self(value)) } else { Err(InvalidPartCode) }
    }

    /// Returns the number.
    pub fn get(self) -> i64 {
        self.0
    }
}

/// Record of an application: a block, a menu item or a slide.
pub trait ApplicationPart: Audited + Clone + Send + Sync + 'static {
    /// Identifier type.
    type Id: Copy + Into<i64> + Send + Sync + 'static;
    /// Fields of a new record.
    type Draft: Send + Sync + 'static;
    /// Change of a record.
    type Change: Send + Sync + 'static;
    /// Maximum number per application.
    const MAX_PER_APPLICATION: usize;

    /// Returns the application that shows it.
    fn application(&self) -> ApplicationId;
}

/// Position and keys of a block or menu item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place<Id> {
    /// Application that shows it.
    pub application_id: ApplicationId,
    /// Parent with its name; `None` for a root.
    pub parent: Option<(Id, Name)>,
    /// Code, unique in the application among records of the same kind.
    pub code: PartCode,
    /// Slug, unique in the application among records of the same kind.
    pub slug: Slug,
}

/// Block: part of an application's content, such as a banner, with its child blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Identifier of the block.
    pub id: BlockId,
    /// Position and keys; the slug is the contract's `identifier`.
    pub place: Place<BlockId>,
    /// Name.
    pub name: Name,
    /// Picture.
    pub avatar: Option<PhotoUrl>,
    /// Type, with its name.
    pub block_type: (BlockTypeId, Name),
    /// Link target.
    pub link: Option<Link>,
    /// File offered for download.
    pub file: Option<PhotoUrl>,
    /// Text.
    pub text: Option<Prose>,
    /// Version, incremented by every change.
    pub version: u64,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

fn common<Id: ToString>(place: &Place<Id>, slug: &'static str) -> Vec<AuditedField> {
    vec![
        ("code", Some(place.code.get().to_string())),
        (slug, Some(place.slug.to_string())),
        ("parent_id", place.parent.as_ref().map(|(id, _)| id.to_string())),
    ]
}

impl Audited for Block {
    const RESOURCE: Resource = Resource::Blocks;

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        let mut fields = common(&self.place, "identifier");
        fields.extend([
            ("name", Some(self.name.to_string())),
            ("avatar", self.avatar.as_ref().map(ToString::to_string)),
            ("block_type_id", Some(self.block_type.0.to_string())),
            ("link", self.link.as_ref().map(ToString::to_string)),
            ("file", self.file.as_ref().map(ToString::to_string)),
            ("text", self.text.as_deref().map(str::to_owned)),
        ]);
        fields
    }
}

impl ApplicationPart for Block {
    type Id = BlockId;
    type Draft = BlockDraft;
    type Change = BlockChange;
    const MAX_PER_APPLICATION: usize = 2_000;

    fn application(&self) -> ApplicationId {
        self.place.application_id
    }
}

/// Position and keys of a new record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceDraft<Id> {
    /// Parent.
    pub parent_id: Option<Id>,
    /// Code; without one the record gets the largest code plus 1.
    pub code: Option<PartCode>,
    /// Slug; derived from the name if omitted.
    pub slug: Option<Slug>,
}

/// Change of position and keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceChange<Id> {
    /// Parent.
    pub parent_id: Edit<Option<Id>>,
    /// Code.
    pub code: Edit<PartCode>,
    /// Slug.
    pub slug: Edit<Slug>,
}

impl<Id> Default for PlaceChange<Id> {
    fn default() -> Self {
        Self { parent_id: Edit::Keep, code: Edit::Keep, slug: Edit::Keep }
    }
}

/// Fields of a new block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockDraft {
    /// Position and keys.
    pub place: PlaceDraft<BlockId>,
    /// Name.
    pub name: Name,
    /// Picture.
    pub avatar: Option<PhotoUrl>,
    /// Type.
    pub block_type_id: BlockTypeId,
    /// Link target.
    pub link: Option<Link>,
    /// File offered for download.
    pub file: Option<PhotoUrl>,
    /// Text.
    pub text: Option<Prose>,
}

/// Change of a block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlockChange {
    /// Position and keys.
    pub place: PlaceChange<BlockId>,
    /// Name.
    pub name: Edit<Name>,
    /// Picture.
    pub avatar: Edit<Option<PhotoUrl>>,
    /// Type.
    pub block_type_id: Edit<BlockTypeId>,
    /// Link target.
    pub link: Edit<Option<Link>>,
    /// File offered for download.
    pub file: Edit<Option<PhotoUrl>>,
    /// Text.
    pub text: Edit<Option<Prose>>,
}

/// Item of the menus of an application. A root with its descendants is a menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MenuItem {
    /// Identifier of the item.
    pub id: MenuItemId,
    /// Position and keys; its address is built from its slug.
    pub place: Place<MenuItemId>,
    /// Position among its siblings, lowest first.
    pub position: i64,
    /// Name.
    pub name: Name,
    /// Icon.
    pub avatar: Option<PhotoUrl>,
    /// Picture.
    pub preview: Option<PhotoUrl>,
    /// Version, incremented by every change.
    pub version: u64,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

impl Audited for MenuItem {
    const RESOURCE: Resource = Resource::Applications;
    const KIND: &'static str = "menu_items";

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        let mut fields = common(&self.place, "slug");
        fields.extend([
            ("position", Some(self.position.to_string())),
            ("name", Some(self.name.to_string())),
            ("avatar", self.avatar.as_ref().map(ToString::to_string)),
            ("preview", self.preview.as_ref().map(ToString::to_string)),
        ]);
        fields
    }
}

impl ApplicationPart for MenuItem {
    type Id = MenuItemId;
    type Draft = MenuItemDraft;
    type Change = MenuItemChange;
    const MAX_PER_APPLICATION: usize = 1_000;

    fn application(&self) -> ApplicationId {
        self.place.application_id
    }
}

/// Menu item as customers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownItem {
    /// Code.
    pub code: PartCode,
    /// Slug, from which its address is built.
    pub slug: Slug,
    /// Name.
    pub name: Name,
    /// Icon.
    pub avatar: Option<PhotoUrl>,
    /// Picture.
    pub preview: Option<PhotoUrl>,
}

/// Menu as customers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Menu {
    /// Requested item with its descendants.
    pub root: Node<ShownItem>,
    /// Address of the application, to which the slugs of the items are appended.
    pub address: Option<Link>,
}

/// Fields of a new menu item. It is placed after its siblings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MenuItemDraft {
    /// Position and keys.
    pub place: PlaceDraft<MenuItemId>,
    /// Name.
    pub name: Name,
    /// Icon.
    pub avatar: Option<PhotoUrl>,
    /// Picture.
    pub preview: Option<PhotoUrl>,
}

/// Change of a menu item. Under another parent it is placed last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MenuItemChange {
    /// Position and keys.
    pub place: PlaceChange<MenuItemId>,
    /// Name.
    pub name: Edit<Name>,
    /// Icon.
    pub avatar: Edit<Option<PhotoUrl>>,
    /// Picture.
    pub preview: Edit<Option<PhotoUrl>>,
}

/// Swaps a record with its neighbour in the order of its siblings. Without a neighbour the order is unchanged.
pub fn shifted(mut order: Vec<i64>, id: i64, shift: MoveDirection) -> Vec<i64> {
    let neighbour = order.iter().position(|one| *one == id).and_then(|place| {
        let beside = match shift {
            MoveDirection::Up => place.checked_sub(1)?,
            MoveDirection::Down => place + 1,
        };
        (beside < order.len()).then_some((place, beside))
    });
    if let Some((place, beside)) = neighbour {
        order.swap(place, beside);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tree in which 1 is the parent of 2, 2 of 3 and so on.
    fn chain(length: i64) -> Tree {
        Tree::new((1..=length).map(|id| (id, (id > 1).then_some(id - 1))))
    }

    #[test]
    fn a_tree_has_bounds() {
        let tree = chain(16);
        assert_eq!(tree.admit(None, 17), Ok(()));
        assert_eq!(tree.admit(None, 16), Err(TreeRefusal::Full));
        assert_eq!(tree.admit(Some(15), 100), Ok(()));
        assert_eq!(tree.admit(Some(16), 100), Err(TreeRefusal::TooDeep));
        assert_eq!(tree.admit(Some(17), 100), Err(TreeRefusal::UnknownParent));
    }

    #[test]
    fn nothing_lies_below_itself() {
        let tree = chain(4);
        assert_eq!(tree.accept(2, Some(2)), Err(TreeRefusal::Cycle));
        assert_eq!(tree.accept(2, Some(4)), Err(TreeRefusal::Cycle));
        assert_eq!(tree.accept(2, Some(9)), Err(TreeRefusal::UnknownParent));
        assert_eq!(tree.accept(4, Some(1)), Ok(()));
        assert_eq!(tree.accept(2, None), Ok(()));
    }

    #[test]
    fn a_move_includes_the_subtree() {
        let two = Tree::new((1..=10).map(|id| (id, (id > 1).then_some(id - 1))).chain([(20, None), (21, Some(20))]));
        assert_eq!(two.accept(1, Some(21)), Ok(()));
        let deep = Tree::new((1..=15).map(|id| (id, (id > 1).then_some(id - 1))).chain([(20, None), (21, Some(20))]));
        assert_eq!(deep.accept(1, Some(20)), Ok(()));
        assert_eq!(deep.accept(1, Some(21)), Err(TreeRefusal::TooDeep));
    }

    #[test]
    fn stored_circles_end() {
        let circle = Tree::new([(1, Some(2)), (2, Some(1)), (3, None)]);
        assert_eq!(circle.accept(3, Some(1)), Ok(()));
        assert!(Node::nested([(1, Some(2), 'a'), (2, Some(1), 'b')], 1).is_some());
    }

    #[test]
    fn records_are_nested_in_their_order() {
        let records = [(5, Some(1), "e"), (1, None, "a"), (2, Some(1), "b"), (3, Some(2), "c"), (4, None, "d")];
        let tree = Node::nested(records, 1).unwrap();
        let names: Vec<&str> = tree.children.iter().map(|child| child.record).collect();
        assert_eq!((tree.record, names), ("a", vec!["e", "b"]));
        assert_eq!(tree.children[1].children[0].record, "c");
        assert_eq!(Node::nested(records, 9), None);
    }

    #[test]
    fn neighbours_change_places() {
        assert_eq!(shifted(vec![3, 1, 2], 1, MoveDirection::Up), [1, 3, 2]);
        assert_eq!(shifted(vec![3, 1, 2], 1, MoveDirection::Down), [3, 2, 1]);
        assert_eq!(shifted(vec![3, 1, 2], 3, MoveDirection::Up), [3, 1, 2]);
        assert_eq!(shifted(vec![3, 1, 2], 2, MoveDirection::Down), [3, 1, 2]);
        assert_eq!(shifted(vec![3, 1, 2], 9, MoveDirection::Down), [3, 1, 2]);
    }

    #[test]
    fn codes_are_bounded() {
        assert!(PartCode::new(1).is_ok() && PartCode::new(PartCode::MAX_CODE).is_ok());
        for wrong in [0, -1, PartCode::MAX_CODE + 1] {
            assert_eq!(PartCode::new(wrong), Err(InvalidPartCode));
        }
    }
}
