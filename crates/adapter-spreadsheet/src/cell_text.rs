//! Allowed content of a cell.

use std::borrow::Cow;

use kontor_catalog::spreadsheet::Cell;

use crate::limits::Limits;

/// Returns `true` for control characters. Not every database stores a NUL, and the others are invisible.
fn is_refused(sign: char) -> bool {
    sign.is_control() && !matches!(sign, '\n' | '\r' | '\t')
}

/// Returns the cell with this text, or the reason why the text is not allowed.
pub(crate) fn cell(text: Cow<'_, str>, limits: &Limits) -> Cell {
    if text.len() > limits.cell_bytes {
        return Cell::Fault(format!("must have at most {} bytes", limits.cell_bytes));
    }
    match text.chars().find(|sign| is_refused(*sign)) {
        None => Cell::Text(text.into_owned()),
        Some(sign) => Cell::Fault(format!("must not contain control characters; there is a U+{:04X}", u32::from(sign))),
    }
}
