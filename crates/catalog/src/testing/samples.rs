//! Sample jobs for tests of use cases.
//!
//! Set further fields with struct update syntax:
//! ```
//! use kontor_catalog::bulk::{Job, JobState};
//! use kontor_catalog::spreadsheet::ImportKind;
//! use kontor_catalog::testing::samples::a_job;
//!
//! let running = Job { state: JobState::Running, done_rows: 1_000, ..a_job(ImportKind::Nomenclatures) };
//! assert_eq!(running.checkpoint, 0);
//! ```
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "constant identifiers")]

use chrono::DateTime;
use kontor_kernel::JobId;

use crate::bulk::{Job, JobOptions, JobPhase, JobState, Tally};
use crate::spreadsheet::{ImportKind, ReadOptions};

/// Returns job 7, which imports a file of one byte and has not begun.
pub fn a_job(kind: ImportKind) -> Job {
    Job {
        id: JobId::new(7).unwrap(),
        kind: kind.into(),
        options: JobOptions::default(),
        reading: ReadOptions::default(),
        state: JobState::Queued,
        phase: JobPhase::Checking,
        file_name: None,
        file_bytes: 1,
        file_expires_at: None,
        total_rows: None,
        done_rows: 0,
        checkpoint: 0,
        tally: Tally::default(),
        ignored_columns: Vec::new(),
        layout: None,
        failure: None,
        user_id: None,
        created_at: DateTime::UNIX_EPOCH,
        started_at: None,
        finished_at: None,
    }
}
