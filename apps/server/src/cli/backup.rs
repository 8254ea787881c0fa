//! `kontor backup`: copies in a file, and in the bucket by `upload`, `list`, `download` and `check`.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use clap::{Args, Subcommand};
use kontor_adapter_diesel::{Backup, BackupError, DatabaseUrl};
use kontor_adapter_files::{FileStorage, StoredBackup};
use kontor_kernel::Clock as _;
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::Failure;
use super::operate::open;
use super::process::Output;
use crate::adapters::SystemClock;
use crate::cli::doctor::{self, DoctorArguments};
use crate::cli::process;
use crate::config::{Config, ConfigError};

/// Settings of `kontor backup`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct BackupArguments {
    /// File to create. An existing file is never overwritten.
    #[arg(long, value_name = "FILE", required = true)]
    to: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
    #[command(subcommand)]
    command: Option<BackupCommand>,
}

/// Runs the command.
pub fn run(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    arguments: BackupArguments,
) -> Result<(), Failure> {
    let BackupArguments { to, output, command } = arguments;
    if let Some(command) = command {
        return run_in_bucket(load, command);
    }
    let to = to.ok_or("--to is required")?;
    let config = load(output.database)?;
    existing_file(&config)?;
    let Backup { bytes, newest_migration } = open(&config)?.back_up(&to)?;
    let file = to.display();
    if output.json {
        println!("{}", json!({ "file": file.to_string(), "bytes": bytes, "newest_migration": newest_migration }));
    } else {
        println!("{file}: {bytes} bytes, verified, last migration {newest_migration}");
    }
    Ok(())
}

/// Returns the file of the embedded database.
fn embedded_file(config: &Config) -> Result<PathBuf, Failure> {
    match config.database()? {
        DatabaseUrl::Postgres(_) => Err(BackupError::Postgres.into()),
        DatabaseUrl::Sqlite(file) => Ok(file),
    }
}

/// Does the same, and fails if the file does not exist: opening a missing database would create an empty one.
fn existing_file(config: &Config) -> Result<PathBuf, Failure> {
    let file = embedded_file(config)?;
    if file.try_exists()? { Ok(file) } else { Err(format!("database {} not found", file.display()).into()) }
}

/// Subcommands of `kontor backup`.
#[derive(Subcommand)]
pub enum BackupCommand {
    /// Copy the embedded database to the bucket `files_s3_bucket` while the service runs, and check the copy. Then
    /// delete the backups that no option keeps; without --keep and --keep-days none.
    Upload {
        #[command(flatten)]
        retention: Retention,
        /// Store the copy even if it is smaller than half of the newest backup. Otherwise such an upload fails.
        #[arg(long)]
        smaller: bool,
        #[command(flatten)]
        output: Output,
    },
    /// List the backups in the bucket, the newest first.
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Download a backup from the bucket and verify its checksum.
    Download {
        /// File to create. An existing file is never overwritten.
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
        /// Name of the backup instead of the newest.
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Restore the newest backup of the bucket into a temporary folder beside the database, migrate it there and run
    /// `kontor doctor` on it.
    Check {
        /// Fail if the newest backup is older.
        #[arg(long, value_name = "HOURS", value_parser = clap::value_parser!(u32).range(1..=876_000))]
        max_age_hours: Option<u32>,
        #[command(flatten)]
        output: Output,
    },
}

// Without a doc comment: it would appear in the help of the command.
#[derive(Args, Clone, Copy)]
pub struct Retention {
    /// Keep the newest N backups.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    keep: Option<u32>,
    /// Keep the backups of the last DAYS days, and always the newest.
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    keep_days: Option<u32>,
}

impl Retention {
    /// Returns how many backups are kept beside the one just stored, of earlier times that begin with the newest.
    fn kept(self, earlier: &[DateTime<Utc>], now: DateTime<Utc>) -> usize {
        if self.keep.is_none() && self.keep_days.is_none() {
            return earlier.len();
        }
        let newest = self.keep.map_or(0, |count| usize::try_from(count.saturating_sub(1)).unwrap_or(usize::MAX));
        let recent = self.keep_days.map_or(0, |days| {
            let limit = now - TimeDelta::days(days.into());
            earlier.partition_point(|taken_at| *taken_at >= limit)
        });
        newest.max(recent)
    }
}

/// Runs the command.
pub fn run_in_bucket(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    command: BackupCommand,
) -> Result<(), Failure> {
    match command {
        BackupCommand::Upload { retention, smaller, output } => {
            upload(&Place::open(load(output.database)?)?, retention, smaller, output.json)
        }
        BackupCommand::List { output } => list(&Place::open(load(output.database)?)?, output.json),
        BackupCommand::Download { to, name, output } => {
            download(&Place::open(load(output.database)?)?, &to, name.as_deref(), output.json)
        }
        BackupCommand::Check { max_age_hours, output } => {
            check(&Place::open(load(output.database)?)?, max_age_hours, output.json)
        }
    }
}

/// Configuration with an embedded database and a bucket.
struct Place {
    config: Config,
    bucket: FileStorage,
    runtime: Runtime,
}

impl Place {
    fn open(config: Config) -> Result<Self, Failure> {
        embedded_file(&config)?;
        let bucket = config.bucket()?.ok_or("files_s3_bucket is not set; backups are stored in this bucket")?;
        Ok(Self { config, bucket, runtime: process::runtime()? })
    }

    /// Creates a temporary folder beside the database, where there is room for a copy.
    fn temporary_folder(&self) -> Result<TempDir, Failure> {
        let file = embedded_file(&self.config)?;
        Ok(tempfile::Builder::new().prefix(".kontor-backup-").tempdir_in(folder_of(&file))?)
    }

    fn backups(&self) -> Result<Vec<StoredBackup>, Failure> {
        Ok(self.runtime.block_on(self.bucket.backups())?)
    }

    /// Returns the backup with this name, or the newest.
    fn find(&self, name: Option<&str>) -> Result<StoredBackup, Failure> {
        let mut all = self.backups()?.into_iter();
        let found = all.find(|backup| name.is_none_or(|name| backup.name == name));
        let found = found
            .ok_or_else(|| name.map_or("the bucket has no backup".to_owned(), |name| format!("no backup {name}")))?;
        // The clock was wrong then, or it is now: a later backup may exist.
        if name.is_none() && found.taken_at > SystemClock.now() {
            let found = found.name;
            return Err(format!(
                "the newest backup {found} is dated in the future: correct the clock, choose one with `download --name`, \
                 or delete it from the bucket"
            )
            .into());
        }
        Ok(found)
    }

    /// Downloads a backup. The file gets its name when it is complete and verified.
    fn fetch(&self, backup: &StoredBackup, to: &Path) -> Result<(), Failure> {
        Backup::check_target(to)?;
        let folder = folder_of(to);
        let copy = tempfile::Builder::new().prefix(".kontor-backup-").tempfile_in(folder)?;
        self.runtime.block_on(self.bucket.get_backup(backup, copy.as_file()))?;
        copy.persist_noclobber(to).map_err(|error| match error.error.kind() {
            ErrorKind::AlreadyExists => BackupError::Exists(to.to_owned()),
            _ => BackupError::File(to.to_owned(), error.error),
        })?;
        Ok(File::open(folder)?.sync_all()?)
    }
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn upload(place: &Place, retention: Retention, smaller: bool, json: bool) -> Result<(), Failure> {
    existing_file(&place.config)?;
    let mut earlier = place.backups()?;
    let folder = place.temporary_folder()?;
    let copy = folder.path().join("kontor.db");
    let taken_at = SystemClock.now();
    let Backup { bytes, newest_migration } = open(&place.config)?.back_up(&copy)?;
    // Backups from a clock that was ahead are neither compared, counted nor deleted.
    earlier.retain(|backup| backup.taken_at < taken_at);
    if let Some(StoredBackup { name, bytes: stored, .. }) = earlier.first()
        && !smaller
        && bytes.saturating_mul(2) < *stored
    {
        return Err(format!(
            "nothing was stored or deleted: the copy of {bytes} bytes is smaller than half of {name} of {stored} bytes. \
             Check that `database_url` is right, or use --smaller"
        )
        .into());
    }
    let StoredBackup { name, .. } = place.runtime.block_on(place.bucket.put_backup(taken_at, File::open(copy)?))?;
    let times: Vec<_> = earlier.iter().map(|backup| backup.taken_at).collect();
    let expired = earlier.get(retention.kept(&times, taken_at)..).unwrap_or_default();
    let mut deleted = Vec::new();
    let outcome: Result<(), Failure> = expired.iter().try_for_each(|backup| {
        let removed = place.runtime.block_on(place.bucket.remove_backup(backup));
        removed.map_err(|error| format!("{} was not deleted: {error}", backup.name))?;
        deleted.push(backup.name.as_str());
        Ok(())
    });
    if json {
        let stored = json!({
            "name": name, "bytes": bytes, "newest_migration": newest_migration, "deleted": deleted,
        });
        println!("{stored}");
    } else {
        println!("{name}: {bytes} bytes, verified, last migration {newest_migration}");
        for name in deleted {
            println!("deleted {name}");
        }
    }
    outcome
}

fn list(place: &Place, json: bool) -> Result<(), Failure> {
    for StoredBackup { name, taken_at, bytes, .. } in place.backups()? {
        if json {
            println!("{}", json!({ "name": name, "taken_at": taken_at, "bytes": bytes }));
        } else {
            println!("{taken_at}  {bytes:>14}  {name}");
        }
    }
    Ok(())
}

fn download(place: &Place, to: &Path, name: Option<&str>, json: bool) -> Result<(), Failure> {
    let backup = place.find(name)?;
    place.fetch(&backup, to)?;
    let (file, StoredBackup { name, taken_at, bytes, .. }) = (to.display(), backup);
    if json {
        println!("{}", json!({ "file": file.to_string(), "name": name, "taken_at": taken_at, "bytes": bytes }));
    } else {
        println!("{file}: {bytes} bytes of {taken_at}, verified");
    }
    Ok(())
}

/// Does what a restore does, except that no acquirer is asked and nothing is charged.
fn check(place: &Place, max_age_hours: Option<u32>, json: bool) -> Result<(), Failure> {
    let backup = place.find(None)?;
    let age = SystemClock.now() - backup.taken_at;
    if max_age_hours.is_some_and(|hours| age > TimeDelta::hours(hours.into())) {
        return Err(format!("the newest backup {} is {} hours old", backup.name, age.num_hours()).into());
    }
    let folder = place.temporary_folder()?;
    let file = folder.path().join("kontor.db");
    place.fetch(&backup, &file)?;
    let restored = Config { database_url: DatabaseUrl::Sqlite(file).to_string().into(), ..place.config.clone() };
    open(&restored)?.migrate()?;
    doctor::run(|_| Ok(restored), DoctorArguments::reading(json))?;
    let StoredBackup { name, taken_at, bytes, .. } = backup;
    if json {
        println!("{}", json!({ "restored": { "name": name, "taken_at": taken_at, "bytes": bytes } }));
    } else {
        println!("{name}: restored and checked");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_backups_are_kept_by_count_or_by_age() {
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(1_000);
        let earlier: Vec<_> = [1, 25, 49, 50, 100].map(|hours| now - TimeDelta::hours(hours)).into();
        for (keep, keep_days, kept) in [
            (None, None, 5),
            (Some(1), None, 0),
            (Some(3), None, 2),
            (None, Some(1), 1),
            (None, Some(3), 4),
            (Some(2), Some(3), 4),
            (Some(4), Some(1), 3),
        ] {
            assert_eq!(Retention { keep, keep_days }.kept(&earlier, now), kept, "{keep:?} {keep_days:?}");
        }
        assert_eq!(Retention { keep: None, keep_days: Some(1) }.kept(&earlier[4..], now), 0);
        assert!(earlier.get(Retention { keep: Some(9), keep_days: None }.kept(&earlier, now)..).is_none());
    }
}
