//! Runners of jobs.

use std::sync::Arc;

use kontor_adapter_diesel::Database;
use kontor_adapter_spreadsheet::{Limits, Spreadsheets};
use kontor_catalog::bulk::{ExportRunner, JobRunner};

use super::Adapters;

impl Adapters {
    /// Returns the runner of imports, for the worker and for the command line.
    pub fn job_runner(&self, database: &Database) -> Arc<JobRunner> {
        let store = Arc::new(database.clone());
        let reader = Arc::new(Spreadsheets::with_limits(Limits::large()));
        let (uploads, clock) = (self.uploads.clone(), self.clock.clone());
        Arc::new(JobRunner { reader, cards: store.clone(), stock: store.clone(), jobs: store, uploads, clock })
    }

    /// Returns the runner of exports, for the worker and for the command line.
    pub fn export_runner(&self, database: &Database) -> Arc<ExportRunner> {
        let store = Arc::new(database.clone());
        let (files, clock) = (self.uploads.clone(), self.clock.clone());
        let writers = Arc::new(Spreadsheets::default());
        Arc::new(ExportRunner { exports: store.clone(), source: store, writers, files, clock })
    }
}
