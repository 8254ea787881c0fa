//! Large spreadsheets: imports that run in the background, part by part, and go on after a crash.
//!
//! **Owns** the job, its two passes over a file, and what happens when a file cannot be imported.
//!
//! **Invariants**
//! - Of a project one job runs at a time; the others wait in the order they came.
//! - A part of the file and the record that it is done are one commit: no row is lost or counted twice, whenever the process
//!   dies.
//! - Nothing is written before the whole file has been read once. Without partial mode nothing is written, either, while
//!   any row is wrong.
//! - A job that was canceled or taken over by another process writes no more.
//!
//! **Ports**: [`ports::JobBook`], [`ports::UploadStore`], and those of [`crate::spreadsheet`].
//!
//! The first pass of a job is *checking*: every row is read and, without partial mode, compared with the records there
//! are. The second is *writing*. A dry run ends after the first.

mod error;
mod job;
pub mod ports;
mod preview;
mod runner;
mod service;

pub use error::{JobError, JobRefusal, PartError};
pub use job::{
    Ending, Job, JobFilter, JobKind, JobLease, JobOptions, JobPhase, JobProblem, JobState, LeasedJob, NewJob, PassDone,
    Progress, Step, Tally,
};
pub use runner::{JobRunner, RunOutcome, Waits};
pub use service::{BulkService, Submission};
