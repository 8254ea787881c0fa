//! Refunds of paid orders: money, and goods with it.

mod decide;
#[cfg(test)]
mod tests;

use kontor_kernel::{Line, Money, Quantity, ReservationId, Violations};
use kontor_payments::model::ReceiptProblem;

use crate::model::Transition;

pub use decide::{OutsideRefund, SettledRefund, decide, outside_refund, receipt_of, remaining_refund};
pub(crate) use decide::{finish, money_of, returned};

/// Units of a line to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefundLine {
    /// Line.
    pub line: ReservationId,
    /// Number of units.
    pub quantity: Quantity,
}

/// Part of an order that a refund covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundScope {
    /// All remaining units and money, including the delivery.
    Everything,
    /// Money only, of the lines and the delivery in proportion to what remains of each. The goods stay with the
    /// customer.
    Amount(Money),
    /// Units of these lines.
    Lines {
        /// Lines, at least one.
        lines: Vec<RefundLine>,
        /// Amount, at most the price of the units; `None` for exactly that price.
        amount: Option<Money>,
    },
    /// The remaining delivery price, with units of these lines, if any, at their price.
    Delivery {
        /// Lines.
        lines: Vec<RefundLine>,
    },
}

impl RefundScope {
    /// Reads the scope of a request. An absent or empty part never means everything: that requires an explicit
    /// flag.
    pub fn of(
        everything: bool,
        delivery: bool,
        lines: Option<Vec<RefundLine>>,
        amount: Option<Money>,
    ) -> Result<Self, RefundRefused> {
        match (everything, delivery, lines, amount) {
            (true, false, None, None) => Ok(Self::Everything),
            (true, ..) => Err(RefundRefused::ScopeContradicted),
            (false, _, Some(lines), _) if lines.is_empty() => Err(RefundRefused::NoLines),
            (false, true, _, Some(_)) => Err(RefundRefused::DeliveryWithAmount),
            (false, true, lines, None) => Ok(Self::Delivery { lines: lines.unwrap_or_default() }),
            (false, false, None, None) => Err(RefundRefused::ScopeMissing),
            (false, false, None, Some(amount)) => Ok(Self::Amount(amount)),
            (false, false, Some(lines), amount) => Ok(Self::Lines { lines, amount }),
        }
    }
}

/// Refund request by staff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundCommand {
    /// Scope.
    pub scope: RefundScope,
    /// Reason, 1 to 250 characters. It is shown to the customer.
    pub reason: Line<250>,
    /// `true` if the units go back to their warehouses; otherwise they are written off.
    pub restock: bool,
    /// For a payment of a subscription period: `true` to end the period. Then all of its money is refunded.
    pub ends_period: bool,
}

/// Effect of a refund on the units of a line, by the state of its goods:
///
/// | Goods | Returned to the warehouse | Written off |
/// |---|---|---|
/// | `held` | `Release` | `WriteOff` |
/// | `released` | `None` | `None` |
/// | `sold` | `Restock` | `None` |
///
/// Services and refunds of money alone have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReturnEffect {
    /// None: a service, money only, or goods that stay with the customer.
    None,
    /// The units were reserved and become available.
    Release,
    /// The units were reserved and leave the warehouse as a loss.
    WriteOff,
    /// The units had left the warehouse and return to it.
    Restock,
}

/// Refund of one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReturnedLine {
    /// Line.
    pub line: ReservationId,
    /// Number of units; 0 if only money is refunded.
    pub quantity: u32,
    /// Amount.
    pub amount: Money,
    /// Effect on the units.
    pub effect: ReturnEffect,
}

/// Decided refund of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedRefund {
    /// Sum of the lines and the delivery.
    pub amount: Money,
    /// Refunded part of the delivery price.
    pub delivery: Money,
    /// Every line with a refund.
    pub lines: Vec<ReturnedLine>,
    /// Move of the order if nothing of it remains.
    pub transition: Option<Transition>,
}

/// Reasons why a line cannot be returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefundProblem {
    /// The order has no such line.
    #[error("is not a line of this order")]
    UnknownLine,
    /// The line is named twice in the request.
    #[error("is in the request twice")]
    Repeated,
    /// Fewer units are left.
    #[error("only {left} pieces can be returned")]
    TooMany {
        /// Units left.
        left: u32,
    },
}

/// Reasons why a refund is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefundRefused {
    /// No money has arrived.
    #[error("the order is not paid")]
    NotPaid,
    /// An order that was handed over and not paid can only be returned whole.
    #[error("the order is not paid: return all of it, or record its payment first")]
    WholeOnly,
    /// The request names no scope.
    #[error("is required unless lines, delivery or amount is sent")]
    ScopeMissing,
    /// The request asks for everything and for a part.
    #[error("cannot be sent together with lines, delivery or amount")]
    ScopeContradicted,
    /// The request asks for the delivery price and for an amount.
    #[error("cannot be sent together with amount: an amount applies to the lines and the delivery")]
    DeliveryWithAmount,
    /// No delivery price is left to refund.
    #[error("no delivery price is left to refund")]
    NoDelivery,
    /// The list of lines is empty.
    #[error("must have at least one line")]
    NoLines,
    /// The amount is 0.
    #[error("must be greater than 0")]
    ZeroAmount,
    /// Everything is refunded, or being refunded.
    #[error("nothing is left to refund")]
    NothingLeft,
    /// Less money is left.
    #[error("only {left} is left to refund")]
    ExceedsPaid {
        /// Received amount, less all refunded amounts, including those in progress and requested.
        left: Money,
    },
    /// The units cost less.
    #[error("exceeds {most}, the price of the pieces")]
    ExceedsLines {
        /// Price of the units.
        most: Money,
    },
    /// These lines (counted from 0) cannot be taken back as requested.
    #[error("{} lines cannot be returned", .0.len())]
    Lines(Vec<(usize, RefundProblem)>),
    /// Redeemed tickets cannot be taken back; their money can be refunded.
    #[error("only {left} tickets of the order are not redeemed: send lines, or an amount alone")]
    TicketsRedeemed {
        /// Tickets that can be taken back.
        left: u32,
    },
    /// The receipt of the refund cannot be created.
    #[error("no receipt can be created: {0}")]
    NoReceipt(ReceiptProblem),
    /// The order is no payment of a subscription, or the period it paid is not the current one.
    #[error("the order does not pay for a current subscription period")]
    NoPeriod,
    /// A part of the money stays, so the period cannot end.
    #[error("the period ends only with a full refund")]
    PeriodKept,
    /// The goods cannot go back to a deleted warehouse.
    #[error("the warehouse of line {line} is deleted: return the goods without restocking")]
    WarehouseDeleted {
        /// Line.
        line: ReservationId,
    },
}

impl RefundRefused {
    /// Violations by request field.
    pub fn violations(&self) -> Violations {
        let mut all = Violations::default();
        match self {
            Self::Lines(lines) => {
                for (line, problem) in lines {
                    let field = match problem {
                        RefundProblem::TooMany { .. } => "quantity",
                        RefundProblem::UnknownLine | RefundProblem::Repeated => "id",
                    };
                    all.add(format!("lines.{line}.{field}"), problem);
                }
            }
            Self::ScopeMissing | Self::ScopeContradicted => all.add("everything", self),
            Self::NoLines | Self::TicketsRedeemed { .. } | Self::WholeOnly => all.add("lines", self),
            Self::DeliveryWithAmount | Self::NoDelivery => all.add("delivery", self),
            Self::WarehouseDeleted { .. } => all.add("restock", self),
            Self::NoPeriod | Self::PeriodKept => all.add("ends_period", self),
            Self::NotPaid
            | Self::ZeroAmount
            | Self::NothingLeft
            | Self::ExceedsPaid { .. }
            | Self::ExceedsLines { .. }
            | Self::NoReceipt(_) => {
                all.add("amount", self);
            }
        }
        all
    }
}
