//! The ports of content.

mod files;

pub(crate) use files::CONTENTS;
