//! Large spreadsheets: imports that run in the background, part by part, and go on after a crash, and exports whose files
//! are made in the background.
//!
//! **Owns** the job, the two passes of an import over its file, what happens when a file cannot be imported, and the
//! making, keeping and expiry of exported files.
//!
//! **Invariants**
//! - Of a project one import and one export run at a time; the others wait in the order they came.
//! - A part of the file and the record that it is done are one commit: no row is lost or counted twice, whenever the process
//!   dies.
//! - Nothing is written before the whole file has been read once. Without partial mode nothing is written, either, while
//!   any row is wrong.
//! - A job that was canceled or taken over by another process writes no more.
//!
//! - The file of an export can be downloaded only when it is whole. An export that is taken over begins anew.
//! - An export has one page of rows in memory, whatever the number of records.
//!
//! **Ports**: [`ports::JobBook`], [`ports::ExportBook`], [`ports::ExportSource`], [`ports::UploadStore`], and those of
//! [`crate::spreadsheet`].
//!
//! The first pass of an import is *checking*: every row is read and, without partial mode, compared with the records there
//! are. The second is *writing*. A dry run ends after the first.

mod error;
mod export;
mod export_runner;
mod job;
pub mod ports;
mod preview;
mod runner;
mod service;

pub use error::{JobError, JobRefusal, PartError};
pub use export::{
    ExportCursor, ExportFile, ExportKind, ExportProgress, ExportRow, ExportScope, KeptFile, LeasedExport, NewExport,
};
pub use export_runner::{ExportHalt, ExportRunner};
pub use job::{
    Ending, Job, JobFilter, JobKind, JobLease, JobOptions, JobPhase, JobProblem, JobState, LeasedJob, NewJob, PassDone,
    Progress, Step, Tally,
};
pub use runner::{JobRunner, RunOutcome, Waits};
pub use service::{BulkService, ExportDownload, Submission};
