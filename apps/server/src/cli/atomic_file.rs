//! Atomic writes of files.

use std::io::{self, Read};
use std::path::Path;

/// Writes a temporary file in the same folder and renames it when it is completely on disk. On failure the temporary
/// file is deleted, and an existing file stays.
pub(super) fn write_whole(path: &Path, content: &mut impl Read) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    io::copy(content, &mut file)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reader that returns some bytes, then fails as if the disk were full.
    struct FailingReader(bool);

    impl Read for FailingReader {
        fn read(&mut self, place: &mut [u8]) -> io::Result<usize> {
            if std::mem::replace(&mut self.0, true) {
                return Err(io::Error::from(io::ErrorKind::StorageFull));
            }
            place[0] = b'a';
            Ok(1)
        }
    }

    #[test]
    fn a_file_is_whole_or_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.csv");
        assert!(write_whole(&path, &mut FailingReader(false)).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        write_whole(&path, &mut &b"whole"[..]).unwrap();
        assert!(write_whole(&path, &mut FailingReader(false)).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
