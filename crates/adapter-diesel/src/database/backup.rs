//! Copy of the embedded database, taken while it is in use, and the number kept outside the database, by which a
//! database restored from a backup is detected.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use diesel::connection::Connection;
use diesel::r2d2::ManageConnection;
use diesel::result::QueryResult;
use diesel::sql_types::{BigInt, Text};
use diesel::{RunQueryDsl, SqliteConnection};
use kontor_kernel::StoreError;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Database, DatabaseUrl};
use crate::statement::Statement;

/// Verified copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// Size in bytes.
    pub bytes: u64,
    /// Newest applied migration.
    pub newest_migration: String,
}

/// Error of a backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// PostgreSQL has its own tools.
    #[error("use PostgreSQL's own tools to back it up: `pg_dump -Fc`, or an archive of the write-ahead log")]
    Postgres,
    /// The file exists and is not overwritten.
    #[error("{0} already exists: move it away, or choose another file")]
    Exists(PathBuf),
    /// The file cannot be written.
    #[error("{0}: {1}")]
    File(PathBuf, std::io::Error),
    /// The database cannot be copied.
    #[error("the database cannot be copied: {0}")]
    Copy(String),
    /// The copy is damaged and was discarded.
    #[error("the copy is incomplete: {0}")]
    Damaged(String),
}

#[derive(diesel::QueryableByName)]
struct FindingRow {
    #[diesel(sql_type = Text)]
    integrity_check: String,
}

#[derive(diesel::QueryableByName)]
struct CountRow {
    #[diesel(sql_type = BigInt)]
    broken: i64,
}

#[derive(diesel::QueryableByName)]
struct NewestRow {
    #[diesel(sql_type = Text)]
    version: String,
}

impl Backup {
    /// Checks that neither this file nor a log of it exists: SQLite would replay an old log over the new file.
    pub fn check_target(to: &Path) -> Result<(), BackupError> {
        for end in ["", "-wal", "-shm", "-journal"] {
            let mut file = to.as_os_str().to_owned();
            file.push(end);
            let file = PathBuf::from(file);
            match file.try_exists() {
                Ok(false) => {}
                Ok(true) => return Err(BackupError::Exists(file)),
                Err(error) => return Err(BackupError::File(file, error)),
            }
        }
        Ok(())
    }
}

impl Database {
    /// Copies a snapshot of the embedded database. Reads and writes continue in the meantime. The file gets its name
    /// only after the copy is complete, verified and synced to the disk.
    pub fn back_up(&self, to: &Path) -> Result<Backup, BackupError> {
        if !matches!(self.url(), DatabaseUrl::Sqlite(_)) {
            return Err(BackupError::Postgres);
        }
        let failed = |error| BackupError::File(to.to_owned(), error);
        Backup::check_target(to)?;
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let copy = tempfile::Builder::new().prefix(".kontor-backup-").tempfile_in(folder).map_err(failed)?;
        let name = copy.path().to_string_lossy().into_owned();
        // A separate connection does not block writers.
        let connect = self.manager().connect();
        let mut connection = connect.map_err(|error| BackupError::Copy(error.to_string()))?;
        let copied = Statement::new("VACUUM INTO ").value(name.clone()).once().run(&mut connection);
        copied.map_err(|error| BackupError::Copy(error.to_string()))?;
        drop(connection);
        let newest_migration = checked(&name)?;
        copy.as_file().sync_all().map_err(failed)?;
        let bytes = copy.as_file().metadata().map_err(failed)?.len();
        copy.persist_noclobber(to).map_err(|error| match error.error.kind() {
            std::io::ErrorKind::AlreadyExists => BackupError::Exists(to.to_owned()),
            _ => failed(error.error),
        })?;
        std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        Ok(Backup { bytes, newest_migration })
    }
}

/// Verifies a finished copy. Returns its newest migration.
fn checked(name: &str) -> Result<String, BackupError> {
    let path = utf8_percent_encode(name, NON_ALPHANUMERIC).to_string();
    let connect = SqliteConnection::establish(&format!("file:{path}?mode=ro&immutable=1"));
    let mut connection = connect.map_err(|error| BackupError::Damaged(error.to_string()))?;
    let look = |connection: &mut SqliteConnection| -> QueryResult<_> {
        let findings: Vec<FindingRow> = diesel::sql_query("PRAGMA integrity_check").load(connection)?;
        let references = "SELECT count(*) AS broken FROM pragma_foreign_key_check";
        let references: CountRow = diesel::sql_query(references).get_result(connection)?;
        let newest = "SELECT version FROM __diesel_schema_migrations ORDER BY version DESC LIMIT 1";
        let newest: NewestRow = diesel::sql_query(newest).get_result(connection)?;
        Ok((findings, references.broken, newest.version))
    };
    let (findings, broken, newest) = look(&mut connection).map_err(|error| BackupError::Damaged(error.to_string()))?;
    let findings: Vec<String> =
        findings.into_iter().map(|finding| finding.integrity_check).filter(|finding| finding != "ok").collect();
    if !findings.is_empty() {
        return Err(BackupError::Damaged(findings.join("; ")));
    }
    if broken > 0 {
        return Err(BackupError::Damaged(format!("{broken} references point to missing rows")));
    }
    Ok(newest)
}

/// Greatest generation that a process of this folder has seen.
#[derive(Debug, Clone)]
pub(crate) struct GenerationFile {
    path: PathBuf,
    known: Arc<Mutex<i64>>,
}

fn failed(path: &Path, error: impl std::fmt::Display) -> StoreError {
    StoreError::Failed(format!("{}: {error}", path.display()))
}

/// Replaces the file atomically: after a crash it holds the old or the new number.
fn replace(path: &Path, generation: i64) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(generation.to_string().as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    std::fs::File::open(folder)?.sync_all()
}

fn read(path: &Path) -> Result<i64, StoreError> {
    match std::fs::read_to_string(path) {
        Ok(text) => text.trim().parse().map_err(|error| failed(path, error)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(failed(path, error)),
    }
}

impl GenerationFile {
    /// Opens the file of an installation in a folder, which is created if needed.
    pub async fn open(folder: PathBuf, installation: &str) -> Result<Self, StoreError> {
        let path = folder.join(format!("generation-{installation}"));
        let opened = tokio::task::spawn_blocking(move || {
            std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
            let known = read(&path)?;
            Ok(Self { path, known: Arc::new(Mutex::new(known)) })
        });
        opened.await.map_err(|error| StoreError::Failed(error.to_string()))?
    }

    fn locked(&self) -> MutexGuard<'_, i64> {
        // The number is replaced as a whole, so a poisoned lock is safe to use.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the greatest stored generation.
    pub fn known(&self) -> i64 {
        *self.locked()
    }

    /// Stores a generation, unless a greater one is stored.
    pub async fn raise(&self, generation: i64) -> Result<(), StoreError> {
        let this = self.clone();
        let raised = tokio::task::spawn_blocking(move || {
            let mut known = this.locked();
            if *known < generation {
                replace(&this.path, generation).map_err(|error| failed(&this.path, error))?;
                *known = generation;
            }
            Ok(())
        });
        raised.await.map_err(|error| StoreError::Failed(error.to_string()))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_not_created_beside_a_log() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kontor.db");
        for existing in ["kontor.db", "kontor.db-wal", "kontor.db-shm", "kontor.db-journal"] {
            let existing = folder.path().join(existing);
            std::fs::write(&existing, "old").unwrap();
            let refused = Backup::check_target(&file).unwrap_err();
            assert!(matches!(&refused, BackupError::Exists(found) if *found == existing), "{refused}");
            std::fs::remove_file(existing).unwrap();
        }
        Backup::check_target(&file).unwrap();
    }

    #[tokio::test]
    async fn the_greatest_generation_is_kept_for_each_installation() {
        let folder = tempfile::tempdir().unwrap();
        let open = |name: &'static str| GenerationFile::open(folder.path().join("state"), name);
        let file = open("a").await.unwrap();
        assert_eq!(file.known(), 0);
        for generation in [3, 7, 5] {
            file.raise(generation).await.unwrap();
        }
        assert_eq!((file.known(), open("a").await.unwrap().known(), open("b").await.unwrap().known()), (7, 7, 0));
        std::fs::write(folder.path().join("state/generation-b"), "x").unwrap();
        assert!(open("b").await.is_err());
    }
}
