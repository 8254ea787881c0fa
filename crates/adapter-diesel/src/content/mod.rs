//! The ports of content.

mod avatars;
mod files;

pub(crate) use avatars::{avatar_key, is_avatar};
pub(crate) use files::{CONTENTS, READY};
