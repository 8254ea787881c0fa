//! Numbers of cells as plain decimal text.

/// Formats a number as spreadsheet programs show it: 15 significant digits, so that `0.1 + 0.2` is `0.3`, and no
/// exponent.
pub(crate) fn plain(value: f64) -> String {
    let rounded: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    format!("{rounded}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_are_plain() {
        for (value, text) in [
            (265.0, "265"),
            (0.1 + 0.2, "0.3"),
            (19.99, "19.99"),
            (1e10, "10000000000"),
            (4_600_000_000_017.0, "4600000000017"),
        ] {
            assert_eq!(super::plain(value), text);
        }
    }
}
