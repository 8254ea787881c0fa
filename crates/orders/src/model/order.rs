//! Orders as read from storage, their states and their history.

use chrono::{DateTime, Utc};
use kontor_kernel::history::HistoryEntry;
use kontor_kernel::{
    ApplicationId, CounterpartyId, DeliverySubtypeId, DeliverySubtypeParamId, DeliveryTypeId, InventoryId, Money,
    Named, NomenclatureId, OrderId, OrderRefundId, PaymentTypeId, Quantity, ReservationId, ShopId, UserId, WarehouseId,
};
use kontor_payments::model::VatCode;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::{DeliveryCharge, PaymentMethod, TransitionContext};
use crate::tickets::Tickets;

/// Delivery type or subtype as shown to the customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryOptionRef<Id> {
    /// Identifier.
    pub id: Id,
    /// Name.
    pub name: String,
    /// Current price. The order keeps its own in [`Order::delivery_charge`].
    pub price: Money,
    /// `true` if it can still be chosen.
    pub is_active: bool,
}

/// Place with an address: a pickup point or a shop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place<Id> {
    /// Identifier.
    pub id: Id,
    /// Name.
    pub name: String,
    /// Address.
    pub address: Option<String>,
}

/// Payment type of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentType {
    /// Identifier.
    pub id: PaymentTypeId,
    /// Name.
    pub name: String,
    /// Description.
    pub description: Option<String>,
    /// URL of its picture.
    pub photo: Option<String>,
}

/// Customer of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Customer {
    /// Identifier of the customer.
    pub id: CounterpartyId,
    /// Name of the person or company; empty while unknown.
    pub name: String,
    /// Phone of the profile when the order was placed, eleven digits.
    pub phone: Option<String>,
}

/// State of the goods of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ReservationState {
    /// Reserved for the order.
    Held,
    /// Released.
    Released,
    /// Handed over.
    Sold,
}

/// Line of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderLine {
    /// Identifier of the line.
    pub id: ReservationId,
    /// Item, with its name when the order was placed.
    pub item: Named<NomenclatureId>,
    /// Article of the item.
    pub article: Option<String>,
    /// URLs of its pictures.
    pub photos: Vec<String>,
    /// Warehouse of the goods; `None` for a service.
    pub warehouse: Option<Named<WarehouseId>>,
    /// Stock level the units come from; `None` for a service.
    pub inventory: Option<InventoryId>,
    /// Number of units.
    pub quantity: Quantity,
    /// Price per unit.
    pub unit_price: Money,
    /// Automatic discounts of the line.
    pub product_discount: Money,
    /// Promo code discount of the line.
    pub promo_discount: Money,
    /// Amount to pay for the line.
    pub total: Money,
    /// VAT on receipts; `None` if there were no receipts when it was ordered.
    pub vat: Option<VatCode>,
    /// `true` if each unit is a ticket.
    pub is_ticket: bool,
    /// Number of units taken back.
    pub refunded_quantity: u32,
    /// Amount refunded, being refunded or requested as a refund.
    pub refunded_amount: Money,
    /// State of the goods.
    pub state: ReservationState,
}

impl OrderLine {
    /// Units that have not been taken back.
    pub fn units_left(&self) -> u32 {
        self.quantity.get().saturating_sub(self.refunded_quantity)
    }

    /// Amount that has not been refunded.
    pub fn money_left(&self) -> Money {
        self.total.saturating_sub(self.refunded_amount)
    }
}

/// Payment state of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum PaymentState {
    /// No money has arrived.
    Unpaid,
    /// The outcome of a charge is still open.
    Pending,
    /// The money has arrived.
    Paid,
    /// A part has been refunded.
    PartiallyRefunded,
    /// All of it has been refunded.
    Refunded,
}

impl PaymentState {
    /// Computes the payment state from the captured and the refunded amount.
    pub fn of(is_paid: bool, is_payment_open: bool, captured: Money, refunded: Money) -> Self {
        match (is_paid, is_payment_open) {
            (false, true) => Self::Pending,
            (false, false) => Self::Unpaid,
            (true, _) if refunded.is_zero() => Self::Paid,
            (true, _) if refunded == captured => Self::Refunded,
            (true, _) => Self::PartiallyRefunded,
        }
    }
}

/// State of a refund of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum OrderRefundState {
    /// The refund is requested at the acquirer.
    Pending,
    /// The customer has the money.
    Succeeded,
    /// The acquirer refused the refund. The money belongs to the shop again; the goods stay where they are.
    Failed,
}

/// Refund of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderRefund {
    /// Identifier.
    pub id: OrderRefundId,
    /// Amount.
    pub amount: Money,
    /// Part of the amount that refunds the delivery price; the rest refunds lines.
    pub delivery: Money,
    /// State.
    pub state: OrderRefundState,
    /// Reason.
    pub reason: String,
    /// `true` if the goods went back to their warehouses.
    pub restock: bool,
    /// Time of the request.
    pub created_at: DateTime<Utc>,
    /// Time at which its outcome became known.
    pub settled_at: Option<DateTime<Utc>>,
}

/// Order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Identifier of the order.
    pub id: OrderId,
    /// Application; `None` if staff created it for the project.
    pub application: Option<Named<ApplicationId>>,
    /// Customer.
    pub customer: Customer,
    /// Employee in charge.
    pub manager: Option<Named<UserId>>,
    /// Status.
    pub status: OrderStatus,
    /// Name of the status in the dictionary.
    pub status_name: String,
    /// Currency of the project, three letters.
    pub currency: String,
    /// Price before any discount.
    pub original_price: Money,
    /// Automatic discounts.
    pub product_discount: Money,
    /// Promo code discount.
    pub promo_discount: Money,
    /// Price of the lines, without delivery.
    pub final_price: Money,
    /// Delivery price.
    pub delivery_charge: DeliveryCharge,
    /// Promo code used.
    pub promo_code: Option<String>,
    /// Delivery type.
    pub delivery_type: DeliveryOptionRef<DeliveryTypeId>,
    /// Delivery subtype.
    pub delivery_subtype: Option<DeliveryOptionRef<DeliverySubtypeId>>,
    /// Pickup point.
    pub delivery_subtype_param: Option<Place<DeliverySubtypeParamId>>,
    /// Shop.
    pub shop: Option<Place<ShopId>>,
    /// Address of the handover.
    pub address: Option<String>,
    /// Payment type on receipt.
    pub payment_type: Option<PaymentType>,
    /// Online payment method.
    pub payment_method: Option<PaymentMethod>,
    /// URL of the payment page, while the order can be paid.
    pub payment_link: Option<String>,
    /// Comment by staff.
    pub comment: Option<String>,
    /// Time at which an unconfirmed order from the contact form is canceled.
    pub reserved_until: Option<DateTime<Utc>>,
    /// Lines.
    pub lines: Vec<OrderLine>,
    /// `true` if the outcome of a payment is still open.
    pub payment_open: bool,
    /// `true` if the order is the payment of a subscription. Its customer consented to its lines.
    pub is_recurring: bool,
    /// Time at which the money arrived.
    pub paid_at: Option<DateTime<Utc>>,
    /// Amount received.
    pub captured: Money,
    /// Amount refunded.
    pub refunded: Money,
    /// Amount with a refund in progress.
    pub refunding: Money,
    /// Refunds, oldest first.
    pub refunds: Vec<OrderRefund>,
    /// Tickets.
    pub tickets: Tickets,
    /// Version; grows with every change.
    pub version: i64,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

impl Order {
    /// Sum of both discounts.
    pub fn total_discount(&self) -> Money {
        self.original_price.saturating_sub(self.final_price)
    }

    /// Amount the customer pays: the lines and the delivery.
    pub fn amount_due(&self) -> Money {
        self.final_price.checked_add(self.delivery_charge.price).unwrap_or(Money::MAX)
    }

    /// Part of the delivery price that has not been refunded. Every refunded amount that belongs to no line is a
    /// refund of the delivery.
    pub fn delivery_left(&self) -> Money {
        let of_lines = self.lines.iter().try_fold(Money::ZERO, |sum, line| sum.checked_add(line.refunded_amount));
        let returned = self.refunded.checked_add(self.refunding).unwrap_or(Money::MAX);
        self.delivery_charge.price.saturating_sub(returned.saturating_sub(of_lines.unwrap_or(Money::MAX)))
    }

    /// Returns the state that decides which moves are allowed.
    pub fn transition_context(&self) -> TransitionContext {
        TransitionContext {
            status: self.status,
            online: self.payment_method.is_some(),
            paid: self.paid_at.is_some(),
            returned: self.paid_at.is_some() && self.left_to_refund().is_zero(),
        }
    }

    /// Amount received, less all refunded amounts, including refunds in progress and requested ones.
    pub fn left_to_refund(&self) -> Money {
        self.captured.saturating_sub(self.refunded).saturating_sub(self.refunding)
    }

    /// Payment state. A refund in progress does not count as refunded.
    pub fn payment_state(&self) -> PaymentState {
        PaymentState::of(self.paid_at.is_some(), self.payment_open, self.captured, self.refunded)
    }
}

/// Order line in the list of the lines of all orders, for staff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReservationRecord {
    /// Identifier of the line.
    pub id: ReservationId,
    /// Order.
    pub order_id: OrderId,
    /// Status of the order.
    pub order_status: OrderStatus,
    /// Item, with its name when it was ordered.
    pub item: Named<NomenclatureId>,
    /// Warehouse; `None` for a service.
    pub warehouse: Option<Named<WarehouseId>>,
    /// Number of units.
    pub quantity: Quantity,
    /// Price per unit.
    pub unit_price: Money,
    /// Price of the line.
    pub total: Money,
    /// State of the reservation.
    pub state: ReservationState,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

/// State of an order. The contract fixes the ids; display names come from the dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, VariantArray, Display)]
#[strum(serialize_all = "snake_case")]
pub enum OrderStatus {
    /// `1`
    Created,
    /// `2`
    #[strum(to_string = "waiting for payment")]
    WaitingForPayment,
    /// `3`
    #[strum(to_string = "in processing")]
    InProcessing,
    /// `4`
    #[strum(to_string = "ready for pickup")]
    ReadyForPickup,
    /// `5`
    Issued,
    /// `6`
    Canceled,
    /// `22`
    Paid,
}

impl From<OrderStatus> for i64 {
    fn from(status: OrderStatus) -> Self {
        status.id()
    }
}

impl OrderStatus {
    /// Every state.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Returns the id in the dictionary `order_statuses`.
    pub fn id(self) -> i64 {
        match self {
            Self::Created => 1,
            Self::WaitingForPayment => 2,
            Self::InProcessing => 3,
            Self::ReadyForPickup => 4,
            Self::Issued => 5,
            Self::Canceled => 6,
            Self::Paid => 22,
        }
    }

    /// Returns the state with this id.
    pub fn from_id(id: i64) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.id() == id)
    }

    /// Returns `true` for a final state.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Issued | Self::Canceled)
    }
}

/// Event in the history of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum OrderEvent {
    /// The order was created.
    Created,
    /// Staff changed its status.
    StatusChanged,
    /// Staff changed its details.
    Changed,
    /// Staff changed its lines before payment.
    LinesChanged,
    /// Another payment was requested.
    PaymentRenewed,
    /// The open payment was canceled at the acquirer, since another sum is due.
    PaymentWithdrawn,
    /// The payment at the acquirer differs from the requested one.
    PaymentSuspicious,
    /// The payment failed.
    PaymentFailed,
    /// The money has arrived.
    Paid,
    /// Money has arrived for a canceled order; it is refunded automatically.
    PaidAfterCancellation,
    /// Money has arrived for an order that did not wait for it; staff must check it.
    PaidOutOfTurn,
    /// A refund was requested.
    RefundRequested,
    /// The refund succeeded.
    Refunded,
    /// The acquirer refused the refund.
    RefundFailed,
    /// The order was not confirmed in time.
    Expired,
    /// Tickets were scanned at the door.
    TicketsRedeemed,
}

/// One entry of the history of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderEntry {
    /// Author, time, and changed fields.
    pub line: HistoryEntry,
    /// Event.
    pub event: OrderEvent,
    /// Status of the order afterwards.
    pub status: OrderStatus,
    /// Detail: an amount, a number of tickets, or a reason.
    pub detail: Option<String>,
}

#[cfg(test)]
mod tests {
    use kontor_kernel::Word;

    use super::*;
    use crate::model::PromoProblem;
    use crate::model::testing::an_order;

    #[test]
    fn stored_and_wire_words_are_the_same() {
        assert_eq!(
            ReservationState::VARIANTS.iter().map(|state| state.word()).collect::<Vec<_>>(),
            ["held", "released", "sold"]
        );
        let problems = [PromoProblem::NotStarted, PromoProblem::CustomerLimit, PromoProblem::MinimumSum(Money::ZERO)];
        assert_eq!(problems.map(PromoProblem::code), ["not_started", "customer_limit", "minimum_sum"]);
    }

    #[test]
    fn the_payment_method_follows_from_the_money() {
        let money = |minor| Money::from_minor(minor).unwrap();
        let unpaid = an_order(OrderStatus::Created);
        assert_eq!((unpaid.payment_state(), unpaid.total_discount()), (PaymentState::Unpaid, money(50)));
        let open = Order { payment_open: true, ..unpaid };
        assert_eq!(open.payment_state(), PaymentState::Pending);
        let paid = an_order(OrderStatus::Paid);
        assert_eq!((paid.payment_state(), paid.left_to_refund()), (PaymentState::Paid, money(450)));
        let partly = Order { refunded: money(100), refunding: money(50), ..paid.clone() };
        assert_eq!((partly.payment_state(), partly.left_to_refund()), (PaymentState::PartiallyRefunded, money(300)));
        assert!(!partly.transition_context().returned);
        let back = Order { refunded: money(100), refunding: money(350), ..paid };
        assert_eq!((back.payment_state(), back.left_to_refund()), (PaymentState::PartiallyRefunded, Money::ZERO));
        assert!(back.transition_context().returned && back.transition_context().paid);
        let asked = Order { refunded: Money::ZERO, refunding: money(450), ..back.clone() };
        assert_eq!((asked.payment_state(), asked.left_to_refund()), (PaymentState::Paid, Money::ZERO));
        let gone = Order { refunded: money(450), refunding: Money::ZERO, ..back };
        assert_eq!(gone.payment_state(), PaymentState::Refunded);
        // Nothing was paid, so nothing is returned.
        let context = an_order(OrderStatus::Created).transition_context();
        assert!(!context.returned && !context.paid && !context.online);
        let online = Order { payment_method: Some(PaymentMethod::Sbp), ..an_order(OrderStatus::Created) };
        assert!(online.transition_context().online);
    }

    #[test]
    fn refunds_without_a_line_count_for_the_delivery() {
        let money = |minor| Money::from_minor(minor).unwrap();
        let line = OrderLine { refunded_amount: money(100), ..crate::model::testing::a_line(450) };
        let delivery_charge = DeliveryCharge { price: money(50), vat: None };
        let order = Order {
            lines: vec![line],
            delivery_charge,
            captured: money(500),
            refunded: money(90),
            refunding: money(30),
            ..an_order(OrderStatus::Paid)
        };
        assert_eq!((order.amount_due(), order.delivery_left()), (money(500), money(30)));
        let lines_alone = Order { refunded: money(70), ..order.clone() };
        assert_eq!(lines_alone.delivery_left(), money(50));
        assert_eq!(Order { delivery_charge: DeliveryCharge::default(), ..order }.delivery_left(), Money::ZERO);
    }

    #[test]
    fn refunds_reduce_the_rest_of_their_line() {
        let line = OrderLine { refunded_quantity: 1, ..crate::model::testing::a_line(100) };
        assert_eq!((line.units_left(), line.money_left().minor()), (0, 100));
        let refunded_amount = Money::from_minor(30).unwrap();
        let line = OrderLine { refunded_amount, ..crate::model::testing::a_line(100) };
        assert_eq!((line.units_left(), line.money_left().minor()), (1, 70));
    }

    #[test]
    fn states_have_words_and_numbers() {
        let reported = OrderStatus::ALL.iter().map(|status| format!("{} {status}", status.id()));
        let all = [
            "1 created",
            "2 waiting for payment",
            "3 in processing",
            "4 ready for pickup",
            "5 issued",
            "6 canceled",
            "22 paid",
        ];
        assert_eq!(reported.collect::<Vec<_>>(), all);
        assert!(OrderStatus::ALL.iter().all(|status| OrderStatus::from_id(status.id()) == Some(*status)));
        assert_eq!(OrderStatus::from_id(7), None);
    }

    #[test]
    fn an_order_ends_when_it_is_issued_or_canceled() {
        let ended: Vec<_> = OrderStatus::ALL.iter().filter(|status| status.is_final()).collect();
        assert_eq!(ended, [&OrderStatus::Issued, &OrderStatus::Canceled]);
        assert_eq!(i64::from(OrderStatus::Paid), 22);
    }

    #[test]
    fn the_codes_of_stored_lines_stay_as_they_are() {
        let codes: Vec<&str> = OrderEvent::all().iter().map(|event| event.word()).collect();
        let expected = "created status_changed changed lines_changed payment_renewed payment_withdrawn payment_suspicious \
                        payment_failed paid paid_after_cancellation paid_out_of_turn refund_requested refunded \
                        refund_failed expired tickets_redeemed";
        assert_eq!(codes.join(" "), expected);
    }
}
