//! Large spreadsheets: background imports, processed in parts and resumable after a crash, and background exports.
//!
//! **Owns** the job, the two passes of an import over its file, the handling of files that cannot be imported, and the
//! creation, storage and expiry of exported files.
//!
//! **Invariants**
//! - One import and one export of a project run at a time. Others wait in the order of their creation.
//! - A part of the file and the record that it is done are one commit: no row is lost or counted twice, even if the
//!   process crashes.
//! - Nothing is written before the whole file has been read once. Without partial mode nothing is written while any row
//!   is invalid.
//! - A job that was canceled or taken over by another process writes nothing more.
//! - The file of an export can be downloaded only when it is complete. An export that is taken over starts again.
//! - An export holds one page of rows in memory, for any number of records.
//!
//! **Ports**: [`ports::JobRepository`], [`ports::ExportRepository`], [`ports::ExportSource`], [`ports::UploadStore`], and those of
//! [`crate::spreadsheet`].
//!
//! The first pass of an import is *checking*: every row is read and, without partial mode, compared with the existing
//! records. The second is *writing*. A dry run ends after the first.

mod export;
mod job;
pub mod ports;
mod runner;
mod service;

pub use export::{
    CompletedFile, ExportAbort, ExportCursor, ExportFile, ExportKind, ExportProgress, ExportRow, ExportRunner,
    ExportScope, LeasedExport, NewExport,
};
pub use job::{
    Ending, Job, JobError, JobFilter, JobKind, JobLease, JobOptions, JobPhase, JobProblem, JobRefusal, JobState,
    LeasedJob, NewJob, PartError, PassResult, Progress, Step, Tally,
};
pub use runner::{BlockOn, JobRunner, RunOutcome};
pub use service::{BulkService, ExportDownload, Submission};
