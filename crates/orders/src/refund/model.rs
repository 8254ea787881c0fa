use kontor_kernel::{Line, Money, Quantity, ReservationId, Violations};

use kontor_payments::model::ReceiptProblem;

use crate::model::Transition;

/// Pieces of a line that are to be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefundLine {
    /// The line.
    pub line: ReservationId,
    /// How many of its pieces.
    pub quantity: Quantity,
}

/// Part of an order that a refund takes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundScope {
    /// All pieces and all money that are left, that of the delivery too.
    Everything,
    /// Money alone, of the lines and the delivery in proportion to what is left of each. The goods stay with the customer.
    Amount(Money),
    /// Pieces of these lines.
    Lines {
        /// The lines, at least one.
        lines: Vec<RefundLine>,
        /// How much money: at most what the pieces cost, and exactly that if `None`.
        amount: Option<Money>,
    },
    /// What is left of the delivery price, with pieces of these lines, if any, for what they cost.
    Delivery {
        /// The lines.
        lines: Vec<RefundLine>,
    },
}

impl RefundScope {
    /// Reads the scope of a request. An absent or empty part never means everything: that is asked for by name.
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

/// What staff ask to give back of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundCommand {
    /// What goes back.
    pub scope: RefundScope,
    /// Why, 1 to 250 characters. The customer reads it.
    pub reason: Line<250>,
    /// Whether the pieces go back to the warehouses they came from; otherwise they are written off.
    pub restock: bool,
    /// Of a payment for a period of a subscription: whether the period ends with it. Then all of its money goes back.
    pub ends_period: bool,
}

/// What becomes of the pieces of a line that is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReturnEffect {
    /// Nothing: a service, money alone, or goods that stay with the customer.
    None,
    /// They were reserved, and are free again.
    Release,
    /// They were reserved, and leave the warehouse as a loss.
    WriteOff,
    /// They had left the warehouse, and lie there again.
    Restock,
}

/// What goes back of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReturnedLine {
    /// The line.
    pub line: ReservationId,
    /// How many of its pieces; 0 when only money goes back.
    pub quantity: u32,
    /// How much of its money.
    pub amount: Money,
    /// What becomes of the pieces.
    pub effect: ReturnEffect,
}

/// What goes back of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedRefund {
    /// The sum of the lines and the delivery.
    pub amount: Money,
    /// What goes back of the delivery price.
    pub delivery: Money,
    /// Every line that something goes back of.
    pub lines: Vec<ReturnedLine>,
    /// Where the order goes, when nothing is left of it.
    pub transition: Option<Transition>,
}

/// What is wrong with a line that is to be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefundProblem {
    /// It is no line of the order.
    #[error("is no line of this order")]
    UnknownLine,
    /// It stands in an earlier line of the request.
    #[error("stands in the request twice")]
    Repeated,
    /// Fewer pieces are left.
    #[error("only {left} pieces are left to take back")]
    TooMany {
        /// How many.
        left: u32,
    },
}

/// Why nothing goes back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefundRefused {
    /// No money has arrived.
    #[error("the order is not paid")]
    NotPaid,
    /// A part of what was handed over and not paid.
    #[error("the order is not paid: take all of it back, or record its payment first")]
    WholeOnly,
    /// The request does not say what goes back.
    #[error("is required unless lines, delivery or amount is sent")]
    ScopeMissing,
    /// The request asks for everything and for a part.
    #[error("cannot be sent together with lines, delivery or amount")]
    ScopeContradicted,
    /// The request asks for the delivery price and for an amount.
    #[error("cannot be sent together with amount: an amount is of the lines and the delivery")]
    DeliveryWithAmount,
    /// Nothing was paid for the delivery, or it has gone back.
    #[error("no delivery price is left to refund")]
    NoDelivery,
    /// The list of lines is empty.
    #[error("must have at least one line")]
    NoLines,
    /// The amount is 0.
    #[error("must be more than nothing")]
    NothingAsked,
    /// Everything has gone back, or is on its way.
    #[error("nothing is left to refund")]
    NothingLeft,
    /// Less is left.
    #[error("only {left} is left to refund")]
    ExceedsPaid {
        /// What was paid, less what has gone back, is on its way and is asked for.
        left: Money,
    },
    /// The pieces cost less.
    #[error("the pieces cost {most}")]
    ExceedsLines {
        /// What they cost.
        most: Money,
    },
    /// These lines (counted from 0) cannot be taken back as asked.
    #[error("{} lines cannot be taken back", .0.len())]
    Lines(Vec<(usize, RefundProblem)>),
    /// Tickets that have been redeemed do not go back; their money can.
    #[error("only {left} tickets of the order are not redeemed: name lines, or an amount alone")]
    TicketsRedeemed {
        /// How many can be taken back.
        left: u32,
    },
    /// Nobody can make the receipt of it.
    #[error("no receipt can be made of it: {0}")]
    NoReceipt(ReceiptProblem),
    /// The order is no payment of a subscription, or the period it paid is not the current one.
    #[error("the order pays no current period of a subscription")]
    NoPeriod,
    /// Some of the money stays, and so does the period.
    #[error("the period ends only when all of its money goes back")]
    PeriodKept,
    /// The goods cannot go back to a warehouse that is deleted.
    #[error("the warehouse of line {line} is deleted: take the goods back without restocking")]
    WarehouseGone {
        /// The line.
        line: ReservationId,
    },
}

impl RefundRefused {
    /// The problems by field of the request.
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
            Self::WarehouseGone { .. } => all.add("restock", self),
            Self::NoPeriod | Self::PeriodKept => all.add("ends_period", self),
            Self::NotPaid
            | Self::NothingAsked
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
