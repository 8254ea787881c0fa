//! Implementations of the content ports.

mod blocks;
mod files;
mod menu_items;
mod pages;
mod parts;
mod slides;

pub(crate) use files::CONTENTS;

use kontor_content::model::{Block, MenuItem, Page, Slide, StoredFile};

use crate::records::{Read, readable};

/// Tables that `kontor doctor` reads.
pub(crate) const READABLE: &[(&str, Read)] =
    &[readable::<Page>(), readable::<Block>(), readable::<MenuItem>(), readable::<Slide>(), readable::<StoredFile>()];
