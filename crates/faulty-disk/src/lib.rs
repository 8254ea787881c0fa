//! For tests: a disk for SQLite, in memory, that is killed, loses power and fails on demand.
//!
//! A [`Disk`] holds the files of one database and its shared memory. SQLite reaches it by the path that [`Disk::url`] tells, as
//! a file system of its own, so whoever opens a database by a path can be put on one. What changes files is counted in the order
//! in which it was issued.
//!
//! - [`Disk::record`] keeps every change. [`Recording::killed_after`] gives the files as a process leaves them that is killed
//!   after any of them; [`Recording::powerless_after`] the files as a machine may leave them that loses power there: what was
//!   synced is kept, of the rest each write is kept, lost or torn.
//! - [`Disk::fail`] refuses the changes from any one on, as a broken, a full or a read-only disk does.
//!
//! **Owns** the files of a disk. **Knows** SQLite's interface for file systems, and nothing else here.

mod disk;
mod image;
mod locks;
mod recording;
mod vfs;

pub use disk::{Disk, Failure, Fault};
pub use image::Image;
pub use recording::{Change, Recording};
