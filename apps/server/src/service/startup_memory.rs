//! Gives freed memory back to the system: what was only needed at the start, and what a flood of large requests leaves behind.
//!
//! The allocator gives freed memory back when it is busy again some time later. Building the routes and the description of
//! the API takes a multiple of what stays, and a service that nobody calls yet would keep it for good.

use std::hint::black_box;
use std::time::Duration;

/// Longer than the allocator waits for a block to be wanted again.
const LATER: Duration = Duration::from_secs(1);
/// A block of its own, no part of a pool. Nothing is written to it, so it takes no memory.
const BLOCK: usize = 64 << 20;

/// Has the allocator look once what it can give back.
pub fn release_freed_memory() {
    drop(black_box(Vec::<u8>::with_capacity(BLOCK)));
}

/// The same when the start is over.
pub async fn release_startup_memory() {
    tokio::time::sleep(LATER).await;
    release_freed_memory();
}
