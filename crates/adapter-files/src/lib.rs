//! Contents of files in a local folder or an S3-compatible bucket, and what they are.
//!
//! **Owns** where a content lies, how it gets there piece by piece, and how a content is recognized.
//!
//! **Invariants**
//! - Whatever the size of a content, a few pieces of it are in memory, at most [`PIECE`] bytes each.
//! - A content is stored whole or not at all, and what was stored has reached the disk, or the bucket has confirmed it.
//! - Names of contents are made of numbers and keys; nothing that came from a client is part of a path.
//! - What a content is, its bytes say. It is taken whole: pictures are decoded, archives unpacked to nowhere, and the end of
//!   a PDF leads to its objects. What is unpacked is bounded, and one picture at a time is in memory as a whole, with at
//!   most 16 bytes a pixel.
//! - Smaller copies of a picture are stored beside its content and removed with it.
//!
//! **Implements** [`kontor_content::ports::FileStore`], [`kontor_content::ports::ContentInspector`] and
//! [`kontor_content::ports::PictureResizer`].
//!
//! ```
//! use std::io::Write;
//! use kontor_adapter_files::Inspector;
//! use kontor_content::model::{MediaType, Sighting};
//! use kontor_content::ports::ContentInspector;
//!
//! let mut file = tempfile::tempfile()?;
//! file.write_all(b"%PDF-1.7\n")?;
//! assert_eq!(Inspector.inspect(&file)?, Sighting::Damaged(MediaType::Pdf));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod archive;
mod inspect;
mod pdf;
mod picture;
mod place;
mod store;

pub use inspect::Inspector;
pub use place::{Bucket, FileStorage, UnfitBucket};
pub use store::PIECE;
