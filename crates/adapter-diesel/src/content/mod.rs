//! Implementations of the content ports.

mod blocks;
mod files;
mod menu_items;
mod page_views;
mod pages;
mod parts;
mod shown_pages;
mod slugs;

pub(crate) use files::CONTENTS;
