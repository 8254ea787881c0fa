//! Conversion of sold items to the lines of a receipt.

use std::collections::{BTreeMap, BTreeSet};

use super::{MAX_DESCRIPTION_LENGTH, MAX_LINES, PaymentMode, PaymentSubject, ReceiptItem, ReceiptLine, VatCode};

/// Grouping key of lines. Lines with equal description and price are joined within a group; surplus lines are
/// merged by group.
type Sort = (VatCode, PaymentSubject, PaymentMode);

/// Returns the lines of these items. Each item keeps its amount to the minor unit. `None` if a sum overflows.
pub(super) fn lines(items: &[ReceiptItem]) -> Option<Vec<ReceiptLine>> {
    let mut lines: Vec<ReceiptLine> = Vec::with_capacity(items.len());
    let mut known: BTreeMap<(Sort, i64, String), usize> = BTreeMap::new();
    for line in items.iter().flat_map(split) {
        let key = (sort(&line), line.price, line.description.clone());
        if let Some(same) = known.get(&key).and_then(|place| lines.get_mut(*place)) {
            same.quantity = same.quantity.checked_add(line.quantity)?;
        } else {
            known.insert(key, lines.len());
            lines.push(line);
        }
    }
    merge(lines)
}

fn sort(line: &ReceiptLine) -> Sort {
    (line.vat, line.subject, line.mode)
}

/// Splits the units of an item into those at the lower price and those that cost one minor unit more. Free units
/// give no line.
fn split(item: &ReceiptItem) -> impl Iterator<Item = ReceiptLine> {
    let (pieces, total) = (i64::from(item.quantity.get()), item.total.minor());
    let (price, pricier) = (total / pieces, total % pieces);
    let description = description(&item.name);
    let line = move |(quantity, price): (i64, i64)| {
        let quantity = u32::try_from(quantity).ok()?;
        let (vat, subject, mode) = (item.vat, item.subject, item.mode);
        (quantity > 0 && price > 0).then(|| ReceiptLine {
            description: description.clone(),
            quantity,
            price,
            vat,
            subject,
            mode,
        })
    };
    [(pieces - pricier, price), (pricier, price.saturating_add(1))].into_iter().filter_map(line)
}

/// Returns one line of text of at most 128 characters.
fn description(name: &str) -> String {
    let words = name.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let text = shortened(&words.collect::<Vec<_>>().join(" "), MAX_DESCRIPTION_LENGTH);
    if text.is_empty() { "-".to_owned() } else { text }
}

fn shortened(text: &str, longest: usize) -> String {
    text.chars().take(longest).collect::<String>().trim_end().to_owned()
}

/// Limits a receipt to 80 lines. The first lines stay. The last ones are merged into one line of one unit for
/// each VAT, subject and mode among them.
fn merge(mut lines: Vec<ReceiptLine>) -> Option<Vec<ReceiptLine>> {
    if lines.len() <= MAX_LINES {
        return Some(lines);
    }
    let mut sorts = BTreeSet::new();
    let mut kept = lines.len();
    for (place, line) in lines.iter().enumerate().rev() {
        sorts.insert(sort(line));
        kept = place;
        if place + sorts.len() <= MAX_LINES {
            break;
        }
    }
    let mut merged: Vec<Merged> = Vec::new();
    for line in lines.split_off(kept) {
        let money = line.total()?;
        match merged.iter_mut().find(|one| sort(&one.first) == sort(&line)) {
            Some(one) => {
                one.pieces += u64::from(line.quantity);
                one.money = one.money.checked_add(money)?;
            }
            None => merged.push(Merged { pieces: line.quantity.into(), money, first: line }),
        }
    }
    lines.extend(merged.into_iter().map(Merged::line));
    Some(lines)
}

/// Lines merged into one.
struct Merged {
    first: ReceiptLine,
    pieces: u64,
    money: i64,
}

impl Merged {
    /// Description: the first of the lines and the number of further units.
    fn line(self) -> ReceiptLine {
        let more = self.pieces.saturating_sub(1);
        let rest = if more == 0 { String::new() } else { format!(" + {more}") };
        let name = shortened(&self.first.description, MAX_DESCRIPTION_LENGTH.saturating_sub(rest.len()));
        ReceiptLine { description: format!("{name}{rest}"), quantity: 1, price: self.money, ..self.first }
    }
}
