//! The ports of content.

mod files;
