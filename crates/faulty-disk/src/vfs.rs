//! The file system that SQLite uses for disks, as C functions that SQLite calls.
#![expect(unsafe_code, reason = "SQLite calls C functions with pointers of its own; nothing safe can be given to it")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::slice;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Once};

use libsqlite3_sys as ffi;

use crate::Disk;
use crate::locks::{Busy, FileLocks, HandleId};
use crate::recording::Change;

/// Name of the file system in paths.
pub(crate) const NAME: &str = "faulty-disk";
const C_NAME: &CStr = c"faulty-disk";

/// Structure of an open file for SQLite. SQLite's own part comes first.
#[repr(C)]
struct OpenFile {
    base: ffi::sqlite3_file,
    handle: *mut Handle,
}

/// An open file.
struct Handle {
    id: HandleId,
    disk: Arc<Disk>,
    name: String,
}

/// `SQLITE_OK` or an error code.
type Code = Result<(), c_int>;

fn code(outcome: Code) -> c_int {
    outcome.err().unwrap_or(ffi::SQLITE_OK)
}

fn busy(outcome: Result<(), Busy>) -> Code {
    outcome.map_err(|Busy| ffi::SQLITE_BUSY)
}

fn size(number: impl TryInto<usize>) -> Result<usize, c_int> {
    number.try_into().map_err(|_| ffi::SQLITE_IOERR)
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// Registers the file system with SQLite, once. Functions that do not concern files are those of the system.
pub(crate) fn register() {
    static REGISTERED: Once = Once::new();
    // SAFETY: the description is never freed, and is a copy of one that SQLite gave, with functions of the right types.
    REGISTERED.call_once(|| unsafe {
        ffi::sqlite3_initialize();
        let system = ffi::sqlite3_vfs_find(ptr::null());
        let mut own = system.read();
        own.iVersion = 2;
        own.szOsFile = c_int::try_from(size_of::<OpenFile>()).unwrap_or(c_int::MAX);
        own.pNext = ptr::null_mut();
        own.zName = C_NAME.as_ptr();
        own.xOpen = Some(open);
        own.xDelete = Some(delete);
        own.xAccess = Some(access);
        own.xFullPathname = Some(full_pathname);
        ffi::sqlite3_vfs_register(Box::into_raw(Box::new(own)), 0);
    });
}

/// # Safety
/// `path` is null or a C string that outlives the answer.
unsafe fn text<'a>(path: *const c_char) -> Result<&'a str, c_int> {
    if path.is_null() {
        return Err(ffi::SQLITE_CANTOPEN);
    }
    // SAFETY: what the caller promises.
    unsafe { CStr::from_ptr(path) }.to_str().map_err(|_| ffi::SQLITE_CANTOPEN)
}

/// # Safety
/// `file` was opened by [`open`] and is not closed.
unsafe fn opened<'a>(file: *mut ffi::sqlite3_file) -> &'a Handle {
    // SAFETY: guaranteed by the caller; a handle is never changed.
    unsafe { &*(*file.cast::<OpenFile>()).handle }
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    path: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    output: *mut c_int,
) -> c_int {
    let file = file.cast::<OpenFile>();
    // SAFETY: SQLite gives room for a file, a path that outlives it, and perhaps a place for the flags.
    unsafe {
        // SQLite does not close a file that could not be opened.
        (*file).base.pMethods = ptr::null();
        let handle = match text(path).and_then(|path| Handle::open(path, flags)) {
            Ok(handle) => handle,
            Err(code) => return code,
        };
        (*file).handle = Box::into_raw(Box::new(handle));
        (*file).base.pMethods = &raw const METHODS;
        if !output.is_null() {
            *output = flags;
        }
    }
    ffi::SQLITE_OK
}

impl Handle {
    fn open(path: &str, flags: c_int) -> Result<Self, c_int> {
        let (disk, name) = Disk::at(path).ok_or(ffi::SQLITE_CANTOPEN)?;
        let name = name.to_owned();
        let mut state = disk.state();
        if !state.files.contains(&name) {
            if flags & ffi::SQLITE_OPEN_CREATE == 0 {
                return Err(ffi::SQLITE_CANTOPEN);
            }
            state.change(Change::Create(name.clone()))?;
        }
        let id = state.next_handle();
        drop(state);
        Ok(Self { id, disk, name })
    }

    fn read(&self, place: &mut [u8], offset: usize) -> Code {
        let state = self.disk.state();
        let file = state.files.file(&self.name).unwrap_or_default();
        let there = file.get(offset..).unwrap_or_default();
        let count = there.len().min(place.len());
        let (filled, rest) = place.split_at_mut(count);
        filled.copy_from_slice(there.get(..count).unwrap_or_default());
        rest.fill(0);
        if rest.is_empty() { Ok(()) } else { Err(ffi::SQLITE_IOERR_SHORT_READ) }
    }

    fn write(&self, bytes: &[u8], offset: usize) -> Code {
        let (file, bytes) = (self.name.clone(), bytes.to_vec());
        self.disk.state().change(Change::Write { file, offset, bytes })
    }

    fn truncate(&self, size: usize) -> Code {
        self.disk.state().change(Change::Truncate { file: self.name.clone(), size })
    }

    fn sync(&self) -> Code {
        self.disk.state().change(Change::Sync(self.name.clone()))
    }

    fn lock(&self, level: c_int) -> Code {
        busy(self.disk.state().locks.entry(self.name.clone()).or_default().lock(self.id, level))
    }

    fn unlock(&self, level: c_int) {
        self.disk.state().locks.entry(self.name.clone()).or_default().unlock(self.id, level);
    }

    fn lock_memory(&self, first: c_int, count: c_int, flags: c_int) -> Code {
        let (first, count) = (size(first)?, size(count)?);
        let slots: Vec<usize> = (first..first + count).collect();
        let mut state = self.disk.state();
        let memory = state.memories.entry(self.name.clone()).or_default();
        if flags & ffi::SQLITE_SHM_LOCK == 0 {
            memory.unlock(self.id, &slots);
            return Ok(());
        }
        busy(memory.lock(self.id, &slots, flags & ffi::SQLITE_SHM_EXCLUSIVE != 0))
    }

    fn leave_memory(&self) {
        let mut state = self.disk.state();
        if state.memories.get_mut(&self.name).is_some_and(|memory| memory.leave(self.id)) {
            state.memories.remove(&self.name);
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.unlock(ffi::SQLITE_LOCK_NONE);
        self.leave_memory();
    }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    let file = file.cast::<OpenFile>();
    // SAFETY: `open` made the handle, and SQLite closes a file once.
    unsafe {
        (*file).base.pMethods = ptr::null();
        drop(Box::from_raw((*file).handle));
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, place: *mut c_void, amount: c_int, offset: i64) -> c_int {
    let (amount, offset) = match (size(amount), size(offset)) {
        (Ok(amount), Ok(offset)) => (amount, offset),
        (Err(code), _) | (_, Err(code)) => return code,
    };
    // SAFETY: SQLite gives an open file and room for so many bytes.
    unsafe { code(opened(file).read(slice::from_raw_parts_mut(place.cast(), amount), offset)) }
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, bytes: *const c_void, amount: c_int, offset: i64) -> c_int {
    let (amount, offset) = match (size(amount), size(offset)) {
        (Ok(amount), Ok(offset)) => (amount, offset),
        (Err(code), _) | (_, Err(code)) => return code,
    };
    // SAFETY: SQLite gives an open file and so many bytes.
    unsafe { code(opened(file).write(slice::from_raw_parts(bytes.cast(), amount), offset)) }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, length: i64) -> c_int {
    // SAFETY: SQLite gives an open file.
    code(size(length).and_then(|length| unsafe { opened(file) }.truncate(length)))
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    // SAFETY: SQLite gives an open file.
    code(unsafe { opened(file) }.sync())
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, output: *mut i64) -> c_int {
    // SAFETY: SQLite gives an open file and a place for the answer.
    unsafe {
        let handle = opened(file);
        let length = handle.disk.state().files.file(&handle.name).map_or(0, <[u8]>::len);
        *output = i64::try_from(length).unwrap_or(i64::MAX);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: SQLite gives an open file.
    code(unsafe { opened(file) }.lock(level))
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: SQLite gives an open file.
    unsafe { opened(file) }.unlock(level);
    ffi::SQLITE_OK
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, output: *mut c_int) -> c_int {
    // SAFETY: SQLite gives an open file and a place for the answer.
    unsafe {
        let handle = opened(file);
        let is_reserved = handle.disk.state().locks.get(&handle.name).is_some_and(FileLocks::is_reserved);
        *output = c_int::from(is_reserved);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_control(_: *mut ffi::sqlite3_file, _: c_int, _: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(_: *mut ffi::sqlite3_file) -> c_int {
    4_096
}

/// The property SQLite assumes of every disk of a Unix system.
unsafe extern "C" fn device_characteristics(_: *mut ffi::sqlite3_file) -> c_int {
    ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    number: c_int,
    length: c_int,
    makes: c_int,
    output: *mut *mut c_void,
) -> c_int {
    let (number, length) = match (size(number), size(length)) {
        (Ok(number), Ok(length)) => (number, length),
        (Err(code), _) | (_, Err(code)) => return code,
    };
    // SAFETY: SQLite gives an open file and a place for the answer. The memory stays where it is until the last who uses it
    // has left, and may be written through shared pointers.
    unsafe {
        let handle = opened(file);
        let mut state = handle.disk.state();
        let memory = state.memories.entry(handle.name.clone()).or_default();
        let region = memory.region(handle.id, number, length, makes != 0);
        *output = region.map_or(ptr::null_mut(), |region| region.as_ptr().cast_mut().cast());
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn shm_lock(file: *mut ffi::sqlite3_file, first: c_int, count: c_int, flags: c_int) -> c_int {
    // SAFETY: SQLite gives an open file.
    code(unsafe { opened(file) }.lock_memory(first, count, flags))
}

unsafe extern "C" fn shm_barrier(_: *mut ffi::sqlite3_file) {
    fence(Ordering::SeqCst);
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    // SAFETY: SQLite gives an open file.
    unsafe { opened(file) }.leave_memory();
    ffi::SQLITE_OK
}

unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, path: *const c_char, _: c_int) -> c_int {
    // SAFETY: SQLite gives a path.
    let path = unsafe { text(path) };
    code(path.and_then(|path| {
        let (disk, name) = Disk::at(path).ok_or(ffi::SQLITE_IOERR_DELETE)?;
        let mut state = disk.state();
        if !state.files.contains(name) {
            return Err(ffi::SQLITE_IOERR_DELETE_NOENT);
        }
        state.change(Change::Delete(name.to_owned()))
    }))
}

unsafe extern "C" fn access(_: *mut ffi::sqlite3_vfs, path: *const c_char, _: c_int, output: *mut c_int) -> c_int {
    // SAFETY: SQLite gives a path and a place for the answer.
    unsafe {
        let found = text(path).ok().and_then(Disk::at);
        *output = c_int::from(found.is_some_and(|(disk, name)| disk.state().files.contains(name)));
    }
    ffi::SQLITE_OK
}

/// Returns the path unchanged: every path is absolute.
unsafe extern "C" fn full_pathname(
    _: *mut ffi::sqlite3_vfs,
    path: *const c_char,
    room: c_int,
    output: *mut c_char,
) -> c_int {
    // SAFETY: SQLite gives a path and so much room.
    unsafe {
        let bytes = CStr::from_ptr(path).to_bytes_with_nul();
        if size(room).is_ok_and(|room| bytes.len() > room) {
            return ffi::SQLITE_CANTOPEN;
        }
        ptr::copy_nonoverlapping(bytes.as_ptr().cast(), output, bytes.len());
    }
    ffi::SQLITE_OK
}
