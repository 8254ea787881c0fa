//! For tests: an in-memory disk for SQLite that simulates killed processes, power loss and failures.
//!
//! A [`Disk`] holds the files of one database and its shared memory. SQLite reaches it as a separate file system, by
//! the path that [`Disk::url`] returns. So any code that opens a database by a path can use one. Changes of files are
//! counted in the order in which they were issued.
//!
//! - [`Disk::record`] records every change. [`Recording::killed_after`] returns the files that remain when the
//!   process is killed after any of them.
//! - [`Recording::power_lost_after`] returns files that may remain after a loss of power. Synced data is kept; each
//!   other write is kept, lost or torn.
//! - [`Disk::fail`] refuses changes from a chosen one on, as a broken, a full or a read-only disk does.
//!
//! **Owns** the files of a disk. **Knows** SQLite's interface for file systems, and nothing else of this project.

mod disk;
mod image;
mod locks;
mod recording;
mod vfs;

pub use disk::{Disk, Failure, Fault};
pub use image::Image;
pub use recording::{Change, Recording};
