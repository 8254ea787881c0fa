use std::borrow::Cow;

use kontor_kernel::{Money, MoneyError, Quantity, StockLevel};

/// One cell as a file has it. Numbers come as plain decimal text, an empty cell as empty text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// What stands in the cell.
    Text(String),
    /// Why nothing can be read from it, such as a formula that failed.
    Fault(String),
}

/// One row of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetRow {
    /// As the spreadsheet counts, from 1.
    pub number: u32,
    /// From the first column on; cells past the last filled one may be missing.
    pub cells: Vec<Cell>,
}

impl SheetRow {
    /// No row: whoever reads the file is at work on it still and asks whether to go on.
    pub fn none_yet() -> Self {
        Self { number: 0, cells: Vec::new() }
    }

    /// Whether it is no row.
    pub fn is_none_yet(&self) -> bool {
        self.number == 0
    }

    /// The size of its texts, in bytes.
    pub(super) fn size(&self) -> usize {
        self.cells.iter().map(|cell| if let Cell::Text(text) = cell { text.len() } else { 0 }).sum()
    }

    /// Whether nothing stands in any cell.
    pub fn is_blank(&self) -> bool {
        self.cells.iter().all(|cell| matches!(cell, Cell::Text(text) if text.trim().is_empty()))
    }

    /// The text of a column, empty when there is none.
    pub(super) fn text(&self, column: usize) -> Result<&str, &str> {
        match self.cells.get(column) {
            None => Ok(""),
            Some(Cell::Text(text)) => Ok(text),
            Some(Cell::Fault(reason)) => Err(reason),
        }
    }
}

/// What is written into a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content<'a> {
    /// Nothing.
    Empty,
    /// A text, whatever it looks like.
    Text(Cow<'a, str>),
    /// A number as plain decimal text.
    Number(String),
}

/// Amounts as people type them: spaces between thousands, a decimal comma.
pub(super) fn money(text: &str) -> Result<Money, MoneyError> {
    let mut plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    if !plain.contains('.') && plain.matches(',').count() == 1 {
        plain = plain.replace(',', ".");
    }
    plain.parse()
}

pub(super) fn flag(text: &str) -> Result<bool, &'static str> {
    match text.trim().to_lowercase().as_str() {
        "1" | "true" | "yes" | "да" | "истина" => Ok(true),
        "0" | "false" | "no" | "нет" | "ложь" => Ok(false),
        _ => Err("must be 1 or 0"),
    }
}

pub(super) fn whole(text: &str) -> Result<i64, &'static str> {
    let digits: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    digits.parse().map_err(|_| "must be a whole number")
}

pub(super) fn quantity(text: &str) -> Result<Quantity, String> {
    Quantity::new(whole(text)?).map_err(|error| error.to_string())
}

pub(super) fn stock_level(text: &str) -> Result<StockLevel, String> {
    StockLevel::new(whole(text)?).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_type_them() {
        for (typed, minor) in [("265", 26_500), (" 1 234,50", 123_450), ("1\u{a0}000.5", 100_050), ("0", 0)] {
            assert_eq!(money(typed).unwrap().minor(), minor, "{typed}");
        }
        for refused in ["", "1,234.50", "1,2,3", "-1", "9,999", "ten", "1e3"] {
            assert!(money(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn whole_numbers_have_no_fraction() {
        assert_eq!(quantity("1 000").unwrap().get(), 1000);
        assert!(quantity("1.5").is_err());
        assert!(quantity("0").is_err());
        assert_eq!(stock_level("0").unwrap().get(), 0);
        assert_eq!((flag("Да"), flag("FALSE")), (Ok(true), Ok(false)));
        assert!(flag("maybe").is_err());
    }
}
