use std::borrow::Cow;

use kontor_kernel::{Money, MoneyError, Quantity};

use crate::model::StockLevel;

/// Cell of a file. Numbers are plain decimal text, an empty cell is empty text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Text of the cell.
    Text(String),
    /// Number whose format shows another text, such as one with leading zeros.
    Number {
        /// Number as plain decimal text, for numeric columns.
        value: String,
        /// Displayed text, for text columns.
        shown: String,
    },
    /// Reason why the cell cannot be read, such as a failed formula.
    Fault(String),
}

impl Cell {
    /// Returns `true` if the cell is empty.
    pub fn is_blank(&self) -> bool {
        matches!(self, Self::Text(text) if text.trim().is_empty())
    }
}

/// Row of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SheetRow {
    /// Row number as the spreadsheet counts, from 1.
    pub number: u32,
    /// Cells from the first column on; cells after the last filled one may be missing.
    pub cells: Vec<Cell>,
    /// Reason why the whole row cannot be read.
    pub fault: Option<String>,
    /// Decimal separator, if the kind of file defines it: it differs from the cell separator.
    pub decimal: Option<char>,
}

impl SheetRow {
    /// Creates a readable row.
    pub fn new(number: u32, cells: Vec<Cell>) -> Self {
        Self { number, cells, ..Self::default() }
    }

    /// Creates an empty signal: the reader is still preparing the file and asks whether to continue.
    pub fn none_yet() -> Self {
        Self::default()
    }

    /// Returns `true` if this is the signal of [`SheetRow::none_yet`].
    pub fn is_none_yet(&self) -> bool {
        self.number == 0
    }

    /// Returns the size of its texts, in bytes.
    pub(super) fn size(&self) -> usize {
        let size = |cell: &Cell| match cell {
            Cell::Text(text) | Cell::Number { shown: text, .. } => text.len(),
            Cell::Fault(_) => 0,
        };
        self.cells.iter().map(size).sum()
    }

    /// Returns `true` if all cells are empty.
    pub fn is_blank(&self) -> bool {
        self.fault.is_none() && self.cells.iter().all(Cell::is_blank)
    }

    /// Returns the text of a column, empty if the cell is missing. For numeric columns it is the plain number,
    /// otherwise the displayed text.
    pub(super) fn text(&self, column: usize, is_number: bool) -> Result<&str, &str> {
        match self.cells.get(column) {
            None => Ok(""),
            Some(Cell::Number { value, .. }) if is_number => Ok(value),
            Some(Cell::Text(text) | Cell::Number { shown: text, .. }) => Ok(text),
            Some(Cell::Fault(reason)) => Err(reason),
        }
    }
}

/// Content of a cell to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content<'a> {
    /// Empty cell.
    Empty,
    /// Text, even if it looks like a number.
    Text(Cow<'a, str>),
    /// Number as plain decimal text.
    Number(String),
}

/// Words after an amount of money.
const CURRENCY: [&str; 6] = ["₽", "руб.", "руб", "р.", "р", "rub"];
/// Words after a number of units.
const PIECES: [&str; 6] = ["шт.", "шт", "pcs.", "pcs", "pc.", "pc"];

/// Returns the number in lower case, without blanks and without the first of these words that ends it.
fn bare<'a>(text: &str, words: impl IntoIterator<Item = &'a &'a str>) -> String {
    let text = text.trim().to_lowercase();
    let bare = words.into_iter().find_map(|word| text.strip_suffix(word)).unwrap_or(&text);
    bare.chars().filter(|sign| !sign.is_whitespace()).collect()
}

/// Returns a number with a decimal point, without blanks between thousands and without a trailing word of the list.
fn number(text: &str, words: &[&str]) -> String {
    let mut plain = bare(text, words);
    if !plain.contains('.') && plain.matches(',').count() == 1 {
        plain = plain.replace(',', ".");
    }
    plain
}

/// Parses an amount as entered by people: spaces between thousands, a decimal comma, roubles.
pub(super) fn money(text: &str) -> Result<Money, MoneyError> {
    number(text, &CURRENCY).parse()
}

/// Returns `true` if a sign may separate thousands or decimals, such as `1,250` where commas separate cells.
pub(super) fn is_ambiguous(text: &str, decimal: Option<char>) -> bool {
    if decimal.is_none() || !text.contains([',', '.']) {
        return false;
    }
    let digits = bare(text, CURRENCY.iter().chain(&PIECES));
    let Some((whole, fraction)) = digits.split_once([',', '.']) else { return false };
    let is_decimal = decimal.is_none_or(|sign| digits.contains(sign));
    let numeric = |part: &str| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
    !is_decimal && numeric(whole) && numeric(fraction) && whole.len() <= 3 && fraction.len() == 3
}

/// Returns `true` if a spreadsheet program shortened a number to this text: `4,60708E+12` has lost its last digits.
pub(super) fn is_shortened(text: &str) -> bool {
    let is_number =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit() || matches!(b, b',' | b'.'));
    let is_power = |part: &str| part.strip_prefix(['+', '-']).is_some_and(|digits| digits.parse::<u8>().is_ok());
    text.split_once(['E', 'e']).is_some_and(|(number, power)| is_number(number) && is_power(power))
}

pub(super) fn flag(text: &str) -> Result<bool, &'static str> {
    match text.trim().to_lowercase().as_str() {
        "1" | "true" | "yes" | "да" | "истина" => Ok(true),
        "0" | "false" | "no" | "нет" | "ложь" => Ok(false),
        _ => Err("must be 1 or 0"),
    }
}

pub(super) fn whole(text: &str) -> Result<i64, &'static str> {
    let number = number(text, &PIECES);
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, "0"));
    let is_whole = !fraction.is_empty() && fraction.bytes().all(|digit| digit == b'0');
    whole.parse().ok().filter(|_| is_whole).ok_or("must be a whole number")
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
        for typed in ["1 250,50 ₽", "1250.50руб.", "1250,5 р", "1250.5 RUB"] {
            assert_eq!(money(typed).unwrap().minor(), 125_050, "{typed}");
        }
        for refused in ["", "1,234.50", "1,2,3", "-1", "9,999", "ten", "1e3", "₽", "$10", "1р2"] {
            assert!(money(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn shortened_numbers_are_known() {
        for shortened in ["4,60708E+12", "4.60708E+12", "1e+05", "5E-7"] {
            assert!(is_shortened(shortened), "{shortened}");
        }
        for whole in ["4E12", "E+12", "4607E+", "A4,6E+12", "1E+05-X", "4607081234567"] {
            assert!(!is_shortened(whole), "{whole}");
        }
    }

    #[test]
    fn a_sign_before_three_digits_is_not_guessed() {
        for (text, decimal, ambiguous) in [
            ("1,250", Some('.'), true),
            ("1,000 шт.", Some('.'), true),
            ("1.250", Some(','), true),
            ("1,250", Some(','), false),
            ("1,250", None, false),
            ("1,25", Some('.'), false),
            ("1250,000", Some('.'), false),
            ("1250", Some('.'), false),
        ] {
            assert_eq!(is_ambiguous(text, decimal), ambiguous, "{text} {decimal:?}");
        }
    }

    #[test]
    fn whole_numbers_have_no_fraction() {
        assert_eq!(quantity("1 000").unwrap().get(), 1000);
        for five in ["5", "5.0", "5,000", "5 шт", "5шт.", "5 pcs"] {
            assert_eq!(quantity(five).unwrap().get(), 5, "{five}");
        }
        for refused in ["1.5", "5,001", "5.", ".0", "шт", "5 кг", "1,2,3"] {
            assert!(quantity(refused).is_err(), "{refused}");
        }
        assert!(quantity("0").is_err());
        assert_eq!(stock_level("0").unwrap().get(), 0);
        assert_eq!((flag("Да"), flag("FALSE")), (Ok(true), Ok(false)));
        assert!(flag("maybe").is_err());
    }
}
