use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Money, Quantity, ShopId};

use super::scan::ScanOutcome;
use crate::model::{Order, OrderStatus};

/// How far the moments of a scan may lie apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TicketTerms {
    /// By how much the clock of a scanner may be wrong.
    pub skew: TimeDelta,
    /// How long a scan made offline may wait for its upload.
    pub upload: TimeDelta,
    /// How long tickets open the door after they were paid.
    pub validity: TimeDelta,
}

impl Default for TicketTerms {
    /// Five minutes, thirty days, three years.
    fn default() -> Self {
        Self { skew: TimeDelta::minutes(5), upload: TimeDelta::days(30), validity: TimeDelta::days(3 * 365) }
    }
}

/// All of an order that decides about its tickets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TicketOrder {
    /// Where it stands.
    pub status: OrderStatus,
    /// What it costs.
    pub price: Money,
    /// When it was made.
    pub placed_at: DateTime<Utc>,
    /// When the money arrived.
    pub paid_at: Option<DateTime<Utc>>,
    /// What has arrived.
    pub captured: Money,
    /// What of it has neither gone back nor is on its way.
    pub kept: Money,
    /// Where the goods are handed over.
    pub shop: Option<ShopId>,
    /// How many tickets there are, less those that were taken back.
    pub total: u32,
    /// How many have been redeemed.
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
    /// From when on its tickets count; what costs nothing is paid from the start.
    fn settled_at(&self) -> Option<DateTime<Utc>> {
        if self.price.is_zero() { Some(self.placed_at) } else { self.paid_at }
    }

    /// From when on its tickets open the door, or why they never do.
    pub fn opens_from(&self) -> Result<DateTime<Utc>, ScanOutcome> {
        let returned = !self.captured.is_zero() && self.kept.is_zero();
        if self.status == OrderStatus::Canceled || returned || self.total == 0 {
            return Err(ScanOutcome::Canceled);
        }
        self.settled_at().ok_or(ScanOutcome::Unpaid)
    }

    /// How many can still be redeemed.
    pub fn left(&self) -> u32 {
        self.total.saturating_sub(self.redeemed)
    }
}

/// What becomes of a scan made at `at` and judged `now`. Without an order the token means nothing.
pub fn judge(
    order: Option<&TicketOrder>,
    quantity: Quantity,
    shop: Option<ShopId>,
    at: DateTime<Utc>,
    now: DateTime<Utc>,
    terms: &TicketTerms,
) -> ScanOutcome {
    let Some(order) = order else { return ScanOutcome::Unknown };
    let opens = match order.opens_from() {
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
