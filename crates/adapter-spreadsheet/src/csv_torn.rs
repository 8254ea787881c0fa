//! Damaged rows of a csv file. None of them is guessed:
//! - a separator in a cell without quotes
//! - a quote that is not closed where its cell ends
//! - a row split by a line break without quotes

use std::collections::VecDeque;

use kontor_catalog::spreadsheet::ports::{HeaderRow, RowSink};
use kontor_catalog::spreadsheet::{SheetError, SheetRow};

/// Maximum number of pieces of one torn row.
const MAX_PIECES: usize = 16;

/// State of the quotes of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quotes {
    Paired,
    /// Text follows a closing quote, or every line of the record is a row of its own.
    Torn,
    /// The file ends within a cell.
    Open,
}

/// Checks the quotes of a record as it is in the file, given the number of headers.
pub(crate) fn quotes(record: &[u8], delimiter: u8, headers: usize) -> Quotes {
    if !record.contains(&b'"') {
        return Quotes::Paired;
    }
    let mut bytes = record.iter().copied().peekable();
    let mut at_start = true;
    while let Some(byte) = bytes.next() {
        if !(at_start && byte == b'"') {
            at_start = byte == delimiter || byte == b'\n' || byte == b'\r';
            continue;
        }
        loop {
            match bytes.next() {
                None => return Quotes::Open,
                Some(b'"') if bytes.next_if_eq(&b'"').is_none() => break,
                Some(_) => {}
            }
        }
        if bytes.peek().is_some_and(|next| *next != delimiter && !matches!(next, b'\n' | b'\r')) {
            return Quotes::Torn;
        }
        at_start = false;
    }
    let cells = |line: &[u8]| line.split(|byte| *byte == delimiter).count();
    let mut lines = record.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let is_row = |line: &[u8]| headers > 1 && cells(line) == headers;
    let many = lines.clone().count() > 1;
    if many && lines.all(is_row) { Quotes::Torn } else { Quotes::Paired }
}

/// A row with the number of cells it has in the file.
struct Held {
    row: SheetRow,
    cells: usize,
}

/// Passes rows on as soon as it is clear that they are complete.
pub(crate) struct Whole<'a, 'b> {
    sink: &'a mut RowSink<'b>,
    /// Row of headers.
    at: HeaderRow,
    /// Number of headers; 0 until they are read.
    pub headers: usize,
    held: VecDeque<Held>,
    /// `true` if the previous row is a piece of a torn one.
    in_tear: bool,
}

impl<'a, 'b> Whole<'a, 'b> {
    pub fn new(at: HeaderRow, sink: &'a mut RowSink<'b>) -> Self {
        Self { sink, at, headers: 0, held: VecDeque::new(), in_tear: false }
    }

    /// Adds the next row with the number of its cells, including empty ones at its end.
    pub fn push(&mut self, mut row: SheetRow, cells: usize) -> Result<(), SheetError> {
        if row.is_blank() {
            return Ok(());
        }
        if self.headers == 0 {
            let is_header = match self.at {
                HeaderRow::First => true,
                HeaderRow::At(number) => row.number >= number,
                HeaderRow::Unknown => false,
            };
            if is_header {
                self.headers = row.cells.len();
            }
            return (self.sink)(row);
        }
        if row.cells.len() > self.headers {
            let (filled, headers) = (row.cells.len(), self.headers);
            row.fault =
                Some(format!("has {filled} cells under {headers} headers; put texts with separators in quotes"));
        }
        self.held.push_back(Held { row, cells });
        while self.held.len() > MAX_PIECES || self.settle() {
            self.hand_over_first()?;
        }
        Ok(())
    }

    /// Handles the end of the file.
    pub fn finish(mut self) -> Result<(), SheetError> {
        while !self.held.is_empty() {
            self.settle();
            self.hand_over_first()?;
        }
        Ok(())
    }

    /// Returns `true` if the first row can be passed on. Pieces of a torn row have one cell more than a row for every
    /// break.
    fn settle(&mut self) -> bool {
        let Some(first) = self.held.front() else { return false };
        if first.row.fault.is_some() {
            return true;
        }
        if self.in_tear && first.cells < self.headers {
            self.tear(1);
            return true;
        }
        self.in_tear = false;
        let mut cells = first.cells;
        if cells > self.headers {
            return true;
        }
        for (place, next) in self.held.iter().enumerate().skip(1) {
            cells += next.cells.saturating_sub(1);
            if next.row.fault.is_some() || next.cells >= self.headers || cells > self.headers {
                return true;
            }
            if cells == self.headers {
                self.tear(place + 1);
                return true;
            }
        }
        false
    }

    fn tear(&mut self, rows: usize) {
        self.in_tear = true;
        let headers = self.headers;
        for held in self.held.iter_mut().take(rows) {
            held.row.fault.get_or_insert_with(|| {
                format!("looks like a piece of a row: put texts with line breaks in quotes, and give every row {headers} cells")
            });
        }
    }

    fn hand_over_first(&mut self) -> Result<(), SheetError> {
        self.held.pop_front().map_or(Ok(()), |held| (self.sink)(held.row))
    }
}

#[cfg(test)]
mod tests {
    use kontor_catalog::spreadsheet::Cell;

    use super::*;

    #[test]
    fn quotes_pair_within_their_cells() {
        for (record, found) in [
            ("a,b,c", Quotes::Paired),
            ("\"a\",\"b,\"\"c\"\"\",\"\"\n", Quotes::Paired),
            ("a,5\",c", Quotes::Paired),
            ("a,\"one\ntwo\",c\r\n", Quotes::Paired),
            ("a,b,\"one\ntwo, three\"", Quotes::Paired),
            ("\"a\",\"b\"\"\",c", Quotes::Paired),
            ("\"Daisy\" Ltd,b,c", Quotes::Torn),
            ("a,\"b\" c,d", Quotes::Torn),
            ("a,\"b,1\nc,d,2\ne,\"f\",3", Quotes::Torn),
            ("a,\"b,1\nc,d\",2", Quotes::Torn),
            ("a,b,\"c\nd,e,f\n", Quotes::Open),
            ("a,b,\"c\"\"", Quotes::Open),
        ] {
            assert_eq!(quotes(record.as_bytes(), b',', 3), found, "{record:?}");
        }
    }

    /// Returns the faulty rows, given the number of cells of each row under four headers.
    fn faulty_rows(rows: &[usize]) -> Vec<u32> {
        let mut faulty = Vec::new();
        let mut handed_over = 0;
        let mut sink = |row: SheetRow| {
            handed_over += 1;
            faulty.extend(row.fault.is_some().then_some(row.number));
            Ok(())
        };
        let mut whole = Whole::new(HeaderRow::First, &mut sink);
        for (number, cells) in (1..).zip([4].iter().chain(rows)) {
            let row = SheetRow::new(number, vec![Cell::Text("x".to_owned()); *cells]);
            whole.push(row, *cells).unwrap();
        }
        whole.finish().unwrap();
        assert_eq!(handed_over, rows.len() + 1);
        faulty
    }

    #[test]
    fn pieces_of_a_row_are_known_by_the_number_of_their_cells() {
        for (rows, expected) in [
            (vec![4, 4, 4], vec![]),
            (vec![4, 5, 4], vec![3]),
            (vec![4, 2, 3, 4], vec![3, 4]),
            (vec![2, 2, 2, 4], vec![2, 3, 4]),
            (vec![4, 1, 1, 2, 4, 4], vec![2, 3, 4, 5]),
            (vec![4, 3, 4], vec![]),
            (vec![3, 3, 3], vec![]),
            (vec![4, 4, 3], vec![]),
            (vec![2, 3], vec![2, 3]),
            (vec![3, 4, 2, 4], vec![]),
        ] {
            assert_eq!(faulty_rows(&rows), expected, "{rows:?}");
        }
        assert_eq!(faulty_rows(&[2; 40]).len(), 40);
    }
}
