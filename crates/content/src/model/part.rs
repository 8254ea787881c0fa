use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{
    ApplicationId, BlockId, BlockTypeId, Edit, Link, MenuItemId, MoveDirection, Name, PhotoUrl, Prose, Resource,
};

use super::{Node, Slug};

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
