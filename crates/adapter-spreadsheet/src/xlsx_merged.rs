//! Merged cells: the value of the first one applies to all of them.

use std::collections::VecDeque;

use calamine::Dimensions;
use kontor_catalog::spreadsheet::{Cell, SheetRow};

/// Merged cells of a sheet, filled in row by row from top to bottom.
pub(crate) struct Merged {
    /// Ranges that start further down, from top to bottom.
    waiting: VecDeque<Dimensions>,
    /// Ranges that have started, with their values.
    open: Vec<(Dimensions, Cell)>,
}

impl Merged {
    /// Creates the list from ranges in any order.
    pub fn new(mut ranges: Vec<Dimensions>) -> Self {
        ranges.sort_unstable_by_key(|range| range.start);
        Self { waiting: ranges.into(), open: Vec::new() }
    }

    /// Sets the cells of a row to the values of their ranges. An empty row stays empty.
    pub fn fill(&mut self, row: &mut SheetRow, most_columns: usize) {
        let down = row.number.saturating_sub(1);
        self.open.retain(|(range, _)| range.end.0 >= down);
        while let Some(range) = self.waiting.pop_front_if(|range| range.start.0 <= down) {
            let first = usize::try_from(range.start.1).unwrap_or(usize::MAX);
            if range.start.0 == down
                && let Some(value) = row.cells.get(first).filter(|cell| !cell.is_blank())
            {
                self.open.push((range, value.clone()));
            }
        }
        for (range, value) in &self.open {
            let place = |column: u32| usize::try_from(column).unwrap_or(usize::MAX).min(most_columns - 1);
            let (first, last) = (place(range.start.1), place(range.end.1));
            if row.cells.len() <= last {
                row.cells.resize(last + 1, Cell::Text(String::new()));
            }
            for cell in row.cells.iter_mut().take(last + 1).skip(first) {
                *cell = value.clone();
            }
        }
    }
}
