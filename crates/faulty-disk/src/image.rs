//! Files by name.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

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
