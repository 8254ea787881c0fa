//! Locks of files, and of the shared memory of a write-ahead log.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::atomic::AtomicU64;

use libsqlite3_sys as ffi;

/// Identifier of an open file.
pub(crate) type HandleId = u64;

/// Error: another handle holds the lock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Busy;

/// Lock level of each open file of the database, by SQLite's levels.
#[derive(Debug, Default)]
pub(crate) struct FileLocks(BTreeMap<HandleId, c_int>);

impl FileLocks {
    fn others(&self, handle: HandleId) -> impl Iterator<Item = c_int> {
        self.0.iter().filter(move |(other, _)| **other != handle).map(|(_, level)| *level)
    }

    pub fn lock(&mut self, handle: HandleId, level: c_int) -> Result<(), Busy> {
        let own = self.0.get(&handle).copied().unwrap_or(ffi::SQLITE_LOCK_NONE);
        if own >= level {
            return Ok(());
        }
        let highest = self.others(handle).max().unwrap_or(ffi::SQLITE_LOCK_NONE);
        let limit = if level == ffi::SQLITE_LOCK_SHARED { ffi::SQLITE_LOCK_PENDING } else { ffi::SQLITE_LOCK_RESERVED };
        if highest >= limit {
            return Err(Busy);
        }
        if level == ffi::SQLITE_LOCK_EXCLUSIVE && highest >= ffi::SQLITE_LOCK_SHARED {
            self.0.insert(handle, ffi::SQLITE_LOCK_PENDING);
            return Err(Busy);
        }
        self.0.insert(handle, level);
        Ok(())
    }

    pub fn unlock(&mut self, handle: HandleId, level: c_int) {
        if level == ffi::SQLITE_LOCK_NONE {
            self.0.remove(&handle);
        } else {
            self.0.insert(handle, level);
        }
    }

    pub fn is_reserved(&self) -> bool {
        self.0.values().any(|level| *level >= ffi::SQLITE_LOCK_RESERVED)
    }
}

const SLOTS: usize = 8;

/// Memory that connections to a database in WAL mode share, and its locks. It is dropped with the last connection.
#[derive(Debug, Default)]
pub(crate) struct SharedMemory {
    regions: Vec<Box<[AtomicU64]>>,
    slots: [Slot; SLOTS],
    /// Handles that use it.
    users: Vec<HandleId>,
}

#[derive(Debug, Default)]
struct Slot {
    shared: Vec<HandleId>,
    exclusive: Option<HandleId>,
}

impl SharedMemory {
    /// Returns a region, creating it if `makes` is set. Its address is stable while any handle uses the memory.
    pub fn region(&mut self, handle: HandleId, number: usize, size: usize, makes: bool) -> Option<&[AtomicU64]> {
        if !self.users.contains(&handle) {
            self.users.push(handle);
        }
        while makes && self.regions.len() <= number {
            self.regions.push((0..size / size_of::<u64>()).map(|_| AtomicU64::new(0)).collect());
        }
        self.regions.get(number).map(|region| &**region)
    }

    pub fn lock(&mut self, handle: HandleId, slots: &[usize], exclusively: bool) -> Result<(), Busy> {
        let chosen =
            || self.slots.iter().enumerate().filter(|(number, _)| slots.contains(number)).map(|(_, slot)| slot);
        let taken = |slot: &Slot| {
            let exclusive = slot.exclusive.is_some_and(|other| other != handle);
            exclusive || (exclusively && slot.shared.iter().any(|other| *other != handle))
        };
        if chosen().any(taken) {
            return Err(Busy);
        }
        for slot in self.chosen(slots) {
            if exclusively {
                slot.exclusive = Some(handle);
            } else if !slot.shared.contains(&handle) {
                slot.shared.push(handle);
            }
        }
        Ok(())
    }

    pub fn unlock(&mut self, handle: HandleId, slots: &[usize]) {
        self.chosen(slots).for_each(|slot| slot.release(handle));
    }

    /// Removes a handle and its locks. Returns `true` if no user is left.
    pub fn leave(&mut self, handle: HandleId) -> bool {
        self.slots.iter_mut().for_each(|slot| slot.release(handle));
        self.users.retain(|user| *user != handle);
        self.users.is_empty()
    }

    fn chosen<'a>(&'a mut self, slots: &'a [usize]) -> impl Iterator<Item = &'a mut Slot> {
        self.slots.iter_mut().enumerate().filter(|(number, _)| slots.contains(number)).map(|(_, slot)| slot)
    }
}

impl Slot {
    fn release(&mut self, handle: HandleId) {
        self.shared.retain(|holder| *holder != handle);
        if self.exclusive == Some(handle) {
            self.exclusive = None;
        }
    }
}
