//! From what is sold to the lines of a receipt.

use std::collections::{BTreeMap, BTreeSet};

use super::{LONGEST_DESCRIPTION, MOST_LINES, PaymentMode, PaymentSubject, ReceiptItem, ReceiptLine, VatCode};

/// What makes two lines one when their descriptions and prices are equal, too, and what is merged when there are too many.
type Sort = (VatCode, PaymentSubject, PaymentMode);

/// The lines of these items: each has the money of its item to the minor unit. `None` when a sum leaves its bounds.
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

/// The pieces of an item: those at the lower price, then those that cost one minor unit more. What costs nothing is no
/// line.
fn split(item: &ReceiptItem) -> impl Iterator<Item = ReceiptLine> {
    let (pieces, total) = (i64::from(item.quantity.get()), item.total.minor());
    let (price, dearer) = (total / pieces, total % pieces);
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
    [(pieces - dearer, price), (dearer, price.saturating_add(1))].into_iter().filter_map(line)
}

/// One line of text of at most 128 characters.
fn description(name: &str) -> String {
    let words = name.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let text = shortened(&words.collect::<Vec<_>>().join(" "), LONGEST_DESCRIPTION);
    if text.is_empty() { "-".to_owned() } else { text }
}

fn shortened(text: &str, longest: usize) -> String {
    text.chars().take(longest).collect::<String>().trim_end().to_owned()
}

/// A receipt has 80 lines at most. Of more the first stay as they are, as many as leave room for the others, which become
/// one line of one piece for each VAT, subject and mode among them.
fn merge(mut lines: Vec<ReceiptLine>) -> Option<Vec<ReceiptLine>> {
    if lines.len() <= MOST_LINES {
        return Some(lines);
    }
    let mut sorts = BTreeSet::new();
    let mut kept = lines.len();
    for (place, line) in lines.iter().enumerate().rev() {
        sorts.insert(sort(line));
        kept = place;
        if place + sorts.len() <= MOST_LINES {
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

/// Lines that become one.
struct Merged {
    first: ReceiptLine,
    pieces: u64,
    money: i64,
}

impl Merged {
    /// Named by the first of its lines and how many pieces more there are.
    fn line(self) -> ReceiptLine {
        let more = self.pieces.saturating_sub(1);
        let rest = if more == 0 { String::new() } else { format!(" + {more}") };
        let name = shortened(&self.first.description, LONGEST_DESCRIPTION.saturating_sub(rest.len()));
        ReceiptLine { description: format!("{name}{rest}"), quantity: 1, price: self.money, ..self.first }
    }
}
