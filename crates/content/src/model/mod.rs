//! Files and what they may hold.

mod file;
mod file_type;
mod media;

pub use file::{InvalidSha256, NewFile, OrderFile, Sha256, StoredFile, Written};
pub use file_type::{ContentRefused, FileType, UnknownFileType};
pub use kontor_kernel::{FileKey, InvalidFileKey};
pub use media::{Dimensions, DimensionsRefused, MediaType, Sighting, UnknownMediaType};
