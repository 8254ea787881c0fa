//! Returns freed memory to the operating system: memory needed only at the start, and memory left by a flood of large
//! requests.
//!
//! The allocator returns freed memory only when it is busy again later. Building the routes and the API description
//! takes several times the memory that stays in use. An idle service would keep all of it.

use std::hint::black_box;
use std::time::Duration;

/// Longer than the allocator waits before it releases an unused block.
const LATER: Duration = Duration::from_secs(1);
/// Size of a block that is not part of a pool. Nothing is written to it, so it occupies no memory.
const BLOCK: usize = 64 << 20;

/// Makes the allocator release unused memory once.
pub fn release_freed_memory() {
    drop(black_box(Vec::<u8>::with_capacity(BLOCK)));
}

/// Releases unused memory after the start.
pub async fn release_startup_memory() {
    tokio::time::sleep(LATER).await;
    release_freed_memory();
}
