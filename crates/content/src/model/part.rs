use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{
    ApplicationId, BlockId, BlockTypeId, Edit, Link, MenuItemId, Name, PhotoUrl, Prose, Resource, Shift,
};

use super::{Node, Slug};

/// Why a number is no code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 1 to {}", PartCode::LARGEST)]
pub struct InvalidPartCode;

/// The number an application knows a block or a menu item by: 1 to 1,000,000,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartCode(i64);

impl PartCode {
    /// The largest code.
    pub const LARGEST: i64 = 1_000_000_000;

    /// Accepts 1 to 1,000,000,000.
    pub fn new(value: i64) -> Result<Self, InvalidPartCode> {
        if (1..=Self::LARGEST).contains(&value) { Ok(Self(value)) } else { Err(InvalidPartCode) }
    }

    /// The number.
    pub fn get(self) -> i64 {
        self.0
    }
}

/// A record that is part of what an application shows and stands in a tree of its kind: a block, a menu item.
pub trait ApplicationPart: Audited + Clone + Send + Sync + 'static {
    /// Its number.
    type Id: Copy + Into<i64> + Send + Sync + 'static;
    /// What is said about a new one.
    type Draft: Send + Sync + 'static;
    /// What is changed.
    type Change: Send + Sync + 'static;
    /// The most that an application has.
    const MOST: usize;

    /// The application that shows it.
    fn application(&self) -> ApplicationId;
}

/// What both kinds of parts say, and how they are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place<Id> {
    /// The application that shows it.
    pub application_id: ApplicationId,
    /// The one above it, with that one's name; roots have none.
    pub parent: Option<(Id, Name)>,
    /// The number the application knows it by, unique in the application among those of its kind.
    pub code: PartCode,
    /// What the application calls it, unique in the application among those of its kind.
    pub slug: Slug,
}

/// A block: a piece of what an application shows, such as a banner, with those below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The number of the block.
    pub id: BlockId,
    /// Where it stands; its slug is the contract's `identifier`.
    pub place: Place<BlockId>,
    /// Its name.
    pub name: Name,
    /// Its picture.
    pub avatar: Option<PhotoUrl>,
    /// Its type, with that one's name.
    pub block_type: (BlockTypeId, Name),
    /// Where it leads.
    pub link: Option<Link>,
    /// A file that it offers.
    pub file: Option<PhotoUrl>,
    /// Its text.
    pub text: Option<Prose>,
    /// Raised by every change.
    pub version: u64,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
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
    const MOST: usize = 2_000;

    fn application(&self) -> ApplicationId {
        self.place.application_id
    }
}

/// Where a new part stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceDraft<Id> {
    /// The one above it.
    pub parent_id: Option<Id>,
    /// Without a code it gets the next after the largest.
    pub code: Option<PartCode>,
    /// Without a slug it gets one made of its name.
    pub slug: Option<Slug>,
}

/// Where a part stands from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceChange<Id> {
    /// The one above it.
    pub parent_id: Edit<Option<Id>>,
    /// The number the application knows it by.
    pub code: Edit<PartCode>,
    /// What the application calls it.
    pub slug: Edit<Slug>,
}

impl<Id> Default for PlaceChange<Id> {
    fn default() -> Self {
        Self { parent_id: Edit::Keep, code: Edit::Keep, slug: Edit::Keep }
    }
}

/// What staff say about a new block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockDraft {
    /// Where it stands.
    pub place: PlaceDraft<BlockId>,
    /// Its name.
    pub name: Name,
    /// Its picture.
    pub avatar: Option<PhotoUrl>,
    /// Its type.
    pub block_type_id: BlockTypeId,
    /// Where it leads.
    pub link: Option<Link>,
    /// A file that it offers.
    pub file: Option<PhotoUrl>,
    /// Its text.
    pub text: Option<Prose>,
}

/// What staff change about a block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlockChange {
    /// Where it stands.
    pub place: PlaceChange<BlockId>,
    /// Its name.
    pub name: Edit<Name>,
    /// Its picture.
    pub avatar: Edit<Option<PhotoUrl>>,
    /// Its type.
    pub block_type_id: Edit<BlockTypeId>,
    /// Where it leads.
    pub link: Edit<Option<Link>>,
    /// A file that it offers.
    pub file: Edit<Option<PhotoUrl>>,
    /// Its text.
    pub text: Edit<Option<Prose>>,
}

/// An item of the menus of an application. A root with those below it is a menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MenuItem {
    /// The number of the item.
    pub id: MenuItemId,
    /// Where it stands; its address is made of its slug.
    pub place: Place<MenuItemId>,
    /// The smaller, the sooner among those beside it.
    pub position: i64,
    /// Its name.
    pub name: Name,
    /// Its icon.
    pub avatar: Option<PhotoUrl>,
    /// Its picture.
    pub preview: Option<PhotoUrl>,
    /// Raised by every change.
    pub version: u64,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
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
    const MOST: usize = 1_000;

    fn application(&self) -> ApplicationId {
        self.place.application_id
    }
}

/// An item of a menu as customers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownItem {
    /// Its code.
    pub code: PartCode,
    /// Its address is made of it.
    pub slug: Slug,
    /// Its name.
    pub name: Name,
    /// Its icon.
    pub avatar: Option<PhotoUrl>,
    /// Its picture.
    pub preview: Option<PhotoUrl>,
}

/// A menu as customers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Menu {
    /// The item that was asked for, with those below it.
    pub root: Node<ShownItem>,
    /// The address of the application, before the slugs of the items.
    pub address: Option<Link>,
}

/// What staff say about a new menu item. It comes last among those beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MenuItemDraft {
    /// Where it stands.
    pub place: PlaceDraft<MenuItemId>,
    /// Its name.
    pub name: Name,
    /// Its icon.
    pub avatar: Option<PhotoUrl>,
    /// Its picture.
    pub preview: Option<PhotoUrl>,
}

/// What staff change about a menu item. Below another parent it comes last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MenuItemChange {
    /// Where it stands.
    pub place: PlaceChange<MenuItemId>,
    /// Its name.
    pub name: Edit<Name>,
    /// Its icon.
    pub avatar: Edit<Option<PhotoUrl>>,
    /// Its picture.
    pub preview: Edit<Option<PhotoUrl>>,
}

/// The order of records beside each other when one of them changes places with its neighbour; as it is where there is none.
pub fn shifted(mut order: Vec<i64>, id: i64, shift: Shift) -> Vec<i64> {
    let neighbour = order.iter().position(|one| *one == id).and_then(|place| {
        let beside = match shift {
            Shift::Up => place.checked_sub(1)?,
            Shift::Down => place + 1,
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
        assert_eq!(shifted(vec![3, 1, 2], 1, Shift::Up), [1, 3, 2]);
        assert_eq!(shifted(vec![3, 1, 2], 1, Shift::Down), [3, 2, 1]);
        assert_eq!(shifted(vec![3, 1, 2], 3, Shift::Up), [3, 1, 2]);
        assert_eq!(shifted(vec![3, 1, 2], 2, Shift::Down), [3, 1, 2]);
        assert_eq!(shifted(vec![3, 1, 2], 9, Shift::Down), [3, 1, 2]);
    }

    #[test]
    fn codes_are_bounded() {
        assert!(PartCode::new(1).is_ok() && PartCode::new(PartCode::LARGEST).is_ok());
        for wrong in [0, -1, PartCode::LARGEST + 1] {
            assert_eq!(PartCode::new(wrong), Err(InvalidPartCode));
        }
    }
}
