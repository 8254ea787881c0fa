//! Conversion of sold items to the lines of a receipt, and receipts for a part of a payment and for its handover.

use std::collections::{BTreeMap, BTreeSet};

use kontor_kernel::{Money, Quantity, distribute};

use super::{
    MAX_DESCRIPTION_LENGTH, MAX_LINES, PaymentMode, PaymentSubject, Receipt, ReceiptItem, ReceiptLine, ReceiptProblem,
    VatCode,
};

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

impl Receipt {
    /// Creates the receipt of a refund of these items, which sum to `amount`. It has the recipient of the
    /// payment's receipt, and may not exceed it. The mode of an item shows if it was handed over before the
    /// refund.
    pub fn of_part(&self, items: &[ReceiptItem], amount: Money) -> Result<Self, ReceiptProblem> {
        if amount > self.total() {
            return Err(ReceiptProblem::MoreThanPaid);
        }
        Self::new(self.customer.clone(), self.tax_system, items, amount)
    }

    /// Creates the receipt of a refund of money only. The amount is distributed over all lines by largest
    /// remainder; each share is one unit.
    pub fn of_amount(&self, amount: Money, mode: PaymentMode) -> Result<Self, ReceiptProblem> {
        let totals = self.lines.iter().map(|line| line.total().unwrap_or_default()).collect::<Vec<_>>();
        if amount > self.total() {
            return Err(ReceiptProblem::MoreThanPaid);
        }
        let shares = distribute(amount.minor(), &totals);
        let item = |(line, share): (&ReceiptLine, i64)| {
            let total = Money::from_minor(share).map_err(|_| ReceiptProblem::TooLarge)?;
            Ok(ReceiptItem { quantity: Quantity::ONE, total, mode, ..line.item() })
        };
        let items = self.lines.iter().zip(shares).map(item).collect::<Result<Vec<_>, _>>()?;
        self.of_part(&items, amount)
    }

    /// Returns the rest of the receipt after these refunds; `None` if nothing remains. Units refunded at their
    /// price are removed. Other money is taken from the last lines of the same VAT and subject, then from the
    /// last lines.
    pub fn without(&self, parts: &[&Self]) -> Result<Option<Self>, ReceiptProblem> {
        let mut left: Vec<Remainder> = self.lines.iter().map(Remainder::of).collect();
        for line in parts.iter().flat_map(|part| &part.lines) {
            take(&mut left, line)?;
        }
        let items: Vec<ReceiptItem> = left.iter().filter_map(Remainder::item).collect();
        let amount = items.iter().try_fold(Money::ZERO, |sum, item| sum.checked_add(item.total));
        let amount = amount.ok_or(ReceiptProblem::TooLarge)?;
        if amount.is_zero() {
            return Ok(None);
        }
        Self::new(self.customer.clone(), self.tax_system, &items, amount).map(Some)
    }

    /// Returns the second receipt, for the handover of prepaid items. `None` if nothing on it was prepaid.
    pub fn handed_over(&self) -> Option<Self> {
        let prepaid = self.lines.iter().filter(|line| line.mode == PaymentMode::FullPrepayment);
        let lines: Vec<_> =
            prepaid.map(|line| ReceiptLine { mode: PaymentMode::FullPayment, ..line.clone() }).collect();
        (!lines.is_empty()).then(|| Self { lines, ..self.clone() })
    }
}

impl ReceiptLine {
    fn item(&self) -> ReceiptItem {
        ReceiptItem {
            name: self.description.clone(),
            quantity: Quantity::new(self.quantity.into()).unwrap_or(Quantity::ONE),
            total: Money::from_minor(self.total().unwrap_or_default()).unwrap_or_default(),
            vat: self.vat,
            subject: self.subject,
            mode: self.mode,
        }
    }
}

/// Rest of a line.
struct Remainder<'a> {
    line: &'a ReceiptLine,
    pieces: u32,
    money: i64,
}

impl<'a> Remainder<'a> {
    fn of(line: &'a ReceiptLine) -> Self {
        Self { line, pieces: line.quantity, money: line.total().unwrap_or_default() }
    }

    fn item(&self) -> Option<ReceiptItem> {
        let total = Money::from_minor(self.money).ok().filter(|money| !money.is_zero())?;
        let quantity = Quantity::new(self.pieces.into()).unwrap_or(Quantity::ONE);
        Some(ReceiptItem { quantity, total, ..self.line.item() })
    }

    /// Returns `true` if its units still have the price of the equal line `wanted`.
    fn has(&self, wanted: &ReceiptLine) -> bool {
        let whole = self.money == self.line.price.saturating_mul(self.pieces.into());
        whole
            && self.line.description == wanted.description
            && self.line.price == wanted.price
            && (self.line.vat, self.line.subject) == (wanted.vat, wanted.subject)
    }
}

/// Takes a refunded line from the rest.
fn take(left: &mut [Remainder<'_>], gone: &ReceiptLine) -> Result<(), ReceiptProblem> {
    let mut pieces = gone.quantity;
    for one in left.iter_mut().filter(|one| one.has(gone)) {
        let taken = one.pieces.min(pieces);
        one.pieces -= taken;
        one.money -= one.line.price.saturating_mul(taken.into());
        pieces -= taken;
    }
    let mut money = gone.price.checked_mul(pieces.into()).ok_or(ReceiptProblem::TooLarge)?;
    for same_sort in [true, false] {
        let fits =
            |one: &&mut Remainder<'_>| !same_sort || (one.line.vat, one.line.subject) == (gone.vat, gone.subject);
        for one in left.iter_mut().rev().filter(fits) {
            let taken = one.money.min(money);
            one.money -= taken;
            money -= taken;
        }
    }
    if money == 0 { Ok(()) } else { Err(ReceiptProblem::MoreThanPaid) }
}
