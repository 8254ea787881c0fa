//! Texts of cells: values, photos, names of tags, and lists separated by `|`, `,` or `;`. A backslash escapes a
//! separator that belongs to a part.

use std::borrow::Cow;
use std::collections::HashSet;

use kontor_kernel::{Money, MoneyError, Name, Quantity};

use crate::model::{Gallery, PhotoUrl, StockLevel};

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

/// Separators.
const SEPARATORS: [char; 3] = ['|', ',', ';'];

/// Returns `true` if a sign separates, given the text before and after it.
type Separates = fn(&str, char, &str) -> bool;

/// Returns the text after leading separators.
pub(super) fn after_separators(text: &str) -> &str {
    text.trim_start_matches(SEPARATORS)
}

/// Returns the text before the first separator, the separator and the text after it.
fn first_sign(text: &str) -> Option<(&str, char, &str)> {
    let (before, rest) = text.split_at_checked(text.find(SEPARATORS)?)?;
    let mut rest = rest.chars();
    Some((before, rest.next()?, rest.as_str()))
}

/// Returns the parts of a list, empty ones included.
pub(super) fn parts(text: &str, separates: Separates) -> Vec<String> {
    let (mut parts, mut part, mut rest) = (Vec::new(), String::new(), text);
    while let Some((before, sign, after)) = first_sign(rest) {
        if let Some(escaped) = before.strip_suffix('\\') {
            part.push_str(escaped);
            part.push(sign);
        } else {
            part.push_str(before);
            if separates(before, sign, after) {
                parts.push(std::mem::take(&mut part));
            } else {
                part.push(sign);
            }
        }
        rest = after;
    }
    part.push_str(rest);
    parts.push(part);
    parts
}

/// Escapes a part so that [`parts`] reads it.
pub(super) fn escaped(part: &str, separates: Separates) -> String {
    let (mut escaped, mut rest) = (String::new(), part);
    while let Some((before, sign, after)) = first_sign(rest) {
        escaped.push_str(before);
        if before.ends_with('\\') || separates(before, sign, after) {
            escaped.push('\\');
        }
        escaped.push(sign);
        rest = after;
    }
    escaped + rest
}

/// Photos of an item in one cell: addresses, separated by white space, `|`, `,` or `;`.
///
/// These signs separate only where the next address begins or the text ends. An address that contains one can therefore
/// be written unescaped; see [`cell_list`].
pub(super) struct PhotoCell;

impl PhotoCell {
    /// Parses the addresses of a text.
    pub fn read(text: &str) -> Result<Gallery, String> {
        let photos: Result<Vec<PhotoUrl>, _> = text
            .split(char::is_whitespace)
            .flat_map(|text| parts(text, starts_address))
            .filter(|url| !url.is_empty())
            .map(|url| PhotoUrl::parse(&url).map_err(|error| format!("{}: {error}", cut(&url))))
            .collect();
        Gallery::new(photos?).map_err(|error| error.to_string())
    }

    /// Returns the text that [`PhotoCell::read`] reads; `None` without photos.
    pub fn text_of(gallery: &Gallery) -> Option<String> {
        let urls: Vec<String> = gallery.photos().iter().map(|url| escaped(url.as_str(), starts_address)).collect();
        (!urls.is_empty()).then(|| urls.join("\n"))
    }
}

/// Returns `true` if an address or only further separators follow.
fn starts_address(_: &str, _: char, after: &str) -> bool {
    let text = after_separators(after);
    let begins = |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    text.is_empty() || begins("http://") || begins("https://")
}

/// Returns the start of an address, which leaves room for the reason.
fn cut(url: &str) -> String {
    url.chars().take(100).collect()
}

/// Tags of an item, each on its own line or separated by `|`, `,` or `;`. A separator inside a name is escaped with a
/// backslash.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TagNames(Vec<Name>);

/// Returns `true` if a sign separates names; a comma between digits is a decimal comma.
fn separates(before: &str, sign: char, after: &str) -> bool {
    let is_decimal = before.ends_with(|c: char| c.is_ascii_digit()) && after.starts_with(|c: char| c.is_ascii_digit());
    sign != ',' || !is_decimal
}

impl TagNames {
    /// Parses a text. A name that occurs twice, in any case, counts once.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut seen = HashSet::new();
        let mut names = Vec::new();
        for name in
            text.split(['\n', '\r']).flat_map(|line| parts(line, separates)).filter(|name| !name.trim().is_empty())
        {
            let name = Name::parse(&name).map_err(|error| format!("each tag {error}"))?;
            if seen.insert(name.key()) {
                names.push(name);
            }
        }
        Ok(Self(names))
    }

    /// Returns the names in the order of the text.
    pub fn names(&self) -> &[Name] {
        &self.0
    }

    /// Returns the text that [`TagNames::parse`] reads.
    pub(super) fn text_of<'a>(names: impl Iterator<Item = &'a Name>) -> String {
        let names: Vec<String> = names.map(|name| escaped(name, separates)).collect();
        names.join("\n")
    }
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

    fn read(text: &str) -> Vec<String> {
        PhotoCell::read(text).unwrap().photos().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn photos_are_read_back_as_they_were_written() {
        for urls in [
            vec!["https://a/1", "https://a/2"],
            vec!["https://a/x|y"],
            vec!["https://a/x|https://b/y", "https://c/|", "https://d/||e"],
            vec!["https://a/x,y;z", "https://a/x,", "https://a/x;|,", "https://a/x,https://b/y", "https://a/x\\,y"],
            vec!["https://a/x\\|y", "https://a/x\\\\|", "https://a/\\"],
        ] {
            let photos = urls.iter().map(|url| PhotoUrl::parse(url).unwrap()).collect();
            let gallery = Gallery::new(photos).unwrap();
            assert_eq!(PhotoCell::read(&PhotoCell::text_of(&gallery).unwrap()).unwrap(), gallery, "{urls:?}");
        }
        assert_eq!(PhotoCell::text_of(&Gallery::default()), None);
    }

    #[test]
    fn photos_are_split_at_the_usual_separators() {
        assert_eq!(
            read(" https://a/1|HTTP://a/2 | https://a/3||https://a/4| "),
            ["https://a/1", "HTTP://a/2", "https://a/3", "https://a/4"]
        );
        for text in [
            "https://a/1, https://a/2",
            "https://a/1;https://a/2;",
            "https://a/1,\nhttps://a/2",
            "https://a/1 ; https://a/2",
        ] {
            assert_eq!(read(text), ["https://a/1", "https://a/2"], "{text}");
        }
        assert_eq!(read("https://a/w_100,h_100/1.jpg"), ["https://a/w_100,h_100/1.jpg"]);
        assert_eq!(read("https://a/crop|100x100"), ["https://a/crop|100x100"], "as an earlier version wrote it");
        assert!(PhotoCell::read("https://a/1 a.jpg").is_err());
    }

    fn names(text: &str) -> Vec<String> {
        TagNames::parse(text).unwrap().names().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn tags_are_read_back_as_they_were_written() {
        for tags in [
            vec!["Hit", "2 | 3", "a/b"],
            vec!["365"],
            vec!["x \\", "y \\| z", "|", "\\"],
            vec!["a, b", "2,5 l", "c;", ",", "d\\,"],
            vec![],
        ] {
            let given: Vec<Name> = tags.iter().map(|name| Name::parse(name).unwrap()).collect();
            assert_eq!(names(&TagNames::text_of(given.iter())), tags);
        }
    }

    #[test]
    fn tags_are_split_at_the_usual_separators() {
        assert_eq!(names(" Hit|Sale \r\n\n new | HIT |"), ["Hit", "Sale", "new"]);
        assert_eq!(names("Hit, Sale; new,2,5 l"), ["Hit", "Sale", "new", "2,5 l"]);
        assert_eq!(names(" | , "), [""; 0]);
        assert!(TagNames::parse(&"x".repeat(256)).is_err());
        assert!(TagNames::parse("Hit|a\u{7}b").is_err());
    }
}
