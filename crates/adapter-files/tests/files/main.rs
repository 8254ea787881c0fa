//! Contents in a folder and in a bucket, and their types.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod backups;
mod bucket;
mod folder;
mod inspection;
mod published;
mod resized;
mod support;
