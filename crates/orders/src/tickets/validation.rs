use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Money, Quantity, ShopId};

use super::scan::ScanOutcome;
use crate::model::{Order, OrderStatus};

/// Time limits for scans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TicketTerms {
    /// Tolerated error of a scanner's clock.
    pub skew: TimeDelta,
    /// Maximum delay of the upload of an offline scan.
    pub upload: TimeDelta,
    /// Validity of tickets after the payment.
    pub validity: TimeDelta,
}

impl Default for TicketTerms {
    /// Five minutes, thirty days, three years.
    fn default() -> Self {
        Self { skew: TimeDelta::minutes(5), upload: TimeDelta::days(30), validity: TimeDelta::days(3 * 365) }
    }
}

/// Fields of an order that decide about its tickets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TicketOrder {
    /// Status.
    pub status: OrderStatus,
    /// Price.
    pub price: Money,
    /// Time of the order.
    pub placed_at: DateTime<Utc>,
    /// Time at which the money arrived.
    pub paid_at: Option<DateTime<Utc>>,
    /// Amount received.
    pub captured: Money,
    /// Amount received that is neither refunded nor being refunded.
    pub kept: Money,
    /// Shop of the handover.
    pub shop: Option<ShopId>,
    /// Number of tickets, less those taken back.
    pub total: u32,
    /// Number of redeemed tickets.
    pub redeemed: u32,
}

impl From<&Order> for TicketOrder {
    fn from(order: &Order) -> Self {
        Self {
            status: order.status,
            price: order.amount_due(),
            placed_at: order.created_at,
            paid_at: order.paid_at,
            captured: order.captured,
            kept: order.left_to_refund(),
            shop: order.shop.as_ref().map(|shop| shop.id),
            total: order.tickets.total,
            redeemed: order.tickets.redeemed,
        }
    }
}

impl TicketOrder {
    /// Time from which its tickets are paid; a free order is paid from the start.
    fn settled_at(&self) -> Option<DateTime<Utc>> {
        if self.price.is_zero() { Some(self.placed_at) } else { self.paid_at }
    }

    /// Time from which its tickets are valid, or the reason why they never are.
    pub fn valid_from(&self) -> Result<DateTime<Utc>, ScanOutcome> {
        let returned = !self.captured.is_zero() && self.kept.is_zero();
        if self.status == OrderStatus::Canceled || returned || self.total == 0 {
            return Err(ScanOutcome::Canceled);
        }
        self.settled_at().ok_or(ScanOutcome::Unpaid)
    }

    /// Number of tickets that can still be redeemed.
    pub fn left(&self) -> u32 {
        self.total.saturating_sub(self.redeemed)
    }
}

/// Returns the outcome of a scan made at `at` and judged at `now`. `order` is `None` for an unknown token.
pub fn scan_outcome(
    order: Option<&TicketOrder>,
    quantity: Quantity,
    shop: Option<ShopId>,
    at: DateTime<Utc>,
    now: DateTime<Utc>,
    terms: &TicketTerms,
) -> ScanOutcome {
    let Some(order) = order else { return ScanOutcome::Unknown };
    let opens = match order.valid_from() {
        Ok(opens) => opens,
        Err(refused) => return refused,
    };
    if let (Some(here), Some(there)) = (shop, order.shop)
        && here != there
    {
        return ScanOutcome::OtherShop;
    }
    if at.signed_duration_since(now) > terms.skew || opens.signed_duration_since(at) > terms.skew {
        return ScanOutcome::NotYet;
    }
    if now.signed_duration_since(at) > terms.upload || at.signed_duration_since(opens) > terms.validity {
        return ScanOutcome::Expired;
    }
    match order.left() {
        0 => ScanOutcome::AlreadyRedeemed,
        left if quantity.get() > left => ScanOutcome::TooMany,
        _ => ScanOutcome::Admitted,
    }
}
