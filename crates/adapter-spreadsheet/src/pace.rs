//! Cancellation checks while a file is prepared and no row can be passed on yet.

use kontor_catalog::spreadsheet::SheetError;

/// Number of bytes between two checks.
const CHUNK_BYTES: usize = 1 << 20;

/// Calls the check after every stretch of work; a refusal ends the work.
pub(crate) struct Pace<'a> {
    ask: &'a mut dyn FnMut() -> Result<(), SheetError>,
    done: usize,
}

impl<'a> Pace<'a> {
    pub fn new(ask: &'a mut dyn FnMut() -> Result<(), SheetError>) -> Self {
        Self { ask, done: 0 }
    }

    /// Adds the number of processed bytes.
    pub fn advance(&mut self, bytes: usize) -> Result<(), SheetError> {
        self.done = self.done.saturating_add(bytes);
        if self.done < CHUNK_BYTES {
            return Ok(());
        }
        self.done = 0;
        (self.ask)()
    }
}
