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

mod locks;
mod recording;
mod vfs;

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use libsqlite3_sys as ffi;

use crate::locks::{FileLocks, HandleId, SharedMemory};

pub use recording::{Change, Image, Recording};

/// Kind of failure of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The disk is broken: writing and syncing return an error.
    Broken,
    /// The disk is full: half of a write arrives.
    Full,
    /// The disk accepts no more changes.
    ReadOnly,
}

impl Failure {
    /// Returns the error code that the file system reports to SQLite.
    fn code(self, change: &Change) -> c_int {
        match (self, change) {
            // Earlier writes can still not be synced.
            (Self::ReadOnly, Change::Write { .. }) => ffi::SQLITE_READONLY,
            (Self::Full, Change::Write { .. }) => ffi::SQLITE_FULL,
            (_, Change::Create(_)) => ffi::SQLITE_CANTOPEN,
            (_, Change::Write { .. }) => ffi::SQLITE_IOERR_WRITE,
            (_, Change::Truncate { .. }) => ffi::SQLITE_IOERR_TRUNCATE,
            (_, Change::Sync(_)) => ffi::SQLITE_IOERR_FSYNC,
            (_, Change::Delete(_)) => ffi::SQLITE_IOERR_DELETE,
        }
    }
}

/// Planned failure of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Number of changes that succeed before it.
    pub after: usize,
    /// Kind of failure.
    pub failure: Failure,
    /// `true` if it fails until [`Disk::heal`], `false` if it fails once.
    pub lasts: bool,
}

/// A disk with the files of one database.
#[derive(Debug)]
pub struct Disk {
    number: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub files: Image,
    pub locks: BTreeMap<String, FileLocks>,
    pub memories: BTreeMap<String, SharedMemory>,
    handles: HandleId,
    recording: Option<Recording>,
    fault: Option<Fault>,
    refused: usize,
}

static DISKS: LazyLock<Mutex<BTreeMap<u64, Weak<Disk>>>> = LazyLock::new(Mutex::default);

impl Disk {
    /// Creates a disk with these files.
    pub fn new(files: Image) -> Arc<Self> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        vfs::register();
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let disk = Arc::new(Self { number, state: Mutex::new(State { files, ..State::default() }) });
        locked(&DISKS).insert(number, Arc::downgrade(&disk));
        disk
    }

    /// Returns the path by which SQLite opens a file of this disk anywhere in this process.
    pub fn url(&self, file: &str) -> PathBuf {
        PathBuf::from(format!("file:/{}/{file}?vfs={}", self.number, vfs::NAME))
    }

    /// Returns the current files.
    pub fn files(&self) -> Image {
        self.state().files.clone()
    }

    /// Starts recording changes.
    pub fn record(&self) {
        let mut state = self.state();
        state.recording = Some(Recording { before: state.files.clone(), changes: Vec::new() });
    }

    /// Returns the number of recorded changes.
    pub fn recorded(&self) -> usize {
        self.state().recording.as_ref().map_or(0, Recording::len)
    }

    /// Stops recording and returns the changes.
    pub fn recording(&self) -> Recording {
        self.state().recording.take().unwrap_or_default()
    }

    /// Plans a failure.
    pub fn fail(&self, fault: Fault) {
        let mut state = self.state();
        state.fault = Some(fault);
        state.refused = 0;
    }

    /// Ends the failure. Returns the number of refused changes.
    pub fn heal(&self) -> usize {
        let mut state = self.state();
        state.fault = None;
        state.refused
    }

    /// Returns the disk and the file name of a path from [`Self::url`].
    pub(crate) fn at(path: &str) -> Option<(Arc<Self>, &str)> {
        let (number, name) = path.strip_prefix('/')?.split_once('/')?;
        let disk = locked(&DISKS).get(&number.parse().ok()?)?.upgrade()?;
        Some((disk, name))
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        locked(&DISKS).remove(&self.number);
    }
}

impl State {
    pub fn next_handle(&mut self) -> HandleId {
        self.handles += 1;
        self.handles
    }

    /// Changes the files, unless the disk fails.
    pub fn change(&mut self, change: Change) -> Result<(), c_int> {
        match self.fault.as_mut() {
            Some(fault) if fault.after > 0 => fault.after -= 1,
            Some(fault) if fault.lasts || self.refused == 0 => {
                let failure = fault.failure;
                self.refused += 1;
                if let (Failure::Full, Change::Write { file, offset, bytes }) = (failure, &change) {
                    let half = bytes.iter().take(bytes.len() / 2).copied().collect();
                    self.keep(Change::Write { file: file.clone(), offset: *offset, bytes: half });
                }
                return Err(failure.code(&change));
            }
            _ => {}
        }
        self.keep(change);
        Ok(())
    }

    fn keep(&mut self, change: Change) {
        change.apply(&mut self.files);
        if let Some(recording) = &mut self.recording {
            recording.changes.push(change);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
