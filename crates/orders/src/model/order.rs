//! An order as it is read.

use chrono::{DateTime, Utc};
use kontor_kernel::{
    ApplicationId, CounterpartyId, DeliverySubtypeId, DeliverySubtypeParamId, DeliveryTypeId, InventoryId, Money,
    NomenclatureId, OrderId, OrderRefundId, PaymentTypeId, Quantity, ReservationId, ShopId, UserId, WarehouseId,
};
use strum::{EnumString, IntoStaticStr, VariantArray};

use kontor_payments::model::VatCode;

use super::{DeliveryCharge, OrderStatus, PaymentMethod, TransitionContext};
use crate::tickets::Tickets;

/// A record named by an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<Id> {
    /// Its number.
    pub id: Id,
    /// Its name.
    pub name: String,
}

/// A way of delivery as the customer saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryWay<Id> {
    /// Its number.
    pub id: Id,
    /// Its name.
    pub name: String,
    /// Its price today. The order keeps its own in [`Order::delivery_charge`].
    pub price: Money,
    /// Whether it can still be chosen.
    pub is_active: bool,
}

/// A place with an address: a pickup point or a shop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place<Id> {
    /// Its number.
    pub id: Id,
    /// Its name.
    pub name: String,
    /// Where it is.
    pub address: Option<String>,
}

/// A payment type of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentType {
    /// Its number.
    pub id: PaymentTypeId,
    /// Its name.
    pub name: String,
    /// What it means.
    pub description: Option<String>,
    /// Address of its picture.
    pub photo: Option<String>,
}

/// The customer of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Customer {
    /// His number.
    pub id: CounterpartyId,
    /// His name, or the company's; empty while unknown.
    pub name: String,
    /// The phone of the profile at the moment of the order, eleven digits.
    pub phone: Option<String>,
}

/// What happened to the goods of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ReservationState {
    /// Claimed for the order.
    Held,
    /// Given back.
    Released,
    /// Handed over.
    Sold,
}

/// A line of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderLine {
    /// The number of the line.
    pub id: ReservationId,
    /// The item, named as it was when the order was made.
    pub item: Named<NomenclatureId>,
    /// The article of the item.
    pub article: Option<String>,
    /// Addresses of its pictures.
    pub photos: Vec<String>,
    /// Where the goods lie; `None` for a service.
    pub warehouse: Option<Named<WarehouseId>>,
    /// The stock they are taken from; `None` for a service.
    pub inventory: Option<InventoryId>,
    /// How many pieces.
    pub quantity: Quantity,
    /// What one piece costs.
    pub unit_price: Money,
    /// What automatic discounts take off the line.
    pub product_discount: Money,
    /// What the promo code takes off the line.
    pub promo_discount: Money,
    /// What is left to pay for the line.
    pub total: Money,
    /// Its VAT on receipts; `None` where none were made when it was ordered.
    pub vat: Option<VatCode>,
    /// Whether its pieces are tickets.
    pub is_ticket: bool,
    /// How many of its pieces have been taken back.
    pub refunded_quantity: u32,
    /// How much of its money has gone back, is on its way or is asked for.
    pub refunded_amount: Money,
    /// What happened to the goods.
    pub state: ReservationState,
}

impl OrderLine {
    /// Pieces that have not been taken back.
    pub fn pieces_left(&self) -> u32 {
        self.quantity.get().saturating_sub(self.refunded_quantity)
    }

    /// Money that has not gone back.
    pub fn money_left(&self) -> Money {
        self.total.saturating_sub(self.refunded_amount)
    }
}

/// Where the money of an order stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum PaymentState {
    /// None has arrived.
    Unpaid,
    /// The outcome of a charge is still open.
    Pending,
    /// It has arrived.
    Paid,
    /// A part of it has gone back.
    PartiallyRefunded,
    /// All of it has gone back.
    Refunded,
}

impl PaymentState {
    /// State of the money of an order, by what has arrived and what of it has gone back.
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

/// Where a refund of an order stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum OrderRefundState {
    /// The acquirer is asked for it.
    Pending,
    /// The customer has their money.
    Succeeded,
    /// The acquirer gives nothing back. The money is the shop's again, the goods stay where they are.
    Failed,
}

/// A refund of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderRefund {
    /// Its number.
    pub id: OrderRefundId,
    /// How much.
    pub amount: Money,
    /// The part of it that is of the delivery price; the rest is of lines.
    pub delivery: Money,
    /// Where it stands.
    pub state: OrderRefundState,
    /// Why.
    pub reason: String,
    /// Whether the goods went back to their warehouses.
    pub restock: bool,
    /// When it was asked for.
    pub created_at: DateTime<Utc>,
    /// When its outcome became known.
    pub settled_at: Option<DateTime<Utc>>,
}

/// An order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The number of the order.
    pub id: OrderId,
    /// Where it was made; `None` when staff made it for the project.
    pub application: Option<Named<ApplicationId>>,
    /// Who made it.
    pub customer: Customer,
    /// Who takes care of it.
    pub manager: Option<Named<UserId>>,
    /// Where it stands.
    pub status: OrderStatus,
    /// The name of the status in the dictionary.
    pub status_name: String,
    /// The project's currency, three letters.
    pub currency: String,
    /// Before any discount.
    pub original_price: Money,
    /// What automatic discounts take off.
    pub product_discount: Money,
    /// What the promo code takes off.
    pub promo_discount: Money,
    /// Price of the lines. Delivery is no part of it.
    pub final_price: Money,
    /// Delivery price.
    pub delivery_charge: DeliveryCharge,
    /// The promo code used.
    pub promo_code: Option<String>,
    /// How the goods reach the customer.
    pub delivery_type: DeliveryWay<DeliveryTypeId>,
    /// Which way of delivery.
    pub delivery_subtype: Option<DeliveryWay<DeliverySubtypeId>>,
    /// Which pickup point.
    pub delivery_subtype_param: Option<Place<DeliverySubtypeParamId>>,
    /// Which shop.
    pub shop: Option<Place<ShopId>>,
    /// Where the goods are handed over.
    pub address: Option<String>,
    /// How the customer pays on receipt.
    pub payment_type: Option<PaymentType>,
    /// How the customer pays online.
    pub payment_method: Option<PaymentMethod>,
    /// Where the customer pays, while he can.
    pub payment_link: Option<String>,
    /// A remark of the staff.
    pub comment: Option<String>,
    /// The moment at which the order is canceled, while it comes from the contact form and is not confirmed.
    pub reserved_until: Option<DateTime<Utc>>,
    /// The lines.
    pub lines: Vec<OrderLine>,
    /// Whether the outcome of a payment is still open.
    pub payment_open: bool,
    /// `true` if the order is the payment of a subscription. Its customer consented to its lines.
    pub is_recurring: bool,
    /// When the money arrived.
    pub paid_at: Option<DateTime<Utc>>,
    /// What has arrived.
    pub captured: Money,
    /// What of it has gone back.
    pub refunded: Money,
    /// What of it is on its way back.
    pub refunding: Money,
    /// What goes or went back, oldest first.
    pub refunds: Vec<OrderRefund>,
    /// Its tickets.
    pub tickets: Tickets,
    /// Grows with every change.
    pub version: i64,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

impl Order {
    /// Both discounts.
    pub fn total_discount(&self) -> Money {
        self.original_price.saturating_sub(self.final_price)
    }

    /// What the customer pays: the lines and the delivery.
    pub fn amount_due(&self) -> Money {
        self.final_price.checked_add(self.delivery_charge.price).unwrap_or(Money::MAX)
    }

    /// The part of the delivery price that has not gone back: whatever has gone back and not of a line, went back of it.
    pub fn delivery_left(&self) -> Money {
        let of_lines = self.lines.iter().try_fold(Money::ZERO, |sum, line| sum.checked_add(line.refunded_amount));
        let returned = self.refunded.checked_add(self.refunding).unwrap_or(Money::MAX);
        self.delivery_charge.price.saturating_sub(returned.saturating_sub(of_lines.unwrap_or(Money::MAX)))
    }

    /// What decides where it may move.
    pub fn transition_context(&self) -> TransitionContext {
        TransitionContext {
            status: self.status,
            online: self.payment_method.is_some(),
            paid: self.paid_at.is_some(),
            returned: self.paid_at.is_some() && self.left_to_refund().is_zero(),
        }
    }

    /// What has arrived, less what has gone back, is on its way and is asked for.
    pub fn left_to_refund(&self) -> Money {
        self.captured.saturating_sub(self.refunded).saturating_sub(self.refunding)
    }

    /// State of its money. Money on its way back has not gone back.
    pub fn payment_state(&self) -> PaymentState {
        PaymentState::of(self.paid_at.is_some(), self.payment_open, self.captured, self.refunded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PromoProblem;
    use crate::model::testing::an_order;
    use kontor_kernel::Word;

    #[test]
    fn words_are_as_they_are_stored_and_told() {
        assert_eq!(
            ReservationState::VARIANTS.iter().map(|state| state.word()).collect::<Vec<_>>(),
            ["held", "released", "sold"]
        );
        let problems = [PromoProblem::NotStarted, PromoProblem::CustomerLimit, PromoProblem::MinimumSum(Money::ZERO)];
        assert_eq!(problems.map(PromoProblem::code), ["not_started", "customer_limit", "minimum_sum"]);
    }

    #[test]
    fn money_tells_how_an_order_is_paid() {
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
        // Nothing was paid, so nothing has come back.
        let context = an_order(OrderStatus::Created).transition_context();
        assert!(!context.returned && !context.paid && !context.online);
        let online = Order { payment_method: Some(PaymentMethod::Sbp), ..an_order(OrderStatus::Created) };
        assert!(online.transition_context().online);
    }

    #[test]
    fn what_has_gone_back_and_not_of_a_line_is_of_the_delivery() {
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
    fn what_has_gone_back_of_a_line_is_no_longer_left() {
        let line = OrderLine { refunded_quantity: 1, ..crate::model::testing::a_line(100) };
        assert_eq!((line.pieces_left(), line.money_left().minor()), (0, 100));
        let refunded_amount = Money::from_minor(30).unwrap();
        let line = OrderLine { refunded_amount, ..crate::model::testing::a_line(100) };
        assert_eq!((line.pieces_left(), line.money_left().minor()), (1, 70));
    }
}
