//! Recorded changes, and the files that remain after a failure.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// A change of the files of a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Creates a file.
    Create(String),
    /// Writes bytes at an offset.
    Write {
        /// Name of the file.
        file: String,
        /// Offset in bytes.
        offset: usize,
        /// Bytes to write.
        bytes: Vec<u8>,
    },
    /// Cuts a file, or extends it with zeros.
    Truncate {
        /// Name of the file.
        file: String,
        /// New size in bytes.
        size: usize,
    },
    /// Makes the file and what was written to it so far survive a loss of power.
    Sync(String),
    /// Deletes a file. No sync makes this survive a loss of power at once.
    Delete(String),
}

impl Change {
    pub(crate) fn file(&self) -> &str {
        match self {
            Self::Create(file)
            | Self::Sync(file)
            | Self::Delete(file)
            | Self::Write { file, .. }
            | Self::Truncate { file, .. } => file,
        }
    }

    pub(crate) fn apply(&self, files: &mut Image) {
        match self {
            Self::Create(file) => files.put(file, Vec::new()),
            Self::Write { file, offset, bytes } => write_at(files.edit(file), *offset, bytes),
            Self::Truncate { file, size } => files.edit(file).resize(*size, 0),
            Self::Sync(_) => {}
            Self::Delete(file) => files.remove(file),
        }
    }
}

/// The initial files, all synced, and the changes that followed.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    pub(crate) before: Image,
    pub(crate) changes: Vec<Change>,
}

impl Recording {
    /// Returns the number of changes.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Returns `true` if there are no changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the changes in order.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns the files after the process is killed following this many changes. All issued changes remain, synced
    /// or not.
    pub fn killed_after(&self, changes: usize) -> Image {
        let mut files = self.before.clone();
        self.changes.iter().take(changes).for_each(|change| change.apply(&mut files));
        files
    }

    /// Returns the files after power is lost following this many changes. Synced data remains.
    ///
    /// The seed decides about every other change: it remains, is lost, or only some sectors of the write remain.
    /// Creating and deleting a file can be lost, too.
    pub fn power_lost_after(&self, changes: usize, seed: u64) -> Image {
        let mut files: BTreeMap<&str, Uncertain> = BTreeMap::new();
        for change in self.changes.iter().take(changes) {
            let name = change.file();
            let file = files.entry(name).or_insert_with(|| Uncertain {
                synced: Image::of(name, self.before.file(name).unwrap_or_default().to_vec()),
                is_there: self.before.contains(name),
                pending: Vec::new(),
            });
            file.take_in(change);
        }
        let mut left = self.before.clone();
        let mut rng = TestRng(seed);
        let manner = Manner::of(&mut rng, seed);
        for (name, file) in files {
            match file.after_loss(name, manner, &mut rng) {
                Some(bytes) => left.put(name, bytes),
                None => left.remove(name),
            }
        }
        left
    }
}

/// A file of which some changes are synced.
struct Uncertain<'a> {
    synced: Image,
    is_there: bool,
    pending: Vec<&'a Change>,
}

impl<'a> Uncertain<'a> {
    fn take_in(&mut self, change: &'a Change) {
        if !matches!(change, Change::Sync(_)) {
            self.pending.push(change);
            return;
        }
        for change in self.pending.drain(..) {
            change.apply(&mut self.synced);
        }
        self.is_there = true;
    }

    fn after_loss(mut self, name: &str, manner: Manner, rng: &mut TestRng) -> Option<Vec<u8>> {
        let kept_in_order = rng.below(self.pending.len() + 1);
        for (number, change) in self.pending.iter().enumerate() {
            let fate = manner.fate(number, kept_in_order, rng);
            match (change, fate) {
                (Change::Write { file, offset, bytes }, ChangeFate::Torn) => {
                    tear(self.synced.edit(file), *offset, bytes, rng);
                }
                (Change::Create(_), ChangeFate::Kept) => {
                    self.is_there = true;
                    change.apply(&mut self.synced);
                }
                (Change::Delete(_), ChangeFate::Kept) => {
                    self.is_there = false;
                    change.apply(&mut self.synced);
                }
                // The changes that follow went to a file that has no name on the disk.
                (Change::Create(_) | Change::Delete(_), _) => break,
                (_, ChangeFate::Kept) => change.apply(&mut self.synced),
                (_, ChangeFate::Lost | ChangeFate::Torn) => {}
            }
        }
        self.is_there.then(|| std::mem::take(self.synced.edit(name)))
    }
}

/// Outcome of a change.
enum ChangeFate {
    Kept,
    Lost,
    Torn,
}

/// Treatment of changes that were not synced.
#[derive(Clone, Copy)]
enum Manner {
    /// All are lost.
    LosesAll,
    /// They are written in order, until power is lost.
    InOrder,
    /// They are written in any order: this many of eight are kept, the rest is lost or torn.
    AnyOrder(u64),
}

impl Manner {
    fn of(rng: &mut TestRng, seed: u64) -> Self {
        match seed % 4 {
            0 => Self::LosesAll,
            1 => Self::InOrder,
            _ => Self::AnyOrder(rng.next() % 8),
        }
    }

    fn fate(self, number: usize, kept_in_order: usize, rng: &mut TestRng) -> ChangeFate {
        match self {
            Self::InOrder if number < kept_in_order => ChangeFate::Kept,
            Self::InOrder if number == kept_in_order => ChangeFate::Torn,
            Self::AnyOrder(kept) if rng.next() % 8 < kept => ChangeFate::Kept,
            Self::AnyOrder(_) if rng.next().is_multiple_of(2) => ChangeFate::Torn,
            Self::LosesAll | Self::InOrder | Self::AnyOrder(_) => ChangeFate::Lost,
        }
    }
}

const SECTOR: usize = 512;

/// Writes only some of the sectors.
fn tear(file: &mut Vec<u8>, offset: usize, bytes: &[u8], rng: &mut TestRng) {
    let (mut at, mut rest) = (offset, bytes);
    while !rest.is_empty() {
        let (sector, others) = rest.split_at(rest.len().min(SECTOR - at % SECTOR));
        if rng.next().is_multiple_of(2) {
            write_at(file, at, sector);
        }
        at += sector.len();
        rest = others;
    }
}

/// Pseudo-random numbers from a seed (`SplitMix64`).
struct TestRng(u64);

impl TestRng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % end).unwrap_or_default()
    }
}

/// Snapshot of the files of a disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Image(BTreeMap<String, Vec<u8>>);

impl Image {
    /// Creates an image of one file.
    pub fn of(name: &str, bytes: Vec<u8>) -> Self {
        Self(BTreeMap::from([(name.to_owned(), bytes)]))
    }

    /// Returns the content of a file.
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// Writes the files into a folder, for inspection.
    pub fn store(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        self.0.iter().try_for_each(|(name, bytes)| fs::write(folder.join(name), bytes))
    }

    pub(crate) fn put(&mut self, name: &str, bytes: Vec<u8>) {
        self.0.insert(name.to_owned(), bytes);
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Returns the file, creating it if it does not exist.
    pub(crate) fn edit(&mut self, name: &str) -> &mut Vec<u8> {
        self.0.entry(name.to_owned()).or_default()
    }
}

/// Writes at an offset, also beyond the end. A gap is filled with zeros.
pub(crate) fn write_at(file: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset.saturating_add(bytes.len());
    if file.len() < end {
        file.resize(end, 0);
    }
    if let Some(place) = file.get_mut(offset..end) {
        place.copy_from_slice(bytes);
    }
}
