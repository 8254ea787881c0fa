//! Receipts for a part of a payment, and for its handover.

use kontor_kernel::{Money, Quantity, distribute};

use super::{PaymentMode, Receipt, ReceiptItem, ReceiptLine, ReceiptProblem};

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
