//! Files by name.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// The files of a disk at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Image(BTreeMap<String, Vec<u8>>);

impl Image {
    /// One file.
    pub fn of(name: &str, bytes: Vec<u8>) -> Self {
        Self(BTreeMap::from([(name.to_owned(), bytes)]))
    }

    /// What is in a file.
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// Writes the files into a folder, for whoever wants to look at them.
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

    /// The file, made when it is not there.
    pub(crate) fn edit(&mut self, name: &str) -> &mut Vec<u8> {
        self.0.entry(name.to_owned()).or_default()
    }
}

/// Writes at a place, beyond the end, too: what lies between is zero.
pub(crate) fn write_at(file: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset.saturating_add(bytes.len());
    if file.len() < end {
        file.resize(end, 0);
    }
    if let Some(place) = file.get_mut(offset..end) {
        place.copy_from_slice(bytes);
    }
}
