//! Files and their contents, content pages, the trees of blocks and menu items, and slides.

mod file;
mod media;
mod page;
mod part;
mod slide;

pub use file::{
    ContentRefusal, FileType, InvalidSha256, ListedFile, NewFile, Sha256, StoredContent, StoredFile, UnknownFileType,
};
pub use kontor_kernel::{FileKey, InvalidFileKey};
pub use media::{
    Dimensions, Inspection, InvalidDimensions, MediaType, PictureWidth, UnknownMediaType, UnknownPictureWidth,
};
pub use page::{
    InvalidPageQuery, InvalidSlug, Page, PageChange, PageContent, PageDraft, PageFilter, PageOrder, PageQueryText,
    PageTag, PageType, Slug, TagName, TagNames, TooManyTags,
};
pub use part::{
    ApplicationPart, Block, BlockChange, BlockDraft, InvalidPartCode, Menu, MenuItem, MenuItemChange, MenuItemDraft,
    Node, PartCode, Place, PlaceChange, PlaceDraft, ShownItem, Tree, TreeRefusal, shifted,
};
pub use slide::{Slide, SlideChange, SlideContent, SlideLink, SlideLinkError};
