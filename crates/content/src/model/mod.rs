//! Files and what they may hold.

mod file;
mod file_type;
mod media;

pub use file::{FileKey, InvalidFileKey, InvalidSha256, NewFile, Sha256, StoredFile, Written};
pub use file_type::{ContentRefused, FileType, UnknownFileType};
pub use media::{Dimensions, DimensionsRefused, MediaType, Sighting, UnknownMediaType};
