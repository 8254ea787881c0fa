//! Lists in one cell, separated by `|`, `,` or `;`. A backslash escapes a separator that belongs to a
//! part.

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
