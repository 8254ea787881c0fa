//! The files of one database, and what goes wrong with them.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use libsqlite3_sys as ffi;

use crate::image::Image;
use crate::locks::{FileLocks, HandleId, SharedMemory};
use crate::recording::{Change, Recording};
use crate::vfs;

/// How a disk fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// It is broken: writing and syncing end in an error.
    Broken,
    /// It is full: of a write half arrives.
    Full,
    /// It takes no changes any longer.
    ReadOnly,
}

impl Failure {
    /// What a file system tells SQLite.
    fn code(self, change: &Change) -> c_int {
        match (self, change) {
            // What was written before can still not be synced.
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

/// When a disk fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// So many changes succeed before.
    pub after: usize,
    /// How it fails.
    pub failure: Failure,
    /// Whether it goes on to fail until [`Disk::heal`], or fails once.
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
    /// A disk with these files.
    pub fn new(files: Image) -> Arc<Self> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        vfs::register();
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let disk = Arc::new(Self { number, state: Mutex::new(State { files, ..State::default() }) });
        locked(&DISKS).insert(number, Arc::downgrade(&disk));
        disk
    }

    /// The path by which SQLite opens a file of this disk, from everywhere in this process.
    pub fn url(&self, file: &str) -> PathBuf {
        PathBuf::from(format!("file:/{}/{file}?vfs={}", self.number, vfs::NAME))
    }

    /// The files as they are.
    pub fn files(&self) -> Image {
        self.state().files.clone()
    }

    /// From now on every change is kept.
    pub fn record(&self) {
        let mut state = self.state();
        state.recording = Some(Recording { before: state.files.clone(), changes: Vec::new() });
    }

    /// How many changes were kept so far.
    pub fn recorded(&self) -> usize {
        self.state().recording.as_ref().map_or(0, Recording::len)
    }

    /// What was kept. Nothing is from now on.
    pub fn recording(&self) -> Recording {
        self.state().recording.take().unwrap_or_default()
    }

    /// From now on it fails in this way.
    pub fn fail(&self, fault: Fault) {
        let mut state = self.state();
        state.fault = Some(fault);
        state.refused = 0;
    }

    /// It works again. Returns how many changes it refused.
    pub fn heal(&self) -> usize {
        let mut state = self.state();
        state.fault = None;
        state.refused
    }

    /// The disk and the name of a file that a path from [`Self::url`] names.
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
