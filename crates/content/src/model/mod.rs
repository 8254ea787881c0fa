//! Files and their contents, content pages, the trees of blocks and menu items, and slides.

mod file;
mod file_type;
mod media;
mod page;
mod part;
mod readable_text;
mod slide;
mod slug;
mod tree;

pub use file::{InvalidSha256, ListedFile, NewFile, Sha256, StoredContent, StoredFile};
pub use file_type::{ContentRefusal, FileType, UnknownFileType};
pub use kontor_kernel::{FileKey, InvalidFileKey};
pub use media::{
    Dimensions, Inspection, InvalidDimensions, MediaType, PictureWidth, UnknownMediaType, UnknownPictureWidth,
};
pub use page::{
    InvalidPageQuery, Page, PageChange, PageContent, PageDraft, PageFilter, PageOrder, PageQueryText, PageTag,
    PageType, TagName, TagNames, TooManyTags,
};
pub use part::{
    ApplicationPart, Block, BlockChange, BlockDraft, InvalidPartCode, Menu, MenuItem, MenuItemChange, MenuItemDraft,
    PartCode, Place, PlaceChange, PlaceDraft, ShownItem, shifted,
};
pub use slide::{Slide, SlideChange, SlideContent, SlideLink, SlideLinkError};
pub use slug::{InvalidSlug, Slug};
pub use tree::{Node, Tree, TreeRefusal};
