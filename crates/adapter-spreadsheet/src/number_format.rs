//! Number formats that change the text of a number: leading zeros, signs between its digits, decimals, percent.

/// Effect of a number format on the text of a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NumberFormat {
    /// No relevant effect: thousands separators, currencies and colours are ignored.
    Plain,
    /// Hundredths, with a `%`.
    Percent,
    /// This number of decimals.
    Decimals(usize),
    /// Digits and signs of a whole number, such as `000000` or `00\-00`.
    Pattern(Vec<Sign>),
}

/// One position of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// A digit; `0` where the number has none.
    Digit,
    /// A digit, if the number has one.
    Optional,
    /// This character.
    Literal(char),
}

/// Smallest number with more digits than a cell keeps: spreadsheet programs replace those after the 15th with zeros.
const INEXACT: f64 = 1e15;

impl NumberFormat {
    /// Parses a format code; see ECMA-376, 18.8.31. Only the first section is used, which applies to positive numbers.
    pub fn parse(code: &str) -> Self {
        let (mut signs, mut decimals) = (Vec::new(), None);
        let mut rest = code.chars();
        while let Some(sign) = rest.next() {
            match sign {
                ';' => break,
                '%' => return Self::Percent,
                '0' if decimals.is_some() => decimals = decimals.map(|count: usize| count + 1),
                '0' => signs.push(Sign::Digit),
                '#' | '?' => signs.push(Sign::Optional),
                '.' if decimals.is_none() => decimals = Some(0),
                '\\' => signs.extend(rest.next().map(Sign::Literal)),
                '"' => signs.extend(rest.by_ref().take_while(|sign| *sign != '"').map(Sign::Literal)),
                // The width of a character, or a character that fills the cell.
                '_' | '*' => _ = rest.next(),
                '[' => {
                    let inside: String = rest.by_ref().take_while(|sign| *sign != ']').collect();
                    if inside.starts_with('$') {
                        return Self::Plain;
                    }
                }
                '-' | '+' | '(' | ')' | ':' | ' ' | '!' | '^' | '&' | '\'' | '~' | '{' | '}' | '<' | '>' | '=' => {
                    signs.push(Sign::Literal(sign));
                }
                _ => return Self::Plain,
            }
        }
        let digits = signs.iter().filter(|sign| **sign == Sign::Digit).count();
        let has_literals = signs.iter().any(|sign| matches!(sign, Sign::Literal(_)));
        let has_places = signs.iter().any(|sign| !matches!(sign, Sign::Literal(_)));
        match decimals {
            Some(decimals) if !has_literals => Self::Decimals(decimals),
            None if has_places && (has_literals || digits > 1) => Self::Pattern(signs),
            _ => Self::Plain,
        }
    }

    /// Returns the text of a number, if the format changes it.
    pub fn shown(&self, value: f64) -> Option<String> {
        match self {
            Self::Plain => None,
            Self::Percent => Some(format!("{}%", plain(value * 100.0))),
            Self::Decimals(decimals) => {
                let plain = plain(value);
                let has = plain.split_once('.').map_or(0, |(_, fraction)| fraction.len());
                // Digits that the format rounds away are kept.
                (has < *decimals).then(|| format!("{value:.decimals$}"))
            }
            Self::Pattern(signs) => {
                let plain = plain(value);
                plain.bytes().all(|digit| digit.is_ascii_digit()).then(|| filled(signs, &plain))
            }
        }
    }
}

/// Fills a pattern with the digits of a number, from the right; remaining digits are written before the first position.
fn filled(signs: &[Sign], digits: &str) -> String {
    let places = signs.iter().filter(|sign| !matches!(sign, Sign::Literal(_))).count();
    let mut missing = places.saturating_sub(digits.len());
    let mut over = digits.len().saturating_sub(places);
    let mut digits = digits.chars();
    let mut text = String::new();
    for sign in signs {
        match sign {
            Sign::Literal(literal) => text.push(*literal),
            Sign::Digit | Sign::Optional if missing > 0 => {
                missing -= 1;
                text.extend((*sign == Sign::Digit).then_some('0'));
            }
            Sign::Digit | Sign::Optional => text.extend(digits.by_ref().take(1 + std::mem::take(&mut over))),
        }
    }
    text
}

/// Returns `true` if a cell cannot keep all digits of the number.
pub(crate) fn is_inexact(value: f64) -> bool {
    value.abs() >= INEXACT
}

/// Formats a number as spreadsheet programs show it: 15 significant digits, so that `0.1 + 0.2` is `0.3`, and no
/// exponent.
pub(crate) fn plain(value: f64) -> String {
    let rounded: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    format!("{rounded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_give_the_text_that_people_see() {
        for (code, value, text) in [
            ("General", 12.0, None),
            ("0", 12.0, None),
            ("#,##0.00", 1234.5, None),
            ("0.00\" \u{20bd}\"", 12.5, None),
            ("[$\u{20ac}-407] 0000", 12.0, None),
            ("@", 12.0, None),
            ("0.00E+00", 12.0, None),
            ("# ?/?", 0.5, None),
            ("\"yes\"", 1.0, None),
            ("0000000000000", 12_345_678_905.0, Some("0012345678905")),
            ("[Red]0000;-0000", 7.0, Some("0007")),
            ("0000", 12_345.0, Some("12345")),
            ("0000", 1.5, None),
            ("0000", -5.0, None),
            ("000\\-000", 1_234.0, Some("001-234")),
            ("000-000", 12_345_678.0, Some("12345-678")),
            ("\"ART-\"0000_)", 12.0, Some("ART-0012")),
            ("#\"/\"00", 5.0, Some("/05")),
            ("0%", 0.2, Some("20%")),
            ("0.00%", 0.07, Some("7%")),
            ("0.00", 1.5, Some("1.50")),
            ("0.0", 12.345, None),
        ] {
            assert_eq!(NumberFormat::parse(code).shown(value).as_deref(), text, "{code} {value}");
        }
    }

    #[test]
    fn more_digits_than_a_cell_keeps_are_inexact() {
        for (value, inexact) in
            [(999_999_999_999_999.0, false), (1e15, true), (-1e18, true), (4_607_081_234_567.0, false)]
        {
            assert_eq!(is_inexact(value), inexact, "{value}");
        }
    }

    #[test]
    fn numbers_are_plain() {
        for (value, text) in [
            (265.0, "265"),
            (0.1 + 0.2, "0.3"),
            (19.99, "19.99"),
            (1e10, "10000000000"),
            (4_600_000_000_017.0, "4600000000017"),
        ] {
            assert_eq!(plain(value), text);
        }
    }
}
